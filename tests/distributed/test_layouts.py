"""What a distribution says of arrays; mistakes say what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest
from _support.common import engines_under_test

import kameleon
from kameleon import Distribution
from kameleon import backend as K
from kameleon.errors import ArgumentError, EngineError, KameleonError, KindError, ShapeError

GRID = {"data": 4, "model": 2}


@pytest.mark.parametrize(
    "variables, name, shape, axes",
    [
        ("replicated", "w", (8, 8), ()),
        ("sharded", "w", (8, 12), (None, "data")),
        ("sharded", "w", (12, 6, 12), ("data",)),  # the first of the largest
        ("sharded", "w", (3, 5), ()),
        ("sharded", "w", (), ()),
        ("sharded", "w", (0, 4), (None, "data")),
        ({"*kernel*": (None, "model")}, "dense/kernel", (3, 4), (None, "model")),
        ({"*kernel*": (None, "model")}, "dense/bias", (4,), ()),
        ({"*bias": "replicated", "*": "sharded"}, "dense/bias", (4,), ()),
        ({"*bias": "replicated", "*": "sharded"}, "dense/kernel", (4,), ("data",)),
        ({"*": ("model", "data")}, "w", (4, 8, 3), ("model", "data")),
    ],
)
def test_variables(variables: Any, name: str, shape: tuple[int, ...], axes: Any) -> None:
    assert Distribution(mesh=GRID, variables=variables).of_variable(name, shape) == axes


@pytest.mark.parametrize(
    "inputs, shape, batch, axes",
    [
        (None, (8, 3), 8, ("data",)),
        (None, (7, 3), 7, ("data",)),
        (None, (3, 8), 8, ()),
        (None, (), 8, ()),
        (None, (8,), None, ()),
        ({"x": (None, "model")}, (8, 3), 8, (None, "model")),
        ({"x": ()}, (8, 3), 8, ()),
        ({"other": ()}, (8, 3), 8, ("data",)),
        ({"x": "sharded"}, (3, 8), 3, (None, "data")),
    ],
)
def test_inputs(inputs: Any, shape: tuple[int, ...], batch: int | None, axes: Any) -> None:
    assert Distribution(mesh=GRID, inputs=inputs).of_input("x", shape, batch) == axes


def test_a_mesh_without_an_axis_for_batches_cuts_none() -> None:
    assert Distribution(mesh={"model": 2}).of_input("x", (8, 3), 8) == ()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"devices": 0}, "devices is a number of 1 or more, not 0"),
        ({"devices": True}, "devices is a number of 1 or more"),
        ({"mesh": {}}, "mesh names axes with sizes"),
        ({"mesh": {"data": "4"}}, "mesh names axes with sizes"),
        ({"mesh": 4}, "mesh names axes with sizes"),
        ({"devices": 4, "mesh": {"data": 2}}, "has 2 places, not 4"),
        ({"variables": "shraded"}, "variables are 'replicated', 'sharded', or a table"),
        ({"devices": 2, "variables": {"*": ("model",)}}, "cut along 'model'; the mesh has data"),
        ({"variables": {"*": ("data",)}}, "the mesh has no axes yet: give mesh="),
        ({"devices": 2, "inputs": {"*": ("data", "data")}}, "'data' twice"),
    ],
)
def test_mistakes_are_told(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        Distribution(**arguments)


@pytest.mark.parametrize(
    "shape, error, message",
    [((4,), ArgumentError, "has 1 axes, its layout"), ((4, 3), ShapeError, "3 isn't a multiple")],
)
def test_layouts_that_do_not_fit_are_told(
    shape: tuple[int, ...], error: type[KameleonError], message: str
) -> None:
    given = Distribution(mesh=GRID, variables={"*": (None, "model")})
    with pytest.raises(error, match=message):
        given.of_variable("w", shape)


def test_distributions_that_say_the_same_are_equal() -> None:
    a, b = Distribution(2, variables={"*": "sharded"}), Distribution(2, variables="sharded")
    assert a == b
    assert hash(a) == hash(b)
    assert a != Distribution(2)
    assert Distribution().over(2) == Distribution(2)
    assert repr(a) == "Distribution(mesh={'data': 2}, variables='sharded')"


needs_jax = pytest.mark.skipif(
    "jax" not in engines_under_test(), reason="programs are distributed by JAX"
)


@needs_jax
def test_what_is_asked_for_twice_or_not_there() -> None:
    spread = Distribution(devices=1)
    with pytest.raises(ArgumentError, match="not both"):
        kameleon.distribute(spread, devices=1)
    with pytest.raises(KindError, match=r"not 2; distribute\(devices"):
        kameleon.distribute(2)  # type: ignore[arg-type]
    x = K.placeholder((2,))
    with pytest.raises(ArgumentError, match="engine='numpy' runs on one device"):
        K.function([x], [x], engine="numpy", distribution=spread)
    f = K.function([x], [x], engine="jax")
    f([[1, 2]])
    with pytest.raises(EngineError, match="hasn't run on several devices"):
        f.report()
    import jax

    count = len(jax.devices())
    with pytest.raises(EngineError, match=f"JAX has {count}"):
        kameleon.distribute(devices=count + 1).__enter__()
