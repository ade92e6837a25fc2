"""The worker as a process: it's started when it's first needed, and asked over a socket, by lines.

Arrays lie in a file in memory that has no name; what variables hold is the driver's own, and beside
that in the worker, for as long as both live. So a worker that dies takes nothing with it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import errors
from ..._utils.locks import lock
from ..._utils.threads import counter, uninterrupted
from ...config import cntk as environment
from ...errors import EngineError
from .memory import HEAD, Memory, Place
from .older import sources

SCRIPT = Path(__file__).with_name("worker.py")
FIRST_SIZE = 1 << 24
# Of what the worker has printed, so much is shown when it has died.
SHOWN = 2000
MOST_WORDS = 1 << 20

_next_token = counter(1)


class Held:
    """An array of this engine: its values, and the token by which the worker knows them."""

    __slots__ = ("__weakref__", "array", "token")

    def __init__(self, array: np.ndarray, token: int | None = None):
        self.array = array
        self.token = _next_token() if token is None else token

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values for NumPy; a view, if that may be, is not to be written to."""
        found = self.array.view()
        found.flags.writeable = False
        return np.array(found, dtype) if copy or dtype not in (None, found.dtype) else found

    def __repr__(self) -> str:
        return f"<kameleon array on CNTK: {self.array!r}>"


class Program(ABC):
    """What the worker runs.

    Attributes:
        token: by which the worker knows it.
        results: how many there are.
        by_numpy: numbers of segments that CNTK didn't compute in the last call; why, and for which
            of their nodes, if they are known.
    """

    def __init__(self, results: int):
        self.token, self.results = _next_token(), results
        self.by_numpy: dict[int, tuple[str, list[int]]] = {}

    @abstractmethod
    def data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The program as the worker gets it, and the arrays that this names."""


class _Reference(weakref.ref[Any]):
    """Tells when something is no more; by code in C alone, so that nothing can interrupt that."""

    __slots__ = ("token",)

    token: int


class WorkerDiedError(EngineError):
    """The worker has ended. `number` is that of what it was at, or 0."""

    def __init__(self, number: int, words: str):
        super().__init__(words)
        self.number = number


class Worker:
    """A running process."""

    def __init__(self) -> None:
        if not hasattr(os, "memfd_create"):
            raise EngineError("CNTK 2.7 runs on Linux alone; choose another engine")
        where = environment.folder()
        here, there = socket.socketpair()
        self._socket, self._answers = here, here.makefile("rb")
        self._file = os.memfd_create("kameleon-cntk")
        self._log = os.memfd_create("kameleon-cntk-log")
        os.ftruncate(self._file, FIRST_SIZE)
        self.memory = Memory(self._file)
        # By token, what it holds: arrays and programs; and what of that nobody needs any longer.
        self.known: dict[int, _Reference] = {}
        self._dropped: deque[_Reference] = deque()
        self.busy = False  # it has been asked, and its answer wasn't read to the end
        # It ends when nobody holds the writing end of this any longer.
        end, self._alive = os.pipe()
        with there, open(end, "rb"):
            descriptors = (there.fileno(), self._file, end)
            self._process = subprocess.Popen(
                [environment.python(where), "-u", str(SCRIPT), *map(str, descriptors)],
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=environment.variables(where),
                start_new_session=True,
            )
        try:
            self.versions = self.ask("start", sources=sources())
        except BaseException:
            self.end()
            raise

    def ask(self, what: str, **more: Any) -> Any:
        """The answer to a request.

        Raises:
            WorkerDiedError: there's none.
            Exception: the worker has raised it.
        """
        data = json.dumps({"do": what, **more}).encode()
        self.busy = True
        try:
            self._socket.sendall(data + b"\n")
            line = self._answers.readline()
        except ConnectionError:
            line = b""
        if not line.endswith(b"\n"):
            raise self._death()
        answer = json.loads(line)
        self.busy = False
        if "error" in answer:
            raise _error(*answer["error"])
        return answer

    def _death(self) -> WorkerDiedError:
        self._process.kill()
        code = self._process.wait()
        size = os.fstat(self._log).st_size
        said = os.pread(self._log, SHOWN, max(0, size - SHOWN)).decode(errors="replace").strip()
        how = f"by signal {-code}" if code < 0 else f"with status {code}"
        words = f"CNTK's process ended {how}" + (f"; it said: {said}" if said else "")
        return WorkerDiedError(self.memory.number, words)

    def forget_words(self) -> None:
        """Empty what it has printed, where that's much: only the last words are ever shown."""
        if os.fstat(self._log).st_size > MOST_WORDS:
            os.ftruncate(self._log, 0)

    def end(self, kill: bool = True) -> None:
        """Let go of the process; one that isn't killed ends by itself when nobody holds it."""
        if kill:
            self._process.kill()
            self._process.wait()
        else:
            self._process.returncode = 0  # it's the child of another process
        self._answers.close()
        self._socket.close()
        for descriptor in (self._file, self._log, self._alive):
            os.close(descriptor)

    # What it holds ------------------------------------------------------------------------------

    def put(self, arrays: Sequence[np.ndarray]) -> list[Place]:
        """Copy arrays into the memory, to its beginning; gives their places."""
        self.memory.used = HEAD
        return list(map(self.memory.put, arrays))

    def dropped(self) -> list[int]:
        """The tokens of what it needn't hold any longer."""
        tokens = [self._dropped.popleft().token for _ in range(len(self._dropped))]
        for token in tokens:
            self.known.pop(token, None)
        return tokens

    def know(self, thing: Held | Program) -> None:
        """Note that it holds an array, or a program."""
        reference = _Reference(thing, self._dropped.append)
        reference.token = thing.token
        self.known[thing.token] = reference


