"""Estimators compute what they compute on TensorFlow 1.15, and go on from their checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run
from numpy.testing import assert_allclose

RECORDED = Path(__file__).parents[2] / "recorded" / "estimators.py"
pytestmark = needs_tensorflows_files


def assert_same(path: str, found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_same(f"{path}/{key}", found[key], value)
    elif np.asarray(expected).dtype.kind == "f":
        assert_allclose(found, expected, rtol=2e-5, atol=2e-5, err_msg=path)
    else:
        assert found == expected, path


def test_estimators_compute_what_was_recorded(tmp_path: Path) -> None:
    line = ["run", "--engine", "numpy", str(RECORDED), "found.json"]
    ended = run(["-W", "ignore", "-c", COMMAND, *line], tmp_path, ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert_same("", found, json.loads(RECORDED.with_suffix(".json").read_text("utf-8")))
