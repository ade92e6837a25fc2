"""Numbers in hand-written pages of the documentation are those of the code and of the records."""

from __future__ import annotations

import json
import re

import pytest
from original.kameleon_original.groups import GROUPS
from test_docs import DOCS, ROOT

from kameleon.comparison.result import ABSOLUTE, TOLERANCES

ORIGINAL = ROOT / "tests" / "original" / "kameleon_original"


def rows(page: str) -> list[list[str]]:
    """The cells of all tables on a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [line.strip("|").split("|") for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)]


def test_the_original_tests_that_pass() -> None:
    of_original = {group.name: group.on_tensorflow for group in GROUPS}
    shown = {
        name.strip(" *"): [int(cell.strip(" *").replace(",", "")) for cell in cells]
        for name, *cells in rows("own_tests.md")[2:]
    }
    for engine in json.loads((ORIGINAL / "expected.json").read_text(encoding="utf-8")).values():
        whole = {name: [engine[name], of_original[name]] for name in engine}
        for label, numbers in shown.items():
            names = engine if label == "all" else label.split(", ")
            columns = zip(*(whole[name] for name in names), strict=True)
            assert numbers == [sum(column) for column in columns], label


def test_tolerances_of_comparisons() -> None:
    shown = {row[0].strip(): row[1:] for row in rows("comparing.md")}
    for dtype, relative in TOLERANCES.items():
        numbers = [float(cell) for cell in shown[dtype]]
        assert numbers == pytest.approx([relative, relative * ABSOLUTE])
