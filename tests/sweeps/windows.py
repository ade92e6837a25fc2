"""A sweep over convolutions, their gradients and pools, on engines that may crash.

    PYTHONPATH=src:tests python -m sweeps.windows --engine torch --count 5000 [--seed 1]
    PYTHONPATH=src:tests python -m sweeps.windows --engine torch --case '{"function": ...}'

Cases run in child processes; one that ends (or hangs) is a finding with the case that it ran.
"""

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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .cases import RANKS, Case, case_of, draw

WORKER = "sweeps.worker"
TESTS = Path(__file__).resolve().parents[1]
SECONDS = 180  # for a case, and for an engine to load
# Memory that is given out holds 0x7f7f7f7f, a huge float, so that what nobody wrote is seen.
PERTURB = str(0x7F ^ 0xFF)


class Child:
    """A process that runs cases on an engine."""

    def __init__(self, engine: str) -> None:
        paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "MALLOC_PERTURB_": PERTURB,
            "KERAS_BACKEND": "numpy",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        self.process: Any = subprocess.Popen(
            [sys.executable, "-m", WORKER, engine],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.answers: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        self._answer()  # it's ready

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

    def run(self, case: Case) -> tuple[str | None, bool]:
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
        """End it."""
        self.process.kill()
        self.process.wait()
        self.listener.join()
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):  # a case that it never read
            self.process.stdin.close()


def sweep(engine: str, cases: Iterable[Case], fresh: int = 500) -> Iterator[tuple[Case, str]]:
    """The cases that go wrong, each with its finding; a fresh process every so many cases.

    A fault of memory may end the process later than at the case that made it: then the case is
    fine on its own, and those before it are run again, each in a process of its own.
    """
    child: Child | None = None
    ran: list[Case] = []
    try:
        for case in cases:
            if child is None or len(ran) >= fresh:
                if child is not None:
                    child.close()
                child, ran = Child(engine), []
            found, alive = child.run(case)
            ran.append(case)
            if not alive:
                child = None
                yield from _blamed(engine, ran, str(found))
            elif found is not None:
                yield case, found
    finally:
        if child is not None:
            child.close()


def _blamed(engine: str, ran: list[Case], found: str) -> Iterator[tuple[Case, str]]:
    """Who ended the process: the last case, or one shortly before it."""
    for case in reversed(ran[-12:]):
        child = Child(engine)
        try:
            for _ in range(3):
                again, alive = child.run(case)
                if not alive:
                    yield case, str(again)
                    return
        finally:
            child.close()
    yield ran[-1], f"{found}, not on its own"


def drawn(seed: int, count: int, functions: Iterable[str] = RANKS) -> Iterator[Case]:
    """So many random cases."""
    rng = np.random.default_rng(seed)
    names = tuple(functions)
    return (draw(rng, names) for _ in range(count))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--functions", nargs="*", default=list(RANKS))
    parser.add_argument("--case", help="a single case, as a finding shows it")
    options = parser.parse_args()
    cases: Iterable[Case] = [case_of(options.case)] if options.case else []
    cases = cases or drawn(options.seed, options.count, options.functions)
    print(f"{options.engine}: seed {options.seed}", flush=True)
    start, findings = time.monotonic(), 0
    for case, found in sweep(options.engine, cases):
        findings += 1
        print(f"{case.text()}\n    {found}", flush=True)
    print(f"{options.engine}: {findings} findings, {time.monotonic() - start:.0f} s")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
