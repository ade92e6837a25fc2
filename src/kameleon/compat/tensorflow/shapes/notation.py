"""Shape functions as lines: what is told of the inputs' shapes, and which shapes the outputs have.

    (*b,n,n) (*b,n,k) -> (*b,n,k)

On the left are the inputs, in order. Those that aren't named may be anything, as `?` may.

    x          a shape: those of one name must be equal
    (b,?,3)    a shape of this rank: sizes of one name must be equal, and a number is what it says
    (*b,n)     a shape of this rank or a higher one: `*b` stands for any number of sizes
    x:(b,?)    both
    x* (n)*    such a shape, and all inputs after it, too
    (m,k)^f    the last two sizes change their places where the attribute `f` is set
    =n         a number, which is a size
    =[h,w]     a vector of numbers, which are sizes
    =(*b,n)    a vector of numbers, which is such a shape
    =*x        a vector of numbers, which is a shape; or a number, where it isn't known
    &x         a handle, behind which is such a shape

On the right are the outputs: `x`, `(b,n)`, `()`, and `?` for what isn't known. Sizes may be
computed, from left to right: `4*n`, `n+1`, `n//4`; `n/8` demands that nothing remains. `min(m,n)`
is the smaller one, `#x` the rank of a shape, `x|y` the shape that `x` and `y` are broadcast to.
`(n)*3` are three outputs.

On both sides `@k` is a number, or a shape, that the attribute `k` holds, and `~(b,h,w,c)` a shape
whose last size, of the channels, is the second one where `data_format` says so.

    x -> x if flag else (n)
    x x -> x if not flag else ? x -> x

choose the outputs, or all, by an attribute. First shapes that are values are looked at; then all
ranks are checked, then what has a name, then numbers; then values that are sizes are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property
from operator import add, floordiv, mul, sub
from textwrap import dedent
from typing import Any

from ..graph import Operation, Shape
from .handles import held_shape, shape_behind
from .known import shape_value, size_value, size_values
from .rules import (
    UNKNOWN,
    Rule,
    at_least,
    broadcast,
    divided,
    exactly,
    is_channels_last,
    merged,
    rank_of,
    register,
    same,
    smaller,
    with_rank,
)

# What is known of an operation, by name: sizes, shapes, and `@attribute`.
Found = dict[str, Any]
Number = Callable[[Found], int]

OPERATORS = {"+": add, "-": sub, "*": mul, "//": floordiv, "/": divided}
# By how the text of an input begins, which shape an operation's input stands for.
FOUND: dict[str, Callable[[Operation, int], Shape]] = {
    "=(": shape_value,
    "=*": held_shape,
    "&": shape_behind,
}


def table(text: str) -> None:
    """Let types of operations have the shapes that lines tell: `Type Type : LINE`. Rows that are
    indented continue the one before.
    """
    for row in re.sub(r"\n +", " ", dedent(text).strip()).splitlines():
        types, _, line = row.partition(" : ")
        if row and "->" not in line:
            raise ValueError(f"no arrow in a line: {line}")
        register(types, Line(line.strip()))


class Line:
    """The shape function that a line tells. The line is read when it's used first.

    >>> Line("(b,?) (?,n) -> (b,4*n) ()")(None, [(-1, 3), (2, 5)])
    [(-1, 20), ()]
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, operation: Operation, given: list[Shape]) -> Shape | list[Shape]:
        return self.rule(operation, given)

    @cached_property
    def rule(self) -> Rule:
        """The shape function itself."""
        return _read(self.text)


def _read(text: str) -> Rule:
    line, _, rest = text.partition(" if ")
    left, _, right = line.partition("->")
    if rest:
        flag, _, other = rest.partition(" else ")
        one, two = _read(line), _read(other if "->" in other else f"{left}-> {other}")
        if flag.startswith("not "):
            flag, one, two = flag.removeprefix("not "), two, one
        return _choice(lambda operation: operation.attribute(flag), one, two)
    if "~" in text:
        second = re.sub(r"~\((\w+),([^)]+),([^,)]+)\)", r"(\1,\3,\2)", text)
        return _choice(is_channels_last, _read(text.replace("~", "")), _read(second))
    return _comparison(left.split(), right.split(), re.findall(r"[@^](\w+)", line))


def _choice(condition: Callable[[Operation], bool], one: Rule, two: Rule) -> Rule:
    return lambda operation, given: (one if condition(operation) else two)(operation, given)


def _comparison(inputs: list[str], outputs: list[str], attributes: list[str]) -> Rule:
    """The shape function that compares what's on the left, and makes what's on the right."""
    if inputs and inputs[-1].endswith("*"):
        return _comparison_of_many(inputs, outputs, attributes)
    patterns: list[tuple[int, _Pattern]] = []
    shapes: list[tuple[int, Callable[[Operation, int], Shape]]] = []  # where others are looked at
    numbers: list[tuple[int, str]] = []
    vectors: list[tuple[int, list[str]]] = []
    for place, text in enumerate(inputs):
        mark = next(filter(text.startswith, FOUND), "")
        if mark:
            shapes.append((place, FOUND[mark]))
            patterns.append((place, _Pattern(text.lstrip("=*&"))))
        elif text.startswith("=["):
            vectors.append((place, _parts(text[1:])))
        elif text.startswith("="):
            numbers.append((place, text[1:]))
            patterns.append((place, _Pattern("()")))
        elif text != "?":
            patterns.append((place, _Pattern(text)))
    ranked = [(place, pattern) for place, pattern in patterns if pattern.has_rank]
    numbered = [(place, pattern) for place, pattern in patterns if pattern.numbers]
    made = [_output(text) for text in outputs]

    def rule(operation: Operation, given: list[Shape]) -> list[Shape]:
        values = {f"@{name}": operation.attribute(name) for name in attributes}
        found: Found = {name: value for name, value in values.items() if value is not None}
        if shapes:
            given = [*given]
            for place, find in shapes:
                given[place] = find(operation, place)
        for place, pattern in ranked:
            pattern.check_rank(given[place])
        for place, pattern in patterns:
            pattern.compare(given[place], found)
        for place, pattern in numbered:
            pattern.check_numbers(given[place], found)
        for place, name in numbers:
            found[name] = size_value(operation, place)
        for place, names in vectors:
            found.update(zip(names, size_values(operation, place, len(names)), strict=True))
        return [shape for make in made for shape in make(found)]

    return rule


