"""Catalogues of messages, for translators: `docs/locale/LANGUAGE/LC_MESSAGES/NAME.po`.

A message names the first page that it stands on, and no line, so that a catalogue changes only
where messages do.
"""

from __future__ import annotations

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from sphinx_intl.basic import update

from docs.building.languages import CATALOGUES, LANGUAGES, SOURCE
from docs.building.places import DOCS, LOCALE

HEADER = "# Kameleon's documentation. Its pages are in docs/; see docs/building/catalogues.py."


def bring_up_to_date(templates: Path) -> None:
    """Take over what Sphinx has found in the pages. Translations of messages that are there still
    stay; where a message has changed, its translation is marked as fuzzy.
    """
    for template in templates.glob("*.pot"):
        if template.stem in CATALOGUES:
            lean(template)
        else:
            template.unlink()
    others = [language for language in LANGUAGES if language != SOURCE]
    update(str(LOCALE), str(templates), others, line_width=100)
    for language in others:
        for name in CATALOGUES:
            path = LOCALE / language / "LC_MESSAGES" / f"{name}.po"
            write(path, read(path))


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def lean(path: Path) -> None:
    """Leave out of a template what changes without need: lines, further pages, dates."""
    catalog = read(path)
    for message in catalog:
        message.locations = [(page_of(name), None) for name, _ in message.locations[:1]]
    catalog.header_comment, catalog.fuzzy = HEADER + "\n", False
    write(path, catalog)


def write(path: Path, catalog: Catalog) -> None:
    """Write messages in use, without a date: that of a template changes with each run."""
    with path.open("wb") as file:
        write_po(file, catalog, width=100, include_lineno=False, ignore_obsolete=True)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'"POT-Creation-Date: .*?"\n', "", text), encoding="utf-8")


def is_shown(language: str, built: Path) -> bool:
    """Whether a language's pages have its translations: the titles of *Start here*."""
    titles = {
        p.stem: p.read_text("utf-8").split("\n")[0][2:] for p in (DOCS / "start").glob("*.md")
    }
    catalog = read(LOCALE / language / "LC_MESSAGES" / "start.po")
    return all(
        f"<h1>{catalog[title].string}<" in (built / "start" / f"{page}.html").read_text("utf-8")
        for page, title in titles.items()
    )


def page_of(name: str) -> str:
    """A page's file, below docs."""
    return name.rpartition("docs/")[2]


def words(catalog: Catalog) -> tuple[int, int]:
    """How many messages there are to translate, and how many words they have."""
    texts = [str(message.id) for message in catalog if message.id]
    return len(texts), sum(len(text.split()) for text in texts)
