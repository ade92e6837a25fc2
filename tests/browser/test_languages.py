"""The language switch keeps the page; old addresses lead to the new pages, in each language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.pages import FUNCTION, KINDS, SEARCH, START, in_languages, is_built, param
from docs.building import redirects
from docs.building.languages import LANGUAGES, SOURCE

if TYPE_CHECKING:
    from browser.reader import Reader


@in_languages("page", rows=[(page,) for page in KINDS], few=2)
def test_the_switch_keeps_the_page_and_the_place(reader: Reader, language: str, page: str) -> None:
    reader.open(f"{language}/{page}.html")
    assert reader.ask("document.documentElement.lang") == LANGUAGES[language].tag
    assert reader.texts(".languages [aria-current]") == [LANGUAGES[language].title]
    others = [folder for folder in LANGUAGES if folder != language]
    assert reader.links(".languages a") == [f"{folder}/{page}.html" for folder in others]
    for other in filter(is_built, others):
        reader.open(f"{language}/{page}.html#furo-main-content")
        reader.click(f".languages a[hreflang={LANGUAGES[other].tag}]")
        reader.until(lambda other=other: reader.place == f"{other}/{page}.html#furo-main-content")
        assert reader.ask("document.documentElement.lang") == LANGUAGES[other].tag


@in_languages()
def test_pages_without_a_translation_say_so(reader: Reader, language: str) -> None:
    reader.open(f"{language}/choosing.html")
    assert len(reader.texts(".in-english")) == (language != SOURCE)
    assert reader.ask("document.querySelector('article h1').closest('[lang]').lang") == "en"
    reader.open(f"{language}/{FUNCTION}.html")
    assert reader.texts(".in-english") == []
    own = reader.ask("document.querySelector('article h1').closest('[lang]').lang")
    assert own == LANGUAGES[language].tag
    tree = dict(zip(reader.links(".sidebar-tree a"), langs_of(reader), strict=True))
    assert tree[f"{language}/choosing.html"] == "en"
    assert tree[f"{language}/start/install.html"] == LANGUAGES[language].tag


def langs_of(reader: Reader) -> list[str]:
    found = "[...document.querySelectorAll('.sidebar-tree a')].map(x => x.closest('[lang]').lang)"
    return reader.ask(found)  # type: ignore[no-any-return]


ANCHORS = {
    "conv2d": FUNCTION,
    "CTC_batch_cost": "backend/functions/ctc_batch_cost",
    "in_train_phase": "backend/functions/in_train_phase",
    "switching-from-one-backend-to-another": "backend/switching",
    "kerasjson-details": "backend/keras_json",
    "backend-functions": "backend/functions/index",
    "": "backend/index",
    "no-such-function": "backend/index",
}


@in_languages("anchor", rows=[(anchor,) for anchor in ANCHORS], few=8)
def test_anchors_of_old_addresses_lead_to_pages(reader: Reader, language: str, anchor: str) -> None:
    [old] = [old for old, folder in redirects.pages().items() if folder == language]
    reader.open(f"{old}/" + (f"#{anchor}" if anchor else ""))
    page = f"{language}/{ANCHORS[anchor]}"
    there = {f"{page}.html", page.removesuffix("index"), f"{page.removesuffix('index')}#{anchor}"}
    reader.until(lambda: reader.place in there, f"not at {page}")
    assert reader.ask("document.documentElement.lang") == LANGUAGES[language].tag


@pytest.mark.parametrize(
    ("language", "spoken"),
    [
        param("en", "en-GB"),
        param("en", "fr-FR"),
        param("ko", "ko-KR", nightly=True),
        param("ja", "ja", nightly=True),
        param("zh_CN", "zh-TW", nightly=True),
    ],
)
def test_the_root_leads_to_the_readers_language(reader: Reader, language: str, spoken: str) -> None:
    reader.speak(spoken)
    reader.open("")
    reader.until(lambda: reader.place == f"{language}/{START}.html")


@in_languages()
def test_a_search_is_kept_by_the_switch(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q=conv2d")
    reader.until(lambda: reader.texts("[role=option]"))
    for other in filter(is_built, LANGUAGES):
        if other != language:
            reader.click(f".languages a[hreflang={LANGUAGES[other].tag}]")
            reader.until(lambda other=other: reader.place == f"{other}/{SEARCH}.html?q=conv2d")
            reader.until(lambda: reader.texts("[role=option]"))
