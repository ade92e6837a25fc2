"""Copies and pickles of variables, tensors and functions: own state, with the present values."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, run_python
from _support.saved_functions import KINDS

from kameleon import backend as K
from kameleon.errors import NonFiniteError, UnpicklableError

NAMES = engines_under_test()


def values(*variables: Any) -> list[Any]:
    return [K.get_value(v).tolist() for v in variables]


# Variables and tensors -------------------------------------------------------------------------


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_a_copied_variable_is_its_own(how: Any) -> None:
    v = K.variable([1.0, 2.0], name="v", constraint=abs)
    v.trainable = False
    K.set_value(v, [3.0, 4.0])
    w = how(v)
    assert w is not v and w.type == v.type and w.name != v.name
    assert w.constraint is abs and w.trainable is False
    assert values(w) == [[3.0, 4.0]]
    K.set_value(v, [0.0, 0.0])
    assert values(v, w) == [[0.0, 0.0], [3.0, 4.0]]


@pytest.mark.parametrize("engine", NAMES)
def test_copies_are_made_where_the_value_is(engine: str) -> None:
    v = K.variable([1.0, 2.0])
    with K.using_engine(engine):
        step = K.function([], [], [K.update_add(v, 1.0)])
        step([])
        w = copy.deepcopy(v)
        step([])
        K.function([], [], [K.update_add(w, 10.0)])([])
    assert values(v, w) == [[3.0, 4.0], [12.0, 13.0]]


def test_what_is_shared_in_one_copy_stays_shared() -> None:
    v = K.variable(2.0)
    model = {"w": v, "again": [v], "out": v * 3.0, "sum": v * 3.0 + v}
    new = copy.deepcopy(model)
    assert new["w"] is new["again"][0] is not v
    K.set_value(new["w"], 5.0)
    assert K.eval(new["out"]) == 15.0 and K.eval(new["sum"]) == 20.0
    assert K.eval(model["out"]) == 6.0


def test_tensors_between_which_one_is_fed_stay_connected() -> None:
    v, x = K.variable(2.0), K.placeholder(())
    hidden = x * v
    h, y = copy.deepcopy([hidden, K.square(hidden)])
    assert K.function([h], [y])([3.0]) == [9.0]


def test_formulas_without_state_are_their_own_copies() -> None:
    x = K.placeholder((2,))
    for tensor in (x, x * 2.0, K.constant(1.0)):
        assert copy.deepcopy(tensor) is tensor and copy.copy(tensor) is tensor
    y = x * K.variable(1.0)
    assert copy.copy(y) is y


def test_copied_updates_change_the_copies() -> None:
    v = K.variable(1.0)
    new, update = copy.deepcopy([v, K.update_add(v, 2.0)])
    K.function([], [], [update])([])
    assert values(v, new) == [1.0, 3.0]


def test_effects_are_copied(capsys: pytest.CaptureFixture[str]) -> None:
    v = K.variable(1.0)
    shown = K.print_tensor(v * 2.0, "value")
    with K.control_dependencies([K.update(v, v + 1.0)]):
        late = K.identity(v)
    new, y, z = copy.deepcopy([v, shown, late])
    assert K.function([], [y, z])([]) == [2.0, 2.0]
    assert capsys.readouterr().out == "value 2.0\n"
    assert values(v, new) == [1.0, 2.0]


def test_long_chains_are_copied() -> None:
    v = K.variable(0.0)
    y = v
    for _ in range(5000):
        y = y + 1.0
    assert K.eval(copy.deepcopy(y)) == 5000.0


def test_tensors_say_how_they_can_be_sent() -> None:
    v = K.variable(1.0)
    for item in (v, v * 2.0, K.placeholder(()), K.update(v, v), [v]):
        with pytest.raises(UnpicklableError, match=r"Pickle the K\.function .* K\.get_value"):
            pickle.dumps(item)
    assert issubclass(UnpicklableError, TypeError)


# Functions -------------------------------------------------------------------------------------


def same(found: Any, expected: Any) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(np.array_equal(a, b, equal_nan=b.dtype.kind == "f") for a, b in pairs)


def pickled(f: Any) -> Any:
    return pickle.loads(pickle.dumps(f))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_copied_functions_go_on_by_themselves(kind: str, how: Any) -> None:
    f, feeds = KINDS[kind]()
    f(feeds)
    g = how(f)
    first, second = f(feeds), f(feeds)
    assert same(g(feeds), first) and same(g(feeds), second)


def test_functions_copied_with_their_variables_use_these() -> None:
    v = K.variable(1.0)
    f = K.function([], [v * 2.0], [K.update_add(v, 1.0)])
    g, w = copy.deepcopy((f, v))
    assert [g([]), g([])] == [[2.0], [4.0]]
    assert values(v, w) == [1.0, 3.0]
    assert copy.copy(f)([]) == [2.0] and values(v) == [2.0]


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_nests_and_options_stay(how: Any) -> None:
    x, v = K.placeholder((2,)), K.variable(3.0)
    nest = {"a": (x * v, None), "b": [K.sum(x)]}
    f = how(K.function([x], nest, engine="numpy", as_numpy=False, name="mine"))
    found = f([[1.0, 2.0]])
    assert found["a"][0].tolist() == [3.0, 6.0] and found["a"][1] is None
    assert found["b"] == [3.0]
    assert f.compiled.engine.name == "numpy"
    with pytest.raises(ValueError, match="mine takes 1 values"):
        f([1.0, 2.0, 3.0])


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_sparse_inputs_and_outputs_stay(how: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy makes the sparse matrices")
    x = K.placeholder((None, 2), sparse=True)
    f = how(K.function([x], [x, K.dot(x, K.constant([[1.0], [2.0]]))]))
    matrix = sparse.csr_matrix(np.array([[0.0, 1.0], [3.0, 0.0]], "float32"))
    same_matrix, product = f([matrix])
    assert (same_matrix != matrix).nnz == 0
    assert product.tolist() == [[2.0], [3.0]]


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_custom_gradients_are_what_they_gave(how: Any) -> None:
    """The rule itself is code, which no file holds; the gradient is in the graph already."""
    square = K.custom_gradient(lambda x: (x * x, lambda g: 7.0 * g))
    w = K.variable(2.0)
    y = square(w)
    f = K.function([], [y, K.gradients(y, [w])[0]])
    assert how(f)([]) == f([]) == [4.0, 7.0]


def run(f: Any, feeds: Any) -> Any:
    """What another process does with a function."""
    return [f(feeds), f(feeds)]


def test_functions_are_sent_to_other_processes() -> None:
    f, feeds = KINDS["drawing"]()
    f(feeds)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        done = pool.submit(run, f, feeds).result()
    for found in done:
        assert same(found, f(feeds))


SENT = """
import copy, joblib, numpy as np
from kameleon import backend as K
from kameleon.errors import EvaluationError