def _comparison_of_many(inputs: list[str], outputs: list[str], attributes: list[str]) -> Rule:
    """The same of a line whose last input is repeated: for each number of inputs a function."""
    *first, last = inputs

    @cache
    def of_number(number: int) -> Rule:
        more = [last.removesuffix("*")] * (number - len(first))
        return _comparison([*first, *more], outputs, attributes)

    return lambda operation, given: of_number(len(given))(operation, given)


# Inputs -----------------------------------------------------------------------------------------


class _Pattern:
    """What a line tells of a shape."""

    def __init__(self, text: str) -> None:
        text, _, self.turns = text.partition("^")
        self.has_rank = text.endswith(")")
        name, _, sizes = text.rpartition(":") if self.has_rank else (text, "", "")
        self.name, parts, self.rest = name, _parts(sizes), ""
        self.before, self.behind = len(parts), 0
        for at, part in enumerate(parts):
            if part.startswith("*"):
                self.rest, self.before, self.behind = part[1:], at, len(parts) - at - 1
        places = [*range(self.before), *range(-self.behind, 0)]
        known = [(at, parts[at]) for at in places if parts[at] != "?"]
        self.named = [(at, size) for at, size in known if size.isidentifier()]
        self.numbers = [(at, _number(size)) for at, size in known if not size.isidentifier()]

    def check_rank(self, shape: Shape) -> None:
        if self.rest:
            at_least(shape, self.before + self.behind)
        else:
            with_rank(shape, self.before)

    def compare(self, shape: Shape, found: Found) -> None:
        """Compare a shape with what is known, and remember what it tells."""
        if shape is None:
            return
        if self.turns and found.get("@" + self.turns):
            shape = (*shape[:-2], shape[-1], shape[-2])
        if self.name:
            found[self.name] = merged(found.get(self.name), shape)
        if self.rest:
            rest = shape[self.before : len(shape) - self.behind]
            found[self.rest] = merged(found.get(self.rest), rest)
        for at, name in self.named:
            found[name] = same(found.get(name, UNKNOWN), shape[at])

    def check_numbers(self, shape: Shape, found: Found) -> None:
        for at, number in self.numbers:
            exactly(UNKNOWN if shape is None else shape[at], number(found))


def _parts(text: str) -> list[str]:
    """What is in brackets, between commas."""
    return re.findall(r"min\(.*?\)|[^,]+", text[1:-1])


# Outputs ----------------------------------------------------------------------------------------


def _output(text: str) -> Callable[[Found], list[Shape]]:
    """The shapes that a text stands for: one, or several that are equal."""
    one, times = re.findall(r"^(.*?)(?:\*(@?\w+))?$", text)[0]
    shape, count = _shape(one), _operand(times or "1")
    return lambda found: [shape(found)] * count(found)


def _shape(text: str) -> Callable[[Found], Shape]:
    if not text.startswith("("):
        return _named(text)
    parts = [
        (_named(part[1:]), None) if part.startswith("*") else (None, _number(part))
        for part in _parts(text)
    ]

    def shape(found: Found) -> Shape:
        sizes: list[int] = []
        for rest, number in parts:
            if number is not None:
                sizes.append(number(found))
            elif rest is not None and (more := rest(found)) is not None:
                sizes += more
            else:
                return None
        return tuple(sizes)

    return shape


def _named(text: str) -> Callable[[Found], Shape]:
    """A shape by its name, or what is broadcast of several."""
    name, _, others = text.partition("|")
    if not others:
        return lambda found: found.get(name)
    rest = _named(others)
    return lambda found: broadcast(found.get(name), rest(found))


# Sizes ------------------------------------------------------------------------------------------


def _number(text: str) -> Number:
    """A size: one that is named, or what is computed of such ones."""
    if text.startswith("min("):
        one, other = map(_number, _parts(text.removeprefix("min")))
        return lambda found: smaller(one(found), other(found))
    first, *rest = re.split(r"(//|[-+*/])", text)
    start = _operand(first)
    if not rest:
        return start
    steps = [(OPERATORS[sign], _operand(b)) for sign, b in zip(rest[::2], rest[1::2], strict=True)]

    def number(found: Found) -> int:
        total = start(found)
        for operator, operand in steps:
            other = operand(found)
            total = UNKNOWN if UNKNOWN in (total, other) else operator(total, other)
        return total

    return number


def _operand(text: str) -> Number:
    if text.isdigit():
        known = int(text)
        return lambda found: known
    if text.startswith("#"):
        return lambda found: rank_of(found.get(text[1:]))
    return lambda found: found.get(text, UNKNOWN)
