"""Runs cases in child processes: where a library's fault ends a process, that's a finding."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np


class Readable(Protocol):
    """A case, which goes to a worker as text."""

    def text(self) -> str:
        """The case as a line."""


AnyCase = TypeVar("AnyCase", bound=Readable)
TESTS = Path(__file__).resolve().parents[1]
SECONDS = 180  # for a case, and for an engine to load
# Memory that is given out holds 0x7f7f7f7f, a huge float, so that what nobody wrote is seen.
PERTURB = str(0x7F ^ 0xFF)


class Child:
    """A process that runs cases on an engine: the module `worker`."""

    def __init__(self, engine: str, worker: str) -> None:
        paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "MALLOC_PERTURB_": PERTURB,
            "KERAS_BACKEND": "numpy",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        self.process: Any = subprocess.Popen(
            [sys.executable, "-m", worker, engine],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.answers: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self._answer()  # the process is ready

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def _answer(self) -> str | None:
        """The next line; None: the process has ended, or doesn't answer."""
        try:
            line = self.answers.get(timeout=SECONDS)
        except queue.Empty:
            line = ""
        return line or None

    def run(self, case: Readable) -> tuple[str | None, bool]:
        """What is wrong with a case, and whether the process lives on."""
        try:
            self.process.stdin.write(case.text() + "\n")
            self.process.stdin.flush()
            answer = self._answer()
        except BrokenPipeError:
            answer = None
        if answer is not None:
            return json.loads(answer), True
        hangs = self.process.poll() is None
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        return ("no answer" if hangs and code is None else f"ended the process ({code})"), False

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.listener.join()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):  # a case that it never read
            self.process.stdin.close()


def sweep(
    engine: str, cases: Iterable[AnyCase], worker: str, fresh: int = 500
) -> Iterator[tuple[AnyCase, str]]:
    """The cases that go wrong, each with its finding; a fresh process every so many cases.

    A fault of memory may end the process later than at the case that made it: then the last case
    is fine on its own, and the cases before it are run again, each in a process of its own.
    """
    child: Child | None = None
    ran: list[AnyCase] = []
    try:
        for case in cases:
            if child is None or len(ran) >= fresh:
                if child is not None:
                    child.close()
                child, ran = Child(engine, worker), []
            found, alive = child.run(case)
            ran.append(case)
            if not alive:
                child = None
                yield from _blamed(engine, ran, str(found), worker)
            elif found is not None:
                yield case, found
    finally:
        if child is not None:
            child.close()


def _blamed(
    engine: str, ran: list[AnyCase], found: str, worker: str
) -> Iterator[tuple[AnyCase, str]]:
    """The case that ended the process: the last one, or one shortly before."""
    for case in reversed(ran[-12:]):
        child = Child(engine, worker)
        try:
            for _ in range(3):
                again, alive = child.run(case)
                if not alive:
                    yield case, str(again)
                    return
        finally:
            child.close()
    yield ran[-1], f"{found}, not on its own"


def serve(fault: Callable[[AnyCase, str], str | None], case_of: Callable[[str], AnyCase]) -> None:
    """What a worker does: answer each line, a case, with a line: null or the finding."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    engine = sys.argv[1]
    answers.write("ready\n")
    for line in sys.stdin:
        try:
            found = fault(case_of(line), engine)
        except Exception as error:
            place = traceback.format_exc(limit=-2)
            found = f"raised {type(error).__name__}: {str(error)[:600]}\n{place[-600:]}"
        answers.write(json.dumps(found) + "\n")


def drawn(
    draw: Callable[[np.random.Generator, tuple[str, ...]], AnyCase],
    seed: int,
    count: int,
    names: Iterable[str],
) -> Iterator[AnyCase]:
    """So many random cases."""
    rng, chosen = np.random.default_rng(seed), tuple(names)
    return (draw(rng, chosen) for _ in range(count))


def command(
    title: str, worker: str, case_of: Callable[[str], Any], draw: Callable[..., Any], names: Any
) -> None:
    """The command of a sweep."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--functions", nargs="*", default=list(names))
    parser.add_argument("--case", help="a single case, as a finding shows it")
    options = parser.parse_args()
    cases: Iterable[Any] = [case_of(options.case)] if options.case else []
    cases = cases or drawn(draw, options.seed, options.count, options.functions)
    print(f"{options.engine}: seed {options.seed}", flush=True)
    start, findings = time.monotonic(), 0
    for case, found in sweep(options.engine, cases, worker):
        findings += 1
        print(f"{case.text()}\n    {found}", flush=True)
    print(f"{options.engine}: {findings} findings, {time.monotonic() - start:.0f} s")
    sys.exit(findings > 0)
