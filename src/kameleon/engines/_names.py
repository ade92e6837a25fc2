"""What a library calls its functions, by primitive: one notation for the tables of all engines."""

from __future__ import annotations


def names(text: str) -> dict[str, str]:
    """By primitive, the name of a library's function; the same, where no other one is said.

    >>> names("abs neg=negative")
    {'abs': 'abs', 'neg': 'negative'}
    """
    pairs = (word.partition("=") for word in text.split())
    return {primitive: name or primitive for primitive, _, name in pairs}
