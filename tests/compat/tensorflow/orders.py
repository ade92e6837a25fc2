"""Imports each module of TensorFlow 1.15's Python files as the first one, each in a process of its
own, as programs and libraries do, and then all others. Prints, as JSON, how many there are, those
that fail, and what the others registered in modules that were there.

    kameleon run orders.py       # all of them: minutes
    kameleon run orders.py 40    # every fortieth one
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Sized
from typing import Any

from kameleon.compat.tensorflow import importing, late


def forked(work: Callable[[], Any]) -> Any:
    """What a function gives in a copy of this process, or the text of what it raises."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            found = work()
        except BaseException:
            found = traceback.format_exc()
        with os.fdopen(writing, "w") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def all_of_them() -> list[str]:
    """The modules that TensorFlow 1.15 loads when it's imported."""
    importing.begin()
    late.everything()
    return sorted(name for name in sys.modules if name.startswith(f"{late.PYTHON}."))


def first(name: str) -> list[str]:
    """Import a module before all others; where things are registered behind it."""
    importing.begin()
    importlib.import_module(name)
    ours = (f"{late.PYTHON}.", "kameleon.compat.tensorflow.")
    there = [name for name in sys.modules if name.startswith(ours)]
    before = {key: size for name in there for key, size in sizes(name).items()}
    late.everything()
    after = {key: size for name in there for key, size in sizes(name).items()}
    return [key for key, size in after.items() if before.get(key) != size]


def sizes(module: str) -> dict[str, int]:
    """By name of a collection in a module, in its classes or its registries: how much it holds.
    By name of an attribute of its classes: which value it has.
    """
    short, found = module.removeprefix(f"{late.PYTHON}."), {}
    for name, value in list(vars(sys.modules[module]).items()):
        if name.startswith("__"):
            continue
        if isinstance(value, dict | list | set):
            found[f"{short}.{name}"] = len(value)
        elif getattr(value, "__module__", None) == module and hasattr(value, "__dict__"):
            for part, held in vars(value).items():
                is_collection = isinstance(held, Sized) and not isinstance(held, type)
                found[f"{short}.{name}.{part}"] = len(held) if is_collection else id(held)
    return found


def main() -> None:
    """Print what importing every so many modules gives."""
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    told = {name: forked(lambda name=name: first(name)) for name in forked(all_of_them)[::step]}
    lists = {name: found for name, found in told.items() if isinstance(found, list)}
    registered = {key: name for name, keys in lists.items() for key in keys}
    failed = {name: text[-1000:] for name, text in told.items() if name not in lists}
    print(json.dumps({"count": len(told), "failed": failed, "registered": registered}))


if __name__ == "__main__":
    main()
