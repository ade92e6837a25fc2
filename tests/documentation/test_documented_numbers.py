"""Numbers in hand-written pages of the documentation are those of the code and of the records."""

from __future__ import annotations

import json
import re

import pytest
from original.kameleon_original.groups import GROUPS

from documentation.test_docs import DOCS, ROOT
from kameleon.testing.comparison.result import ABSOLUTE, TOLERANCES

ORIGINAL = ROOT / "tests" / "original" / "kameleon_original"


def rows(page: str) -> list[list[str]]:
    """The cells of all tables on a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [line.strip("|").split("|") for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)]


def test_the_original_tests_that_pass() -> None:
    of_original = {group.name: group.on_tensorflow for group in GROUPS}
    shown = {
        name.strip(" *"): [
            int(cell.strip(" *").replace(",", "").replace("—", "0")) for cell in cells
        ]
        for name, *cells in rows("own_tests.md")[2:]
    }
    recorded = json.loads((ORIGINAL / "expected.json").read_text(encoding="utf-8"))
    above_files = {name: counts for name, counts in recorded.items() if " on " in name}
    for ground, counts in recorded.items():
        for label, (on_kameleon, on_tensorflow, original) in shown.items():
            names = of_original if label == "all" else label.split(", ")
            ours = on_tensorflow if ground in above_files else on_kameleon
            assert ours == sum(counts.get(name, 0) for name in names), (ground, label)
            assert original == sum(of_original[name] for name in names), label


def test_tolerances_of_comparisons() -> None:
    shown = {row[0].strip(): row[1:] for row in rows("comparing.md")}
    for dtype, relative in TOLERANCES.items():
        numbers = [float(cell) for cell in shown[dtype]]
        assert numbers == pytest.approx([relative, relative * ABSOLUTE])
