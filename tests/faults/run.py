#!/usr/bin/env python3
"""Plant deliberate faults one at a time, run the tests that should find each, and count.

    python tests/faults/run.py                      # all; compares with caught.json
    python tests/faults/run.py --only torch scan    # those whose name or file contains a word
    python tests/faults/run.py --record             # writes caught.json, one by one
    python tests/faults/run.py --record --missing   # only faults that it doesn't tell of yet
    python tests/faults/run.py --part 1/7           # every seventh, from the first
    python tests/faults/run.py --suite before --tree /path/to/older --record

Each fault is planted in a copy of the checkout of its own, in a folder that is removed afterwards.
One whose engines aren't all installed is skipped, and what is recorded of it stays.
Exits with 1 where a fault isn't caught that caught.json says to be caught, and with 2 where the
text of a fault is gone from the sources: its row in table.py must follow them.

caught.json tells for each fault what the suite of this checkout found, `now`, and what the suite
of commit e5c3bee found, `before` tests were made to run in half the time: with that commit's tests,
in its sources. Where these don't have the fault's text yet, the fault is `gone` there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from table import FAULTS, Fault

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
SOURCES = TREE / "src"
CAUGHT = HERE / "caught.json"
# What a copy needs.
PARTS = ("src", "tests", "conftest.py", "pyproject.toml", "docs", "README.md")
SECONDS = 600  # for the tests of one fault
SUITES = ("now", "before")

# A fault that no test was run for.
UNTRIED = ("gone", "skipped")
# What pytest's exit status says of a fault. All other numbers mean that no test could tell.
MEANING = {0: "missed", 1: "caught"}


def problem(fault: Fault, tree: Path = TREE) -> str | None:
    """Why a fault can't be planted; None where it can."""
    path = tree / "src" / "kameleon" / fault.file
    if not path.is_file():
        return f"there is no file {fault.file}"
    count = path.read_text(encoding="utf-8").count(fault.old)
    return None if count == 1 else f"its text occurs {count} times in {fault.file}, not once"


def absent(fault: Fault) -> list[str]:
    """The engines that the tests of a fault run on, and that aren't installed."""
    from kameleon.config import installed

    return [name for name in fault.engines.split(",") if not installed(name)]


@contextmanager
def planted(fault: Fault, tree: Path) -> Iterator[Path]:
    """A copy of the checkout with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="kameleon-fault-") as name:
        folder = Path(name)
        for part in PARTS:
            source, target = tree / part, folder / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        path = folder / "src" / "kameleon" / fault.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        yield folder


def outcome(fault: Fault, tree: Path) -> str:
    """What the tests of a fault say: caught, missed, gone, skipped, hangs or broken."""
    if problem(fault, tree):
        return "gone"
    if absent(fault):
        return "skipped"
    tests = [path for path in fault.tests.split() if (tree / path).exists()]
    if not tests:  # an older checkout lacks some
        return "missed"
    with planted(fault, tree) as folder:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += [*tests, *(["-k", fault.words] if fault.words else [])]
        environment = {
            **os.environ,
            "TEST_ENGINES": fault.engines,
            "PYTHONPATH": str(folder / "src"),
        }
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, timeout=SECONDS,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "hangs"
    found = MEANING.get(done.returncode, "broken")
    if done.returncode < 0:  # a crash of the process is a failure, too
        found = "caught"
    if found == "broken":
        print(done.stdout[-2000:], file=sys.stderr)
    return found


def chosen(words: Sequence[str], part: str) -> list[Fault]:
    """The faults whose name or file contains one of the words; of these a part, `i/n`."""
    found = [f for f in FAULTS if not words or any(w in f"{f.name} {f.file}" for w in words)]
    number, parts = map(int, part.split("/"))
    return found[number % parts :: parts]


def recorded() -> dict[str, dict[str, str]]:
    """By fault and suite, what was found."""
    found: dict[str, dict[str, str]] = json.loads(CAUGHT.read_text(encoding="utf-8"))
    return found


def record(name: str, suite: str, result: str) -> None:
    """Write what a suite found of one fault; faults that are no more are left out."""
    found = {f.name: recorded().get(f.name, {}) for f in FAULTS}
    found[name][suite] = result
    rows = [f"{json.dumps(n)}: {json.dumps(found[n], sort_keys=True)}" for n in sorted(found)]
    CAUGHT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def compared(found: dict[str, str], tree: Path) -> int:
    """Say what is gone and what isn't caught any more; the exit status."""
    before = recorded()
    gone = [f for f in FAULTS if found.get(f.name) == "gone"]
    lost = [
        name
        for name, result in found.items()
        if result not in ("caught", *UNTRIED) and before.get(name, {}).get("now") == "caught"
    ]
    for fault in gone:
        print(f"gone: {fault.name}: {problem(fault, tree)}")
    for fault in FAULTS:
        if found.get(fault.name) == "skipped":
            print(f"skipped: {fault.name}: not installed: {', '.join(absent(fault))}")
    for name in lost:
        print(f"not caught any more: {name}")
    return 2 if gone else int(bool(lost))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="words of names or files")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th, from the i-th")
    parser.add_argument("--record", action="store_true", help="write caught.json")
    parser.add_argument("--missing", action="store_true", help="those that aren't recorded yet")
    parser.add_argument("--suite", choices=SUITES, default="now", help="whose record it is")
    parser.add_argument("--tree", type=Path, default=TREE, help="another checkout to be tested")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="how many at once")
    given = parser.parse_args()
    sys.path.insert(0, str(SOURCES))  # what is asked of the package, is asked of this checkout
    faults, found = chosen(given.only, given.part), {}
    if given.missing:
        known = recorded()
        faults = [f for f in faults if given.suite not in known.get(f.name, {})]
    start = time.perf_counter()
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = pool.map(lambda f: outcome(f, given.tree), faults)
        for fault, result in zip(faults, outcomes, strict=True):
            found[fault.name] = result
            print(f"[{time.perf_counter() - start:5.0f} s] {result:7} {fault.name}", flush=True)
            if given.record and result != "skipped":
                record(fault.name, given.suite, result)
    caught = sum(r == "caught" for r in found.values())
    tried = sum(r != "skipped" for r in found.values())
    print(f"{caught} of {tried} faults caught, {len(found) - tried} skipped")
    return 0 if given.record else compared(found, given.tree)


if __name__ == "__main__":
    raise SystemExit(main())
