"""Patterns of RE2, TensorFlow's library of regular expressions, as Python has them.

Classes are of ASCII letters, flags hold up to the end of their group, `.` and what isn't in a
class match no malformed bytes, and there is nothing that a finite automaton doesn't know.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import ClassVar

Ranges = list[tuple[int, int]]

LAST = 0x10FFFF
MALFORMED = (0xDC80, 0xDCFF)  # what stands for bytes that aren't UTF-8
WORD, SPACE, DIGIT = "0-9A-Z_a-z", "\t\n\f\r ", "0-9"
LETTERS = {"d": DIGIT, "w": WORD, "s": SPACE}
NAMED = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\0-\x7f", "blank": "\t ",
    "cntrl": "\0-\x1f\x7f", "digit": DIGIT, "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": "!-/:-@[-`{-~", "space": "\t\n\v\f\r ", "upper": "A-Z", "word": WORD,
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
ESCAPED = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
EDGES = {
    "b": f"(?:(?<![{WORD}])(?=[{WORD}])|(?<=[{WORD}])(?![{WORD}]))",
    "B": f"(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))",
    "A": r"\A",
    "z": r"\Z",
    "C": "[\\0-\U0010ffff]",
}
MOST = 1000  # times that something may be repeated

_TOKEN = re.compile(
    r"""
    \\Q(?P<quoted>.*?)(?:\\E|\Z)
    |(?P<property>\\[pP](?:\{\^?\w*\}|[A-Z]))
    |\\x(?:\{(?P<wide>[0-9A-Fa-f]+)\}|(?P<narrow>[0-9A-Fa-f]{2}))
    |\\(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})
    |\\(?P<escape>.?)
    |(?P<begin>\((?:\?(?:P<\w+>|[imsU-]*[:)]|))?)
    |(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})\??)
    |(?P<other>.)
    """,
    re.X | re.S,
)


class PatternError(ValueError):
    """What isn't a pattern; the message says why."""


# Sets of letters --------------------------------------------------------------------------------


def _ranges(text: str) -> Ranges:
    """Letters, of which two with `-` between them are all from one to the other."""
    pairs = re.findall(r"(.)-(.)|(.)", text, re.S)
    return [(ord(a or c), ord(b or c)) for a, b, c in pairs]


