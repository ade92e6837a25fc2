"""Try programs for some minutes, and report what is found."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence

from .control import drawn
from .trying import Server, Trial, shrunk


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.tensorflow", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1, help="how long to go on")
    parser.add_argument("--programs", type=int, default=10**9, help="how many, at most")
    parser.add_argument("--seed", type=int, help="of the first program; a fresh one if not given")
    parser.add_argument("--engines", default="numpy", help="names with commas between")
    parser.add_argument("--original", help="a Python that has TensorFlow 1.15")
    parser.add_argument("--patience", type=float, default=60, help="seconds to shrink a program")
    given = parser.parse_args(arguments)
    first = secrets.randbelow(10**9) if given.seed is None else given.seed
    reference = Server(given.original or "executor")
    trials = [Trial(name, reference) for name in given.engines.split(",")]
    print(f"from seed {first}, against {reference.name}", flush=True)
    until, tally, seed = time.monotonic() + 60 * given.minutes, Counter[str](), first
    while seed < first + given.programs and time.monotonic() < until:
        text = drawn(seed)
        known = reference.answer(text)
        tally["statements"] += text.count("\n")
        tally["failing statements"] += len(known.get("failed", ()))
        tally["runs"] += len(known.get("runs", ()))
        tally["failing runs"] += sum("error" in each for each in known.get("runs", ()))
        for trial in trials:
            for kind in trial.found(text, known):
                tally["found"] += 1
                least = shrunk(text, lambda x: kind in trial.found(x), given.patience)  # noqa: B023
                told = trial.found(least).get(kind, "")
                print(f"\n-- seed {seed}, {trial.server.name}: {kind}\n{told}\n{least}", flush=True)
        seed += 1
    for trial in trials:
        tally[f"delicate on {trial.server.name}"] = trial.delicate
        trial.server.stop()
    reference.stop()
    print(f"{seed - first} programs; {dict(tally)}", flush=True)
    return 1 if tally["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
