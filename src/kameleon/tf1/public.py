"""The public names of TensorFlow 1.15, and the parameters of its functions.

`public.json` was recorded from it (`tests/recorded/tf1/public.py`).
"""

from __future__ import annotations

import functools
import inspect
import json
from importlib import resources
from typing import Any, NamedTuple

from .signatures import Rows, recorded


class Entry(NamedTuple):
    """A function of TensorFlow's: its other names, and its parameters with their defaults."""

    also: list[str]
    parameters: list[list[Any]]


class Public(NamedTuple):
    """The public names of TensorFlow 1.15.

    Attributes:
        functions: by the first of their names.
        others, constants, enumerations: what else there is: its kind, value or members.
        first: by name of a function, the first one.
        second: by name, the parameters of those functions of `tf.compat.v2` that take others.
    """

    functions: dict[str, Entry]
    others: dict[str, str]
    constants: dict[str, Any]
    enumerations: dict[str, dict[str, Any]]
    first: dict[str, str]
    second: dict[str, list[list[Any]]]


@functools.cache
def public() -> Public:
    """What was recorded from TensorFlow."""
    text = resources.files(__package__).joinpath("public.json").read_text("utf-8")
    found = json.loads(text)
    functions = {name: Entry(**entry) for name, entry in found["functions"].items()}
    first = {n: name for name, entry in functions.items() for n in (name, *entry.also)}
    others, constants, members = (found[x] for x in ("others", "constants", "enumerations"))
    return Public(functions, others, constants, members, first, found["second"])


def endpoints(name: str) -> list[str]:
    """All names that TensorFlow has for one function; the name alone if it's none of its.

    >>> endpoints("math.log")
    ['log', 'math.log']
    """
    first = public().first.get(name)
    return [name] if first is None else [first, *public().functions[first].also]


def rows_of(name: str) -> Rows:
    """The parameters of a function, by any of its names."""
    return public().functions[public().first[name]].parameters


def parameters_of(name: str) -> list[inspect.Parameter]:
    """The same, as `inspect` has them."""
    return recorded(rows_of(name))
