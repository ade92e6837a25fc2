"""What a source is written as: a table of formats, those of `export` and Keras 3's."""

from __future__ import annotations

from typing import Any

from kameleon.backend.export import formats
from kameleon.backend.export.formats import FORMATS, Format

from . import apart, keras3
from .sources import Original

KERAS3 = Format("keras3", "Keras 3", ".keras", "", {"keras": "keras"})
TARGETS = {**FORMATS, KERAS3.name: KERAS3}
# Libraries, by the format whose files they read themselves.
ALIASES = {"jax": "stablehlo", "tensorflow": "savedmodel"}
NAMES = (*ALIASES, *TARGETS)


def target(name: str) -> Format:
    """The format that's asked for by its name, or by a library's."""
    return TARGETS[ALIASES.get(name, name)]


def write(original: Original, path: str, chosen: Format, check: bool) -> list[Any]:
    """Write what was read.

    Args:
        original: what was read.
        path: of the file or the folder.
        chosen: the format.
        check: whether the file is verified before it's there.

    Returns:
        The calls that it was verified by.

    Raises:
        KameleonError: as `export`.
        CommandError: Keras 3 has no such layers.
    """
    verify = check and original.calls
    if chosen is not KERAS3:
        return formats.export(original.function, path, chosen.name, verify)
    formats.require(chosen)
    program = formats.AtOneMoment(original.function, "export")
    count = len(program.function.outputs)  # states of layers aren't told by Keras 3
    given = verify and [call._replace(expected=call.expected[:count]) for call in verify]

    def make(made: str) -> None:
        assert original.layers is not None
        apart.run("keras3", original.layers, {"path": made}, keras3.settings())

    return formats.write(program, path, chosen, make, keras3.RELOAD, given)
