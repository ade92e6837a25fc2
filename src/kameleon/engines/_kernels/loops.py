"""Loops over the steps of sequences, for libraries whose arrays are written to in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import mismatch
from .memory import empty

# Gives the new carry, then what is stacked.
Step = Callable[..., Sequence[Any]]
# The shape and dtype of each output; None where they aren't known.
Made = Sequence[tuple[tuple[int, ...], str]] | None


class Loops(NamedTuple):
    """Runs loops over arrays of a library, given what these do.

    Attributes:
        rows: the slices of an array along axis 0.
        places: for each row of a stack a view that a step may write to, or None.
        room: given a length and an array, an array for so many like it, with any content.
        copied: a copy of an array.
        nothing: an array without elements, given its shape, its dtype, and one of its device.
        blank: a slice to try a step with, where an array has no slices: what the trial of another
            loop gave, else zeros. A trial may have given a size, for which zeros wouldn't do.
    """

    rows: Callable[[Any], Sequence[Any]]
    places: Callable[[Any], Sequence[Any]]
    room: Callable[[int, Any], Any]
    copied: Callable[[Any], Any]
    nothing: Callable[[tuple[int, ...], str, Any], Any]
    blank: Callable[[Any], Any]

    def scan(
        self,
        step: Step,
        consts: Sequence[Any],
        carry: Sequence[Any],
        sequences: Sequence[Any],
        backwards: bool,
        initial: Sequence[int | None],
        views: Sequence[tuple[int, bool]],
        passed: Sequence[int],
        made: Made,
    ) -> tuple[Any, ...]:
        """Run `step(*consts, *carry, *slices, *places)` along axis 0.

        Args:
            step: it may write what is stacked into the places; a place may be None.
            consts, carry, sequences: what steps are given; the carry is that of the first step.
            backwards: from the last slice to the first.
            initial: for each stack, None, or the number of the state whose initial value has a row
                of the stack, which then has one row more than there are steps.
            views: for each output, the number of its stack, and whether the output has the values
                from before each step, instead of those from after it.
            passed: numbers of the states that a step gives as it got them: such a value is copied,
                as it may lie in a stack since the step before.
            made: shape and dtype of each output, where they are known.

        Returns:
            The last carry, then the outputs.
        """
        length, count = len(sequences[0]), len(carry)
        nowhere = [None] * len(initial)
        if not length:
            return (*carry, *self._no_steps(step, consts, carry, sequences, nowhere, views, made))
        order = range(length - 1, -1, -1) if backwards else range(length)
        slices = list(zip(*map(self.rows, sequences), strict=True))
        # The first step says which shapes there are.
        results = step(*consts, *carry, *slices[order[0]], *nowhere)
        for old, new in zip(carry, results, strict=False):
            if old.shape != new.shape:
                mismatch(tuple(old.shape), tuple(new.shape))
        if not initial:
            for t in order[1:]:
                results = step(*consts, *results, *slices[t])
            return tuple(results)
        wholes = [
            self._stack(length, y, None if i is None else carry[i], backwards)
            for y, i in zip(results[count:], initial, strict=True)
        ]
        stacks = [_after(s, i, backwards) for s, i in zip(wholes, initial, strict=True)]
        rows: list[Any] = list(zip(*map(self.places, stacks), strict=True))
        last = order[-1]
        for t in order:
            places = rows[t]
            if t != order[0]:  # the last carry mustn't share memory with the stacks
                results = step(*consts, *carry, *slices[t], *(places if t != last else nowhere))
            carry = results[:count]
            for stack, y, place in zip(stacks, results[count:], places, strict=True):
                if y is not place:
                    stack[t] = y
        states = [self.copied(x) if i in passed else x for i, x in enumerate(carry)]
        return (*states, *(_before(wholes[i], backwards) if b else stacks[i] for i, b in views))

    def _stack(self, length: int, y: Any, state: Any, backwards: bool) -> Any:
        """Room for what `length` steps give, and for an initial state where one is given."""
        if state is None:
            return self.room(length, y)
        stack = self.room(length + 1, y)
        stack[-1 if backwards else 0] = state
        return stack

    def _no_steps(
        self,
        step: Step,
        consts: Sequence[Any],
        carry: Sequence[Any],
        sequences: Sequence[Any],
        nowhere: Sequence[None],
        views: Sequence[tuple[int, bool]],
        made: Made,
    ) -> list[Any]:
        """The outputs of no steps. Where shapes aren't known, a step is tried."""
        if made is not None:
            return [self.nothing((0, *shape), dtype, sequences[0]) for shape, dtype in made]
        results = step(*consts, *carry, *map(self.blank, sequences), *nowhere)[len(carry) :]
        return [self.copied(results[i])[None][:0] for i, _ in views]


def _after(stack: Any, state: int | None, backwards: bool) -> Any:
    """The rows of a stack that the steps give."""
    return stack if state is None else stack[:-1] if backwards else stack[1:]


def _before(stack: Any, backwards: bool) -> Any:
    """The rows of a stack as they were before each step."""
    return stack[1:] if backwards else stack[:-1]


def while_loop(
    condition: Step, body: Step, consts: Sequence[Any], carry: Sequence[Any]
) -> tuple[Any, ...]:
    """Run `body` as long as `condition` holds."""
    carry = tuple(carry)
    while condition(*consts, *carry)[0]:
        carry = tuple(body(*consts, *carry))
    return carry


def _blank(x: Any) -> Any:
    """See `Loops.blank`; true as a bool, so that checks hold."""
    tried = x.base
    if isinstance(tried, np.ndarray) and (tried.shape, tried.dtype) == (x.shape[1:], x.dtype):
        return tried
    return np.full(x.shape[1:], x.dtype == bool, x.dtype)


scan = Loops(
    rows=list,
    places=lambda stack: list(stack) if stack.ndim > 1 else [None] * len(stack),  # numbers: no view
    room=lambda length, y: empty((length, *np.shape(y)), np.asarray(y).dtype),
    copied=np.array,
    nothing=lambda shape, dtype, like: np.empty(shape, dtype),
    blank=_blank,
).scan
