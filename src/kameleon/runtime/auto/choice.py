"""Which engine serves a function: the embedded one first, later the fastest that agrees with it.

Functions that share variables are a group, whose members are served by one engine: values would go
back and forth between engines. A function that is called too little to be tried stays on the
embedded engine, which reads the others' values.

Nothing that is tried, or made ready, holds a call up: trials run in another process; the engine
that was chosen is loaded, and its code made, in a thread that ends with that.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._utils.locks import rlock
from ...engines._base import Chooser, Engine
from ..engines import embedded, load, loaded
from . import memory
from .report import Report
from .trial import Candidate, Trial

if TYPE_CHECKING:
    from ...graph.ir.node import Variable
    from ..function import Function

# A function is tried when its calls, but for the first, have taken so long together: to start a
# process for it costs about as much.
TRIED_AFTER = 0.25
# So often it's looked, at most, whether a trial has ended and what follows from it: seconds.
EVERY = 0.02
# An engine must be this much faster than the one that serves.
FASTER = 0.95

# What is going on with a function.
WAITING, TRYING, WEIGHING, PREPARING, SETTLED = (
    "waiting", "being tried", "weighing", "being prepared", "settled",
)  # fmt: skip


class Choice:
    """The engine of a function, and how it came to that.

    Attributes:
        engine: what serves the function now.
        candidates: what was found of engines, by name.
        state: what is going on.
        reason: why the engine serves.
        calls, spent: how often the function was called, and the seconds that took; without the
            first call, which makes the code.
    """

    def __init__(self, function: Function, auto: Chooser, is_alone: bool):
        self._function = weakref.ref(function)
        self._auto = auto
        self.engine: Engine = embedded()
        self.candidates: dict[str, Candidate] = {}
        self.state, self.reason = WAITING, "it's always there"
        self.calls, self.spent = -1, 0.0
        self.example: list[Any] = []  # values that the function was tried with
        self.group = Group.of(self, function)
        self._trial: Trial | None = None
        self._next_look = 0.0
        self._lock = rlock()
        if is_alone:
            self._settle("no other engine is installed")

    @property
    def function(self) -> Function:
        """The function; it's alive as long as somebody calls it."""
        found = self._function()
        assert found is not None
        return found

    def call(self, values: Sequence[Any]) -> list[Any]:
        """Call the function."""
        function, engine = self.function, self.engine
        if engine.lost:
            self.serve(embedded(), f"{engine.title} was lost in a fork")
            engine = self.engine
        if self.state is SETTLED:
            function.settle(self._auto, engine)
            return function.call_on(engine, values)
        began = time.perf_counter()
        results = function.call_on(engine, values)
        now = time.perf_counter()
        self.calls += 1
        if self.calls:
            self.spent += now - began
            if now >= self._next_look:
                self._look(values, now)
        elif memory.is_there():  # nothing is waited for, where it was found before
            self._learn_from(memory.look_up(function, self._example_of(values)))
        return results

    # What follows from calls ---------------------------------------------------------------------

    def _look(self, values: Sequence[Any], now: float) -> None:
        if not self._lock.acquire(blocking=False):  # another thread looks
            return
        try:
            self._next_look = now + EVERY
            if self.state is WAITING and self.spent > TRIED_AFTER:
                self._try(values)
            elif self.state is TRYING and self._trial is not None:
                found = self._trial.found()
                if found is not None:
                    self._trial = None
                    memory.keep(self.function, self.example, found)
                    self._learn_from(found)
                    if self.state is TRYING:
                        self._settle("no other engine computes it")
            if self.state is WEIGHING:
                self.group.weigh()
        except Exception as error:  # no call fails for what is only tried
            self._settle(f"it can't be tried: {type(error).__name__}: {error}")
        finally:
            self._lock.release()

    def _try(self, values: Sequence[Any]) -> None:
        others = [name for name in self._auto.candidates if name != embedded().name]
        self._trial = Trial(self.function, self._example_of(values), others)
        self.state = TRYING

    def _learn_from(self, found: Iterable[Candidate]) -> None:
        allowed = set(self._auto.candidates)
        candidates = {c.engine: c for c in found if c.engine in allowed}
        times = [c.embedded for c in candidates.values() if c.is_sound]
        self.candidates = candidates
        if times:
            name = embedded().name
            candidates[name] = Candidate(name, min(times), min(times), agrees=True, difference=0.0)
            self.state = WEIGHING

    def _example_of(self, values: Sequence[Any]) -> list[Any]:
        """Copies of values as arrays, which are kept as an example."""
        arrays = self.function.given(values, self.engine)
        self.example = [
            x.copy() if isinstance(x, np.ndarray) else self.engine.to_numpy(x) for x in arrays
        ]
        return self.example

    # What the group does with it -----------------------------------------------------------------

    def _settle(self, reason: str) -> None:
        self.state, self.reason = SETTLED, reason
        function = self._function()
        if function is None or not function.program.variables:  # others may ask for another engine
            self.example = []

    def serve(self, engine: Engine, reason: str) -> None:
        """Let an engine serve the function from now on."""
        self.function.settle(self._auto, None)
        self.engine = engine
        self._settle(reason)

    def begin_anew(self) -> None:
        """Leave what is tried alone: it belongs to another process."""
        if self._trial is not None:
            self._trial.end()
            self._trial = None
        if self.state in (TRYING, PREPARING):
            self.state = WAITING
        function = self._function()
        if function is not None:
            function.settle(self._auto, None)

    def prepare(self, function: Function, engine: Engine) -> None:
        """Make the function's code for an engine, and run it once with copies of the state."""
        executable = function.executable(engine, function.variant_of(self.example, embedded()))
        state = function.state.values(embedded())
        count = len(function.program.variables)
        own = [engine.from_numpy(np.array(x)) for x in state[:count]]
        executable([*self.example, *function.constants.values(), *own, *state[count:]])

    def report(self) -> Report:
        """What is known."""
        return Report(
            self.engine.name, self.state, self.reason, self.calls + 1, self.spent,
            tuple(self.candidates.values()),
        )  # fmt: skip


