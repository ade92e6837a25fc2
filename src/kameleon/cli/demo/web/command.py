"""`kameleon demo --web FOLDER`: makes the page, and says how to see it."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from kameleon.cli.demo.loading import load_backend
from kameleon.cli.demo.web import onnxruntime_web
from kameleon.cli.output import console
from kameleon.cli.parsing import CommandError, empty

LIBRARIES = ("onnx", "onnxruntime")  # the one writes the model, the other tries it
MEGABYTE = 1e6


def make(path: Path, local: Path | None, engine: str, passes: int, seed: int) -> None:
    """Write the page.

    Args:
        path: of its folder, which is made, or is empty.
        local: see `onnxruntime_web.files`.
        engine: whose losses the page's are held against.
        passes: over the digits for training, for a click in the page.
        seed: see `folder.write`.

    Raises:
        CommandError: a library isn't here, the folder isn't empty or can't be written to, or ONNX
            Runtime Web can't be had.
    """
    if missing := " ".join(name for name in LIBRARIES if find_spec(name) is None):
        raise CommandError(f"--web needs {missing}, not installed here: pip install {missing}")
    empty(path)
    library = _library(local)
    load_backend(engine)
    from kameleon import backend as K
    from kameleon.cli.demo.web import folder

    with _progress(BarColumn(), TextColumn("{task.fields[state]}")) as progress:
        task = progress.add_task(f"training on {engine}", total=None, state="")

        def show(done: int, total: int, loss: float) -> None:
            progress.update(task, completed=done, total=total, state=f"loss {loss:.4f}")

        with K.using_engine(engine):
            found = folder.write(path, library, seed, passes, show)
    print(f"Accuracy on held-out digits: {found.accuracy:.2%}, on {engine}.")
    print(f"The page: {path / folder.FIRST} and what lies beside it, {_size(path):.0f} MB.")
    print("Browsers run it when it comes from a server:")
    print(f"    python -m http.server --directory {shlex.quote(str(path))}")


def _progress(*columns: BarColumn | DownloadColumn | TextColumn) -> Progress:
    return Progress(TextColumn("{task.description}"), *columns, console=console())


def _library(local: Path | None) -> dict[str, bytes]:
    if local is not None:
        return onnxruntime_web.files(local)
    with _progress(BarColumn(), DownloadColumn()) as progress:
        task = progress.add_task(f"fetching ONNX Runtime Web {onnxruntime_web.VERSION}", total=None)
        return onnxruntime_web.files(
            None, lambda done, total: progress.update(task, completed=done, total=total or None)
        )


def _size(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / MEGABYTE
