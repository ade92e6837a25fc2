"""The commands `kameleon auto` and `kameleon auto clear`."""

from __future__ import annotations

from collections.abc import Sequence

from kameleon.cli.parsing import Parser
from kameleon.runtime.auto import memory


def status(arguments: Sequence[str]) -> None:
    """What the engine 'auto' keeps: which engine is the fastest for each function."""
    about = f"{status.__doc__}\n\nkameleon auto clear: see --help of it."
    Parser("auto", about).understood(arguments)
    print(f"{memory.count()} functions are known in {memory.folder()}")


def clear(arguments: Sequence[str]) -> None:
    """Forget which engine is the fastest for each function: they're tried anew."""
    Parser("auto clear", clear.__doc__ or "").understood(arguments)
    print(f"Forgot {memory.clear()} functions in {memory.folder()}")
