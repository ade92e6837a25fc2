"""Layers and models of Keras 3, on each of its backends: each in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.common import SOURCE
from _support.originals import needs_original

HERE = Path(__file__).parent
BACKENDS = [
    pytest.param(
        name, marks=pytest.mark.skipif(not find_spec(name), reason=f"needs the package {name}")
    )
    for name in ("tensorflow", "jax", "torch")
]
pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="needs Keras 3")


def run(arguments: list[str], home: Path, backend: str) -> None:
    """Run Python with Keras's backend; it must not fail."""
    settings = {"KERAS_BACKEND": backend, "KERAS_HOME": str(home), "PYTHONPATH": str(SOURCE)}
    environment = {**os.environ, **settings, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer(backend: str, tmp_path: Path) -> None:
    run([str(HERE / "keras3_checks.py"), "layer", str(tmp_path)], tmp_path, backend)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models of the original Keras, and what they predict."""
    folder = tmp_path_factory.mktemp("originals")
    program = str(HERE / "keras2_models_program.py")
    run(["-m", "kameleon", "run", program, str(folder)], folder, "numpy")
    return folder


@needs_original
@pytest.mark.nightly
@pytest.mark.parametrize("backend", BACKENDS)
def test_models_of_keras_2(backend: str, originals: Path, tmp_path: Path) -> None:
    for path in originals.glob("*.npz"):
        shutil.copy(path, tmp_path)
    for what in ("convert", "load"):
        run([str(HERE / "keras3_checks.py"), what, str(tmp_path)], tmp_path, backend)
