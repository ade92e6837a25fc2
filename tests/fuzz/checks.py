"""Whether a program means the same on every engine, in every call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import kameleon
from kameleon import backend as K
from kameleon.errors import EngineError, KameleonError

from .program import Array, Built, Program
from .stepwise import Stepwise, apart

# A function is called so often: its code changes between the first calls.
CALLS = 3
# Words in the errors of engines for programs that they can't do, which is documented.
DECLINES = "choose another engine"


class Found(NamedTuple):
    """Something that must not be.

    Attributes:
        kind: the class of the fault; `engine`: where, if on one of them.
        text: for people.
    """

    kind: str
    engine: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """What stays the same while a program is shrunk."""
        return self.kind, self.engine


class Run(NamedTuple):
    """What the calls of a function gave: outputs, then the variables' values, for each call."""

    calls: list[list[Array]]


class Trial:
    """A program that is compared on several engines.

    Attributes:
        built: what its lines made.
        want: what the calls gave on the embedded engine.
    """

    def __init__(self, built: Built):
        self.built = built
        self.want = calls(built, "numpy")

    @cached_property
    def stepwise(self) -> Stepwise:
        """The program's function, node by node."""
        return Stepwise(self.function(), self.built.feeds)

    @cached_property
    def delicate(self) -> frozenset[int]:
        """The numbers of the results that last bits decide; see `Stepwise`."""
        decided = self.stepwise.decided_by_last_bits()
        count, updated = len(self.built.outputs), self.stepwise.outputs
        if any(i in decided for i in range(count, updated)):
            decided |= set(range(count, count + len(self.built.variables)))
        return frozenset(decided)

    def function(self, engine: str | None = None) -> Any:
        """The program's function, its variables at their first values."""
        self.built.restart()
        built = self.built
        return K.function(built.inputs, built.outputs, updates=built.updates, engine=engine)

    def apart(self, got: Sequence[Array], want: Sequence[Array]) -> str:
        """The first value that isn't what it should be, as text; not one that last bits decide."""
        found = apart(got, want)
        return next((found[i] for i in found if i not in self.delicate), "")


def check(
    program: Program, engines: Sequence[str], single: Sequence[Array] | None = None
) -> Iterator[Found]:
    """All that is found of a program, whose reference is the embedded engine.

    Args:
        program: its lines run without an error.
        engines: names of the engines to run it on.
        single: the outputs of its first call, each node having been computed on its own; if
            they're known.
    """
    built = program.build()
    try:
        trial = Trial(built)
    except KameleonError as error:
        yield Found("fails", "numpy", f"{type(error).__name__}: {error}")
        return
    count = len(built.outputs)
    single = trial.stepwise.run()[:count] if single is None else single
    text = trial.apart(trial.want.calls[0][:count], single)
    if text:
        yield Found("differs from its nodes", "numpy", text)
    yield from _steady(trial.want, trial, "numpy")
    for name in engines:
        yield from _on(name, trial)


def calls(built: Built, engine: str) -> Run:
    """Call the program's function on an engine, from its first state on."""
    built.restart()
    function = K.function(built.inputs, built.outputs, updates=built.updates, engine=engine)
    made = []
    for _ in range(CALLS):
        outputs = function([x.copy() for x in built.feeds])
        state = K.batch_get_value([v for v, _ in built.variables])
        made.append([*map(np.asarray, outputs), *state])
    return Run(made)


def _on(name: str, trial: Trial) -> Iterator[Found]:
    try:
        got = calls(trial.built, name)
    except EngineError as error:
        if DECLINES not in str(error):
            yield Found("fails", name, f"{type(error).__name__}: {error}")
        return
    except Exception as error:
        yield Found("fails", name, f"{type(error).__name__}: {error}")
        return
    yield from _steady(got, trial, name)
    if apart(got.calls[0], trial.want.calls[0]):
        yield from _blamed(name, trial, got.calls[0])


def _steady(run: Run, trial: Trial, engine: str) -> Iterator[Found]:
    """Without updates, every call gives the same."""
    if trial.built.updates:
        return
    first, *others = run.calls
    for number, other in enumerate(others, 2):
        worst = trial.apart(other, first)
        if worst:
            yield Found("unsteady", engine, f"call {number} gives another result: {worst}")
            return


def _blamed(name: str, trial: Trial, got: Sequence[Array]) -> Iterator[Found]:
    """What is to blame for a difference: a node that is wrong alone; else how several are
    compiled together. Nothing, where last bits became large."""
    report = kameleon.compare(trial.function(), list(trial.built.feeds), [name], wrt=[])
    first: Any = report.runs[name].first_difference
    if first is not None and first.alone and not trial.stepwise.is_delicate(first):
        yield Found(f"differs: {first.primitive}", name, f"{first}")
        return
    text = trial.apart(got, trial.want.calls[0])
    if not text:
        return
    if report.agree():
        yield Found("differs in calls", name, f"compare finds nothing\n{text}\n{report}")
    elif first is not None:
        yield Found(f"differs from {first.primitive} on", name, f"{first}\n{text}")
    else:
        yield Found("differs as a whole", name, f"{report.runs[name].error}\n{text}\n{report}")
