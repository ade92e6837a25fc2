"""What a message and its translation have in common, and the glossary of all translations."""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter

from docs.building.places import LOCALE

CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Numbers, wherever they stand: letters of other alphabets may follow without a space.
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![A-Za-z_])|(?<=[^\x00-\x7f])\d+(?:[.,]\d+)*")
# Names of axes, and what is quoted: `(batch, rows, columns)`, 'model/dense/'.
UNWORDED = re.compile(r"\([a-z0-9_, .+*-]*\)|'[^' ]*'")


def kept(text: str) -> Counter[str]:
    """What stays as it is: code, where links lead to, and numbers."""
    links = LINK.findall(text)
    bare = CODE.sub(" ", LINK.sub("]", text))
    numbers = [number.replace(",", "") for number in NUMBER.findall(bare)]
    return Counter([*(f"`{code}`" for _, code in CODE.findall(text)), *links, *numbers])


def lost(message: str, translation: str) -> list[str]:
    """What a translation leaves out, or has too much: `-x`, `+x`."""
    before, after = kept(message), kept(translation)
    return [f"-{x}" for x in before - after] + [f"+{x}" for x in after - before]


@functools.cache
def glossary() -> dict[str, dict[str, list[str]]]:
    """By English term its words in each language: the first one is that of the field, and others
    stand where the term means something else (an error of a program, and of a measurement).
    """
    with (LOCALE / "glossary.csv").open(encoding="utf-8", newline="") as file:
        rows = {row.pop("en"): row for row in csv.DictReader(file)}
    return {
        term: {language: words.split("/") for language, words in row.items()}
        for term, row in rows.items()
    }


def departures(message: str, translation: str, language: str) -> list[str]:
    """Terms of a message for which its translation has none of the glossary's words."""
    prose = UNWORDED.sub(" ", CODE.sub(" ", LINK.sub("]", message)))
    said = translation.lower().replace(" ", "")
    return [
        term
        for term, words in glossary().items()
        if term_in(prose, term)
        and not any(word.lower().replace(" ", "") in said for word in words[language])
    ]


def term_in(prose: str, term: str) -> bool:
    """Whether a text has a term, as a word of its own; not as a name (Windows, Batch
    Normalization), which is capitalised within a sentence.
    """
    first, rest = term[0], re.escape(term[1:])
    found = rf"(?<![\w-]){first}{rest}(e?s)?(?!\w)|(?:^|[.:] ){first.upper()}{rest}(e?s)?(?!\w)"
    return re.search(found, prose) is not None
