"""Where things lie in the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
TESTS = ROOT / "tests"
LOCALE = DOCS / "locale"
COVER = DOCS / "cover.png"  # the README's picture
FUNCTIONS = DOCS / "backend" / "functions"  # written by each build, and not committed
PROGRAMS = DOCS / "examples"  # the same for the programs of `examples/`
PICTURES = DOCS / "pictures"  # what they draw: `python -m docs pictures`
WORK = ROOT / "build" / "site"
HTML = WORK / "html"
