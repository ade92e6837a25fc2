"""Several threads: first calls, values, engines and sessions side by side; and what guards them.

It runs as it is on Python without a global interpreter lock, where NumPy is for it:
`PYTHON_GIL=0 TEST_ENGINES=numpy python -m pytest tests/runtime/test_threads.py`.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import PACKAGE, TESTS, engines_under_test, side_by_side

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.engines._codegen.code import Code, Language
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.program import collect
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.runtime import engines
from kameleon.runtime.state import State

THREADS = 8


def test_threads_do_everything_at_once(engine: Engine) -> None:
    """First calls of shared and own functions, values, other engines, cleared sessions."""
    vs = [K.variable(np.zeros(shape)) for shape in ((), (3,), (4, 5), (40, 40))]
    x = K.placeholder((None, 5))
    row = np.ones((2, 5), "float32")
    one = K.mean(K.tanh(K.dot(x, K.transpose(vs[2]) * 0.0))) + 1.0
    shared = K.function([x], [one, K.random_uniform((2,), seed=1)], [(v, v + one) for v in vs])
    own = K.variable(np.zeros(7))
    calls: list[int] = []
    failures: list[str] = []
    names = [name for name in engines_under_test() if name in engines._loaded]

    def look() -> None:
        found = {float(a) for v in K.batch_get_value(vs) for a in np.reshape(v, -1)}
        if len(found) != 1:
            failures.append(f"half an update: {found}")

    def work(number: int) -> None:
        choose = random.Random(number)
        with engines.using(engine.name):
            for turn in range(4):
                shared([row])
                calls.append(1)
                look()
                K.set_value(own, np.full(7, number))
                if len(set(K.get_value(own).tolist())) != 1:
                    failures.append("half a value")
                scale = float(turn % 2 + 2)  # the same graph in several threads
                f = K.function([x], [K.sum(K.exp(x * 0.0)) * scale])
                for _ in range(3):
                    if f([row])[0] != 10 * scale:
                        failures.append("another number")
                with K.using_engine(choose.choice(names)):
                    shared([row])
                    calls.append(1)
                if number == 0:
                    K.clear_session()
                K.get_uid("thread")

    side_by_side([lambda n=n: work(n) for n in range(THREADS)])  # type: ignore[misc]
    assert not failures, failures
    assert {float(a) for v in K.batch_get_value(vs) for a in np.reshape(v, -1)} == {len(calls)}


def test_uids_and_serials_are_given_once() -> None:
    uids: list[int] = []
    serials: list[int] = []

    def work() -> None:
        for _ in range(300):
            uids.append(K.get_uid("a"))
            serials.append(input_node(TensorType((), as_dtype("float32"))).serial)

    side_by_side([work] * THREADS)
    assert sorted(uids) == list(range(1, 300 * THREADS + 1))
    assert len(set(serials)) == 300 * THREADS


def test_code_is_joined_while_other_threads_run_it_line_by_line() -> None:
    """Literals are no part of it: it's read alone, once it's finished."""
    node = input_node(TensorType((), as_dtype("float32")))
    for _ in range(30):
        code = Code(1, Language("python", {"add": lambda a, b: a + b}))
        slot = 0
        for number in range(60):
            slot = code.emit(node, "add({0}, {1})", [slot, f"{number}.0"])
        code.finish([slot])
        before = dict(code.constants)

        def work(code: Code = code) -> None:
            assert code([1.0])[0] == 1771.0
            assert code._interpret([1.0])[0] == 1771.0
            assert code.join()(1.0)[0] == 1771.0

        side_by_side([work] * 4)
        assert code.constants == before


@pytest.mark.parametrize("count", [1, 2, 8, 9, 20])
def test_a_call_holds_the_locks_of_all_that_it_changes(count: int) -> None:
    """From before it reads until it has committed; no other thread can take one meanwhile."""
    vs = [K.variable(0.0) for _ in range(count)]
    cells = [v.cell for v in vs]
    free: list[bool] = []

    def look() -> None:
        for cell in cells:
            free.append(cell.lock.acquire(blocking=False))
            if free[-1]:
                cell.lock.release()

    def compute(state: list[Any], engine: Engine, given: Any) -> list[Any]:
        side_by_side([look])
        return [x + 1 for x in state]

    state = State(collect([], [], [K.update_add(v, 1.0) for v in vs], []))
    state.call(compute, engines.embedded(), None)
    assert free == [False] * count
    side_by_side([look])
    assert free[count:] == [True] * count
    assert K.batch_get_value(vs) == [1.0] * count


# What is shared, and what guards it --------------------------------------------------------------

PAGE = (TESTS.parent / "docs" / "threads.md").read_text(encoding="utf-8")
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = "dict list set deque defaultdict WeakKeyDictionary WeakValueDictionary WeakSet".split()
# Modules that serve one program or one thread: commands, the demo, and the kits for tests.
APART = ("cli/", "testing/", "compat/imports/", "compat/keras2/", "compat/legacy/")
# What is shared and isn't found by looking at names and assignments.
BESIDE = {
    "Cell.record",
    "Workspace",
    "Buffers",
    "graph.ir.context.context",
    "runtime.engines._here",
}
# Classes whose instances several threads use, by module.
SHARED = {
    "runtime/function.py": ("Function",),
    "runtime/feeds.py": ("Constants",),
    "runtime/state.py": ("Cell",),
    "runtime/workspace.py": ("Workspace",),
    "runtime/stages.py": ("_Staged", "_Part"),
    "engines/_codegen/code.py": ("Code", "Language"),
    "engines/_kernels/buffers.py": ("Buffers",),
    "engines/numpy/engine.py": ("_Executable", "NumpyEngine"),
    "engines/jax/executable.py": ("JaxExecutable",),
    "engines/jax/engine.py": ("JaxEngine",),
    "engines/tensorflow/engine.py": ("_Executable", "TensorflowEngine"),
    "engines/torch/engine.py": ("TorchExecutable", "TorchEngine"),
    "engines/onnxruntime/engine.py": ("OnnxExecutable", "OnnxRuntimeEngine"),
    "engines/theano/engine.py": ("TheanoExecutable", "TheanoEngine"),
    "engines/theano/thunk_runner.py": ("ThunkRunner",),
    "engines/cntk/engine.py": ("CntkExecutable", "CntkEngine"),
    "engines/cntk/process.py": ("Keeper",),
    "graph/ir/node.py": ("Tensor",),
    "graph/ir/program.py": ("Graph", "Program"),
    "_utils/private.py": ("Private",),
}


def _tables() -> Iterator[str]:
    """The tables of modules that aren't named as constants are."""
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "/".join(parts).startswith(APART):
            continue
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in _made(statement):
                if not name.startswith("__") and not name.lstrip("_").isupper():
                    yield ".".join((*(p for p in parts if p != "__init__"), name))


