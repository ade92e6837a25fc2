"""Programs of Theano give what they gave on Theano 1.0.4: expressions, and models."""

from __future__ import annotations

import builtins
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, module_at
from _support.programs import run, write_small_keras

from kameleon import backend as K
from kameleon.compat.legacy import importing
from kameleon.compat.theano import methods
from kameleon.compat.theano.modules import provided
from kameleon.graph.ir.node import Node, Variable

RECORDED = Path(__file__).parents[2] / "recorded" / "theano_programs.json"
CASES: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
EXPRESSIONS = {code: value for code, value in CASES.items() if "\nz = " in code}


SCRIPT: Any = module_at("tests/recorded/theano_programs.py")


@pytest.fixture(autouse=True)
def _theanos(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Old code finds Theano, and tensors have what Theano's have, for the time of a test."""
    tables = ((Node, methods.OF_TENSORS), (Variable, methods.OF_VARIABLES))
    held = [(kind, name, vars(kind).get(name)) for kind, table in tables for name in table]
    held.append((Node, "shape", vars(Node)["shape"]))
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    monkeypatch.setitem(importing._providers, "theano", provided)
    monkeypatch.setattr(importing, "_tops", {*importing._tops, "theano"})
    importing.begin()
    yield
    for kind, name, value in held:
        if value is not None:
            setattr(kind, name, value)
        elif name in vars(kind):
            delattr(kind, name)
    for name in [name for name in importing._provided if name.startswith("theano")]:
        del importing._provided[name]


def _agree(found: Any, expected: Any) -> None:
    if isinstance(expected, list) and any(isinstance(x, str | list) for x in expected):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _agree(one, other)
    elif isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, 2e-5, 1e-5)


def _evaluated(code: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SCRIPT.evaluated(code)


@pytest.mark.parametrize(
    "code", CASES, ids=lambda c: c.partition("('v')\n")[2].partition("\nf =")[0]
)
def test_programs_give_what_they_gave(code: str) -> None:
    _agree(_evaluated(code), CASES[code])


PROGRAMS = {code: value for code, value in CASES.items() if code not in EXPRESSIONS}


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("code", [code for code in PROGRAMS if "updates" in code])
def test_models_train_alike_on_every_engine(code: str, engine: str) -> None:
    with K.using_engine(engine):
        _agree(_evaluated(code), CASES[code])


# By what a program says, what the error names.
REFUSED = {
    "T.tensordot(x, y)": "K.batch_dot",
    "theano.Op": "kameleon.call",
    "T.nlinalg": "numpy.linalg",
    "theano.grad(x, x)": "scalar",
    "theano.grad(v.sum(), x)": "disconnected_inputs",
    "T.set_subtensor(x, 1.)": "a part of a tensor",
    "theano.scan(lambda r: r, x, truncate_gradient=5)": "truncate_gradient=-1",
    "function([x], x)(X.astype('float64'))": "allow_input_downcast=True",
    "function([x, y], x)": "on_unused_input='ignore'",
    "function([x], x)()": "no value",
    "import theano.tensor.fourier": "theano.tensor.fourier",
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_there_says_what_to_use(said: str) -> None:
    code = SCRIPT.BEGIN + (said if said.startswith("import") else f"seen = {said}")
    with pytest.raises((AttributeError, TypeError, ValueError, ImportError)) as told:
        _evaluated(code)
    assert REFUSED[said] in str(told.value)


WITH_K = (
    SCRIPT.BEGIN + "from kameleon import backend as K\n"
    "w = K.variable(X)\n"
    "z = T.switch(K.greater(w, 2.), w, 0.).sum(axis=1) + K.sum(w * x, axis=1)\n"
    "seen = [K.function([x], [z])([X])[0], z.eval({x: X}), K.int_shape(w), w.shape[1]]"
)


def test_tensors_of_k_are_theanos() -> None:
    found = _evaluated(WITH_K)
    expected = np.array([[0, 0, 0], [3, 4, 5]]).sum(1) + np.array([5, 50])
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(found[1], expected)
    assert tuple(found[2]) == (2, 3) and found[3] == 3


PROGRAM = """
import numpy as np
import theano, theano.tensor as T
from keras import backend as K
assert K.backend() == 'theano'
x = K.placeholder((None, 2))
y = T.switch(x > 1, x, 0.).sum(axis=1)
print(K.function([x], [y])([np.float32([[1, 2], [3, 4]])])[0].tolist(), theano.config.floatX)
"""


@pytest.mark.parametrize("known_as", ["theano", "tensorflow"])
def test_programs_that_are_told_theano_get_it(tmp_path: Path, known_as: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    settings = write_small_keras(tmp_path / "original")
    found = run(["-m", "kameleon", "run", "--as", known_as, "program.py"], tmp_path, settings)
    if known_as == "theano":
        assert found.stdout == "[2.0, 7.0] float32\n", found.stderr
    else:
        assert "kameleon run --as theano" in found.stderr
