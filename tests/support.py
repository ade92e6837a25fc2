"""What several test modules share: a clean session and a clean process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src"
PACKAGE = SOURCE / "kameleon"


def reset_session(backend: ModuleType) -> None:
    """Give the backend the state of a fresh process with the documented settings."""
    backend.clear_session()
    backend.manual_variable_initialization(False)
    backend.set_floatx("float32")
    backend.set_epsilon(1e-7)
    backend.set_image_data_format("channels_last")


def run_python(
    code: str, home: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter whose keras.json belongs into `home`.

    The environment is the present one without any KERAS_* setting, plus `settings`.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KERAS_")}
    paths = [str(SOURCE), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment["KERAS_HOME"] = str(home)
    environment.update(settings or {})
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
