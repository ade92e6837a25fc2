"""Runs test files of the original, each in a process of its own, and collects what came out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import groups, tables

HERE = Path(__file__).resolve().parents[1]
SOURCES = HERE.parents[1] / "src"  # of this checkout
BACKENDS = {"kameleon": "kameleon.backend", "tensorflow": "tensorflow"}
LIMIT = 1200  # seconds that one file may take


@dataclass(frozen=True)
class Test:
    """What came of one test: 'passed', 'failed', 'skipped' or 'excluded', and why."""

    name: str
    outcome: str
    message: str = ""
    stale: bool = False  # excluded, and passed
    seconds: float = 0.0


@dataclass
class Result:
    """What came of the tests of a file, or of a group of files."""

    tests: list[Test] = field(default_factory=list)
    seconds: float = 0.0
    lacking: bool = False  # whether a file didn't run, for want of a package

    def those(self, outcome: str) -> list[Test]:
        """The tests with this outcome."""
        return [test for test in self.tests if test.outcome == outcome]

    def count(self, outcome: str) -> int:
        """How many tests have this outcome."""
        return len(self.those(outcome))

    def add(self, other: Result) -> None:
        """Add what came of another file."""
        self.tests += other.tests
        self.seconds += other.seconds
        self.lacking |= other.lacking


def run(
    tests: Path,
    keras: str | None,
    ground: tables.Ground,
    names: Iterable[str],
    jobs: int = 1,
    done: Callable[[str, str, Result], None] = lambda group, file, result: None,
) -> dict[str, Result]:
    """Run groups of tests.

    Args:
        tests: the folder `tests` of the source package.
        keras: what to put on the path, so that `import keras` finds the original, if anything.
        ground: what Keras runs on.
        names: groups.
        jobs: how many processes run at a time.
        done: told the group and the result of each file.
    """
    files = groups.files_of(tests, names)
    found = {name: Result() for name in files}

    def one(group: str, file: str) -> None:
        result = run_file(tests, keras, ground, file)
        done(group, file, result)
        found[group].add(result)

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, group, file) for group in files for file in files[group]]
        for each in waiting:
            each.result()
    return found


def run_file(tests: Path, keras: str | None, ground: tables.Ground, file: str) -> Result:
    """Run the tests of one file in a process of its own, in a folder of its own."""
    needs = tables.NEEDS.get(file, ())
    lacking = [name for name in needs if find_spec(name) is None]
    if lacking:
        why = f"needs {', '.join(lacking)}, not installed"
        return Result([Test(file, "excluded", why)], lacking=True)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kameleon-original-") as scratch:
        outcomes = Path(scratch) / "outcomes.json"
        line = [sys.executable, "-m", "pytest", "-p", "kameleon_original.plugin", "--quiet"]
        line += ["-p", "no:cacheprovider", "-W", "default", "--disable-warnings", "--tb=short"]
        line += [f"--rootdir={tests}", f"--outcomes={outcomes}", str(tests / file)]
        said = _said(line, environment(keras, ground, Path(scratch)), scratch)
        found = json.loads(outcomes.read_text(encoding="utf-8")) if outcomes.is_file() else {}
    if not found:
        found[file] = {"outcome": "failed", "message": f"it told of no test\n{said}"}
    judged = [judge(name, each, ground) for name, each in found.items()]
    return Result(judged, time.perf_counter() - started)


def _said(line: list[str], settings: Mapping[str, str], folder: str) -> str:
    """Run a process; the end of what it wrote."""
    try:
        done = subprocess.run(
            line,
            env=dict(settings),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {LIMIT} s"
    return f"{done.stdout[-2000:]}\nit ended with status {done.returncode}"


def environment(keras: str | None, ground: tables.Ground, home: Path) -> dict[str, str]:
    """The environment of a process that hosts Keras."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KERAS_", "PYTEST_"))}
    path = [keras or "", str(SOURCES), str(HERE), str(HERE / "stand_ins")]
    path.append(kept.get("PYTHONPATH", ""))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **threads,
        **kept,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "KERAS_HOME": str(home / "keras"),
        "KERAS_BACKEND": BACKENDS[ground.keras_on],
        "KAMELEON_ENGINE": ground.engine,
        "KAMELEON_KERAS_ON": ground.keras_on,
        "MPLBACKEND": "Agg",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def judge(name: str, found: Mapping[str, Any], ground: tables.Ground) -> Test:
    """What a test's outcome means, where some aren't expected to pass."""
    outcome, message, seconds = found["outcome"], found["message"], found.get("seconds", 0.0)
    exclusion = tables.exclusion(name, ground)
    if exclusion is None or outcome == "skipped":
        return Test(name, outcome, message, seconds=seconds)
    stale = outcome == "passed" and not exclusion.may_pass
    return Test(name, "excluded", exclusion.reason, stale, seconds)
