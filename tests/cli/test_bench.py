"""`kameleon bench`: figures, agreement of both sides, and what is said where there's none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

FOLDER = Path(__file__).parents[2] / "benchmarks"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What `kameleon bench` with these arguments says, and how it ends."""
    line = [sys.executable, "-m", "kameleon", "bench", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=300)


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that times and shows."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import harness

    yield harness
    for name in ("harness", "picture"):
        sys.modules.pop(name, None)


def test_a_run_gives_figures_that_programs_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    quick = ["--engine", "numpy", "--only", "tiny", "--seconds", "0.01"]
    done = command(*quick, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "x + y" in done.stdout and "geometric mean" in done.stdout
    found = json.loads(file.read_text("utf-8"))
    first, second = found["rows"]
    assert (first["workload"], first["engine"], first["unit"]) == ("tiny", "numpy", "µs")
    assert first["ratio"] == pytest.approx(first["kameleon"] / first["by_hand"])
    assert (first["way"], first["counts"], second["counts"]) == ("numpy", True, False)


def test_what_a_program_waits_for_adds_up() -> None:
    line = [sys.executable, str(FOLDER / "start.py"), "--engine", "numpy"]
    done = subprocess.run(
        [*line, "--only", "mlp", "--way", "k"], capture_output=True, text=True, timeout=300
    )
    head, row = done.stdout.splitlines()
    assert head.split()[1:] == "import build gradient simplify emit compile step whole".split()
    *stages, whole = map(float, row.split()[-8:])
    assert min(stages) >= 0 and 0 < sum(stages) <= whole + stages[-1] + 0.05, done.stdout


@pytest.mark.nightly
def test_gradients_of_bridges_agree(engine_name: str) -> None:
    """K's own and the library's, of networks as native objects; only some engines have these."""
    done = command("--engine", engine_name, "--only", "bridges", "--seconds", "0.01")
    assert done.returncode == 0, done.stdout
    has_rows = engine_name in ("jax", "torch", "tensorflow")
    assert ("gradients of attention" in done.stdout) is has_rows


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["--engine", "auto"], "name other engines, too"),
        (["--engine", "mxnet"], "'mxnet' is none of"),
        (["--only", "resnet"], "'resnet' is none of"),
        (["--picture", "bars.xyz"], "--picture: takes a file .svg, .png, .pdf, not 'bars.xyz'"),
        (["--json", "absent/rows.json"], "'absent/rows.json' lies in a folder that doesn't exist"),
        (["--json", "."], "--json: '.' is a folder"),
    ],
)
def test_what_cannot_be_run(line: list[str], says: str) -> None:
    done = command(*line)
    assert done.returncode == 2
    assert says in done.stderr and "kameleon bench" in done.stderr


def test_ctrl_c_is_told_once(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "kameleon", "bench", "--engine", "numpy", "--only", "mlp"]
    with (tmp_path / "said").open("w+") as said:
        running = subprocess.Popen(line, start_new_session=True, stdout=said, stderr=said)
        while "running mlp" not in (tmp_path / "said").read_text("utf-8"):
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(60) == 130
        said.seek(0)
        text = said.read()
    assert text.endswith("kameleon bench: interrupted\n") and "Traceback" not in text, text


def test_both_sides_must_agree(harness: Any) -> None:
    harness.require_close("it", [np.ones(3)], [np.ones(3) * (1 + 1e-5)])
    for wrong, says in ((np.ones(3) * 1.01, "differs by"), (np.ones(2), "has shape")):
        with pytest.raises(SystemExit, match=says):
            harness.require_close("it", [wrong], [np.ones(3)])


def test_means_are_of_what_counts(harness: Any, tmp_path: Path) -> None:
    figures = [("mlp", 1.0, 2.0, True), ("tiny", 8.0, 1.0, True), ("lstm", 9.0, 1.0, False)]
    rows = [harness.Row(w, "", k, h, "ms", way="numpy", counts=c) for w, k, h, c in figures]
    means = harness.mean_ratios(rows)["numpy"]
    assert means == pytest.approx({"all": 2.0, "without tiny": 0.5})
    harness.save(tmp_path / "rows.json", rows)
    assert harness.load(tmp_path / "rows.json") == rows


def test_the_picture_has_a_bar_for_each_way_and_engine(harness: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="draws the picture")
    import picture

    rows = [
        harness.Row("mlp", "step", 2.0, 3.0, "ms", engine="numpy", way="numpy", counts=True),
        harness.Row("mlp", "step", 2.1, 9.0, "ms", engine="numpy", way="numpy, autograd"),
        harness.Row("mlp", "step", 1.5, 3.0, "ms", engine="auto", way="numpy", counts=True),
        harness.Row("import", "", 0.1, None, "s"),
    ]
    ((title, bars),) = picture.bars(rows).items()
    assert title == ("mlp", "step", "ms")
    assert [(name, figure) for name, figure, _ in bars] == [
        ("Kameleon, auto", 1.5),
        ("Kameleon, numpy", 2.0),
        ("numpy", 3.0),
        ("numpy, autograd", 9.0),
    ]
    picture.draw(rows, tmp_path / "bars.svg")
    drawn = (tmp_path / "bars.svg").read_text("utf-8")
    for word in ("Kameleon, auto", "numpy, autograd", "geometric means"):
        assert word in drawn


@pytest.mark.nightly
def test_the_gpu_s_command_on_a_pretended_one(tmp_path: Path) -> None:
    if "jax" not in engines_under_test():
        pytest.skip("needs the package jax")
    out = tmp_path / "gpu.json"
    line = [sys.executable, str(FOLDER / "gpu.py"), "--pretend", "--engines", "jax"]
    line += ["--seconds", "120", "--out", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text("utf-8"))["jax"]
    assert set(report) == {"curves", "memory", "conformance", "golden", "speed"}
    assert report["conformance"]["ran"] and report["golden"]["ran"]


def test_what_does_not_hold_on_a_gpu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import gpu

    found = {
        "curves": {"lstm": {"apart": 0.1, "holds": False}},
        "conformance": {"ran": 2, "failed": {"values-tanh": "AssertionError: 1"}},
        "golden": {"error": "Traceback …\nMemoryError"},
        "memory": {"holds": True},
    }
    assert [line.split(": ")[1:3] for line in gpu.faults({"jax": found})] == [
        ["lstm", "doesn't hold"],
        ["conformance", "values-tanh"],
        ["golden", "MemoryError"],
        ["speed", "it wasn't reached"],
    ]
