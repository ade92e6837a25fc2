"""What was found of engines, kept on disk for later processes.

A file for each program with the sizes of its arguments, the versions of all libraries, the machine,
and the number of threads. A file that can't be read, or holds something else, is as none.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ..._utils import files
from ...config import ENGINES, folders
from .. import saving
from .trial import Candidate, candidate_of

if TYPE_CHECKING:
    from ..function import Function

FORMAT = 1
# At most this many files are kept; the oldest go first.
MOST = 1000
# What else a function's time depends on.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "XLA_FLAGS")


def folder() -> str:
    """Where it's kept: KAMELEON_AUTO, or a folder of the user's caches.

    >>> os.path.basename(folder())
    'auto'
    """
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return folders.folder("KAMELEON_AUTO", "auto", os.path.join(caches, "kameleon"))


def is_there() -> bool:
    """Whether anything is kept."""
    return os.path.isdir(folder())


def look_up(function: Function, values: Sequence[Any]) -> list[Candidate]:
    """What was found of a function's engines with values of these sizes; nothing, if that isn't
    known.
    """
    try:
        with open(_path(function, values), encoding="utf-8") as file:
            data = json.load(file)
        if data["format"] != FORMAT:
            return []
        return [candidate_of(row) for row in data["candidates"]]
    except Exception:  # whatever is in the file, it mustn't disturb a call
        return []


def keep(function: Function, values: Sequence[Any], found: Iterable[Candidate]) -> None:
    """Keep what was found, if that can be written."""
    rows = [c.data for c in found if c.is_sound]
    if not rows:
        return
    with suppress(Exception):
        os.makedirs(folder(), exist_ok=True)
        data = json.dumps({"format": FORMAT, "candidates": rows}).encode()
        files.replace(_path(function, values), data)
        _forget_oldest()


def count() -> int:
    """How many functions are known."""
    return len(_kept())


def clear() -> int:
    """Forget everything; how many functions were known."""
    known = _kept()
    for entry in known:  # and nothing else that may be in a folder that somebody has named
        with suppress(OSError):
            os.remove(entry.path)
    return len(known)


def _kept() -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder()) as entries:
        return [entry for entry in entries if entry.name.endswith(".json")]
    return []


def _forget_oldest() -> None:
    kept = sorted(_kept(), key=lambda entry: entry.stat().st_mtime)
    for entry in kept[: max(0, len(kept) - MOST)]:
        with suppress(OSError):
            os.remove(entry.path)


def _path(function: Function, values: Sequence[Any]) -> str:
    about = [
        saving.program_of(function),
        [[list(x.shape), str(x.dtype)] for x in values],
        _versions(),
        [platform.machine(), platform.processor(), os.cpu_count()],
        [os.environ.get(name, "") for name in THREADS],
    ]
    name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    return os.path.join(folder(), f"{name}.json")


def _versions() -> list[str]:
    found = []
    for library in ("kameleon", *(e.requirement.split()[0] for e in ENGINES.values())):
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{library} {metadata.version(library)}")
    return found
