"""What a run may have to wait for, until another run, or another thread's, has done its part."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from kameleon._utils.locks import condition

from ..failures import failure

FURTHER: Final = object()  # what a step gives that isn't done, but got further


class Attempt:
    """Something that is tried until it's done: again whenever something changes.

    Args:
        waiting: where it waits.
        step: gives the result; None, if it isn't there yet; or `FURTHER`.
        undo: takes back what steps did, if it's given up.

    Attributes:
        done: whether it is; then there's a result, or an error.
        result: what it gave.
        error: to be raised.
    """

    def __init__(
        self, waiting: Waiting, step: Callable[[], Any], undo: Callable[[], None] | None = None
    ) -> None:
        self._waiting, self._step, self._undo = waiting, step, undo
        self.done = False
        self.result: Any = None
        self.error: Exception | None = None
        self._made: Callable[[Any], Any] | None = None
        with waiting.changed:
            waiting.attempts.append(self)
            waiting.try_all()

    def giving(self, made: Callable[[Any], Any]) -> Attempt:
        """The same, with what a function makes of the result."""
        self._made = made
        return self

    def run(self) -> bool:
        """Whether it's done now, or got further."""
        try:
            found = self._step()
        except Exception as error:
            self.complete(error=error)
        else:
            if found is FURTHER:
                return True
            if found is not None:
                self.complete(found)
        return self.done

    def complete(self, result: Any = None, error: Exception | None = None) -> None:
        """It's done."""
        self.done, self.result, self.error = True, result, error

    def outcome(self) -> Any:
        """The result; an error is raised."""
        if self.error is not None:
            raise self.error
        return self.result if self._made is None else self._made(self.result)

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        with self._waiting.change():
            if not self.done:
                if self._undo is not None:
                    self._undo()
                self.complete(error=failure("CANCELLED", "The operation was cancelled"))


class _Waits(Protocol):
    waiting: Waiting


Waits = TypeVar("Waits", bound=_Waits)
P = ParamSpec("P")


def polled(
    step: Callable[Concatenate[Waits, P], Any],
) -> Callable[Concatenate[Waits, P], Attempt]:
    """Decorates a method that gives a result, or None, if it isn't there yet."""

    @wraps(step)
    def attempt(self: Waits, /, *arguments: P.args, **named: P.kwargs) -> Attempt:
        return Attempt(self.waiting, partial(step, self, *arguments, **named))

    return attempt


class Steps:
    """An operation that may have to wait, on its way: for one attempt, or for several in turn.

    Attributes:
        attempt: what it waits for.
        results: what it gives, once it's done.
    """

    def __init__(self, found: Attempt | Generator[Attempt, None, Any]) -> None:
        self._generator = _alone(found) if isinstance(found, Attempt) else found
        self.attempt: Attempt
        self.results: list[Any] = []

    def advance(self) -> bool:
        """Go on until something isn't done that must be; whether all is."""
        try:
            self.attempt = next(self._generator)
            while self.attempt.done:
                self.attempt = next(self._generator)
        except StopIteration as end:
            self.results = end.value if isinstance(end.value, list) else [end.value]
            return True
        return False

    def close(self) -> None:
        """Nobody waits for it any more."""
        self.attempt.give_up()
        self._generator.close()

    def finish(self, waiting: Waiting) -> list[Any]:
        """Wait until it's done; what it gives."""
        while not self.advance():
            try:
                waiting.for_one([self.attempt], None)
            except BaseException:
                self.close()
                raise
        return self.results


def _alone(attempt: Attempt) -> Generator[Attempt, None, Any]:
    yield attempt
    return attempt.outcome()


class Waiting:
    """Where the runs of a session wait.

    Args:
        beside: of another session, whose runs wait for the same.

    Attributes:
        changed: told when an attempt was done; guards all queues.
        closed: whether the session is.
        attempts: those that aren't done, in order.
    """

    def __init__(self, beside: Waiting | None = None) -> None:
        self.attempts: list[Attempt] = [] if beside is None else beside.attempts
        self.changed: Any = condition() if beside is None else beside.changed
        self.closed = False

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Something changes here: what waits for it is tried again."""
        with self.changed:
            yield
            self.try_all()

    def try_all(self) -> None:
        """Try all in turn, as long as any gets further; who holds `changed` calls it."""
        moved = True
        while moved and self.attempts:
            moved = False
            for each in list(self.attempts):
                moved = (not each.done and each.run()) or moved
            self.attempts[:] = [each for each in self.attempts if not each.done]
        self.changed.notify_all()

    def for_one(self, attempts: Iterable[Attempt], deadline: float | None) -> None:
        """Wait until one of them is done.

        Raises:
            CancelledError, DeadlineExceededError: (TensorFlow's) none was, in time.
        """
        attempts = list(attempts)
        with self.changed:
            while not any(each.done for each in attempts):
                if self.closed:
                    raise failure("CANCELLED", "Session has been closed.")
                rest = None if deadline is None else deadline - time.monotonic()
                if rest is not None and rest <= 0:
                    raise failure("DEADLINE_EXCEEDED", "Timed out waiting for notification")
                self.changed.wait(rest)
