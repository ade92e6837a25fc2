"""What the documentation says of formats and native objects is what sweeps find."""

from __future__ import annotations

import pytest

from .sweep import COLUMNS, is_there, primitives, reasons, recorded, sweep, table


def test_the_table_has_each_primitive_and_each_column_that_was_swept() -> None:
    head, _, *rows = table().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "primitive",
        *(COLUMNS[name].title for name in COLUMNS if name in recorded()),
    ]
    assert [row.split("`")[1] for row in rows] == primitives()
    row = "| ONNX | `ctc_beam_search`, `ctc_greedy` | there is no such operator |"
    assert row in reasons().splitlines()


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(recorded()))
def test_what_is_recorded_is_found(name: str) -> None:
    if not is_there(name):
        pytest.skip(f"needs {', '.join(COLUMNS[name].needs)}")
    for primitive, answer, fault in sweep(name, primitives()):
        assert not fault
        assert answer == recorded()[name].get(primitive), primitive
