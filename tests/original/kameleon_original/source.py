"""The published source package of Keras 2.3.1: its tests, in a folder outside of the checkout."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REQUIREMENT = "keras==2.3.1"
ARCHIVE = "Keras-2.3.1.tar.gz"
SHA256 = "321d43772006a25a1d58eea17401ef2a34d388b588c9f7646c34796151ebc8cc"


class SourceError(Exception):
    """The source package can't be had; the message says what to do."""


def cache() -> Path:
    """The folder that keeps the package and what was unpacked of it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kameleon" / "keras-2.3.1-source"


def tests(folder: Path | None = None) -> Path:
    """The folder `tests` of the source package, fetched and unpacked if that isn't done yet.

    Args:
        folder: an unpacked source package, or a folder that holds the archive; None to fetch.

    Raises:
        SourceError: the package isn't there, or can't be fetched.
    """
    place = folder or cache()
    if (place / "tests" / "keras").is_dir():
        return place / "tests"
    archive = place / ARCHIVE
    if not archive.is_file():
        if folder is not None:
            raise SourceError(f"--source {folder}: holds neither tests/keras nor {ARCHIVE}")
        fetch(place)
    _check(archive)
    unpacked = place if os.access(place, os.W_OK) else cache()
    unpack(archive, unpacked)
    return unpacked / "tests"


def fetch(folder: Path) -> None:
    """Download the archive into the folder, by pip."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # others may fetch at the same time
        said = _download(Path(scratch))
        if not (Path(scratch) / ARCHIVE).is_file():
            raise SourceError(
                f"the source package of {REQUIREMENT} can't be downloaded: {said}\n"
                f"Where there is no network, fetch {ARCHIVE} elsewhere, and name the folder that "
                "holds it (or what's unpacked of it) by --source"
            )
        (Path(scratch) / ARCHIVE).replace(folder / ARCHIVE)


def _download(folder: Path) -> str:
    """Let pip download the package; the last line that pip wrote."""
    line = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    line += ["--no-deps", "--no-binary", ":all:", "--dest", str(folder), REQUIREMENT]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return (done.stderr.strip().splitlines() or ["it gave no archive"])[-1]


def _check(archive: Path) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise SourceError(f"{archive} isn't the published package: its SHA-256 is {found}")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the tests alone; all of them, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch, tarfile.open(archive) as package:
        inside = [m for m in package.getmembers() if m.name.split("/")[1:2] == ["tests"]]
        package.extractall(scratch, members=inside, filter="data")
        (top,) = Path(scratch).iterdir()
        with contextlib.suppress(OSError):  # another process was faster
            (top / "tests").rename(folder / "tests")
