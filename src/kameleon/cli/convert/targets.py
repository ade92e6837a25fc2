"""What a source is written as: a table of formats, those of `export` and Keras 3's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kameleon.backend.export import formats
from kameleon.backend.export.formats import FORMATS, Format, require
from kameleon.cli.parsing import CommandError

from . import apart, keras3
from .sources import Original

__all__ = ["KERAS3", "NAMES", "require", "target", "write"]

KERAS3 = Format("keras3", "Keras 3", ".keras", "", {"keras": "keras"})
TARGETS = {**FORMATS, KERAS3.name: KERAS3}
# Libraries, by the format whose files they read themselves.
ALIASES = {"jax": "stablehlo", "tensorflow": "savedmodel"}
NAMES = (*ALIASES, *TARGETS)


def target(name: str) -> Format:
    """The format that's asked for by its name, or by a library's."""
    return TARGETS[ALIASES.get(name, name)]


def write(
    original: Original, path: str, chosen: Format, folder: str, options: Mapping[str, Any]
) -> list[Any]:
    """Write what was read.

    Args:
        original: what was read.
        path: of the file or the folder.
        chosen: the format.
        folder: has files of what was read.
        options: of the format, for `export`.

    Returns:
        The calls that it was verified by.

    Raises:
        KameleonError: as `export`.
        CommandError: Keras 3 has no such layers, or draws other random numbers.
    """
    calls = original.calls
    if chosen is not KERAS3:
        return formats.export(original.function, path, chosen.name, calls, **options)
    program = formats.AtOneMoment(original.function, "export")
    if calls and program.sources:
        raise CommandError(
            "this model draws random numbers as it predicts, and Keras 3 draws others: a file of"
            " its layers can't be held against the original; --no-check writes it all the same"
        )
    count = len(program.function.outputs)  # states of layers aren't told by Keras 3
    given = calls and [call._replace(expected=call.expected[:count]) for call in calls]

    def make(made: str) -> None:
        apart.run("keras3", folder, {"path": made}, keras3.settings())

    return formats.write(program, path, chosen, make, keras3.RELOAD, given)
