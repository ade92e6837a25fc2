"""What the documentation says of formats and native objects is what sweeps find."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from .reading import LibraryError, Reader
from .sweep import COLUMNS, is_there, primitives, reasons, recorded, swept, table

SHARE = 50  # of so many primitives one is swept with every change


def test_the_table_has_each_primitive_and_each_column() -> None:
    head, _, *rows = table().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "primitive",
        *(column.title for column in COLUMNS.values()),
    ]
    assert [row.split("`")[1] for row in rows] == primitives()
    row = "| ONNX | `ctc_beam_search`, `ctc_greedy` | there is no such operator |"
    assert row in reasons().splitlines()


def test_a_process_that_ends_is_an_answer(tmp_path: Path) -> None:
    read = Reader()
    dying, living = "import os\nload = lambda path: os.abort()", "load = lambda path: lambda x: x"
    for reload, found in ((living, [1]), (dying, None), (living, [2])):
        if found is None:
            with pytest.raises(LibraryError, match="ends the process"):
                read(reload, str(tmp_path), [])
        else:
            assert read(reload, str(tmp_path), found) == found


def _is_swept(name: str, primitive: str) -> bool:
    return zlib.crc32(f"{name} {primitive}".encode()) % SHARE == 0


@pytest.mark.parametrize(
    ("name", "primitive"),
    [
        pytest.param(n, p, marks=() if _is_swept(n, p) else pytest.mark.nightly)
        for n in COLUMNS
        if n != "onnx"  # all of it is swept with every change, with its other tests
        for p in primitives()
    ],
)
def test_what_is_recorded_is_found(name: str, primitive: str) -> None:
    if not is_there(name):
        pytest.skip(f"needs {', '.join(COLUMNS[name].needs)}")
    assert swept(name, primitive) == recorded()[name].get(primitive)
