"""Messages and their translations: the same code, links and numbers; one glossary.

`python -m docs messages` brings the catalogues up to date with the pages.
"""

from __future__ import annotations

import pytest

from docs.building.languages import CATALOGUES, LANGUAGES, SOURCE
from docs.building.pairs import departures, glossary, lost
from docs.building.places import LOCALE

OTHERS = [language for language in LANGUAGES if language != SOURCE]


@pytest.mark.parametrize("name", CATALOGUES)
@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_complete_and_keep_code_links_numbers_and_terms(
    language: str, name: str
) -> None:
    pytest.importorskip("babel")
    from docs.building.catalogues import read

    found = []
    for message in read(LOCALE / language / "LC_MESSAGES" / f"{name}.po"):
        if message.id:
            assert message.string, f"translate it: {message.id}"
            assert not message.fuzzy, f"look at it again: {message.id}"
            pair = str(message.id), str(message.string)
            found += [(message.id, wrong) for wrong in lost(*pair)]
            found += [(message.id, term) for term in departures(*pair, language)]
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


@pytest.mark.parametrize(
    ("message", "translation", "missed"),
    [
        ("The gradients of a tensor.", "텐서의 그래디언트.", []),
        ("The gradients of a tensor.", "텐서의 기울기.", ["gradient"]),
        ("Batch by batch.", "하나씩.", ["batch"]),
        ("Tensor (batch, axis), `axis`, 'model/dense/'.", "텐서.", []),
        ("On Windows, see Batch Normalization.", "Windows에서는 Batch Normalization.", []),
    ],
)
def test_terms_that_are_not_the_glossarys_are_found(
    message: str, translation: str, missed: list[str]
) -> None:
    assert departures(message, translation, "ko") == missed


def test_the_glossary_has_every_term_in_every_language() -> None:
    terms = glossary()
    assert len(terms) > 80
    for term, words in terms.items():
        assert list(words) == OTHERS and all(map(all, words.values())), term
    for language in OTHERS:
        used = [words[language][0] for words in terms.values()]
        twice = {word for word in used if used.count(word) > 1}
        assert not twice, f"one word for two terms: {twice}"
