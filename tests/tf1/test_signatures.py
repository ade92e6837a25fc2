"""Functions of TensorFlow's names take TensorFlow 1.15's parameters, by name and in order."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from kameleon.errors import ArgumentError
from kameleon.tf1 import calling
from kameleon.tf1.modules import module
from kameleon.tf1.names import NAMES
from kameleon.tf1.public import public as public_names
from kameleon.tf1.refusals import REFUSED
from kameleon.tf1.signatures import Late

# Where parameters differ for a reason.
MORE = "it also takes what other functions or methods of its kind take"
DIFFERENCES = {
    "all_variables": MORE,
    "assign": MORE,
    "assign_add": MORE,
    "assign_sub": MORE,
    "math.reduce_std": MORE,
    "math.reduce_variance": MORE,
    "logging.set_verbosity": "it's the method of Python's logger",
    "variable_op_scope": "all but the first are those of variable_scope",
}
# Functions that take any arguments, for a reason; `calling.called` holds others to TensorFlow's.
ANYTHING = {
    **dict.fromkeys(REFUSED, "raises, whatever it's given"),
    "function": "the function itself, whatever else it's given",
    "autograph.experimental.do_not_convert": "the function itself, whatever else it's given",
    "get_local_variable": "hands all on to get_variable",
    "initialize_all_tables": "does nothing: there are no tables",
    "tables_initializer": "does nothing: there are no tables",
    "is_variable_initialized": "true, whatever it's given",
    "report_uninitialized_variables": "none, whatever it's given",
    **dict.fromkeys(
        ("math.softplus", "math.softsign", "nn.elu", "nn.relu", "nn.relu6"),
        "one tensor, under any name",
    ),
}


def _first(name: str) -> str | None:
    return public_names().first.get(name)


def _own(function: Any) -> Any:
    """The function that is called in the end, without what it tells of its parameters."""
    function = inspect.unwrap(function)
    if not isinstance(getattr(function, "__signature__", None), Late):
        return function
    own = FunctionType(function.__code__, {}, argdefs=function.__defaults__,
                       closure=function.__closure__)  # fmt: skip
    own.__kwdefaults__ = function.__kwdefaults__
    return own


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    """The names of a function's parameters; None if it takes anything."""
    found = list(inspect.signature(_own(function)).parameters.values())
    kinds = {p.kind for p in found}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return None
    return [p.name for p in found]


def _theirs(name: str) -> list[str]:
    return [p[0] for p in public_names().functions[name].parameters]


# By TensorFlow's first name of a function: what is called under it.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    first: value
    for name, value in NAMES.items()
    if (first := _first(name)) is not None and callable(value) and not isinstance(value, type)
}


def _bound(function: Callable[..., Any]) -> bool:
    """Whether `calling.called` made it, which takes TensorFlow's parameters from its record."""
    return getattr(function, "__module__", "") == calling.__name__


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(DIFFERENCES)))
def test_the_parameters_are_tensorflows(name: str) -> None:
    function = FUNCTIONS[name]
    if _bound(function):
        return
    own, theirs = _parameters(function), _theirs(name)
    if any(p.startswith("*") for p in theirs):
        assert own is None or own[: len(theirs) - 1] == [p.strip("*") for p in theirs[:-1]]
        return
    if own is None:
        assert name in ANYTHING
        return
    assert [p for p in own if p != "name"] == [p for p in theirs if p != "name"]


def test_every_difference_is_one() -> None:
    for name in DIFFERENCES:
        assert _parameters(FUNCTIONS[name]) != _theirs(name), name
    for name in ANYTHING:
        assert _parameters(FUNCTIONS[name]) is None, name


# What programs see ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cast", "concat", "reduce_sum", "ones", "setdiff1d", "nn.conv2d"])
def test_inspect_sees_tensorflows_parameters(name: str) -> None:
    found: Any = module("tensorflow")
    for part in name.split("."):
        found = getattr(found, part)
    spec = inspect.getfullargspec(found)
    rows = calling.rows_of(name)
    assert spec.args == [row[0] for row in rows] and not spec.annotations
    assert list(spec.defaults or ()) == [row[1] for row in rows if len(row) == 2]
    assert inspect.isfunction(found)


def test_signatures_bind_and_print_and_dtypes_are_dtypes() -> None:
    tf = module("tensorflow")
    signature = inspect.signature(tf.ones)
    assert str(signature) == "(shape, dtype='float32', name=None)"
    assert signature.parameters["dtype"].default is tf.float32
    assert list(signature.bind([2], name="x").arguments) == ["shape", "name"]
    assert pickle.loads(pickle.dumps(signature)) == signature


def test_compat_v2_has_its_own_parameters() -> None:
    tf = module("tensorflow.compat.v2")
    assert list(inspect.signature(tf.argmax).parameters) == ["input", "axis", "output_type", "name"]
    assert tf.linalg is module("tensorflow.compat.v2.linalg")
    assert tf.float32 is module("tensorflow").float32
    assert tf.compat.v1 is module("tensorflow")
    for name, rows in public_names().second.items():
        if name in NAMES and not name.startswith(("losses.", "metrics.")):
            found: Any = tf
            for part in name.split("."):
                found = getattr(found, part)
            if name not in NAMES or f"compat.v2.{name}" in NAMES:
                continue
            assert list(inspect.signature(found).parameters) == [row[0] for row in rows], name


def test_compat_v2_refuses_what_version_1_cannot() -> None:
    tf = module("tensorflow.compat.v2")
    x = tf.zeros([1, 2, 2, 1])
    with pytest.raises(ArgumentError, match=r"compat.v2.nn.dilation2d: data_format='NCHW' isn't"):
        tf.nn.dilation2d(x, tf.zeros([1, 1, 1]), [1] * 4, "SAME", "NCHW", [1] * 4)
    with pytest.raises(ArgumentError, match="antialias=True isn't there"):
        tf.image.resize(x, [4, 4], antialias=True)
