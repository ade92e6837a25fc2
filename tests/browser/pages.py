"""Which pages are read, and in which languages: those that are built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from docs.building.languages import LANGUAGES, SOURCE
from docs.building.places import HTML

START, FUNCTION, SEARCH = "index", "backend/functions/conv2d", "search"
# What kinds of pages there are.
KINDS = (
    START,
    "start/first_graph",
    "backend/tensors",
    "backend/functions/index",
    "backend/functions/chapter_convolution",
    FUNCTION,
    "backend/functions/ctc_batch_cost",
    "backend/functions/rnn",
    "backend/functions/dropout",
    "choosing",
    SEARCH,
)
# Pages with long tables, which take axe some time.
TABLES = ("support", "names")
FEW = (START, FUNCTION, SEARCH)  # with every change, in English


def is_built(language: str) -> bool:
    return (HTML / language / "search-index.js").exists()


def all_pages(language: str) -> list[str]:
    """All pages of a language, built or not."""
    folder = HTML / language
    return sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.html"))


def param(language: str, *values: Any, nightly: bool = False) -> Any:
    """A language and what else a test takes; it's skipped where the language isn't built."""
    marks = [pytest.mark.nightly] if nightly else []
    if not is_built(language):
        marks.append(
            pytest.mark.skip(reason=f"not built: python -m docs build --languages {language}")
        )
    name = "-".join(map(str, (language, *values))).replace("/", ".")
    return pytest.param(language, *values, marks=marks, id=name)


def in_languages(*columns: str, rows: Iterable[tuple[Any, ...]] = ((),), few: int = 1) -> Any:
    """Parametrize a test by language, and by rows of a table; with every change the first rows run
    alone, in English.
    """
    return pytest.mark.parametrize(
        ("language", *columns) if columns else "language",
        [
            param(language, *row, nightly=language != SOURCE or i >= few)
            for language in LANGUAGES
            for i, row in enumerate(rows)
        ],
    )
