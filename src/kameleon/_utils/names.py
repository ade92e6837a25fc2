"""Names that are told apart."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from itertools import count


def untaken(name: str, taken: Container[str]) -> str:
    """`name`, or with the first number behind it that nobody has taken.

    >>> untaken("w", {"w", "w_1"})
    'w_2'
    """
    return next(x for i in count() if (x := f"{name}_{i}" if i else name) not in taken)


def identifier(name: str) -> str:
    """A name of ASCII letters, digits and '_', which doesn't begin with a digit.

    >>> identifier("dense/w:0"), identifier("1st"), identifier("")
    ('dense_w_0', '_1st', '_')
    """
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names, each with a number behind it where an earlier one is the same.

    Args:
        names: what is wished for.
        taken: names that are given already.

    >>> distinct(["w", "b", "w"], taken=["b"])
    ['w', 'b_1', 'w_1']
    """
    found = dict.fromkeys(taken)
    first = len(found)
    for name in names:
        found[untaken(name, found)] = None
    return list(found)[first:]
