"""The search index: what pages say, by section, in one file for each language.

The reader's browser reads it whole and looks for words in it (`docs/static/search.js`), which needs
no server. Half a megabyte of text is little for that, and a word is found wherever it stands, also
in languages that write no spaces.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from docs.building.languages import SOURCE, is_translated
from docs.building.pairs import glossary
from docs.building.places import LOCALE

FILE = "search-index.js"
ARTICLE = re.compile(r'<article role="main".*?</article>', re.DOTALL)
# What isn't read, or says nothing of its page: pictures, formulas, links to others.
SILENT = re.compile(
    r'<(svg|math|script|style|noscript)\b.*?</\1>|<a class="headerlink".*?</a>'
    r'|<p class="in-english".*?</p>|<div class="names\b.*?</div>',
    re.DOTALL,
)
PRIMITIVES = {"engines"}  # stand on nearly all pages of functions
SIGNATURE = re.compile(r"<dt class=.sig .*?</dt>", re.DOTALL)  # its words come again below
FUNCTION_PAGE = re.compile(r"backend/functions/(?!index|chapter_)")
UNREAD = {"search"}


class Section(NamedTuple):
    """A heading, its anchor, and the text below it."""

    anchor: str
    title: str
    text: str


class Sections(HTMLParser):
    """Reads the sections of a page; each has its text up to the next heading."""

    def __init__(self, unread: set[str]) -> None:
        super().__init__()
        self.unread = unread
        self.parts: list[tuple[str, list[str], list[str]]] = []
        self.in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.parts.append((dict(attrs).get("id") or "", [], []))
        elif re.fullmatch("h[1-6]", tag):
            self.in_title = True
        elif tag not in INLINE:
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag):
            self.in_title = False
        elif tag not in INLINE:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self.parts:
            self.parts[-1][1 if self.in_title else 2].append(data)

    def found(self) -> list[Section]:
        return [
            Section(anchor, joined(title), joined(text))
            for anchor, title, text in self.parts
            if anchor not in self.unread
        ]


INLINE = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "sub", "sup", "wbr"}


def joined(parts: Sequence[str]) -> str:
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def sections(page: str, text: str) -> list[Section]:
    """The sections of a page of the built site; none where it isn't to be found."""
    article = ARTICLE.search(text)
    if article is None or page in UNREAD:
        return []
    is_function = FUNCTION_PAGE.match(page) is not None
    reader = Sections(PRIMITIVES if is_function else set())
    text = SILENT.sub("", article[0])
    reader.feed(SIGNATURE.sub("", text, count=1) if is_function else text)
    return reader.found()


def entries(folder: Path) -> list[list[object]]:
    """For each page its name, its sections, and whether it's in the language of the folder."""
    found: list[list[object]] = []
    for path in sorted(folder.rglob("*.html")):
        page = path.relative_to(folder).with_suffix("").as_posix()
        if parts := sections(page, path.read_text(encoding="utf-8")):
            found.append([page, int(is_translated(page)), parts])
    return found


def synonyms() -> list[dict[str, str]]:
    """What readers may call terms of the glossary, or parts of functions' names, by language."""
    with (LOCALE / "synonyms.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(language: str) -> dict[str, str]:
    """By what readers of this language may call a term, in English too, the word of the pages."""
    of_pages = {english: row.get(language, [english])[0] for english, row in glossary().items()}
    found = {english: word for english, word in of_pages.items() if english != word}
    for row in synonyms():
        for column in (SOURCE, language):
            found.update(dict.fromkeys(row[column].split(), of_pages.get(row["term"], row["term"])))
    return {said.lower(): word.lower() for said, word in found.items()}


def names(language: str) -> dict[str, list[str]]:
    """By the word of the pages English ones: names of functions are made of these."""
    others = {row["term"]: row[SOURCE].split() for row in synonyms()}
    return {
        word.lower(): [english, *others.get(english, ())]
        for english, row in glossary().items()
        for word in row.get(language, [english])
    }


def write(site: Path, languages: Sequence[str]) -> None:
    """Write the index of each language."""
    for language in languages:
        data = {
            "pages": entries(site / language),
            "words": words(language),
            "names": names(language),
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        # A script, not JSON: pages that are opened as files may not fetch, but have scripts.
        (site / language / FILE).write_text(f"window.searchIndex = {text};\n", encoding="utf-8")
