"""What `tf.keras` has beside Keras 2.3.1, for programs of TensorFlow 1 and of 2."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from pathlib import Path

import pytest

from .originals import needs_original
from .programs import COMMAND, run

CHECKS = Path(__file__).parent / "tf_keras_checks.py"
NAMES = re.findall(r"^@check\ndef (\w+)", CHECKS.read_text("utf-8"), re.MULTILINE)


@functools.cache
def results(version: str) -> dict[str, str]:
    """By check, what failed; they share a process, as imports take seconds."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-c", COMMAND, "run", f"--tf-keras={version}", str(CHECKS)]
        ended = run(arguments, Path(folder))
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, str] = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


@needs_original
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", ["1", "2"])
def test_tf_keras(version: str, name: str) -> None:
    assert results(version)[name] == ""
