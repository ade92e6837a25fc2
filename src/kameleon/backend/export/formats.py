"""Which formats there are, and how a function becomes a file in one of them.

What is written is a draft, in a folder beside the target. It's proved there, and then takes the
target's place: whoever reads that finds the old one or the new one, and whatever fails leaves the
old one as it is.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal, NamedTuple

from ..._utils import files
from ..._utils.suggestions import suggestion
from ..._utils.tracebacks import boundary
from ...errors import ArgumentError, MissingLibraryError, TargetError
from ..interop.pure import Stateless
from . import examples, verification
from .verification import Checked


class Format(NamedTuple):
    """A format of files.

    Attributes:
        name: by which users choose it.
        title: how its name is written.
        suffix: of its files.
        module: what writes it, in this package: see `export`.
        needs: by name of a module that must be there, what pip installs for it.
        marker: where it's a folder, a file that each such folder has.
        alone: whether its files are read without Kameleon.
    """

    name: str
    title: str
    suffix: str
    module: str
    needs: dict[str, str]
    marker: str = ""
    alone: bool = True


FORMATS = {
    row.name: row
    for row in (
        Format("onnx", "ONNX", ".onnx", "onnx", {"onnx": "onnx", "onnxruntime": "onnxruntime"}),
        Format(
            "savedmodel",
            "SavedModel",
            ".savedmodel",
            "savedmodel",
            {"tensorflow": "tensorflow"},
            marker="saved_model.pb",
        ),
        Format("litert", "LiteRT", ".tflite", "litert", {"tensorflow": "tensorflow"}),
        Format(
            "stablehlo",
            "StableHLO",
            ".stablehlo",
            "stablehlo",
            {"jax": "jax", "flatbuffers": "flatbuffers"},  # jax.export writes by the latter
        ),
        Format("torch", "torch.export", ".pt2", "torch_export", {"torch": "torch"}),
        Format("kameleon", "Kameleon's own", ".safetensors", "own", {}, alone=False),
    )
}
BY_SUFFIX = {row.suffix: row for row in FORMATS.values()}


# What a file is verified by; see `examples.calls_of`. False: it isn't.
Given = examples.Examples | Literal[False]


@boundary
def export(
    function: Any, path: Any, format: str | None = None, verify: Any = True, **options: Any
) -> list[Checked]:
    """Write a compiled function to a file that other libraries run; see `BackendFunction.export`.

    A format's module has `write(program, path, **options)`, and `RELOAD`: Python code that defines
    `load(path)`, which gives a callable. That takes arrays for the function's inputs, in order,
    and gives a list of its outputs, then of the new values of variables that it updates.

    Returns:
        The calls that it's verified by.
    """
    chosen = _chosen(path, format)
    _target(path, chosen)  # before a library is loaded
    module = _module(chosen)
    _check_options(chosen, module, options)
    program = AtOneMoment(function, "export")
    given: Given = False
    if verify is not False:
        given = examples.examples_of(program, verify, options.get("shapes"))
    return write(
        program, path, chosen, partial(module.write, program, **options), module.RELOAD, given
    )


def write(
    program: Stateless,
    path: str,
    chosen: Format,
    make: Callable[[str], None],
    reload: str,
    given: Given = None,
) -> list[Checked]:
    """Write a draft, verify it, and let it take its target's place.

    Args:
        program: what gives the same.
        path: of the file.
        chosen: the format; it needn't be a row of the table.
        make: writes the file to a path.
        reload: Python code that defines `load`: see `export`.
        given: what it's verified by.

    Returns, raises:
        As `export`.
    """
    target = _target(path, chosen)
    with _draft(target) as draft:
        made = os.path.join(draft, os.path.basename(target))
        make(made)
        checked: list[Checked] = []
        if given is not False:
            checked = verification.check(program, chosen.title, reload, made, given, chosen.alone)
        _publish(made, target)
    return checked


class AtOneMoment(Stateless):
    """A function as a pure one, whose variables don't change while it's exported."""

    def __init__(self, function: Any, what: str):
        super().__init__(function, what)
        self._held = super().values, super().keys

    values = property(lambda self: self._held[0])
    keys = property(lambda self: self._held[1])


# What was asked for ------------------------------------------------------------------------------


def _chosen(path: Any, format: Any) -> Format:
    """The format that is named, or that the path's suffix tells."""
    name = files.path_of("export", path)
    listed = ", ".join(f"{row.name} ({row.suffix})" for row in FORMATS.values())
    if format is not None:
        if isinstance(format, str) and format in FORMATS:
            return FORMATS[format]
        meant = suggestion(str(format).lower(), FORMATS)
        raise ArgumentError(f"export: there's no format {format!r}{meant}; there are: {listed}")
    if name.endswith((os.sep, os.altsep or os.sep)) or os.path.isdir(name):
        return FORMATS["savedmodel"]
    suffix = os.path.splitext(name)[1].lower()
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    what = f"the suffix {suffix!r} is no format's" if suffix else f"{name!r} has no suffix"
    meant = suggestion(suffix, BY_SUFFIX)
    raise ArgumentError(f"export: {what}{meant}; there are: {listed}; or say which: format=…")


