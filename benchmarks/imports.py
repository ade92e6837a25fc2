"""What importing costs: fresh interpreters, the best of several."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import Row

TIMES = 15
SOURCE = Path(__file__).resolve().parent.parent / "src"
STATEMENTS = {
    "import kameleon": "pass",
    "import kameleon.backend": "import numpy",
}


def seconds(code: str, environment: dict[str, str]) -> float:
    """Time one fresh interpreter that runs `code`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def run() -> list[Row]:
    """Time each import against what it can't avoid: bare Python, or Python with NumPy."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "KERAS_HOME": home, "PYTHONPATH": path}
        # Compiled bytecode is kept, as it is where a package is installed.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = home
        for code, base in STATEMENTS.items():
            for warm_up in (code, base):
                seconds(warm_up, environment)
            first, mine, second = [], [], []
            for _ in range(TIMES):
                first.append(seconds(base, environment))
                mine.append(seconds(code, environment))
                second.append(seconds(base, environment))
            bare = min(*first, *second)
            noise = abs(min(first) / min(second) - 1)
            note = f"adds {(min(mine) - bare) * 1e3:.1f} ms to python -c {base!r}"
            rows.append(Row("import", code, min(mine) * 1e3, bare * 1e3, "ms", noise, note))
    return rows
