"""Processes that run one program take the same steps: each tells the others which one it's at.

What devices do together has to be asked for by all processes, in the same order: a process that
doesn't ask leaves the others waiting for good, and one that asks for something else gives them
wrong numbers. So each counts its steps (calls, and reading what lies in parts), and tells its count
and what the step is through the service by which JAX's processes meet. At a step that's new, a
process waits until the others have come to it, and compares. Later steps cost no message: a thread
tells and looks once a second. It names a process for which the others wait too long, and ends.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...config.processes import PATIENCE, Process
from ...errors import EngineError

PLACE, VERDICT = "kameleon/at/", "kameleon/verdict"
PAUSE = 1.0  # seconds between looks
SHORTEST, LONGEST = 0.001, 0.05  # seconds between looks at a new step


class Place(NamedTuple):
    """Where a process is in the program.

    Attributes:
        process: its number.
        step: how many steps it has begun.
        program: a digest of what the step computes.
        sizes: of what it's given.
        values: a checksum of them, where the step was new.
        line: of the program, where the process was found.
        has_ended: whether the program has come to its end there.
    """

    process: int
    step: int = 0
    program: str = ""
    sizes: str = ""
    values: int = 0
    line: str = ""
    has_ended: bool = False


# What may differ between processes at one step, and what is said of it.
DIFFERENCES = {
    "program": "asks for something else than process {0} ({2}, {1})",
    "sizes": "gives other sizes than process {0}: {2}, not {1}",
    "values": "gives other values than process {0}. Each process gives the whole of a batch and of"
    " a variable: generators that the program makes by itself need a fixed seed; rows that differ"
    " are given through kameleon.distributed.local",
}


def difference(mine: Place, other: Place) -> str | None:
    """What is wrong where two processes are at one step, or None."""
    if mine.step != other.step or not mine.step:
        return None
    first, second = sorted((mine, other))
    for part, what in DIFFERENCES.items():
        a, b = getattr(first, part), getattr(second, part)
        if a != b and (part != "values" or (a and b)):
            how = what.format(first.process, a or "nothing", b or "nothing")
            return f"at step {mine.step}, process {second.process} {how}{_at(second.line)}"
    return None


def missing(place: Place, ahead: Place, waited: float, patience: float) -> str | None:
    """What is wrong with a process that is behind another one, or None as long as it may come."""
    if place.step >= ahead.step:
        return None
    where = f"process {ahead.process} is at step {ahead.step}, process {place.process}"
    if place.has_ended:
        return f"{where} has ended after step {place.step}"
    if waited < patience:
        return None
    return (
        f"{where} hasn't come there from step {place.step} for {waited:.0f} s{_at(place.line)}."
        f" {PATIENCE} says how many seconds to wait"
    )


def _at(line: str) -> str:
    return f"; it's at {line}" if line else ""


class DivergenceCheck:
    """The steps of this process, and what the others tell of theirs.

    Args:
        client: of JAX's service.
        process: this one.
        patience: for how many seconds to wait for a process.
        stop: what ends the process, where it waits in vain.
    """

    def __init__(
        self,
        client: Any,
        process: Process,
        patience: float,
        stop: Callable[[str], None],
    ):
        self._client = client
        self._process = process
        self._patience = patience
        self._stop = stop
        self._here = Place(process.number)
        self._began = time.monotonic()  # this process its step
        self._behind = (0, 0.0)  # at this step, since when others are ahead
        self._answered = time.monotonic()
        self._values = 0
        self._known: set[tuple[str, str]] = set()
        self._over = threading.Event()

    @property
    def number(self) -> int:
        """Of this process."""
        return self._process.number

    def watch(self) -> None:
        """Tell and look from now on, until the program ends."""
        threading.Thread(target=self._watch, name="kameleon-divergence-check", daemon=True).start()
        atexit.register(self._end)

    def note(self, array: Any) -> None:
        """Values that all processes have to give alike before the next new step."""
        given = np.asarray(array)
        if not given.dtype.hasobject:
            self._values = zlib.crc32(given.tobytes(), self._values)

    def take(self, program: str, arrays: Iterable[Any]) -> None:
        """Begin a step.

        Args:
            program: a digest of what it computes.
            arrays: what it's given.

        Raises:
            EngineError: another process does something else, or doesn't come.
        """
        given = list(arrays)
        sizes = " ".join("x".join(map(str, np.shape(x))) or "()" for x in given)
        is_new = (program, sizes) not in self._known
        if is_new:
            for array in given:
                if isinstance(array, np.ndarray):
                    self.note(array)
        self._began = time.monotonic()
        values = self._values if is_new else 0
        self._here = Place(self.number, self._here.step + 1, program, sizes, values)
        if is_new:
            self._known.add((program, sizes))
            self._values = 0
            self._meet()

    def _meet(self) -> None:
        """Wait until all processes are at this step."""
        self._tell(_line())
        pause = SHORTEST
        while True:
            others = self._others()
            waited = time.monotonic() - self._began
            for other in others:
                wrong = difference(self._here, other)
                wrong = wrong or missing(other, self._here, waited, self._patience)
                if wrong:
                    raise EngineError(f"the processes of this program don't agree: {wrong}")
            if len(others) == self._process.processes - 1 and all(
                other.step >= self._here.step for other in others
            ):
                return
            if waited > self._patience:
                found = {other.process for other in others} | {self.number}
                lost = sorted(set(range(self._process.processes)) - found)
                raise EngineError(
                    f"{_named(lost)} of this program haven't begun a step for {waited:.0f} s"
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)

    # Telling and looking ----------------------------------------------------------------------

    def _tell(self, line: str, has_ended: bool = False) -> None:
        step = self._here._replace(line=line, has_ended=has_ended)
        key = f"{PLACE}{self.number}"
        self._client.key_value_set(key, json.dumps(step), allow_overwrite=True)

    def _others(self) -> list[Place]:
        found = (Place(*json.loads(text)) for _, text in self._client.key_value_dir_get(PLACE))
        return [place for place in found if place.process != self.number]

    def _watch(self) -> None:
        while not self._over.wait(PAUSE):
            wrong = self.look()
            if wrong and not self._over.is_set():
                self._stop(wrong)

    def look(self) -> str | None:
        """Tell where this process is; what is wrong, if something is.

        The first process looks at all others, the others at what it says: so messages grow with the
        number of processes, not with its square.
        """
        now = time.monotonic()
        try:
            self._tell(_line())
            wrong = self._judged(now) if not self.number else self._verdict()
            self._answered = now
        except RuntimeError as error:  # JAX's, where the service doesn't answer
            silent = now - self._answered
            return f"process 0 hasn't answered for {silent:.0f} s: {error}" * (
                silent > self._patience
            )
        return wrong

    def _verdict(self) -> str | None:
        found = dict(self._client.key_value_dir_get(VERDICT))
        return next(iter(found.values()), None)

    def _judged(self, now: float) -> str | None:
        here = self._here
        for other in self._others():
            if other.step > here.step:
                if self._behind[0] != here.step:
                    self._behind = here.step, now
                waited = now - self._behind[1]
                wrong = missing(here._replace(line=_line()), other, waited, self._patience)
            else:
                wrong = missing(other, here, now - self._began, self._patience)
            wrong = wrong or difference(here, other)
            if wrong:
                self._client.key_value_set(f"{VERDICT}/0", wrong, allow_overwrite=True)
                return wrong
        return None

    def _end(self) -> None:
        self._over.set()
        try:
            self._tell("", has_ended=True)
        except RuntimeError:  # the service has gone
            return


def digest(text: str) -> str:
    """A short name for a text, the same in all processes."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def stop(wrong: str) -> None:
    """End this process, which may be waiting in code that nothing else gets it out of."""
    message = f"kameleon: the processes of this program don't agree: {wrong}"
    print(message, file=sys.__stderr__, flush=True)
    sys.stdout.flush()
    os._exit(1)


def _named(numbers: Sequence[int]) -> str:
    return f"process{'es' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


_PACKAGE = __name__.partition(".")[0]


def _line() -> str:
    """Where the program is: the innermost line of its main thread that isn't ours or JAX's."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in (_PACKAGE, "jax"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return ""
