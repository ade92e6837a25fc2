"""Messages and their translations: the same code, links and numbers; one glossary.

`python -m docs messages` brings the catalogues up to date with the pages.
"""

from __future__ import annotations

import pytest

from docs.building.languages import CATALOGUES, LANGUAGES, SOURCE
from docs.building.pairs import glossary, lost
from docs.building.places import LOCALE

OTHERS = [language for language in LANGUAGES if language != SOURCE]


@pytest.mark.parametrize("name", CATALOGUES)
@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_complete_and_keep_code_links_and_numbers(
    language: str, name: str
) -> None:
    pytest.importorskip("babel")
    from docs.building.catalogues import read

    found = []
    for message in read(LOCALE / language / "LC_MESSAGES" / f"{name}.po"):
        if message.id:
            assert message.string, f"translate it: {message.id}"
            assert not message.fuzzy, f"look at it again: {message.id}"
            found += [(message.id, wrong) for wrong in lost(str(message.id), str(message.string))]
    assert not found


@pytest.mark.parametrize("name", CATALOGUES)
def test_catalogues_have_the_same_messages_in_every_language(name: str) -> None:
    pytest.importorskip("babel")
    from docs.building.catalogues import read, words

    each = [read(LOCALE / language / "LC_MESSAGES" / f"{name}.po") for language in OTHERS]
    ids = [[message.id for message in catalogue] for catalogue in each]
    assert ids[0] == ids[1] == ids[2] and words(each[0])[0] == len(ids[0]) - 1


@pytest.mark.parametrize(
    ("message", "translation", "wrong"),
    [
        ("Call `K.dot` 2 times.", "`K.dot`을 2번 부릅니다.", []),
        (
            "Call `K.dot` 2 times.",
            "`K.dott`을 3번 부릅니다.",
            ["-2", "-`K.dot`", "+3", "+`K.dott`"],
        ),
        ("[Install](install.md) it.", "[インストール](install.md)します。", []),
        ("[Install](install.md) it.", "インストールします。", ["-install.md"]),
        ("Keras 2.3.1 and 1,797 images", "Keras 2.3.1 和1797张图像", []),
        ("axis -1, float32", "float32，轴为-1", []),
    ],
)
def test_what_gets_lost_is_found(message: str, translation: str, wrong: list[str]) -> None:
    assert sorted(lost(message, translation)) == sorted(wrong)


def test_the_glossary_has_every_term_in_every_language() -> None:
    terms = glossary()
    assert len(terms) > 80
    for term, words in terms.items():
        assert list(words) == OTHERS and all(words.values()), term
    for language in OTHERS:
        used = [words[language] for words in terms.values()]
        twice = {word for word in used if used.count(word) > 1}
        assert not twice, f"one word for two terms: {twice}"
