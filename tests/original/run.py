"""The original Keras 2.3.1's own tests, unmodified, on Kameleon's engines.

    python tests/original/run.py --engine numpy jax --only backend layers -j 2

Fetches the published source package for its tests, and runs each file of tests in a process of
its own, where `import keras` is the original, hosted on Kameleon (or, with `--keras-on tensorflow`,
on its own TensorFlow backend above TensorFlow 1.15's own Python files). Ends with 1 if a test fails
that should pass, if an excluded one passes, or if fewer pass than `expected.json` says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kameleon_original import groups, report, running, source, tables

sys.path.insert(0, str(running.SOURCES))


def arguments(line: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--engine", nargs="+", default=["numpy"], metavar="NAME", help="engines to run on")
    add(
        "--keras-on", choices=tuple(running.BACKENDS), default="kameleon", help="what Keras runs on"
    )
    add("--only", nargs="+", choices=groups.NAMES, metavar="GROUP", help=", ".join(groups.NAMES))
    add("-j", "--jobs", type=int, default=1, help="how many processes run at a time")
    add("--source", type=Path, help="the source package of Keras 2.3.1, or a folder that holds it")
    add("--record", action="store_true", help="expect as many passed tests from now on")
    add("--slowest", type=int, default=0, metavar="N", help="show the N tests that took longest")
    add("--verbose", action="store_true", help="a line for each file")
    return parser.parse_args(line)


def main(line: Sequence[str] | None = None) -> int:
    """Run, and say what came out; 1 if that isn't as expected."""
    asked = arguments(line)
    from kameleon.compat.keras2 import location
    from kameleon.errors import MissingLibraryError

    try:
        keras, tests = location.find(), source.tests(asked.source)
    except (MissingLibraryError, source.SourceError) as error:
        print(error, file=sys.stderr)
        return 2
    wrong = False
    for engine in asked.engine:
        wrong |= bool(on(tables.Ground(engine, asked.keras_on), keras, tests, asked))
    return int(wrong)


def on(
    ground: tables.Ground, keras: str | None, tests: Path, asked: argparse.Namespace
) -> list[str]:
    """Run on one engine; what isn't as expected."""

    def progress(group: str, file: str, result: running.Result) -> None:
        if asked.verbose:
            counts = f"{result.count('passed')} passed, {result.count('failed')} failed"
            print(f"{result.seconds:6.1f} s  {file}: {counts}", file=sys.stderr, flush=True)

    found = running.run(tests, keras, ground, asked.only or groups.NAMES, asked.jobs, progress)
    report.table(ground, found)
    report.reasons(found)
    if asked.slowest:
        report.slowest(found, asked.slowest)
    if asked.record:
        report.record(ground, found)
    wrong = report.faults(ground, found)
    print("\n".join(wrong) or f"All as expected on {ground.name}.")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