def require(chosen: Format) -> None:
    """
    Raises:
        MissingLibraryError: a library isn't installed that the format needs.
    """
    missing = [package for name, package in chosen.needs.items() if find_spec(name) is None]
    if missing:
        raise MissingLibraryError(
            f"export: {chosen.title} needs what isn't installed: pip install {' '.join(missing)}"
        )


def _module(chosen: Format) -> ModuleType:
    """What writes a format."""
    require(chosen)
    return importlib.import_module(f"{__package__}.{chosen.module}")


def _check_options(chosen: Format, module: ModuleType, options: dict[str, Any]) -> None:
    known = list(inspect.signature(module.write).parameters)[2:]
    for name in options:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            meant = suggestion(name, known)
            raise ArgumentError(f"export: {chosen.title} has no option {name!r}; {has}{meant}")


# Where it goes -----------------------------------------------------------------------------------


def _target(path: Any, chosen: Format) -> str:
    """Where the draft goes in the end; links are followed.

    Raises:
        FileNotFoundError: its folder doesn't exist.
        TargetError: something else is there.
    """
    if not chosen.marker:
        return os.path.realpath(files.checked("export", path))
    name = files.path_of("export", path)
    target = os.path.realpath(name)
    there = os.listdir(target) if os.path.isdir(target) else None
    if os.path.exists(target) and (there is None or (there and chosen.marker not in there)):
        what = "a file" if there is None else f"a folder that holds no {chosen.title}"
        raise TargetError(
            f"export: {name} is {what}: it isn't replaced; name a new folder, or one that shall be"
        )
    if there is None:
        files.checked("export", target)  # its folder exists
    return target


@contextmanager
def _draft(target: str) -> Iterator[str]:
    """A folder for drafts beside the target. Errors name the target, not a draft."""
    try:
        with files.draft_folder(target, shutil.rmtree) as draft:
            yield draft
    except OSError as error:
        file = os.fsdecode(error.filename or "")
        if files.SUFFIX not in file:
            raise
        raise type(error)(error.errno, error.strerror, target).with_traceback(
            error.__traceback__
        ) from None


# Files that lie beside a file and belong to it alone: large arrays, whose names tell their
# contents, and what the inputs of an ONNX model begin with.
BESIDE = re.compile(r"\.[0-9a-f]{8}\.data|\.safetensors", re.ASCII)


def _beside(target: str) -> set[str]:
    """The names of files that belong to a file."""
    folder, name = os.path.split(target)
    return {
        x for x in os.listdir(folder) if x.startswith(name) and BESIDE.fullmatch(x[len(name) :])
    }


def _publish(made: str, target: str) -> None:
    """Let a draft take the place of its target, with all that lies beside it."""
    draft, folder = os.path.dirname(made), os.path.dirname(target)
    _sync(draft)
    if os.path.isdir(made):
        _exchange(made, target)
        return
    old, new = _beside(target), set(os.listdir(draft)) - {os.path.basename(made)}
    for name in new:
        os.replace(os.path.join(draft, name), os.path.join(folder, name))
    if os.path.exists(target):
        os.chmod(made, stat.S_IMODE(os.stat(target).st_mode))
    os.replace(made, target)
    for name in old - new:
        with suppress(FileNotFoundError):
            os.remove(os.path.join(folder, name))


def _exchange(made: str, target: str) -> None:
    """Put a folder in the place of another one, which the draft's removal takes along."""
    if not os.path.isdir(target):
        os.rename(made, target)
        return
    old = os.path.join(os.path.dirname(made), f"old{files.SUFFIX}")
    os.rename(target, old)
    try:
        os.rename(made, target)
    except BaseException:
        os.rename(old, target)
        raise


def _sync(folder: str) -> None:
    """Have all files of a folder on the disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                os.fsync(file.fileno())
