"""Try programs for some minutes, on several processes, and report what is found."""

from __future__ import annotations

import argparse
import multiprocessing
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from _support.common import engines_under_test

from .effort import EFFORTS, of_processes
from .worker import work

# A program that takes more seconds counts as hanging.
LONGEST = 180.0
# After so many programs a process begins anew: libraries keep what they have compiled.
RENEWED = 2000
_PROCESSES = multiprocessing.get_context("spawn")


class Child:
    """A process that tries programs, and the seed that it's at."""

    def __init__(self, engines: Sequence[str], effort: str):
        self.engines, self.effort = engines, effort
        self.channel, other = _PROCESSES.Pipe()
        self.process = _PROCESSES.Process(target=work, args=(other, engines, effort), daemon=True)
        self.process.start()
        other.close()
        self.seed, self.since, self.count = -1, 0.0, 0

    def give(self, seed: int) -> None:
        """Hand a seed to the process."""
        self.seed, self.since, self.count = seed, time.monotonic(), self.count + 1
        self.channel.send(seed)

    def take(self) -> list[Any]:
        """What the process found; that it died, if it did."""
        try:
            rows: list[Any] = self.channel.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return [("crash", "", f"the process ended with {self.process.exitcode}", "")]
        return rows

    @property
    def hangs(self) -> bool:
        """Whether the process has been at one program for too long."""
        return time.monotonic() - self.since > LONGEST

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()


def found(
    seeds: Iterator[int], engines: Sequence[str], efforts: Sequence[str], until: float
) -> Iterator[tuple[int, list[Any]]]:
    """Seeds and what was found of each, as it comes."""
    firsts = list(zip(efforts, seeds, strict=False))  # a process for each, if there are as many
    children = [Child(engines, effort) for effort, _ in firsts]
    try:
        for child, (_, seed) in zip(children, firsts, strict=True):
            child.give(seed)
        while children:
            ready = wait([c.channel for c in children], timeout=1)
            for i, child in reversed(list(enumerate(children))):
                if child.channel in ready:
                    rows = child.take()
                elif child.hangs:
                    rows = [("hangs", "", f"longer than {LONGEST:.0f} s", "")]
                else:
                    continue
                yield child.seed, rows
                ended = any(kind in ("crash", "hangs") for kind, *_ in rows)
                if ended or child.count == RENEWED:
                    child.stop()
                    child = children[i] = Child(engines, child.effort)
                seed = next(seeds, None) if time.monotonic() < until else None
                if seed is None:
                    child.stop()
                    del children[i]
                else:
                    child.give(seed)
    finally:
        for child in children:
            child.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="how long to go on")
    parser.add_argument("--programs", type=int, help="how many programs, at most")
    parser.add_argument("--seed", type=int, help="of the first program; a fresh one if not given")
    parser.add_argument(
        "--engines", help="names with commas between; jax/5 runs each fifth program; all by default"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--effort", choices=(*EFFORTS, "both"), default="both",
        help="of compilers: `quick` takes half the time; both: one process makes full effort",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="a folder for the programs that show something")
    given = parser.parse_args(arguments)
    engines = given.engines.split(",") if given.engines else engines_under_test()
    engines = [e for e in engines if e != "numpy"]  # the reference; it always runs all
    first = secrets.randbelow(10**9) if given.seed is None else given.seed
    print(f"from seed {first}, on numpy and {', '.join(engines) or 'nothing else'}", flush=True)
    count = given.programs or sys.maxsize - first
    until = time.monotonic() + 60 * given.minutes
    tally: Counter[str] = Counter()
    tried, shown = 0, time.monotonic()
    seeds, efforts = iter(range(first, first + count)), of_processes(given.effort, given.jobs)
    for seed, rows in found(seeds, engines, efforts, until):
        tried += 1
        for row in rows:
            _report(seed, row, tally, given.out)
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(f"{tried} programs, {sum(tally.values())} findings", flush=True)
    print(f"{tried} programs tried; found: {dict(tally) or 'nothing'}", flush=True)
    return 1 if tally else 0


def _report(seed: int, row: Sequence[str], tally: Counter[str], out: Path | None) -> None:
    kind, engine, text, program = row
    name = " ".join(filter(None, (kind, engine)))
    tally[name] += 1
    print(f"\n-- seed {seed}: {name}\n{text}\n{program}", flush=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        comment = "\n".join(f"# {line}" for line in (name, *text.splitlines()))
        path = out / f"{re.sub(r'[^a-z]+', '_', name)}_{seed}.py"
        path.write_text(f"{comment}\n{program}")


if __name__ == "__main__":
    sys.exit(main())
