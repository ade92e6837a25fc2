"""Loaders, datasets and frames as the hosted Keras takes them, in a process of its own."""

from __future__ import annotations

import functools
import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.originals import needs_original, run_hosted

from .pipelines_program import CASES

pytestmark = needs_original

PROGRAM = Path(__file__).with_name("pipelines_program.py")


@functools.cache
def outcome(engine: str) -> dict[str, str]:
    """How all cases went on the engine."""
    with tempfile.TemporaryDirectory() as home:
        done = run_hosted([str(PROGRAM)], Path(home), {"KAMELEON_ENGINE": engine})
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.together
@pytest.mark.dealt(2, ("numpy", "tensorflow", "jax", "torch"))
@pytest.mark.parametrize("name", CASES)
def test_cases(engine_name: str, name: str) -> None:
    library, _ = CASES[name]
    if find_spec(library) is None:
        pytest.skip(f"needs {library}: pip install {library}")
    failure = outcome(engine_name)[name]
    assert not failure, failure
