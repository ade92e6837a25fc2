"""Files of records: reading and writing them, and event files, without a graph."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from ..failures import failure
from ..formats.events import EventFile
from ..formats.records import Reader, Writer
from ..formats.tables import DamagedError
from ..paths import path_of
from .exports import as_text, export
from .files import on_paths


class RecordReader:
    """Reads records, one after the other."""

    def __init__(self, path: str, offset: int, packing: str | bytes) -> None:
        self._reader, self._record = Reader(path, as_text(packing), offset), b""

    def GetNext(self) -> None:  # noqa: N802
        try:
            found = self._reader.next()
        except DamagedError as error:
            raise failure("DATA_LOSS", str(error)) from error
        if found is None:
            raise failure("OUT_OF_RANGE", "eof")
        self._record = found

    def record(self) -> bytes:
        """The record that was read last."""
        return self._record

    def offset(self) -> int:
        """Where the next record begins."""
        return self._reader.offset

    def Close(self) -> None:  # noqa: N802
        self._reader.close()


@export("RecordWriterOptions_CreateRecordWriterOptions")
def _options(packing: bytes) -> Any:
    return SimpleNamespace(
        packing=as_text(packing), zlib_options=SimpleNamespace(compression_level=-1)
    )


@export("PyRecordWriter")
class RecordWriter:
    """Writes records."""

    def __init__(self, path: str, options: Any) -> None:
        level = options.zlib_options.compression_level
        self._writer = Writer(path, options.packing, level)

    def WriteRecord(self, record: str | bytes, status: Any = None) -> None:  # noqa: N802
        self._writer.write(record.encode() if isinstance(record, str) else record)

    def Flush(self, status: Any = None) -> None:  # noqa: N802
        self._writer.flush()

    def Close(self, status: Any = None) -> None:  # noqa: N802
        self._writer.close()


export("PyRecordReader_New")(
    on_paths(lambda path, offset, packing, *_: RecordReader(path, offset, packing))
)
export("PyRecordWriter_New")(on_paths(lambda path, options, *_: RecordWriter(path, options)))


@export("EventsWriter")
class EventsWriter:
    """Writes an event file, which is begun with the first event."""

    def __init__(self, prefix: str | bytes) -> None:
        self._file = EventFile(path_of(prefix))

    def InitWithSuffix(self, suffix: str | bytes) -> None:  # noqa: N802
        self._file.suffix = as_text(suffix)
        self._file.begin()

    def FileName(self) -> bytes:  # noqa: N802
        self._file.begin()
        return os.fsencode(self._file.path)

    def WriteEvent(self, event: Any) -> None:  # noqa: N802
        if type(event).__name__ != "Event":
            raise TypeError(f"Expected an event_pb2.Event proto,  but got {type(event)}")
        self._file.write(event.SerializeToString())

    def _WriteSerializedEvent(self, event: bytes) -> None:  # noqa: N802
        self._file.write(event)

    def Flush(self) -> bool:  # noqa: N802
        self._file.flush()
        return True

    def Close(self) -> bool:  # noqa: N802
        self._file.close()
        return True
