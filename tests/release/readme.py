#!/usr/bin/env python3
"""Run the commands of README.md as they stand, each block in a fresh environment, in this checkout.

    python tests/release/readme.py                # all blocks
    python tests/release/readme.py --only docs    # those that install this extra
    python tests/release/readme.py --list         # what would be run
    python tests/release/readme.py -j 2           # two blocks at a time

A block is an indented paragraph that begins with `pip install`. Its environment has pip and
nothing else; its home is an empty folder. What commands write into the checkout is removed, but for
what git ignores. Exits with 1 where a command fails; all is tried first.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Commands that run until they're stopped, and the page that they show until then.
SERVERS = {"python -m docs serve": "http://localhost:8000/"}
# What a shell of a user's has, and where pip finds packages: all else is left behind.
KEPT = re.compile(r"(PIP_|SSL_|OPENBLAS_|LANG$|TERM$|https?_proxy$)", re.I)


def blocks(text: str) -> list[list[str]]:
    """The commands of each block, without the remarks behind them.

    >>> blocks("Do:\\n\\n    pip install x\\n    x go    # once\\n\\nand\\n\\n    print(1)\\n")
    [['pip install x', 'x go']]
    """
    found = re.findall(r"\n\n((?:    .+\n)+)", text)
    lines = [[line.split("  # ")[0].strip() for line in block.splitlines()] for block in found]
    return [block for block in lines if block[0].startswith("pip install")]


def fresh(folder: Path) -> dict[str, str]:
    """A shell in which a new environment is active, in a home of its own."""
    venv.create(folder / "env", with_pip=True, symlinks=True)
    (folder / "home").mkdir()
    path = os.pathsep.join([str(folder / "env" / "bin"), *os.defpath.split(os.pathsep)])
    kept = {name: value for name, value in os.environ.items() if KEPT.match(name)}
    return {**kept, "PATH": path, "HOME": str(folder / "home"), "VIRTUAL_ENV": str(folder / "env")}


def run(command: str, shell: dict[str, str], log: Path) -> str:
    """Run a command; what is wrong with it, if anything."""
    with log.open("w", encoding="utf-8") as out:
        started = subprocess.Popen(
            ["bash", "-c", command], cwd=ROOT, env=shell, stdout=out, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        if command in SERVERS:
            wrong = "" if answers(SERVERS[command], started) else f"{SERVERS[command]} has no page"
            os.killpg(started.pid, signal.SIGINT)
            started.wait(30)
            return wrong
        status = started.wait()
    return f"exit status {status}" if status else ""


def answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    """Whether a page comes within half a minute, while the server runs."""
    for _ in range(60):
        time.sleep(0.5)
        if server.poll() is not None:
            return False
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                return page.status == 200 and b"<html" in page.read().lower()
        except OSError:
            continue
    return False


def faults(block: list[str], folder: Path) -> Iterator[str]:
    """Run a block until a command fails; what is wrong, and the end of what was printed."""
    shell, log = fresh(folder), folder / "log"
    for command in block:
        began = time.monotonic()
        wrong = run(command, shell, log)
        printed = log.read_text(encoding="utf-8", errors="replace")
        last = (printed.strip().splitlines() or [""])[-1].strip()
        print(f"[{time.monotonic() - began:4.0f} s] $ {command}\n         {last}", flush=True)
        if wrong:
            yield f"{command}: {wrong}\n{printed[-6000:]}"
            return


def tried(block: list[str]) -> list[str]:
    """What is wrong with a block."""
    with tempfile.TemporaryDirectory() as folder:
        return list(faults(block, Path(folder)))


def untracked() -> set[Path]:
    """The files of the checkout that git doesn't know, and doesn't ignore."""
    git = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    return {ROOT / name for name in done.stdout.split("\0") if name}


def main() -> int:
    """Run all that is asked for; the exit status."""
    # Jobs in a shell's background ignore interrupts, and so would servers that are started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--only", nargs="+", metavar="EXTRA", help="blocks that install one of these"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, help="blocks that run at a time")
    parser.add_argument("--list", action="store_true", help="print the commands, and run nothing")
    asked = parser.parse_args()
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    if asked.only:
        wanted = set(asked.only)
        found = [b for b in found if wanted & set(re.findall(r"[\w-]+", b[0].partition("[")[2]))]
    if asked.list:
        print("\n\n".join("\n".join(block) for block in found))
        return 0
    before = untracked()
    with ThreadPoolExecutor(asked.jobs) as several:
        failed = [fault for faults in several.map(tried, found) for fault in faults]
    for path in untracked() - before:
        path.unlink()
        while path.parent != ROOT and not any(path.parent.iterdir()):
            path = path.parent
            path.rmdir()
    print("\n\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
