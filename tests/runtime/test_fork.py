"""A child that is forked while another thread calls: no lock stays taken, no engine waits for ever.

`forking.py` forks, in a process for each engine. BLAS has one thread there: with several, OpenBLAS
hangs in such a fork by itself.
"""

from __future__ import annotations

import ast
import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from _support.common import PACKAGE, TESTS, printed_by, run_python

from kameleon.config import installed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't be forked here")

# Their libraries compute in threads, which a child doesn't have.
LOST = {"tensorflow", "jax"}


@functools.cache
def found(engine: str, threads: int = 1) -> dict[str, Any]:
    """What `forking.py` prints."""
    others = ("KERAS_", "KAMELEON_", "PYTEST_", "PYTHONWARNINGS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    environment |= {k: v for k, v in os.environ.items() if k == "KAMELEON_CNTK"}  # where that is
    paths = [str(PACKAGE.parent), environment.get("PYTHONPATH", "")]
    environment |= {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "KERAS_HOME": os.environ["KERAS_HOME"],
        "KERAS_BACKEND": "numpy",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    return printed_by("_support/forking.py", engine, str(threads), environment=environment)


def test_children_find_what_was_committed_and_go_on(engine_name: str) -> None:
    children = found(engine_name)["children"]
    assert None not in children  # none hung
    for child in children:
        assert child["whole"] and child["numpy"] == 2.0 * 256 * 256
        if engine_name in LOST:
            assert "multiprocessing.get_context('spawn')" in child["lost"]
            assert child["set"] == 1
        else:
            assert child["counted"] == 1 and child["set"] == 2


def test_an_engine_that_had_not_started_runs_in_a_child(engine_name: str) -> None:
    before = found(engine_name)["before"]
    if engine_name == "tensorflow":  # it starts when it's loaded
        assert "spawn" in before["failed"]
    else:
        assert before["sum"] == pytest.approx(2.718281828 * 256 * 256, rel=1e-3)


@pytest.mark.skipif(not installed("torch"), reason="needs PyTorch: pip install torch")
def test_pytorch_with_several_threads_says_so() -> None:
    assert all("spawn" in child["lost"] for child in found("torch", 2)["children"])


# ONNX Runtime's sessions have threads, which a child lacks: freeing one there would crash.
FREES = """
import gc, sys
sys.path.insert(0, {tests!r})
from _support.forking import forked
from kameleon import backend as K
x = K.placeholder((None, 3))
functions = [K.function([x], [K.exp(x)], engine="onnxruntime")]
functions[0]([[[0, 0, 0]]])
def child():
    given = functions[0]([[[0, 0, 0]]])[0].tolist()
    functions.clear()
    K.clear_session()
    gc.collect()
    return {{"given": given}}
print(forked(child))
"""


@pytest.mark.skipif(not installed("onnxruntime"), reason="needs ONNX Runtime")
def test_a_child_frees_what_its_parent_made(tmp_path: Path) -> None:
    done = run_python(FREES.format(tests=str(TESTS)), tmp_path, {"OMP_NUM_THREADS": "4"})
    assert done.stdout == "{'given': [[1.0, 1.0, 1.0]]}\n", done.stderr


# Locks ------------------------------------------------------------------------------------------

LOCKS = """
import json, os, sys, threading, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {tests!r})
from _support.forking import forked
from kameleon._utils import locks
locks.REINIT._holds = {private}
plain, mine, free = locks.lock(), locks.rlock(), locks.rlock()
other = locks.rlock()
done = threading.Event()

def takes():
    while not done.is_set():
        with plain, other:
            pass

thread = threading.Thread(target=takes)
thread.start()
def child():
    return {{"taken": [x.acquire(timeout=5) for x in (plain, other, free)], "mine": mine.release()}}
found = []
for _ in range(30):
    with mine:
        found.append(forked(child))
done.set()
thread.join()
print(json.dumps(found))
"""


@pytest.mark.parametrize("private", [True, False])
def test_locks_are_free_in_a_child_but_its_own(private: bool, tmp_path: Path) -> None:
    """By the interpreter's own way to free them, and without."""
    done = run_python(LOCKS.format(tests=str(TESTS), private=private), tmp_path)
    assert done.returncode == 0, done.stderr
    expected = {"taken": [True, True, True], "mine": None}
    assert json.loads(done.stdout) == [expected] * 30


def test_all_locks_are_made_in_one_place() -> None:
    made = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("Lock", "RLock", "Condition")
    ]
    assert set(made) == {"_utils/locks.py"}
