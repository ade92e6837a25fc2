"""Programs in TensorFlow 1 compute what they computed on TensorFlow 1.15.

The programs and the records stand in `recorded/around`; its `record.py` says how they were made.
Engines other than NumPy run every eighth of them; all, at night.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import engines_under_test

from kameleon import backend as K
from kameleon.tf1.modules import module

HERE = Path(__file__).parents[1] / "recorded" / "around"
SUBJECTS = (
    "training",
    "losses",
    "layers",
    "distributions",
    "recurrent",
    "inputs",
    "queues",
    "sequences",
    "decoders",
    "contributed",
    "blocks",
)
SHARE = 8


TENSORFLOW = module("tensorflow")


def _module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


RECORDER = _module("record")
CASES = {subject: _module(subject) for subject in SUBJECTS}
RECORDS = {subject: RECORDER.load(HERE / f"{subject}.npz") for subject in SUBJECTS}


def _parameters() -> list[Any]:
    """Each case on NumPy; on the other engines a share of them, the others at night."""
    everything = [(s, name) for s in SUBJECTS for name in CASES[s].CASES]
    return [
        pytest.param(
            engine,
            subject,
            name,
            id=f"{engine}-{subject}-{name}",
            marks=[] if engine == "numpy" or i % SHARE == j else [pytest.mark.nightly],
        )
        for j, engine in enumerate(engines_under_test())
        for i, (subject, name) in enumerate(everything)
    ]


@pytest.mark.parametrize(("engine", "subject", "name"), _parameters())
def test_the_arrays_are_the_recorded_ones(engine: str, subject: str, name: str) -> None:
    cases = CASES[subject]
    tolerance = getattr(cases, "TOLERANCES", {}).get(name, 1e-5)
    with K.using_engine(engine):
        found = RECORDER.run(TENSORFLOW, cases.CASES[name], cases.given())
    wanted = RECORDS[subject][name]
    assert len(found) == len(wanted)
    for i, (array, want) in enumerate(zip(found, wanted, strict=True)):
        assert array.shape == want.shape, (i, array, want)
        if want.dtype.kind == "S":
            assert array.tolist() == want.tolist()
            continue
        assert array.dtype == want.dtype, i
        np.testing.assert_allclose(array, want, rtol=tolerance, atol=tolerance, err_msg=str(i))
