"""NumPy's generator stands where the original leaves it: what a program draws there is the same.

`recorded/generator.py` builds and trains networks and notes the places; the original wrote
`generator.json` with it.
"""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path

import pytest
from _support.common import TESTS, engines_under_test
from _support.originals import needs_original, run_hosted

pytestmark = needs_original

RECORDED = TESTS / "recorded"
THEIRS: dict[str, dict[str, str]] = json.loads((RECORDED / "generator.json").read_text("utf-8"))
# What moves less here: the original calls the function of a step once more, for its shapes.
LESS = {"rnn": ("2", "1")}

SCRIPT = """
import runpy, sys
from kameleon.compat.keras2 import location
sys.path[:0] = filter(None, [location.find()])
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@functools.cache
def ours(engine: str) -> dict[str, dict[str, str]]:
    """The places with the hosted Keras on an engine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        arguments = ["-c", SCRIPT, str(RECORDED / "generator.py"), str(path)]
        done = run_hosted(arguments, Path(folder), {"KAMELEON_ENGINE": engine})
        assert done.returncode == 0, done.stderr
        found: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    return found


OTHERS = [
    pytest.param(name, marks=pytest.mark.nightly)
    for name in engines_under_test()
    if name != "numpy"
]


@pytest.mark.parametrize("name", THEIRS["networks"])
@pytest.mark.parametrize("below", ["numpy", *OTHERS])
def test_networks(below: str, name: str) -> None:
    assert ours(below)["networks"][name] == THEIRS["networks"][name]


@pytest.mark.parametrize("name", THEIRS["functions"])
def test_functions(name: str) -> None:
    places = THEIRS["functions"][name], ours("numpy")["functions"][name]
    assert places[0] == places[1] or places == LESS.get(name)


def test_what_moves_less_still_does() -> None:
    assert all(ours("numpy")["functions"][name] == mine for name, (_, mine) in LESS.items())
