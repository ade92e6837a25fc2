"""What Keras refuses to any backend but TensorFlow works on each engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.originals import needs_original, run_hosted

from .refused import PROGRAMS


@needs_original
@pytest.mark.slow
def test_all_of_it_works(engine_name: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("refused.py")
    done = run_hosted([str(script)], tmp_path, {"KAMELEON_ENGINE": engine_name})
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.split() == [function.__name__ for function in PROGRAMS]