def _made(statement: ast.stmt) -> list[str]:
    """The names that a statement gives to a list, a set or a dictionary."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call):
        function = value.func
        is_table = getattr(function, "id", getattr(function, "attr", "")) in MAKERS
    else:
        is_table = isinstance(value, DISPLAYS)
    if not is_table or not isinstance(statement, ast.Assign | ast.AnnAssign):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _changed(path: str, name: str) -> set[str]:
    """The attributes that methods of a class change behind `__init__`."""
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    cls = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    methods = [m for m in cls.body if isinstance(m, ast.FunctionDef) and m.name != "__init__"]
    found = set()
    for node in (node for method in methods for node in ast.walk(method)):
        target: ast.AST = node
        while isinstance(target, ast.Subscript):
            target = target.value
        is_stored = isinstance(getattr(node, "ctx", None), ast.Store)
        if is_stored and ast.unparse(target).startswith("self."):
            found.add(f"{name}.{ast.unparse(target).removeprefix('self.')}")
    return found


TABLES = sorted(
    {*_tables(), *(a for path in SHARED for c in SHARED[path] for a in _changed(path, c))}
)


def test_what_is_shared_and_changes_is_listed_with_its_guard() -> None:
    listed = set(re.findall(r"^\| `([^`]+)` \| .+ \|$", PAGE, re.MULTILINE))
    assert listed == {*TABLES, *BESIDE}
