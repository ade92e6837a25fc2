"""A program for TensorFlow 1 in the making: its lines, what they make, and who sees it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

FLOATS, INTS = ("float32", "float64"), ("int32", "int64")
NUMBERS = FLOATS + INTS
NAME = re.compile(r"\b[a-z]\d+\b")
Dim = int | str  # a number; n or m, which feeds tell; another name: known to nobody
WRAPPED = ("tf.name_scope('s')", "tf.name_scope(None)", "tf.device('/cpu:0')",
           "tf.variable_scope('u', reuse=tf.AUTO_REUSE)")  # fmt: skip


class T(NamedTuple):
    """A tensor: its name in the program, its type, and its sizes at run time."""

    name: str
    dtype: str
    dims: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        """How many axes."""
        return len(self.dims)

    @property
    def is_known(self) -> bool:
        """Whether whoever feeds knows its shape."""
        return all(isinstance(d, int) or d in "nm" for d in self.dims)


class Draft:
    """Draws a program from one seed.

    Attributes:
        lines: of the program, so far.
        scopes: the tensors that are seen, outermost first.
        variables: with whether they are resources.
        token: the name of what the next effect has to come after; "" for nothing.
        only_resources: whether the place is in a function, which takes no others.
        is_pure: whether the place is run in no known order.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.scopes: list[list[T]] = [[]]
        self.variables: list[tuple[T, bool]] = []
        self.placeholders: list[T] = []
        self.token, self.only_resources, self.is_pure = "", False, False
        self.of: dict[str, set[str]] = {}  # what a name is made of
        self.loops: set[str] = set()  # what comes out of loops
        self._used: set[str] = set()
        self._count = 0

    # Chances ------------------------------------------------------------------------------------

    def flag(self, chance: float = 0.5) -> bool:
        """True, sometimes."""
        return self.random.random() < chance

    def int(self, low: int, high: int) -> int:
        """A number, both ends included."""
        return self.random.randint(low, high)

    def choice(self, options: Sequence):
        """One of several."""
        return self.random.choice(options)

    @property
    def seed(self) -> int:
        """A seed for numbers."""
        return self.int(1, 9999)

    # Names and lines ----------------------------------------------------------------------------

    def name(self, letter: str = "t") -> str:
        """A name that nothing has."""
        self._count += 1
        return f"{letter}{self._count}"

    def size(self) -> str:
        """A size that nobody knows."""
        return self.name("?")

    def line(self, text: str) -> None:
        """Add a line where the draft is."""
        self.lines.append("    " * (len(self.scopes) - 1) + text)
        left, _, right = text.partition(" = ") if not text.startswith("def ") else ("", "", text)
        used = {x for name in NAME.findall(right) for x in {name, *self.of.get(name, ())}}
        for name in NAME.findall(left):
            self.of.setdefault(name, set()).update(used)
        self._used |= used

    rows = 1  # of what is gathered

    def add(self, text: str, dtype: str, dims: Sequence[Dim]) -> T:
        """Add what an expression makes."""
        if self.flag(0.03):
            text = f"within({self.choice(WRAPPED)}, lambda: {text})"
        return self.results(text, [(dtype, dims)])[0]

    def results(self, text: str, kinds: Sequence[tuple[str, Sequence[Dim]]], extra="") -> list[T]:
        """Add what an expression makes, several tensors."""
        made = [T(self.name(), dtype, tuple(dims)) for dtype, dims in kinds]
        self.line(f"{', '.join(x.name for x in made)}{extra} = {text}")
        self.scopes[-1] += made
        return made

    @contextmanager
    def body(self, parameters: Sequence[T], extra: str = "", token: str = "") -> Iterator[str]:
        """Draw a function inside; its name."""
        name, outer, used = self.name("f"), self.token, self._used
        self.line(f"def {name}({', '.join([x.name for x in parameters] + extra.split())}):")
        self.scopes.append(list(parameters))
        self.token, self._used = token, set()
        yield name
        self.scopes.pop()
        self.of[name] = self._used
        self.token, self._used = outer, used

    # Operands -----------------------------------------------------------------------------------

    def seen(self, test: Callable[[T], bool] = lambda x: True) -> list[T]:
        """The tensors that are seen here and fit, newest last."""
        return [x for scope in self.scopes for x in scope if test(x)]

    def pick(
        self, dtypes: Sequence[str] = FLOATS, low: int = 0, high: int = 4,
        test: Callable[[T], bool] = lambda x: True,
    ) -> T:  # fmt: skip
        """A tensor of some type and rank, newer ones rather; made, where there's none."""
        found = self.seen(lambda x: x.dtype in dtypes and low <= x.rank <= high and test(x))
        if found and self.flag(0.93):
            return found[max(self.int(0, len(found) - 1), self.int(0, len(found) - 1))]
        dims = self.dims(self.int(low, min(high, max(low, 3))))
        return self.made(self.choice(dtypes), dims)

    def dims(self, rank: int) -> tuple[int, ...]:
        """Sizes for a new tensor; with four axes, of pictures."""
        if rank == 4:
            return self.int(1, 2), self.int(4, 6), self.int(4, 6), self.int(1, 3)
        return tuple(self.choice((1, 2, 2, 3, 3, 4)) for _ in range(rank))

    def made(self, dtype: str, dims: Sequence[Dim]) -> T:
        """A constant, mostly hanging on other tensors."""
        text = f"tf.constant(v({tuple(dims)}, '{dtype}', {self.seed}))"
        around = self.seen(lambda x: x.dtype in NUMBERS)
        if dtype in FLOATS and around and self.flag(0.6):
            text += f" * {self.scalar(self.choice(around), dtype)}"
        return self.add(text, dtype, dims)

    def scalar(self, x: T, dtype: str) -> str:
        """A small number of some type, that depends on a tensor."""
        return f"small({x.name}, '{dtype}')"

    def alike(self, x: T) -> str:
        """An expression of the shape and type of a tensor, over what is seen here alone."""
        found = [y for y in self.scopes[-1] if y[1:] == x[1:]]
        if found and self.flag(0.25):
            return found[-1].name
        others = [y for y in self.scopes[-1] if y.dtype in (*NUMBERS, "bool") and y != x]
        if not others or x.dtype not in (*NUMBERS, "bool"):
            return f"tf.identity({x.name})"
        scalar = self.scalar(others[-1] if self.flag(0.7) else self.choice(others), x.dtype)
        if x.dtype == "bool":
            return f"tf.logical_xor({x.name}, {scalar})"
        return f"{x.name} * 0.75 + {scalar}" if x.dtype in FLOATS else f"{x.name} + {scalar}"

    def sources(self, x: T) -> set[str]:
        """The names of what a tensor is made of, its own too."""
        return {x.name, *self.of.get(x.name, ())}

    def after(self, text: str) -> str:
        """An expression that is run after all effects so far."""
        return f"after([{self.token}], lambda: {text})" if self.token else text
