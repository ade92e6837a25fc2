"""Files of exports, read by their format's library in another process, which that may end."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class LibraryError(Exception):
    """A format's library can't read a file, or can't run it."""


class Reader:
    """A process that reads one file after the other; another one, where a kernel has ended it."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def __call__(self, reload: str, path: str, operands: Sequence[Array]) -> list[Array]:
        """What a file gives; see `formats.export` for `reload`.

        Raises:
            LibraryError: the library refuses it, or the process has ended.
        """
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), _end_with_parent)
            atexit.register(self._pool.shutdown)  # before its module is gone
        try:
            return self._pool.submit(_read, reload, path, list(operands)).result()
        except BrokenProcessPool:
            self._pool = None
            raise LibraryError("its kernel ends the process") from None


def _end_with_parent() -> None:
    """Have this process end where the other one is killed: it would wait for ever."""

    def wait() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _read(reload: str, path: str, operands: list[Array]) -> list[Array]:
    space: dict[str, Any] = {"__name__": "reload"}
    exec(reload, space)
    try:
        return [np.asarray(x) for x in space["load"](path)(operands)]
    except Exception as error:  # libraries' own can't be sent
        raise LibraryError(
            f"the library refuses its inputs\n{type(error).__name__}: {error}"
        ) from None
