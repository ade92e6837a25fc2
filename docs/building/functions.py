"""The functions of K, by chapter: what there is to have a page."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from docs.building.docstrings import Doc, parsed
from docs.building.places import TESTS
from kameleon import backend as K
from kameleon.backend import surface


class Chapter(NamedTuple):
    """A file of the K surface.

    Attributes:
        name: of the file.
        title: what its functions do.
        names: its functions, in the order of the documentation.
    """

    name: str
    title: str
    names: tuple[str, ...]


# The files of the K surface in the order of `surface.NAMES`, and what their functions are about.
TITLES = {
    "configuration": "Settings",
    "session": "Session and learning phase",
    "sparse": "Sparse tensors",
    "creation": "Variables, placeholders and constants",
    "properties": "Kinds, shapes and types of tensors",
    "updates": "Updates of variables",
    "linear": "Products and look-up",
    "reductions": "Reductions",
    "elementwise": "Element-wise functions and comparisons",
    "normalization": "Normalization",
    "shaping": "Joining, reshaping and cutting",
    "resizing": "Resizing, repeating and padding",
    "values": "Values of variables",
    "functions": "Functions and gradients",
    "recurrence": "Recurrence",
    "control": "Control flow",
    "activations": "Activations",
    "losses": "Losses",
    "convolution": "Convolutions",
    "pooling": "Pooling and local connections",
    "random": "Random tensors",
    "ctc": "Connectionist temporal classification",
    "switching": "Switching the engine",
    "pictures": "Pictures of graphs",
    "debugging": "Looking inside",
}


class Signatures(NamedTuple):
    """Calls of the published documentation: the newest by name, and older ones."""

    newest: dict[str, str]
    older: dict[str, list[str]]
    behind: dict[str, str]  # parameters that the source has behind those of the documentation


@functools.cache
def signatures() -> Signatures:
    written = json.loads((TESTS / "signatures.json").read_text(encoding="utf-8"))
    return Signatures(written["documented"], written["older"], written["undocumented"])


@functools.cache
def chapters() -> tuple[Chapter, ...]:
    """All functions, by chapter."""
    return tuple(
        Chapter(name, title, tuple(getattr(surface, name).__all__))
        for name, title in TITLES.items()
    )


def names() -> list[str]:
    """All functions in the order of the documentation."""
    return [name for chapter in chapters() for name in chapter.names]


def chapter_of(name: str) -> Chapter:
    return next(chapter for chapter in chapters() if name in chapter.names)


def function(name: str) -> Callable[..., Any]:
    return getattr(K, name)  # type: ignore[no-any-return]


def doc(name: str) -> Doc:
    """The docstring of a function."""
    return parsed(inspect.getdoc(function(name)) or "")


def parameters(name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(function(name)).parameters.values())


def signature(name: str) -> str:
    """The call, without types."""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters(name)]
    return f"{name}{inspect.Signature(bare)}"


def own_arguments(name: str) -> list[str]:
    """The parameters of a documented function that the documentation doesn't have."""
    documented = signatures().newest.get(name)
    if documented is None:
        return []
    calls = f"{documented},{signatures().behind.get(name, '')}"
    known = {part.split("=")[0].strip(" *()") for part in calls.split(",")}
    kinds = inspect.Parameter
    return [p.name for p in parameters(name) if p.name not in known and p.kind != kinds.VAR_KEYWORD]


ADDRESS = re.compile(r" at 0x[0-9a-f]+")