x, i, w = K.placeholder((None, 3)), K.placeholder((), dtype='int32'), K.variable(np.ones((3, 2)))
outputs = [K.dot(x, w) + K.gather(w, i), K.random_uniform((2,), seed=3)]
f = K.function([x, i], outputs, [K.update_add(w, K.ones_like(w))])

def work(f, *given):
    try:
        return f(given), f(given)
    except EvaluationError as error:
        return [[np.array('index' in str(error))]]

# What is large, joblib hands over as a file that can't be written to.
feeds = [np.ones((2, 3)), 0], [np.ones((200_000, 3), 'float32'), 1], [np.ones((2, 3)), 7]
wanted = [work(copy.deepcopy(f), *given) for given in feeds]
for backend in BACKENDS:
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(work)(f, *g) for g in feeds)
    for want, got in zip(wanted, found, strict=True):
        for a, b in zip(sum(want, []), sum(got, []), strict=True):
            assert np.array_equal(a, b) and a.dtype == b.dtype, backend
assert K.get_value(w).tolist() == np.ones((3, 2)).tolist()
"""


@pytest.mark.parametrize("name", [
    name if name == "numpy" else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES
])  # fmt: skip
def test_joblib_sends_functions(name: str, tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="joblib sends the functions")
    # Forked children can't go on with all engines: tests/runtime/test_fork.py.
    backends = ("multiprocessing", "loky") if name == "numpy" else ("loky",)
    settings = {"KERAS_BACKEND": name, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = run_python(SENT.replace("BACKENDS", repr(backends)), tmp_path, settings)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_copies_check_as_the_function_does(how: Any) -> None:
    x = K.placeholder((2,), name="x")
    f = how(K.function([x], [K.log(x)], check="nan"))
    with pytest.raises(NonFiniteError, match="log"):
        f([[1.0, -1.0]])