class Group:
    """Functions that share variables, which some of them change.

    Attributes:
        members: their choices, as long as the functions live.
        engine: the name of the one that serves those that were tried.
    """

    _of_variable: ClassVar[weakref.WeakKeyDictionary[Variable, Group]] = weakref.WeakKeyDictionary()
    _lock = rlock()

    def __init__(self) -> None:
        self.members: weakref.WeakSet[Choice] = weakref.WeakSet()
        self.engine = embedded().name

    @classmethod
    def of(cls, choice: Choice, function: Function) -> Group:
        """The group that a function belongs to, with all groups that it joins by that."""
        with cls._lock:
            table, variables = cls._of_variable, function.program.variables
            joined = {id(g): g for v in variables if (g := table.get(v)) is not None}
            group, *others = joined.values() or [cls()]
            for other in others:
                for member in list(other.members):
                    member.group = group
                    group.members.add(member)
                for v in [v for v, g in table.items() if g is other]:
                    table[v] = group
            for v in variables:
                table[v] = group
            group.members.add(choice)
            return group

    def weigh(self) -> None:
        """Let the fastest engine be prepared, if that is worth what it costs by now."""
        with self._lock:
            known = [c for c in self.members if c.candidates and c._function() is not None]
            if any(c.state is PREPARING for c in known):
                return
            sound = [{n for n, x in c.candidates.items() if x.is_sound} for c in known]
            costs = {name: _calls(known, name) for name in set.intersection(*sound)}
            best = min(costs, key=costs.__getitem__)
            if self.engine in costs and costs[best] > FASTER * costs[self.engine]:
                best = self.engine
            waiting = [c for c in known if c.engine.name != best]
            saved = _calls(known, None) - costs[best]
            if not waiting:
                for c in known:
                    c.serve(c.engine, "no other engine is faster")
            elif saved >= _switching(waiting, best):
                self._prepare(waiting, best)

    def _prepare(self, waiting: list[Choice], name: str) -> None:
        for c in waiting:
            c.state = PREPARING
        functions = [c.function for c in waiting]  # they live until then
        thread = threading.Thread(target=self._prepared, args=(waiting, functions, name))
        thread.start()  # the interpreter waits for it when it ends: compilers don't like to be left

    def _prepared(self, waiting: list[Choice], functions: list[Function], name: str) -> None:
        try:
            engine = load(name)
            for c, function in zip(waiting, functions, strict=True):
                c.prepare(function, engine)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            for c in waiting:
                c.candidates[name] = c.candidates[name]._replace(failure=why)
                c.state = WEIGHING
            return
        self.engine = name
        for c in waiting:
            c.serve(engine, f"it's the fastest of {len(c.candidates)}")


def _calls(known: Iterable[Choice], engine: str | None) -> float:
    """The seconds that the calls so far would have taken on an engine; or on those that serve."""
    return sum(max(c.calls, 1) * c.candidates[engine or c.engine.name].seconds for c in known)


def _switching(known: Sequence[Choice], engine: str) -> float:
    """The seconds that it takes to load an engine and to compile functions for it."""
    is_loaded = engine in {e.name for e in loaded()}
    loading = 0.0 if is_loaded else max(c.candidates[engine].loading for c in known)
    return loading + sum(c.candidates[engine].compiling for c in known)
