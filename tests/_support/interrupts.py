"""Exceptions at random moments, as Ctrl-C, an alarm or a full memory raise them.

A timer of the process sends a signal; its handler raises in the main thread, between two
bytecodes of whatever runs there then. `Strikes.hit` lets that happen to some work; each
`Scenario` is a piece of work, and what has to hold after it was struck.
"""

from __future__ import annotations

import gc
import itertools
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K
from kameleon.errors import KameleonError
from kameleon.graph.ir.context import context
from kameleon.runtime import engines
from kameleon.runtime.state import draws

Work = Callable[[], Any]

KINDS = (KeyboardInterrupt, MemoryError)
# After how many seconds the timer strikes again, to hit code that cleans up, too.
AGAIN = 30e-6
# How long a strike may take to come, in seconds: CPython may forget to look for a signal that
# another thread has received, until something else makes it look.
LATEST = 1.0
# How long another thread may take for a call, in seconds, on a machine that has other work.
PATIENCE = 60.0


class Strikes:
    """Raises in the main thread while work runs.

    Attributes:
        count: exceptions raised so far.
    """

    def __init__(self, seed: int | None = None):
        self.seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        self.random = random.Random(self.seed)
        self.count = 0
        self._left = 0
        self._kind: type[BaseException] = KeyboardInterrupt

    def _handle(self, *signal_and_frame: Any) -> None:
        if self._left > 0:
            self._left -= 1
            self.count += 1
            raise self._kind

    def hit(self, work: Work, within: float) -> bool:
        """Run work, and raise up to three times in it; whether anything was raised.

        Args:
            work: it may end before it's struck.
            within: the first strike comes in so many seconds, or earlier.
        """
        self._kind = self.random.choice(KINDS)
        times = self.random.choice((1, 1, 3))
        again = AGAIN if times > 1 else 0.0
        before = self.count
        try:
            try:
                self._left = times
                signal.setitimer(signal.ITIMER_REAL, self.random.uniform(2e-6, within), again)
                work()
            finally:
                self._left = 0  # from here on nothing is raised
        except Exception as error:
            # Some code in C turns the exception into another one; Kameleon's code doesn't.
            if self.count == before or isinstance(error, KameleonError):
                raise
        except KeyboardInterrupt:
            if self.count == before:  # a person has asked for it
                raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return self.count > before

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the timer's signals inside.

        Python only shows what is raised in a destructor; the hook that shows it may be struck, too.
        """
        before, shown = signal.signal(signal.SIGALRM, self._handle), sys.unraisablehook
        sys.unraisablehook = lambda unraisable: None
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            sys.unraisablehook = shown


class Scenario(NamedTuple):
    """Work that is struck, and what has to hold afterwards.

    work: a short piece of work; it's repeated until it's struck.
    holds: asserts that the state is that from before or after one of the pieces.
    call: what another thread can do at any time.
    """

    work: Work
    holds: Work
    call: Work


def _alike(values: list[Any]) -> float:
    """The one number in all elements of all values."""
    found = {float(x) for value in values for x in np.asarray(value, float).reshape(-1)}
    assert len(found) == 1, f"half an update: {sorted(found)}"
    return found.pop()


SHAPES = ((), (3,), (2, 3), (40, 40), (1,), (130, 130), (5, 1), (2,), (7,))


def _counters() -> list[Any]:
    return [K.variable(np.zeros(shape)) for shape in SHAPES]


def commits() -> Scenario:
    """Several variables, read and replaced together: each of them counts the calls."""
    vs = _counters()
    f = K.function([], [vs[2]], updates=[K.update_add(v, K.ones_like(v)) for v in vs])
    read = K.function([], vs)
    steps = [0.0]

    def holds() -> None:
        now = _alike(K.batch_get_value(vs))
        assert now >= steps[0], "an update is lost"
        assert _alike(read([])) == now
        steps[0] = now

    return Scenario(lambda: f([]), holds, lambda: f([]))


def body() -> Scenario:
    """Arithmetic, products and a loop, which the new values come from."""
    vs = _counters()
    x = K.placeholder((None, 40))

    def step(total: Any, row: Any) -> Any:
        return total + K.mean(row) * 0.0

    one = K.foldl(step, K.tanh(K.dot(x, vs[3]) * 0.0), initializer=K.constant(1.0))
    f = K.function([x], [one], updates=[(v, v + one) for v in vs])
    given = np.ones((30, 40), "float32")
    return Scenario(lambda: f([given]), lambda: _alike(K.batch_get_value(vs)), lambda: f([given]))


def streams() -> Scenario:
    """Random streams count with the variables: no number is drawn twice."""
    total, last = K.variable(0.0), K.variable(np.zeros(4))
    drawn = K.random_uniform((4,), seed=3)
    other = K.random_normal((4,), seed=5)
    updates = [K.update_add(total, 1.0), K.update(last, drawn + 0.0 * other)]
    f = K.function([], [drawn], updates=updates)
    sources = [n for n in f.compiled.program.nodes if n.primitive.name == "random_source"]
    seen: dict[float, bytes] = {}

    def holds() -> None:
        counts = {draws(s).value for s in sources}
        number, value = K.batch_get_value([total, last])
        assert counts == {int(number)}, f"{counts} draws, {number} calls"
        assert seen.setdefault(float(number), value.tobytes()) == value.tobytes()

    return Scenario(lambda: f([]), holds, lambda: f([]))


def setting() -> Scenario:
    """`batch_set_value` sets all or none; `set_value` leaves the old value, or a whole new one."""
    vs = _counters()
    alone = K.variable(np.zeros((50, 50)))
    numbers = itertools.count()
    f = K.function([], [], updates=[K.update_add(v, K.ones_like(v)) for v in vs])

    def work() -> None:
        number = next(numbers)
        K.batch_set_value([(v, np.full(v.shape, number)) for v in vs])
        K.set_value(alone, np.full((50, 50), number))

    def holds() -> None:
        _alike(K.batch_get_value(vs))
        _alike([K.get_value(alone)])

    return Scenario(work, holds, lambda: f([]))


def reading() -> Scenario:
    """`K.get_value`, `K.batch_get_value` and `K.eval` change nothing."""
    vs = _counters()
    f = K.function([], [], updates=[K.update_add(v, K.ones_like(v)) for v in vs])
    f([])
    double = vs[2] * 2.0

    def work() -> None:
        assert _alike([K.get_value(vs[3]), *K.batch_get_value(vs)]) >= 1
        assert _alike([K.eval(double)]) >= 2

    return Scenario(work, lambda: _alike(K.batch_get_value(vs)), lambda: f([]))


def shared() -> Scenario:
    """Functions over different sets of the same variables, which threads wait for."""
    vs = _counters()
    steps = [K.update_add(v, K.ones_like(v)) for v in vs]
    every = K.function([], [], updates=steps)
    more = K.function([], vs, updates=[*steps, *(K.update_add(v, 0.0 * v) for v in vs)])

    def work() -> None:
        every([])
        assert len(more([])) == len(vs)

    return Scenario(work, lambda: _alike(K.batch_get_value(vs)), lambda: (every([]), more([])))


_fresh = itertools.count(1)


def first_call() -> Scenario:
    """Graphs are built, differentiated and compiled; what is compiled is shared."""
    w, steps = K.variable(np.ones((3, 3))), K.variable(0.0)

    def work() -> None:
        x = K.placeholder((None, 3))
        loss = K.mean(K.square(K.tanh(K.dot(x, w)) * float(next(_fresh)) - 1.0))
        (g,) = K.gradients(loss, [w])
        f = K.function([x], [loss], updates=[(w, w - 1e-3 * g), K.update_add(steps, 1.0)])
        for _ in range(3):
            assert np.isfinite(f([np.ones((2, 3))])[0])

    return Scenario(work, lambda: K.batch_get_value([w, steps]), work)


def scopes() -> Scenario:
    """The blocks of scopes are entered and left, in all ways in which blocks are."""
    v = K.variable(0.0)
    update = K.update_add(v, 1.0)
    name = context.scope

    @K.name_scope("decorated")
    def decorated() -> str:
        return context.scope

    def returns() -> str:
        with K.name_scope("a"), K.control_dependencies([update]), K.using_engine("numpy"):
            return context.scope

    def yields() -> Iterator[str]:
        for _ in range(2):
            with K.name_scope("b") as scope:
                yield scope

    def work() -> None:
        assert (decorated(), returns()) == (f"{name}decorated/", f"{name}a/")
        assert list(yields()) == [f"{name}b/"] * 2
        try:
            with K.using_engine("numpy"), K.name_scope("c"):
                raise LookupError
        except LookupError:
            assert context.scope == name

    before = engines.current()

    def holds() -> None:
        assert (context.scope, context.control, engines.current()) == (name, (), before)

    return Scenario(work, holds, work)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    f.__name__: f for f in (commits, body, streams, setting, reading, shared, first_call, scopes)
}


def run(scenario: Scenario, strikes: Strikes, count: int) -> None:
    """Strike the work so often; test each time that all holds, in this thread and another one."""
    for _ in range(3):  # compile, unless that's what is struck
        scenario.work()
    start = time.perf_counter()
    scenario.work()
    # Tiny pieces are struck at any of several repetitions: a timer isn't that exact.
    within = 1.2 * max(time.perf_counter() - start, 50e-6)
    surroundings = _surroundings()
    until = strikes.count + count

    def repeated() -> None:
        done = strikes.count  # what is raised in a destructor is lost
        end = time.perf_counter() + LATEST
        while strikes.count == done and time.perf_counter() < end:
            scenario.work()

    with strikes.listening():
        while strikes.count < until:
            strikes.hit(repeated, within)
            scenario.holds()
            _elsewhere(scenario.call)
            scenario.holds()
            for what, now in _surroundings().items():
                assert now == surroundings[what], f"left behind: {what} {now}"


def _elsewhere(call: Work) -> None:
    """Make the call in another thread, which no lock may keep waiting."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            call()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "a lock is held"
    if failures:
        raise failures[0]


def _surroundings() -> dict[str, Any]:
    """What calls and compilations set for a while, and set back."""
    found = {
        "garbage": gc.isenabled(),
        "numpy": np.geterr(),
        "made for": context.source,
        "updates": context.control,
        "scope": context.scope,
    }
    if "jax" in sys.modules:
        found["jax"] = sys.modules["jax"].config.jax_enable_x64
    if "tensorflow" in sys.modules:
        found["tensorflow"] = sys.modules["tensorflow"].executing_eagerly()
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].is_grad_enabled()
    return found