def _others(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """All letters that aren't in ranges."""
    found, begin = Ranges(), 0
    for first, last in sorted([*ranges, MALFORMED]):
        if begin < first:
            found.append((begin, first - 1))
        begin = max(begin, last + 1)
    return [*found, (begin, LAST)] if begin <= LAST else found


@cache
def _categories() -> dict[str, Ranges]:
    """The letters of Unicode's categories, of one letter and of two."""
    found: dict[str, Ranges] = {"Any": [(0, LAST)]}
    at = 0
    for kind, group in groupby(map(unicodedata.category, map(chr, range(LAST + 1)))):
        end = at + sum(1 for _ in group)
        for name in (kind, kind[0]):
            found.setdefault(name, []).append((at, end - 1))
        at = end
    return found


def _property(escape: str) -> Ranges:
    """The letters of `\\pN`, `\\p{Lu}`, `\\P{^Lu}`."""
    name = escape[2:].strip("{}")
    ranges = _categories().get(name.removeprefix("^"))
    if ranges is None:
        raise PatternError(f"invalid character class range: {escape} (scripts aren't known here)")
    return _others(ranges) if (escape[1] == "P") != name.startswith("^") else ranges


def _set(ranges: Iterable[tuple[int, int]], negated: bool = False) -> str:
    """A set of letters, as Python writes it."""
    outside = [MALFORMED] if negated else []
    members = "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in [*ranges, *outside])
    return f"[{'^' if negated else ''}{members}]" if members else "(?!)"


# Reading ----------------------------------------------------------------------------------------


def _letter(match: re.Match[str]) -> str | None:
    """The letter that an escape stands for; None, where it doesn't."""
    if (digits := match["wide"] or match["narrow"]) is not None:
        return _chr(int(digits, 16), match)
    if match["octal"] is not None:
        return _chr(int(match["octal"], 8), match)
    escape = match["escape"]
    if escape in ESCAPED:
        return ESCAPED[escape]
    is_mark = escape is not None and escape.isascii() and not escape.isalnum()
    return escape if escape and is_mark else None


def _chr(number: int, match: re.Match[str]) -> str:
    if number > LAST:
        raise _no_escape(match)
    return chr(number)


def _no_escape(match: re.Match[str]) -> PatternError:
    escape = match[0]
    return PatternError("trailing \\" if escape == "\\" else f"invalid escape sequence: {escape}")


def _letters(match: re.Match[str]) -> Ranges | None:
    """The letters of a class that an escape names."""
    if match["property"]:
        return _property(match["property"])
    escape = match["escape"] or ""
    known = LETTERS.get(escape.lower())
    if known is None:
        return None
    return _ranges(known) if escape.islower() else _others(_ranges(known))


def _token(text: str, at: int) -> re.Match[str]:
    match = _TOKEN.match(text, at)
    assert match is not None, "any letter is a token"
    return match


_NAMED = re.compile(r"\[:(\^?)(\w+):\]")


def _class(text: str, begin: int) -> tuple[str, int]:
    """What begins with `[`, and where it ends."""
    at = begin + 1
    negated = text.startswith("^", at)
    at += negated
    ranges, first = Ranges(), at
    while at == first or not text.startswith("]", at):
        if at >= len(text):
            raise PatternError(f"missing ]: {text[begin:]}")
        more, at = _item(text, at)
        ranges += more
    return _set(ranges, negated), at + 1


def _item(text: str, at: int) -> tuple[Ranges, int]:
    """A letter, a range of letters or a named class, and where it ends."""
    if text.startswith("[:", at) and ":]" in text[at + 2 :]:
        named = _NAMED.match(text, at)
        if named is None or named[2] not in NAMED:
            end = text.index(":]", at + 2) + 2
            raise PatternError(f"invalid character class range: {text[at:end]}")
        ranges = _ranges(NAMED[named[2]])
        return _others(ranges) if named[1] else ranges, named.end()
    if text[at] == "\\" and (ranges_of_escape := _letters(_token(text, at))) is not None:
        return ranges_of_escape, _token(text, at).end()
    low, end = _single(text, at)
    if not text.startswith("-", end) or end + 1 >= len(text) or text[end + 1] == "]":
        return [(ord(low), ord(low))], end
    high, last = _single(text, end + 1)
    if high < low:
        raise PatternError(f"invalid character class range: {text[at:last]}")
    return [(ord(low), ord(high))], last


def _single(text: str, at: int) -> tuple[str, int]:
    """A letter of a class, and where it ends."""
    if text[at] != "\\":
        return text[at], at + 1
    match = _token(text, at)
    letter = _letter(match)
    if letter is None:
        raise _no_escape(match)
    return letter, match.end()


@dataclass
class _Group:
    """What's between brackets, or all.

    Attributes:
        flags: those that hold.
        opened: what was opened in it for flags, and ends with the branch.
    """

    flags: frozenset[str] = frozenset()
    opened: list[str] = field(default_factory=list)

    @property
    def closing(self) -> str:
        return ")" * len(self.opened)


class _Reader:
    """Reads a pattern, and writes it as Python's."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._groups = [_Group()]

    def pieces(self) -> Iterator[str]:
        repeated: str | None = None
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                piece, self._at = _class(self._text, self._at)
                repeated = None
                yield piece
                continue
            match = _token(self._text, self._at)
            self._at = match.end()
            if match["repeat"]:
                if repeated is not None:
                    raise PatternError(f"bad repetition operator: {repeated}{match[0]}")
                repeated = match[0]
            else:
                repeated = None
            yield self._piece(match)
        if len(self._groups) > 1:
            raise PatternError(f"missing ): {self._text}")
        yield self._groups[0].closing

    def _piece(self, match: re.Match[str]) -> str:
        for kind, written in self._WAYS.items():
            if match[kind] is not None:
                return written(self, match)
        return re.escape(_letter(match) or "")

    def _escape(self, match: re.Match[str]) -> str:
        if match["escape"] in EDGES:
            return EDGES[match["escape"]]
        if (ranges := _letters(match)) is not None:
            return _set(ranges)
        letter = _letter(match)
        if letter is None:
            raise _no_escape(match)
        return re.escape(letter)

    def _repeat(self, match: re.Match[str]) -> str:
        repeat = match["repeat"]
        if any(int(number) > MOST for number in re.findall(r"\d+", repeat)):
            raise PatternError(f"invalid repetition size: {repeat}")
        if "U" not in self._groups[-1].flags:
            return repeat
        return repeat[:-1] if len(repeat) > 1 and repeat.endswith("?") else f"{repeat}?"

    def _begin(self, match: re.Match[str]) -> str:
        opening, group = match["begin"], self._groups[-1]
        if opening == "(" or opening.startswith("(?P<"):
            self._groups.append(_Group(group.flags))
            return opening
        if opening == "(?":
            more = self._text[self._at : self._at + 1]
            raise PatternError(f"invalid perl operator: (?{more}")
        on, _, off = opening[2:-1].partition("-")
        flags = (group.flags | set(on)) - set(off)
        written = f"(?{'' if 'i' in flags else '-'}i:" if "i" in flags ^ group.flags else "(?:"
        if opening.endswith(":"):
            self._groups.append(_Group(flags))
        else:
            group.flags = flags
            group.opened.append(written)
        return written

    def _other(self, match: re.Match[str]) -> str:
        letter, group = match["other"], self._groups[-1]
        if letter == "|":
            return f"{group.closing}|{''.join(group.opened)}"
        if letter == ")":
            if len(self._groups) == 1:
                raise PatternError(f"missing ): {self._text}")
            return f"{self._groups.pop().closing})"
        if letter == ".":
            return _set([] if "s" in group.flags else [(10, 10)], negated=True)
        if letter == "^":
            return "(?m:^)" if "m" in group.flags else r"\A"
        if letter == "$":
            return "(?m:$)" if "m" in group.flags else r"\Z"
        return re.escape(letter)

    _WAYS: ClassVar[dict[str, Callable[[_Reader, re.Match[str]], str]]] = {
        "quoted": lambda self, match: re.escape(match["quoted"]),
        "property": lambda self, match: _set(_property(match["property"])),
        "escape": _escape,
        "repeat": _repeat,
        "begin": _begin,
        "other": _other,
    }


def compiled(pattern: str) -> re.Pattern[str]:
    r"""A pattern of RE2's as one of Python's.

    Raises:
        PatternError: it isn't one.

    >>> compiled(r"(?i)\pL+$").search("1 É").group()
    'É'
    """
    try:
        return re.compile("".join(_Reader(pattern).pieces()))
    except re.error as error:
        raise PatternError(str(error)) from None


# Replacing --------------------------------------------------------------------------------------


def replaced(pattern: re.Pattern[str], text: str, rewrite: str, everywhere: bool) -> str:
    """A text with something else in place of the first match, or of all; an empty match right
    behind another one is none.
    """
    found, at, last = list[str](), 0, -1
    while at <= len(text) and (match := pattern.search(text, at)) is not None:
        begin, end = match.span()
        found.append(text[at:begin])
        if begin == end == last:
            found.append(text[begin : begin + 1])
            at = begin + 1
            continue
        new, is_whole = _rewritten(match, rewrite)
        if not everywhere:
            return "".join([*found, new, text[end:]]) if is_whole else text
        found.append(new)
        at = last = end
    return "".join([*found, text[at:]])


def _rewritten(match: re.Match[str], rewrite: str) -> tuple[str, bool]:
    """What stands in place of a match, up to what can't stand there; and whether that's all."""
    found = list[str]()
    for escaped, plain in re.findall(r"\\(.?)|([^\\]+)", rewrite, re.S):
        if plain:
            found.append(plain)
        elif escaped == "\\":
            found.append("\\")
        elif escaped in list("0123456789"):
            found.append(match[int(escaped)] or "" if int(escaped) <= match.re.groups else "")
        else:
            return "".join(found), False
    return "".join(found), True
