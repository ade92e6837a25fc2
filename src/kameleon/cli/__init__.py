"""The command line `kameleon`: its commands, and how they end.

A command's module is imported when the command is given. Those that show tables need Rich; those
that run programs (`OWN_END`) need no library, so that programs run wherever Kameleon is installed.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import kameleon
from kameleon._utils.suggestions import suggestion
from kameleon.errors import KameleonError

from .needs import LESS, NEEDED, REMEDY
from .parsing import FAILED, CommandError, Parser, stop


class Command(NamedTuple):
    """Where a command is: a module of this package and its function; and what it does."""

    module: str
    function: str
    about: str


COMMANDS = {
    "run": Command("run", "main", "Run a program that imports Keras, unchanged, on Kameleon."),
    "launch": Command("launch", "main", "Run a program in several processes that share the work."),
    "check": Command("check.command", "main", "Say what in programs can't be served, unrun."),
    "explore": Command("explore", "main", "Run a program, and write pages that show its graphs."),
    "profile": Command("profile", "main", "Run a program, and tell what its functions take."),
    "bench": Command("bench", "main", "Time Kameleon against the same work by hand, here."),
    "convert": Command("convert.command", "main", "Convert a model or a graph for a library."),
    "engines": Command("engines", "main", "List the engines, what runs here, and which one runs."),
    "auto": Command("auto", "status", "Tell what is known of the fastest engines for programs."),
    "auto clear": Command("auto", "clear", "Forget it."),
    "demo": Command("demo.command", "main", "Train a network on handwritten digits."),
    "keras2": Command("keras2", "status", "Tell whether the original Keras 2.3.1 is here."),
    "keras2 install": Command("keras2", "install", "Install it, into a folder of its own."),
    "keras2 uninstall": Command("keras2", "uninstall", "Remove that folder."),
    "tensorflow": Command("tensorflow", "status", "Tell whether TensorFlow 1.15's files are here."),
    "tensorflow install": Command("tensorflow", "install", "Install them, into a folder."),
    "tensorflow uninstall": Command("tensorflow", "uninstall", "Remove that folder."),
    "cntk": Command("cntk", "status", "Tell whether CNTK 2.7 is here."),
    "cntk install": Command("cntk", "install", "Install it, with a Python of its own."),
    "cntk uninstall": Command("cntk", "uninstall", "Remove both."),
}
OWN_END = ("run", "launch", "explore", "profile")  # these commands end as the program that they run


def main() -> None:
    """Run the command line. What a command can't do is said in one line; the status is 1."""
    name, arguments = _named(sys.argv[1:])
    if name in OWN_END:
        _function(name)(arguments)
        return
    _take_any_output()
    try:
        _function(name)(arguments)
        sys.stdout.flush()
    except (KameleonError, CommandError) as error:
        stop(f"kameleon {name}", str(error))
    except BrokenPipeError:  # nobody reads on
        _drop_output()
        sys.exit(FAILED)
    except OSError as error:
        _drop_output()
        where = "" if error.filename is None else f"{error.filename}: "
        stop(f"kameleon {name}", f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        stop(f"kameleon {name}", "interrupted", 130)


def _drop_output() -> None:
    """What isn't written yet can't be: Python's end must not try it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _take_any_output() -> None:
    """Closed output takes what is written, and letters that its encoding lacks are written by
    their numbers.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _named(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command that a line begins with, and its arguments; without one, what there is."""
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in COMMANDS:
            others = [other.partition(" ")[2] for other in COMMANDS if other.startswith(f"{name} ")]
            inner = words[1] if others and len(words) > 1 else "-"
            if not inner.startswith("-"):
                stop(f"kameleon {name}", f"there is no command {inner!r}{_among(inner, others)}", 2)
            return name, words[count:]
    listed = "\n".join(f"  {name:<21}{command.about}" for name, command in COMMANDS.items())
    parser = Parser(
        "",
        f"The classic Keras backend API, written once, run on any engine.\n\ncommands:\n{listed}",
        "kameleon [--help] [--version] COMMAND ...",
    )
    parser.add_argument(
        "--version", action="version", version=f"kameleon {kameleon.__version__}",
        help="show the version and exit",
    )  # fmt: skip
    if words and not words[0].startswith("-"):
        parser.error(f"there is no command {words[0]!r}{_among(words[0], COMMANDS)}")
    parser.understood(words)
    parser.print_help()
    sys.exit(2)


def _among(name: str, names: Sequence[str] | dict[str, Command]) -> str:
    return suggestion(name, names) or f"; there are {', '.join(names)}"


def _function(name: str) -> Callable[[Sequence[str]], None]:
    """What runs a command.

    Raises:
        CommandError: a library that it needs isn't installed.
    """
    command = COMMANDS[name]
    try:
        module = importlib.import_module(f"{__name__}.{command.module}")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in NEEDED:
            raise
        remedy = REMEDY if name == "demo" else LESS
        raise CommandError(f"it needs {library}, which isn't installed: {remedy}") from None
    found: Callable[[Sequence[str]], None] = getattr(module, command.function)
    return found
