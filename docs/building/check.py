"""The built site: every link leads to a file that is there, and to a place in it; every page says
what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from docs.building.languages import LANGUAGES


class Page(NamedTuple):
    """What a page has of links.

    Attributes:
        links: where they lead to.
        places: what links may lead to in it.
        doubled: places that are there more than once.
        told: what the page says of itself.
    """

    links: set[str]
    places: set[str]
    doubled: set[str]
    told: set[str]


class Reader(HTMLParser):
    """Reads links and places of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found = Page(set(), set(), set(), set())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta" and ("name", "description") in attrs:
            self.found.told.add(dict(attrs)["content"] or "")
        for name, value in attrs:
            if name == "id" and value:
                (self.found.doubled if value in self.found.places else self.found.places).add(value)
            elif name in ("href", "src") and value and tag != "use":
                self.found.links.add(value)


def read(path: Path) -> Page:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.found


def faults(site: Path, built: Sequence[str] = tuple(LANGUAGES)) -> Iterator[str]:
    """Links that lead nowhere, places that are there twice, and pages without one description, in
    some languages. Addresses elsewhere aren't tried, nor are those of what hasn't been built.
    """
    site = site.resolve()
    pages = {path: read(path) for folder in built for path in (site / folder).rglob("*.html")}
    others = [site / folder for folder in {*LANGUAGES} - {*built}]
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name}: {place!r} twice" for place in page.doubled)
        if len(list(filter(None, page.told))) != 1:
            yield f"{name}: no description"
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if any(target.is_relative_to(folder) for folder in others):
                continue
            if not target.exists():
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and target in pages and parts.fragment not in pages[target].places:
                yield f"{name}: {link} has no such place"
