"""What is loaded late is there for who asks, whatever a program asks for first."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

HERE = Path(__file__).parent
# By the end of a name: what is registered there behind a module that is loaded first, and why
# nobody misses it.
REGISTERED = {
    "._registered_ops": "all is loaded where a type of operations isn't known",
    "._known": "all is loaded where something isn't known",
    "_api_names": "the API's modules know them",
    "_api_names_v1": "the API's modules know them",
    "._tf_dispatchers": "for values of classes in modules that aren't loaded",
    "._TYPE_CONVERSION_FUNCTION_REGISTRY": "for values of classes in modules that aren't loaded",
    "._REGISTERED_EXPANSIONS": "for values of classes in modules that aren't loaded",
    "._DIVERGENCES": "for values of classes in modules that aren't loaded",
    "._HIDDEN_ATTRIBUTES": "names that a module takes away from itself",
    ".TOLD": "who makes tapes loads what registers it",
    **dict.fromkeys(
        [f"linear_operator_algebra._{name}" for name in
         ("ADJOINTS", "CHOLESKY_DECOMPS", "INVERSES", "MATMUL", "SOLVE")],
        "who asks for one loads them",
    ),
    **dict.fromkeys(
        [f"revived_types._{name}" for name in ("REVIVED_TYPE_REGISTRY", "TYPE_IDENTIFIERS")],
        "all is loaded before something is revived",
    ),
}  # fmt: skip
pytestmark = needs_tensorflows_files


def printed(folder: Path, *line: str) -> Any:
    """What a program beside this file prints last, from JSON."""
    command = ["-W", "ignore", "-c", COMMAND, "run", "--engine", "numpy"]
    ended = run([*command, str(HERE / line[0]), *line[1:]], folder, ANYWHERE, seconds=3600)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_each_name_of_the_api(tmp_path: Path) -> None:
    found = printed(tmp_path, "names.py")
    assert found["count"] > 10_000 and found["missing"] == {}


def test_gradients_that_a_program_replaces(tmp_path: Path) -> None:
    assert printed(tmp_path, "gradients.py") == {"replaced": [0.5, 0.0], "was": [0.25, 0.0]}


def test_libraries_that_contrib_can_do_without(tmp_path: Path) -> None:
    found = printed(tmp_path, "libraries.py")
    assert found == {"loaded": [], "read": [[1.0], [2.0]], "loss": 0.0}


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.parametrize("step", [75, pytest.param(7, marks=pytest.mark.nightly)])
def test_each_module_first(tmp_path: Path, step: int) -> None:
    found = printed(tmp_path, "orders.py", str(step))
    assert found["count"] >= 700 // step and found["failed"] == {}
    reasons = tuple(REGISTERED)
    assert {key: by for key, by in found["registered"].items() if not key.endswith(reasons)} == {}
