"""What a message and its translation have in common, and the glossary of all translations."""

from __future__ import annotations

import csv
import re
from collections import Counter

from docs.building.places import LOCALE

CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Numbers, wherever they stand: letters of other alphabets may follow without a space.
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![A-Za-z_])|(?<=[^\x00-\x7f])\d+(?:[.,]\d+)*")


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


def glossary() -> dict[str, dict[str, str]]:
    """By English term its word in each language."""
    with (LOCALE / "glossary.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("en"): row for row in csv.DictReader(file)}
