"""Whether a program means the same on every engine, in every call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import kameleon
from kameleon import backend as K
from kameleon.comparison.result import difference
from kameleon.errors import EngineError, KameleonError

from .program import Array, Built, Program

# A function is called so often: its code changes between the first calls.
CALLS = 3
# So many runs with nudged inputs tell whether last bits decide.
PERTURBED = 8
# By engine, what it says of programs that it can't do; the documentation says it, too.
DECLINES = "choose another engine"


class Found(NamedTuple):
    """Something that must not be.

    Attributes:
        kind: its class; `engine`: where, if on one of them.
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


def check(program: Program, engines: Sequence[str]) -> Iterator[Found]:
    """All that is found of a program, whose reference is the embedded engine.

    Args:
        program: its lines run without an error.
        engines: names of those to run it on.
    """
    built = program.build()
    try:
        want = calls(built, "numpy")
    except KameleonError as error:
        yield Found("fails", "numpy", f"{type(error).__name__}: {error}")
        return
    yield from _steady(want, built, "numpy")
    for name in engines:
        yield from _on(name, built, want)


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


def _on(name: str, built: Built, want: Run) -> Iterator[Found]:
    try:
        got = calls(built, name)
    except EngineError as error:
        if DECLINES not in str(error):
            yield Found("fails", name, f"{type(error).__name__}: {error}")
        return
    except Exception as error:
        yield Found("fails", name, f"{type(error).__name__}: {error}")
        return
    yield from _steady(got, built, name)
    if apart(got.calls[0], want.calls[0]):
        yield from _blamed(name, built)


def _steady(run: Run, built: Built, engine: str) -> Iterator[Found]:
    """Without updates, every call gives the same."""
    if built.updates:
        return
    first, *others = run.calls
    for number, other in enumerate(others, 2):
        worst = apart(other, first)
        if worst:
            yield Found("unsteady", engine, f"call {number} gives another result: {worst}")
            return


def apart(got: Sequence[Array], want: Sequence[Array]) -> str:
    """The first value that isn't what it should be, as text."""
    for i, pair in enumerate(zip(got, want, strict=True)):
        found = difference(f"value {i}", *pair)
        if not found.within():
            return f"{found}\n{pair[0]}\n{pair[1]}"
    return ""


def _blamed(name: str, built: Built) -> Iterator[Found]:
    """The node that is to blame for a difference; none where last bits became large."""
    built.restart()
    function = K.function(built.inputs, built.outputs, updates=built.updates)
    report = kameleon.compare(function, list(built.feeds), [name], wrt=[])
    if report.agree():
        yield Found("differs in calls", name, f"compare finds nothing\n{report}")
        return
    first: Any = report.runs[name].first_difference
    if first is not None and first.alone:
        yield Found(f"differs: {first.primitive}", name, f"{first}")
    elif first is None and not is_sensitive(built):
        yield Found("differs as a whole", name, f"{report.runs[name].error}\n{report}")


def is_sensitive(built: Built) -> bool:
    """Whether last bits of the inputs decide about the results, at a step of `floor`, say."""
    random = np.random.default_rng(0)
    function = K.function(built.inputs, built.outputs, engine="numpy")
    want: list[Array] | None = None
    for _ in range(PERTURBED):
        built.restart()
        got = function([_nudged(x, random) for x in built.feeds])
        if want is not None and apart(got, want):
            return True
        want = got
    return False


def _nudged(x: Array, random: np.random.Generator) -> Array:
    if x.dtype.kind != "f":
        return x
    with np.errstate(all="ignore"):
        moved = x * (1 + random.integers(-4, 5, x.shape) * np.finfo(x.dtype).eps)
    return np.asarray(moved, x.dtype)
