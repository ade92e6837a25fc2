"""The command `kameleon convert`."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.text import Text

import kameleon
from kameleon.cli.output import show, waiting
from kameleon.cli.parsing import CommandError, Parser, file, one_of, readable
from kameleon.errors import KameleonError

from .apart import SELECT, UNTRIED, said
from .sources import Asked, original

USAGE = "kameleon convert [OPTIONS] SOURCE --to FORMAT"
ABOUT = """\
Convert a model of Keras 2, a graph of TensorFlow 1 or a saved function to a file that another
library runs, without Kameleon. SOURCE is a whole model (.h5), its configuration (.json, .yaml) with
--weights, a frozen graph (.pb, .pbtxt), the folder of a SavedModel, a .meta with its checkpoint, or
a function's file (.safetensors). The file is tried in a fresh process: it's only there if it
predicts what the original predicts."""
FORMATS = """\
jax or stablehlo (.stablehlo), keras3 (.keras), litert (.tflite), onnx (.onnx), tensorflow or
savedmodel (a folder), torch (.pt2); kameleon (.safetensors) for kameleon.load"""
HEAD = ("result", "inputs", "largest difference", "of what is allowed")


def main(arguments: Sequence[str]) -> None:
    """Convert what the command line names."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # else TensorFlow tells much while it writes
    with redirect_stderr(io.StringIO()):  # the backend says there which engine it has
        kameleon.set_engine("numpy")  # no other engine's library is needed
        from .targets import KERAS3, NAMES, require, target, write
    parser = _parser(NAMES)
    found = parser.understood(arguments)
    chosen, start = target(found.to), perf_counter()
    options = {"select_tf_ops": True} if found.select_tf_ops else {}
    if options and chosen is not target("litert"):
        parser.error(f"{SELECT} is for LiteRT, not for {chosen.title}")
    out = _place(found.out, found.source, chosen.suffix, chosen is KERAS3)
    kept = {name: getattr(found, name) for name in ("weights", "custom", "inputs", "outputs")}
    asked = Asked(found.source, **kept, layers=chosen is KERAS3, check=not found.no_check)
    try:
        require(chosen)
        with waiting(f"reading {found.source}") as shown, TemporaryDirectory() as folder:
            read = original(asked, folder)
            shown.update(f"writing and trying {out}")
            checked = write(read, out, chosen, folder, options)
    except KameleonError as error:
        raise CommandError(said(error)) from error
    for note in read.notes:
        print(note)
    if checked:
        show(HEAD, list(_rows(checked)))
    print(f"{out} ({chosen.title}, {perf_counter() - start:.1f} s)")


def _parser(names: Sequence[str]) -> Parser:
    parser = Parser("convert", ABOUT, USAGE)
    parser.add_argument("source", metavar="SOURCE", type=_path, help=argparse.SUPPRESS)
    parser.option("--to", "FORMAT", FORMATS, one_of(names), required=True)
    place = "where it goes (SOURCE with the format's suffix); one that exists is replaced"
    parser.option("-o --out", "PATH", place)
    parser.option("--weights", "FILE", "weights of a configuration", file)
    objects = "a module, or its file, whose classes and functions are the model's custom objects"
    parser.option("--custom", "MODULE", objects)
    for what in ("inputs", "outputs"):
        about = f"a graph's {what}: names of tensors, with commas between"
        parser.option(f"--{what}", "NAMES", about, _names, default=())
    parser.switch(SELECT, "of LiteRT: take operations of TensorFlow where it has none of its own")
    parser.switch(UNTRIED, "don't try the file")
    return parser


def _place(named: str | None, source: Path, suffix: str, is_needed: bool) -> str:
    """Where the file goes: what's named, or beside the source.

    Raises:
        CommandError: it can't be there.
    """
    stem = source.name if source.is_dir() else source.stem
    out = Path(named) if named else source.with_name(stem + suffix)
    if is_needed and out.suffix != suffix:
        raise CommandError(f"Keras loads {suffix} alone, and not {out}")
    if not out.parent.is_dir():
        raise CommandError(f"there is no folder {out.parent}: make it first")
    if out.exists() and out.samefile(source):
        raise CommandError(f"{out} is the source itself: name another place by --out")
    return str(out)


def _path(text: str) -> Path:
    meta = f"; name {text}.meta" if Path(f"{text}.meta").exists() else ""
    path = readable(text, hint=meta)
    return path.resolve() if path.name in ("", "..") else path


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"takes names with commas between, not {text!r}")
    return names


def _rows(checked: Sequence[Any]) -> Iterator[list[Text]]:
    for call, differences in checked:
        shapes = ", ".join(str(list(x.shape)) for x in call.given)
        for each in differences:
            cells = (each.name, shapes, f"{each.largest:.1e}", f"{each.excess:.2%}")
            yield [Text(cell) for cell in cells]
