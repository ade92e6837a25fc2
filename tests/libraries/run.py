#!/usr/bin/env python3
"""Run the own tests of public libraries for TensorFlow 1, on its Python files above K.

    python tests/libraries/run.py                         # all, on NumPy
    python tests/libraries/run.py --only trfl --engine torch

Each library is put, as the package index has it, into a folder that is removed afterwards, with
what it needs; Kameleon, the engine and TensorFlow's Python files are this environment's. Exits
with 1 where a test fails that `table.py` doesn't tell of.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from table import LIBRARIES, Library

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "src"
SECONDS = 1800  # for the tests of one library


def unpacked(library: Library, folder: Path) -> None:
    """Put a library and what it needs into folders."""
    pip = [sys.executable, "-m", "pip"]
    quiet = ["--quiet", "--disable-pip-version-check"]
    get = [*pip, "download", *quiet, "--no-deps", "--no-build-isolation", "-d", str(folder)]
    subprocess.run([*get, library.package], check=True)
    for file in folder.iterdir():
        if file.suffix == ".whl":
            with zipfile.ZipFile(file) as wheel:
                wheel.extractall(folder / "library")
        elif file.name.endswith(".tar.gz"):
            (folder / "library").mkdir()
            subprocess.run(
                ["tar", "xzf", file, "-C", folder / "library", "--strip-components=1"], check=True
            )
    target = ["--target", str(folder / "needs")]
    subprocess.run([*pip, "install", *quiet, "--no-deps", *target, *library.needs], check=True)


def modules(library: Library, folder: Path) -> list[str]:
    """The modules of its tests, in order."""
    found = {path for pattern in library.tests for path in folder.glob(pattern)}
    names = (".".join(path.relative_to(folder).with_suffix("").parts) for path in sorted(found))
    return [name for name in names if name not in library.left_out]


def tried(library: Library, engine: str) -> bool:
    """Run the tests of a library, and print what came of them; whether all is well."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unpacked(library, folder)
        names = modules(library, folder / "library")
        given = os.pathsep.join(map(str, (SOURCES, folder / "library", folder / "needs")))
        began, results = time.monotonic(), folder / "results.json"
        subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "kameleon", "run", "--engine", engine,
             str(HERE / "unittests.py"), str(results), *names],
            env={**os.environ, "PYTHONPATH": given}, cwd=place, check=False, timeout=SECONDS,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        found = json.loads(results.read_text("utf-8")) if results.exists() else None
    seconds = time.monotonic() - began
    if found is None:
        print(f"{library.package}: its tests didn't run", flush=True)
        return False
    wrong = {name: told for name, told in found["wrong"].items() if name not in library.fail}
    print(
        f"{library.package} on {engine}: {found['run']} tests, {found['skipped']} of them skipped,"
        f" {len(found['wrong'])} failed, {len(wrong)} of these aren't listed [{seconds:.0f} s]",
        flush=True,
    )
    for name, told in wrong.items():
        print(f"    {name}: {told}", flush=True)
    return bool(found["run"]) and not wrong


def main() -> int:
    """Run what is asked for; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="packages with one of these words")
    parser.add_argument("--engine", default="numpy", help="the engine; numpy by default")
    asked = parser.parse_args()
    chosen = [each for each in LIBRARIES if any(word in each.package for word in asked.only)]
    good = [tried(library, asked.engine) for library in chosen]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
