"""ONNX Runtime Web for tests: from the built site, from a path in `ORT_WEB`, or fetched."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from docs.building.places import HTML
from kameleon.cli.demo.web import onnxruntime_web
from kameleon.cli.parsing import CommandError

BUILT = HTML / "try" / "ort"


def library() -> dict[str, bytes]:
    """The files of the library; skips where they can't be had."""
    found = _found()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@functools.cache
def _found() -> dict[str, bytes] | str:
    named = os.environ.get("ORT_WEB")
    local = Path(named) if named else BUILT if BUILT.exists() else None
    try:
        return onnxruntime_web.files(local)
    except CommandError as error:
        return str(error)
