"""Functions of TensorFlow's names take TensorFlow 1.15's parameters, by name and in order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from kameleon.tf1 import calling
from kameleon.tf1.names import NAMES

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
    "enable_eager_execution": "raises, whatever it's given",
    "import_graph_def": "raises, whatever it's given",
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
    return calling.public().first.get(name)


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    """The names of a function's parameters; None if it takes anything."""
    found = list(inspect.signature(function).parameters.values())
    kinds = {p.kind for p in found}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return None
    return [p.name for p in found]


def _theirs(name: str) -> list[str]:
    return [p[0] for p in calling.public().functions[name].parameters]


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
