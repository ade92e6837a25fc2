"""Where the tests find the original Keras, and a process in which it's hosted."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from _support.programs import run
from kameleon.compat.keras2 import location
from kameleon.compat.tensorflow import location as of_tensorflow

INSTALLED = location.installed()
needs_original = pytest.mark.skipif(
    not INSTALLED, reason=f"needs the original Keras: {location.INSTALL}"
)
needs_tensorflows_files = pytest.mark.skipif(
    not of_tensorflow.installed(), reason=of_tensorflow.INSTALL
)


def run_hosted(
    arguments: list[str], home: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with `KERAS_BACKEND=kameleon.backend`, and a keras.json that belongs to `home`.

    Args:
        arguments: a file and its arguments, or `-c` and code.
        home: folder for keras.json.
        settings: more of the environment.
    """
    hosted = {"KERAS_BACKEND": "kameleon.backend", "KERAS_HOME": str(home)}
    return run(arguments, home, hosted | dict(settings or {}), seconds=600)


def assert_runs(program: str, home: Path) -> None:
    """Run the text of a program, by `run_hosted` on the NumPy engine; it must not fail."""
    script = home / "program.py"
    script.write_text(program, "utf-8")
    done = run_hosted([str(script)], home)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