def _error(name: str, message: str, trace: str) -> Exception:
    """What the worker has raised: one of ours as such, another one as what it says."""
    own = getattr(errors, name, None)
    if isinstance(own, type) and issubclass(own, errors.KameleonError):
        return own(message)
    if name == "MemoryError":
        return MemoryError(message)
    return EngineError(f"in CNTK's process: {name}: {message}\n{trace}")


class Keeper:
    """The worker, if there's one; asked by one thread at a time.

    What is raised while it computes (a signal's handler raises it, say) leaves nobody to hear the
    answer: then the worker is ended, and the next call starts another one.
    """

    def __init__(self) -> None:
        self.lock = lock()
        self._changing = lock()  # held by who starts or ends the worker
        self._worker: Worker | None = None

    def run(self, program: Program, given: Sequence[Any]) -> list[Held]:
        """The results of a program, given arrays of NumPy or of this engine."""
        with self.lock:
            worker = self._ready()
            try:
                self._send(worker, program)
                return self._run(worker, program, given)
            finally:
                if worker.busy:
                    self.stop()

    def _ready(self) -> Worker:
        worker = self._worker
        if worker is None or worker.busy:
            worker = uninterrupted(self._started)
        return worker

    def _started(self) -> Worker:
        """A worker that listens; an interrupted call may have left one that does, or doesn't."""
        with self._changing:
            worker = self._worker
            if worker is None or worker.busy:
                self._end_worker()
                worker = self._worker = Worker()
            return worker

    def stop(self) -> None:
        """End the worker."""
        uninterrupted(self._stopped)

    def _stopped(self) -> None:
        with self._changing:
            self._end_worker()

    def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _send(self, worker: Worker, program: Program) -> None:
        """Give the worker a program that it doesn't have."""
        if program.token in worker.known:
            return
        worker.forget_words()
        data, arrays = program.data()
        named = dict(zip(arrays, worker.put(list(arrays.values())), strict=True))
        worker.ask("program", token=program.token, program=data, arrays=named)
        worker.know(program)

    def _run(self, worker: Worker, program: Program, given: Sequence[Any]) -> list[Held]:
        drop = worker.dropped()
        held = [x for x in given if isinstance(x, Held)]
        sent = {id(x): x for x in given if not isinstance(x, Held) or x.token not in worker.known}
        arrays = [x.array if isinstance(x, Held) else x for x in sent.values()]
        place_of, used = dict(zip(sent, worker.put(arrays), strict=True)), worker.memory.used
        rows = [[place_of.get(id(x)), x.token if isinstance(x, Held) else None] for x in given]
        keep = [_next_token() for _ in range(program.results)]
        found = worker.ask("run", token=program.token, given=rows, keep=keep, drop=drop, used=used)
        program.by_numpy = {number: (why, rows) for number, (why, rows) in found["by_numpy"]}
        made = zip(found["results"], keep, strict=True)
        answer = [Held(worker.memory.array(place).copy(), token) for place, token in made]
        for x in (*held, *answer):
            if x.token not in worker.known:
                worker.know(x)
        return answer

    def versions(self) -> dict[str, str]:
        """Of the libraries in the worker."""
        with self.lock:
            found: dict[str, str] = self._ready().versions
            return found

    def forget(self) -> None:
        """In a forked child: the worker is the parent's."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end(kill=False)
