#!/usr/bin/env python3
"""Build the package, and try each extra from the wheel, in a fresh environment of its own.

    python tests/release/run.py                       # the core, and all extras
    python tests/release/run.py --only core jax       # some of them
    python tests/release/run.py --checks              # with what a package index asks of the files

Needs pip and an index. Exits with 1 where something fails; all is tried first.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

from programs import IN_THE_SOURCES, PROGRAMS

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ("build", "twine", "cffconvert")
# Builds for machines without a GPU; the usual ones would bring gigabytes that nothing here uses.
CPU_BUILDS = {"tensorflow": ("tensorflow-cpu", ">="), "torch": ("torch", "==2.13.0")}
TRIES = {**PROGRAMS, **IN_THE_SOURCES}


def run(*words: str | Path, cwd: Path, **settings: str) -> None:
    """Run a command; what it says is shown where it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("KERAS_", "KAMELEON_"))}
    # Of what is installed, little is imported: pip needn't compile it all.
    environment.update(OPENBLAS_NUM_THREADS="1", PYTHONWARNINGS="", PIP_COMPILE="0", **settings)
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise SystemError(f"{' '.join(map(str, words))[:200]}\n{done.stdout[-6000:]}")


def environment(folder: Path, *packages: str) -> Path:
    """The Python of a fresh environment with some packages."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "-q", *packages, cwd=folder)
    return python


def needs(wheel: Path, extra: str) -> list[str]:
    """What an extra brings, as the wheel's metadata say, as builds for machines without a GPU."""
    with zipfile.ZipFile(wheel) as file:
        [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        lines = Parser().parsestr(file.read(name).decode()).get_all("Requires-Dist", [])
    found: list[str] = []
    for line in lines:
        need, _, condition = line.partition(";")
        if re.search(rf"extra == ['\"]{extra}['\"]", condition):
            own = re.fullmatch(r"kameleon\[(.*)\]", need.strip())
            if own:
                found += (n for name in own[1].split(",") for n in needs(wheel, name.strip()))
            else:
                found.append(cpu(need))
    return found


def cpu(need: str) -> str:
    """A need, as a build for machines without a GPU.

    >>> cpu("tensorflow>=2.16 "), cpu("torch>=2.4"), cpu("jax>=0.6")
    ('tensorflow-cpu>=2.16', 'torch==2.13.0', 'jax>=0.6')
    """
    name, _, oldest = need.strip().partition(">=")
    if name not in CPU_BUILDS:
        return need.strip()
    built, version = CPU_BUILDS[name]
    return f"{built}{version}{oldest if version == '>=' else ''}"


def packages_of(wheel: Path, extra: str) -> list[str]:
    """What pip is asked for."""
    if extra == "core":
        return [str(wheel)]
    brought = needs(wheel, extra)
    if any(re.match(r"torch\b|tensorflow\b", need) for need in brought):
        return [str(wheel), *brought]
    return [f"kameleon[{extra}] @ {wheel.as_uri()}"]


def try_extra(extra: str, wheel: Path, sources: Path, work: Path) -> None:
    """Install an extra, and run its program in an empty folder, or in the sources."""
    python = environment(work / extra, *packages_of(wheel, extra))
    home = {"KERAS_HOME": str(work / extra / "keras"), "HOME": str(work / extra)}
    empty = work / extra / "empty"
    empty.mkdir()
    if extra in PROGRAMS:
        (empty / "uses.py").write_text(PROGRAMS[extra], encoding="utf-8")
        run(python, "uses.py", cwd=empty, **home)
    for line in IN_THE_SOURCES.get(extra, []):
        run(python, "-m", *line.split(), cwd=sources, **home)


def build(work: Path, python: Path) -> tuple[Path, Path]:
    """The wheel, built from the source package as pip does it, and that package, unpacked."""
    run(python, "-m", "build", "--outdir", work / "dist", ROOT, cwd=work)
    [wheel], [archive] = (work / "dist").glob("*.whl"), (work / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(work / "sources", filter="data")
    [sources] = (work / "sources").iterdir()
    return wheel, sources


def check(work: Path, tools: Path) -> None:
    """What an index and readers of the citation file ask of the files."""
    files = sorted((work / "dist").iterdir())
    run(tools, "-m", "twine", "check", "--strict", *files, cwd=work)
    run(tools.parent / "cffconvert", "--validate", cwd=ROOT)


def main() -> int:
    """Try all that is asked for; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=TRIES, default=list(TRIES), metavar="EXTRA")
    parser.add_argument("--checks", action="store_true", help="check the files themselves, too")
    asked = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = environment(work / "tools", *(TOOLS if asked.checks else TOOLS[:1]))
        wheel, sources = build(work, tools)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        if asked.checks:
            check(work, tools)
        for extra in asked.only:
            began = time.monotonic()
            try:
                try_extra(extra, wheel, sources, work)
                said = "works"
            except SystemError as error:
                said = f"FAILED: {error}"
                failed.append(extra)
            print(f"{extra}: {said} [{time.monotonic() - began:.0f} s]", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
