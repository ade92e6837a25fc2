"""Calls that the originals disagreed on: each engine gives what the page on numerics shows.

`recorded/README.md` says how the originals' results were made.
"""

from __future__ import annotations

import re

import pytest
from documentation.test_docs import DOCS, make

PAGE = (DOCS / "numerics.md").read_text(encoding="utf-8")
MADE = make()


@pytest.mark.usefixtures("engine")
def test_each_engine_gives_what_the_page_shows() -> None:
    assert MADE.numerics_page() == PAGE, "run `python docs/make.py`"


def test_each_decision_is_on_the_page_once() -> None:
    marks = re.findall(r"<!-- table: (\w+) -->", PAGE)
    differing = [
        topic
        for topic, calls in MADE.decisions().items()
        if any(MADE.differ(answers) for _, answers in calls)
    ]
    assert sorted(marks) == sorted([*differing, "agreed", "golden"])
    assert len(differing) > 20
