"""Where the tests find the original Keras, and a process in which it's hosted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import SOURCE

from kameleon.compat.tensorflow import location as of_tensorflow
from kameleon.hosting import location

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
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("KERAS_", "KAMELEON_ENGINE", "KAMELEON_AS"))
    }
    paths = [str(SOURCE), kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    kept |= {
        "KERAS_BACKEND": "kameleon.backend",
        "KAMELEON_ENGINE": "numpy",
        "KERAS_HOME": str(home),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=kept | dict(settings or {}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def assert_runs(program: str, home: Path) -> None:
    """Run the text of a program, by `run_hosted` on the NumPy engine; it must not fail."""
    script = home / "program.py"
    script.write_text(program, "utf-8")
    done = run_hosted([str(script)], home)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
