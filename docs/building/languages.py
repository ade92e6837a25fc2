"""The languages of the site."""

from __future__ import annotations

from typing import NamedTuple


class Language(NamedTuple):
    """A language of the site.

    Attributes:
        title: its name in itself, for the switch.
        tag: as HTML has it.
        older: the folder of this language in the original's documentation.
    """

    title: str
    tag: str
    older: str


# By the folder of the site that has its pages.
LANGUAGES = {
    "en": Language("English", "en", ""),
    "ko": Language("한국어", "ko", "ko"),
    "ja": Language("日本語", "ja", "ja"),
    "zh_CN": Language("简体中文", "zh-CN", "zh"),
}
SOURCE = "en"  # what the pages are written in

# What is translated, and must be complete in every language: the start page, *Start here*, and the
# backend with its functions. Each is one catalogue; other pages are in English everywhere.
CATALOGUES = ("index", "start", "backend")
BY_THEME = ("search", "404")  # pages that have the theme's words alone, and search


def is_translated(page: str) -> bool:
    """Whether a page, by its name, is in the reader's language, and not in English everywhere. So
    is a page that isn't written by us: the theme has its words.
    """
    catalogue = page.partition("/")[0]
    return catalogue in CATALOGUES or catalogue in BY_THEME
