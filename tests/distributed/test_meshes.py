"""Networks over 2, 4 and 8 devices: losses and variables are those of one device."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _support.common import engines_under_test

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    "jax" not in engines_under_test(), reason="programs are distributed by JAX"
)


@functools.cache
def failures(devices: int) -> dict[str, str]:
    """By check, what failed; those of a number of devices share a process, which has so many."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "mesh_checks.py"), str(devices)],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "KERAS_BACKEND": "numpy"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.together
@pytest.mark.parametrize(
    "devices", [2, *(pytest.param(n, marks=pytest.mark.nightly) for n in (4, 8))]
)
def test_results_are_those_of_one_device(devices: int) -> None:
    wrong = {name: told for name, told in failures(devices).items() if told}
    assert not wrong, "\n".join(f"{name}: {told}" for name, told in wrong.items())
