"""keras.json as old code reads it by itself: the backend in there is the one it's told of.

However it reads the file (`open`, `io.open`, `Path.read_text`), Python opens it by `io.open`. The
file stays as it is, and everybody else reads what it holds.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import sys
from types import FrameType
from typing import Any

from ... import config
from ...config import keras_json
from ...errors import ArgumentError
from .importers import asking, is_old
from .importing import are_names_given

python_open = io.open
_NAME = "keras.json"
_READING = ("r", "rt", "rb", "rU", "U")


def begin() -> None:
    """From now on, old code reads in keras.json what it's told. A second call does nothing."""
    global python_open
    if io.open is not settings_open:
        python_open = io.open
        builtins.open = io.open = settings_open


def settings_open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
    """`open`, for a program that reads keras.json by itself, too; its mode may have a U in it."""
    if (
        isinstance(mode, str)
        and "U" in mode
        and are_names_given()
        and _is_for_old(sys._getframe(1))
    ):
        mode = mode.replace("U", "")  # all newlines count as one, as they do anyhow
    if isinstance(file, str | os.PathLike) and mode in _READING:
        path = os.fspath(file)
        if isinstance(path, str) and path.endswith(_NAME):
            text = _settings_text(path)
            if text is not None:
                return io.BytesIO(text.encode()) if mode == "rb" else io.StringIO(text)
    return python_open(file, mode, *args, **options)


def _settings_text(file: str) -> str | None:
    """The text of the settings, for old code; None if it's another file, or can't be read: then
    Python's own `open` says what is wrong, or the program does.
    """
    path, shared = keras_json.find()
    is_ours = os.path.abspath(os.path.expanduser(file)) == os.path.abspath(path)
    if not is_ours or not _is_for_old(sys._getframe(2)) or not os.path.exists(path):
        return None
    try:
        content = keras_json.read(path, shared)
    except ArgumentError:
        return None
    return json.dumps(content | {"backend": config.known_as()}, indent=4)


def _is_for_old(frame: FrameType) -> bool:
    asks = asking(frame)
    return asks is not None and is_old(asks.f_globals)
