"""What lies at a path, and what is made of it: a table of kinds of sources."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kameleon.cli.parsing import CommandError

HDF5 = b"\x89HDF\r\n\x1a\n"  # begins such a file
ZIP = b"PK\x03\x04"
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


@dataclass(frozen=True)
class Asked:
    """What is to be converted.

    Attributes:
        path: where the source lies.
        weights: the file of a configuration's weights.
        custom: a module, or its file, with custom objects.
        inputs: names of a graph's tensors.
        outputs: likewise.
        layers: whether the target is made of a model's layers.
        check: whether the file will be tried.
    """

    path: Path
    weights: Path | None = None
    custom: str | None = None
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    layers: bool = False
    check: bool = True


@dataclass(frozen=True)
class Original:
    """What was read.

    Attributes:
        function: a K.function of what it predicts.
        calls: what `export` verifies by: calls with predictions, or whether it does.
        notes: what was chosen, in words.
    """

    function: Any
    calls: Any = True
    notes: Sequence[str] = field(default_factory=tuple)


class Kind(NamedTuple):
    """A kind of source.

    Attributes:
        title: what it is.
        module: of this package, whose `read(asked, folder)` gives an `Original`.
        refused: what of `Asked` is no business of it.
        needed: what of `Asked` it can't do without.
    """

    title: str
    module: str
    refused: tuple[str, ...]
    needed: tuple[str, ...] = ()


OF_GRAPHS, OF_MODELS = ("inputs", "outputs"), ("weights", "custom", "layers")
WHOLE = Kind("a whole model of Keras 2", "models", (*OF_GRAPHS, "weights"))
CONFIGURATION = Kind("a configuration of Keras 2", "models", OF_GRAPHS, ("weights",))
GRAPH = Kind("a graph of TensorFlow 1", "graphs", OF_MODELS)
SAVED = Kind("a saved function", "functions", (*OF_GRAPHS, *OF_MODELS))
BY_SUFFIX = {
    ".safetensors": SAVED,
    **dict.fromkeys((".h5", ".hdf5"), WHOLE),
    **dict.fromkeys((".json", ".yaml", ".yml"), CONFIGURATION),
    **dict.fromkeys((".pb", ".pbtxt", ".meta"), GRAPH),
}
# What belongs to other kinds of sources, in words.
OPTIONS = {
    "inputs": "--inputs names tensors of a graph",
    "outputs": "--outputs names tensors of a graph",
    "weights": "--weights is for a configuration: a file of JSON or YAML",
    "custom": "--custom is for models of Keras",
    "layers": "--to keras3 takes a model of Keras 2, which has layers; Keras 3 runs a graph as"
    " keras.layers.TFSMLayer(folder), which --to savedmodel writes",
}
NEEDS = {"weights": "it has no weights: name their file (.h5) by --weights"}


def original(asked: Asked, folder: str) -> Original:
    """What was read of the source.

    Args:
        asked: what is to be converted.
        folder: gets files that are needed as long as it is.

    Raises:
        CommandError: it isn't what's taken, or not with these options.
    """
    kind = _kind(asked.path)
    for name in kind.refused:
        if getattr(asked, name):
            raise CommandError(f"{asked.path} is {kind.title}: {OPTIONS[name]}")
    for name in kind.needed:
        if not getattr(asked, name):
            raise CommandError(f"{asked.path} is {kind.title}: {NEEDS[name]}")
    module: Any = importlib.import_module(f"{__package__}.{kind.module}")
    found: Original = module.read(asked, folder)
    return found


def _kind(path: Path) -> Kind:
    if path.is_dir():
        if any((path / name).is_file() for name in SAVED_MODEL):
            return GRAPH
        raise CommandError(f"{path}: this folder has no {SAVED_MODEL[0]}: it's no SavedModel")
    with path.open("rb") as file:
        head = file.read(len(HDF5))
    kind = BY_SUFFIX.get(path.suffix.lower())
    if head == HDF5:
        return WHOLE
    if kind is WHOLE:
        raise CommandError(f"{path} is no HDF5 file, or it's damaged")
    if kind is None:
        why = "is a file of Keras 3's, or another archive" if head.startswith(ZIP) else "is neither"
        raise CommandError(
            f"{path} {why}: what's taken are models of Keras 2 in HDF5 (.h5), their configurations"
            " (.json, .yaml), graphs of TensorFlow 1 (.pb, .pbtxt, .meta, the folder of a"
            " SavedModel), and saved functions (.safetensors)"
        )
    return kind
