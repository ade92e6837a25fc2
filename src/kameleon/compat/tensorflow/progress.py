"""What the turns of a loop count, where it isn't known how many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.sizes import Size, dims_of, plus, size_of, sizes_product

from .tensors import tensor

SAMPLES = (5, 8, 11)  # turns that are counted to see how the values go on


@dataclass(frozen=True)
class Turns:
    """The turns of a loop.

    Attributes:
        numbers: of the turns, from 0 on: a vector of int32, whose size isn't known.
    """

    numbers: Tensor

    @property
    def count(self) -> Size:
        """How many they are."""
        return size_of(self.numbers, 0)


@dataclass(frozen=True)
class Progress:
    """A number that grows evenly: `first + turn * step + turns * share` in each turn.

    `first` alone where the others are zeros: then it may be an array of any type.
    """

    first: np.ndarray
    step: np.ndarray
    share: np.ndarray

    def __hash__(self) -> int:
        return hash((self.first.tobytes(), self.step.tobytes(), self.share.tobytes()))

    @classmethod
    def of(cls, samples: Mapping[int, np.ndarray]) -> Progress | None:
        """What gives rows of values, by number of turns; None if nothing does.

        >>> Progress.of({n: np.arange(n)[::-1] for n in (2, 3, 4)})
        Progress(first=array(-1), step=array(-1), share=array(1))
        """
        few, more = list(samples)[:2]
        rows, others = samples[few], samples[more]
        if (rows == rows[:1]).all() and (others == rows[:1]).all():
            none = np.zeros((), rows.dtype)
            found = cls(rows[0], none, none)
        elif rows.dtype.kind != "i" or rows.ndim != 1:
            return None
        else:
            share = (others[0] - rows[0]) // (more - few)
            first = rows[0] - few * share
            found = cls(np.array(first), np.array(rows[1] - rows[0]), np.array(share))
        if all((found.rows(n) == sample).all() for n, sample in samples.items()):
            return found
        return None

    def rows(self, turns: int) -> np.ndarray:
        """The value in each turn."""
        if not self.grows and not self.share:
            return np.broadcast_to(self.first, (turns, *self.first.shape))
        return self.at(np.arange(turns), turns)

    def at(self, turn: Any, turns: int) -> np.ndarray:
        """The value in a turn of so many."""
        if not self.grows and not self.share:
            return self.first
        return np.asarray(self.first + self.step * turn + self.share * turns, self.first.dtype)

    @property
    def grows(self) -> bool:
        """Whether it has another value in each turn."""
        return bool(self.step)

    @property
    def counts(self) -> bool:
        """Whether it's the number of the turn."""
        return self.ends_with_count and not self.share

    @property
    def ends_with_count(self) -> bool:
        """Whether its value behind the last turn is how many turns there are."""
        return self.first.ndim == 0 and bool(self.first == 0 and self.step + self.share == 1)

    @property
    def backwards(self) -> Progress:
        """The same with the last turn first."""
        return Progress(self.first - self.step, -self.step, self.share + self.step)

    def may_meet(self, other: Any) -> bool:
        """Whether one of its values is another number, or one of another progress, if there are
        turns enough; False, too, where that isn't known.

        >>> one = Progress(np.array(1), np.array(1), np.array(0))
        >>> one.may_meet(0), one.may_meet(3), one.may_meet(one.backwards)
        (False, True, True)
        """
        mine = self.backwards if self.share else self
        if isinstance(other, Progress):
            theirs = other.backwards if other.share else other
            is_alike = mine.step == theirs.step and not (mine.share or theirs.share)
            return bool(is_alike and (mine.first - theirs.first) % mine.step == 0)
        is_number = isinstance(other, int) and not mine.share
        behind = (other - mine.first) * np.sign(mine.step) if is_number else -1
        return bool(behind >= 0 and behind % mine.step == 0)

    def over(self, turns: Turns) -> Tensor:
        """A row for each turn."""
        numbers = E.cast(turns.numbers, str(self.first.dtype))
        if self.counts:
            return numbers
        step, begun = (
            M.broadcast_to(x, [turns.count]) for x in (tensor(self.step), self._begun(turns))
        )
        return E.add(E.mul(numbers, step), begun)

    def begun(self, count: Size) -> Size:
        """The value in the first of so many turns, where it's a number."""
        share = int(self.share)
        return plus(sizes_product([share, count]) if share else 0, int(self.first))

    def _begun(self, turns: Turns) -> Tensor:
        count = E.cast(tensor(turns.count), str(self.first.dtype))
        return E.add(tensor(self.first), E.mul(count, tensor(self.share)))

    def last(self, turns: Turns) -> Any:
        """The value behind the last turn."""
        if not self.grows:
            return self.first if not self.share else self._begun(turns)
        return Progress(self.first, np.zeros_like(self.step), self.share + self.step).last(turns)


class Same(NamedTuple):
    """A value that's the same in each turn: an array, or a tensor made outside."""

    value: Any

    def times(self, count: int) -> np.ndarray:
        """A row for each of so many turns."""
        if isinstance(self.value, np.ndarray | np.generic):
            return np.broadcast_to(self.value, (count, *self.value.shape))
        rows = np.empty(count, object)
        for at in range(count):
            rows[at] = self.value
        return rows


@dataclass(frozen=True)
class Kept:
    """What all turns of a loop put on a stack.

    Attributes:
        turns: of the loop.
        rows: a row for each turn.
        within: where a turn put several values there, these, given its row.
    """

    turns: Turns | int
    rows: Tensor | Progress | Same
    within: Callable[[Any], Any] | None = None

    def over(self) -> Tensor:
        """A row for each turn, of a loop whose turns put one value each there."""
        assert isinstance(self.turns, Turns)  # else a turn put several there
        if isinstance(self.rows, Progress):
            return self.rows.over(self.turns)
        if isinstance(self.rows, Tensor):
            return self.rows
        value = tensor(self.rows.value)
        return M.broadcast_to(value, [self.turns.count, *dims_of(value)])
