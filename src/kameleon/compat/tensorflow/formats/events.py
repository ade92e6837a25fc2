"""Event files, which TensorBoard shows."""

from __future__ import annotations

import itertools
import os
import socket
import time

from ..protocol.messages import message
from .records import Writer

_numbers = itertools.count()


class EventFile:
    """A file of events, which is begun with the first one.

    Args:
        prefix: how its name begins.
        suffix: how its name ends.
    """

    def __init__(self, prefix: str, suffix: str = "") -> None:
        self.prefix, self.suffix, self.path = prefix, suffix, ""
        self._writer: Writer | None = None

    def begin(self) -> Writer:
        """Begin the file, unless it has been."""
        if self._writer is None:
            now = time.time()
            name = f"{self.prefix}.out.tfevents.{int(now):010d}.{socket.gethostname()}"
            self.path = name + self.suffix
            if os.path.exists(self.path):
                self.path += f".{os.getpid()}.{next(_numbers)}"
            self._writer = Writer(self.path)
            event = message("Event")(wall_time=now, file_version="brain.Event:2")
            self._writer.write(event.SerializeToString())
            self._writer.flush()
        return self._writer

    def write(self, event: bytes) -> None:
        """Write an event, which is a message."""
        self.begin().write(event)

    def flush(self) -> None:
        """See that others can read what has been written."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the file; what's written then begins another one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
