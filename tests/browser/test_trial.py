"""The network in the start page: loaded when it's opened, in the page's colours, all of it seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.pages import START, in_languages
from docs.building import trial

if TYPE_CHECKING:
    from browser.reader import Reader

if not trial.is_there():
    pytest.skip("the site is built without it", allow_module_level=True)

LOADED = "performance.getEntriesByType('resource').some(x => x.name.includes('/try/'))"
ROOT = "document.querySelector('.try iframe').contentDocument.documentElement"
# How much of the network's page doesn't fit into its frame.
HIDDEN = f"{ROOT}.scrollHeight - document.querySelector('.try iframe').clientHeight"


@in_languages("width", "dark", rows=[(1280, False), (375, True)], few=2)
def test_the_network_opens_in_the_start_page(
    reader: Reader, language: str, width: int, dark: bool
) -> None:
    reader.window(width, dark=dark)
    reader.open(f"{language}/{START}.html")
    assert not reader.ask(LOADED), "14 MB that nobody has asked for"
    reader.click(".try summary")
    for last in [False] * 5 + [True]:  # to compile it takes a busy machine long
        try:
            reader.until(lambda: reader.ask(f"{ROOT}?.classList.contains('ready')"))
            break
        except AssertionError:
            assert not last, reader.complaints()
    reader.until(lambda: reader.ask(HIDDEN) <= 0, "all of it is seen")
    assert reader.ask("document.scrollingElement.scrollWidth <= innerWidth")
    for theme in ("light", "dark"):
        reader.ask("document.body.dataset.theme = arguments[0]", theme)
        scheme = f"getComputedStyle({ROOT}).colorScheme"
        reader.until(lambda theme=theme, scheme=scheme: reader.ask(scheme) == theme, theme)
    assert reader.complaints() == []
