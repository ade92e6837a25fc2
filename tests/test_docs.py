"""The generated page of primitives is what the tables say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_the_page_of_primitives_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_docs", DOCS / "make.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    written = (DOCS / "primitives.md").read_text(encoding="utf-8")
    assert written == make.page(), "run `python docs/make.py`"
