"""The search index: what pages say, by section, in one file for each language.

The reader's browser reads it whole and searches in it (`docs/static/search.js`), which needs no
server.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from docs.building import functions
from docs.building.languages import SOURCE, is_translated
from docs.building.pairs import glossary
from docs.building.places import LOCALE

FILE = "search-index.js"
ARTICLE = re.compile(r'<article role="main".*?</article>', re.DOTALL)
# What isn't read, or says nothing of its page: pictures, formulas, links to others.
SILENT = re.compile(
    r'<(svg|math|script|style|noscript|thead)\b.*?</\1>|<a class="headerlink".*?</a>'
    r'|<p class="in-english".*?</p>|<div class="names\b.*?</div>',
    re.DOTALL,
)
PRIMITIVES = {"engines"}  # stand on nearly all pages of functions
SIGNATURE = re.compile(r"<dt class=.sig .*?</dt>", re.DOTALL)  # its words come again below
UNREAD = re.compile(r"search$|404$|_modules/")


class Section(NamedTuple):
    """A heading, its anchor, and the text below it."""

    anchor: str
    title: str
    text: str


class Sections(HTMLParser):
    """Reads the sections of a page; each has its text up to the next heading."""

    def __init__(self) -> None:
        super().__init__()
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
        return [Section(anchor, joined(title), joined(text)) for anchor, title, text in self.parts]


INLINE = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "sub", "sup", "wbr"}


def joined(parts: Sequence[str]) -> str:
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def sections(page: str, text: str) -> list[Section]:
    """The sections of a page of the built site; none where it isn't to be found."""
    article = ARTICLE.search(text)
    if article is None or UNREAD.match(page):
        return []
    reader, text = Sections(), SILENT.sub("", article[0])
    reader.feed(SIGNATURE.sub("", text, count=1) if function_of(page) else text)
    return reader.found()


def function_of(page: str) -> str:
    """The function whose page it is; empty if it's none's."""
    name = page.removeprefix("backend/functions/")
    return name if name != page and name in functions.names() else ""


def entries(folder: Path) -> Iterator[list[object]]:
    """For each page its name, whether it's in the language of the folder, the function's name, what
    readers may also call its subject and its chapter, and its sections. The page of a function is
    one section: all of these have the same headings.
    """
    groups = meanings(folder.name)
    for path in sorted(folder.rglob("*.html")):
        page = path.relative_to(folder).with_suffix("").as_posix()
        if not (parts := sections(page, path.read_text(encoding="utf-8"))):
            continue
        name, subject = function_of(page), parts[0].title
        topic = functions.chapter_of(name).title if name else ""
        if name:
            texts = [part.text for part in parts if part.anchor not in PRIMITIVES]
            parts = [Section("", name, " ".join(texts))]
        others = [also(subject, groups), also(topic, groups)]
        yield [page, int(is_translated(page)), name, others, parts]


def meanings(language: str) -> list[set[str]]:
    """Words of one meaning, in English and in this language: the glossary's term, and what readers
    may say for it, or names of functions have of it.
    """
    found = {term: {term, *words.get(language, ())} for term, words in glossary().items()}
    with (LOCALE / "synonyms.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            words = f"{row[SOURCE]} {row[language]}".split()
            found.setdefault(row["term"], {row["term"]}).update(words)
    return list(found.values())


def also(subject: str, groups: Sequence[set[str]]) -> str:
    """What readers may call the subject of a page, or of a chapter."""
    meant = [group for group in groups if any(is_in(word, subject) for word in group)]
    return " ".join(sorted({word for group in meant for word in group}))


def is_in(word: str, text: str) -> bool:
    """Whether a text has a word, also in the plural and as a part of a name: `conv` and `2d` in
    `conv2d`.
    """
    if not word.isascii():
        return word in text
    before = "0-9" if word[0].isdigit() else "a-z0-9"
    return re.search(rf"(?<![{before}]){re.escape(word)}(e?s)?(?![a-z])", text, re.I) is not None


def write(site: Path, languages: Sequence[str]) -> None:
    """Write the index of each language."""
    for language in languages:
        text = json.dumps([*entries(site / language)], ensure_ascii=False, separators=(",", ":"))
        # A script, not JSON: pages that are opened as files may not fetch, but have scripts.
        (site / language / FILE).write_text(f"window.searchIndex = {text};\n", encoding="utf-8")
