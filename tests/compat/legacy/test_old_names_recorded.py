"""Old names give what they gave: on Python 3.7, pandas 0.25.3, SciPy 1.1, h5py 2.8, Pillow 5.4."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _support.common import module_at

from kameleon.compat.legacy import importing, stand_in

RECORDED = Path(__file__).parents[2] / "recorded" / "old_names.json"
CASES: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))


SCRIPT: Any = module_at("tests/recorded/old_names.py")


@pytest.fixture(autouse=True)
def _began(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before, begin = builtins.__import__, asyncio.SelectorEventLoop.__init__
    loops: list[asyncio.AbstractEventLoop] = []  # of programs, which don't close them

    def kept(loop: asyncio.SelectorEventLoop) -> None:
        loops.append(loop)
        begin(loop)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "__init__", kept)
    importing.begin()
    stand_in._warned.clear()
    yield
    builtins.__import__ = before
    for loop in loops:
        loop.close()
    if loops:  # one may be the thread's own
        asyncio.set_event_loop_policy(None)


def _agree(found: Any, expected: Any, at: float) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            _agree(found[key], value, at)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _agree(one, other, at)
    else:
        is_number = isinstance(expected, int | float)
        assert found == (pytest.approx(expected, 1e-6, at) if is_number else expected)


def _needed(code: str) -> list[str]:
    named = [word for word in ("pandas", "scipy", "h5py") if word in code]
    return [*named, "PIL"] if "image" in code else named


@pytest.mark.parametrize("code", CASES, ids=lambda code: code.splitlines()[-1])
def test_old_names_give_what_they_gave(code: str) -> None:
    for library in _needed(code):
        pytest.importorskip(library)
    rounding = 1 if "image" in code else 1e-12  # Pillow's, of bytes, isn't that of its version 5
    _agree(SCRIPT.evaluated(code), CASES[code], rounding)
