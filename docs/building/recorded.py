"""What the programs of `examples/` draw and print, recorded: a build shouldn't train for minutes.

`python -m docs pictures` runs them and writes `docs/pictures`. With each picture goes the digest of
the program that drew it: a test finds pictures whose program has changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.building.places import PICTURES
from docs.building.programs import Program, programs

RECORDED = PICTURES / "recorded.json"
ENGINE = "numpy"
COLOURS = 256  # of a picture's palette
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def recorded() -> dict[str, dict[str, Any]]:
    """By program: the digests `program` and `picture`, and the lines of `output`."""
    if not RECORDED.exists():
        return {}
    return json.loads(RECORDED.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def output(program: Program) -> str:
    """What the program printed."""
    return "\n".join(recorded()[program.name]["output"])


def picture(program: Program) -> Path:
    return PICTURES / f"{program.name}.png"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record(names: Sequence[str]) -> int:
    """Run these programs (all, if none is named), and keep what they draw and print; the exit
    status.
    """
    PICTURES.mkdir(exist_ok=True)
    known = recorded()
    chosen = [program for program in programs() if not names or program.name in names]
    for program in chosen:
        print(f"== {program.name}", flush=True)
        known[program.name] = run(program)
        kept = {p.name: known[p.name] for p in programs() if p.name in known}
        RECORDED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


def run(program: Program) -> dict[str, Any]:
    """Run a program; write its picture, and return its entry."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder, "picture.png")
        command = ["kameleon", "run", "--engine", ENGINE, str(program.path), "--out", str(drawn)]
        ended = subprocess.run(
            [sys.executable, "-m", *command],
            env={**os.environ, **ONE_THREAD},
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        compress(drawn, picture(program))
    return {
        "program": digest(program.path),
        "picture": digest(picture(program)),
        "output": ended.stdout.rstrip("\n").split("\n"),
    }


def compress(drawn: Path, path: Path) -> None:
    """Write a picture with a palette: lines and letters stay sharp, and it takes a third."""
    from PIL import Image

    whole = Image.open(drawn).convert("RGB")
    few = whole.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
