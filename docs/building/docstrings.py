"""Docstrings, taken apart: what a page says of a function is what its docstring says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Item(NamedTuple):
    """An argument, or an error, and what is said of it."""

    name: str
    text: str


class Doc(NamedTuple):
    """A docstring.

    Attributes:
        summary: its first paragraph: an equation or a sentence.
        body: further paragraphs and lists, in Markdown, as they stand.
        arguments: what the function takes.
        returns: paragraphs.
        raises: errors and when they are raised.
        examples: blocks of prompts and output.
        sources: papers and sections of the documentation.
    """

    summary: str
    body: list[str]
    arguments: list[Item]
    returns: list[str]
    raises: list[Item]
    examples: list[str]
    sources: list[str]


SECTION = re.compile(r"(Args|Returns|Raises|Yields):$")
ITEM = re.compile(r"(\S[^:]*?): (.*)", re.DOTALL)


def parsed(docstring: str) -> Doc:
    """The parts of a docstring, whose indentation is gone."""
    doc = Doc("", [], [], [], [], [], [])
    found: list[str] = []
    for block in blocks(docstring):
        head, _, rest = block.partition("\n")
        section = SECTION.match(head)
        if section is not None:
            add_section(doc, section[1], unindented(rest))
        elif block.startswith(">>>"):
            doc.examples.append(block)
        elif block.startswith("Source: "):
            doc.sources.append(joined(block.removeprefix("Source: ")))
        else:
            found.append(block if block.startswith("- ") else joined(block))
    doc.body.extend(found[1:])
    return doc._replace(summary=found[0] if found else "")


def blocks(docstring: str) -> Iterator[str]:
    """What blank lines set apart; a section with what is indented below it is one block, and so
    are examples in a row.
    """
    gathered = ""
    for block in re.split(r"\n\s*\n", docstring.strip()):
        goes_on = block.startswith("    ") and SECTION.match(gathered.partition("\n")[0])
        if gathered and (goes_on or (gathered.startswith(">>>") and block.startswith(">>>"))):
            gathered += "\n\n" + block
            continue
        if gathered:
            yield gathered
        gathered = block
    yield gathered


def add_section(doc: Doc, name: str, text: str) -> None:
    """Put a section where it belongs."""
    if name in ("Returns", "Yields"):
        doc.returns.extend(joined(p) for p in re.split(r"\n\s*\n", text))
    else:
        (doc.arguments if name == "Args" else doc.raises).extend(items(text))


def items(text: str) -> Iterator[Item]:
    """`name: what is said of it` of each line that isn't indented, with the indented ones below."""
    for entry in re.split(r"\n(?=\S)", text):
        match = ITEM.match(entry)
        if match is None:
            raise ValueError(f"neither an argument nor an error: {entry!r}")
        yield Item(match[1], joined(match[2]))


def unindented(text: str) -> str:
    return re.sub(r"^    ", "", text, flags=re.MULTILINE)


def joined(text: str) -> str:
    """A paragraph as one line."""
    return " ".join(text.split())
