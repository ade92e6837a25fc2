"""Names of `tf.` that two or more of 116 public repositories use, beside Keras 2: all are there.

`wanted.txt` has them, counted in the sources of these repositories.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from kameleon.tf1.modules import module

WANTED = (Path(__file__).parent / "wanted.txt").read_text("utf-8").split()
OF_KERAS = "keras"  # where the original Keras is hosted: tests/hosting looks at these


@pytest.mark.parametrize("name", [x for x in WANTED if x.partition(".")[0] != OF_KERAS])
def test_names_that_several_programs_use_are_there(name: str) -> None:
    tf: Any = module("tensorflow")
    functools.reduce(getattr, name.split("."), tf)  # an error says what isn't there


def test_there_are_that_many() -> None:
    assert len(WANTED) > 140
