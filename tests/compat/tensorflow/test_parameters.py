"""Functions of operations, which take what their parameters say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.compat.tensorflow.operations.parameters import OF_VALUES, adapted
from kameleon.compat.tensorflow.operations.values import Kind, NeedsValueError

Node = Array = Any


class Told:
    """An operation with some attributes."""

    type = "Told"

    def attribute(self, name: str) -> Any:
        return {"axis": 1, "mode": b"SAME", "T": 3, "unset": None}[name]


class Variables:
    """What tells the values of variables."""

    def value(self, given: Any) -> Any:
        return 5 if given == "variable" else given


def of_names(operation: Any, *, axis: int, mode: str, T: Kind, unset: str) -> Any:
    return operation.type, axis, mode, T, unset


def of_values(x: Node, sizes: list[int], other: Any, *rest: int) -> Any:
    return K.is_tensor(x), sizes, other, rest


def of_lowering(lowering: Any, x: int, reference: Any) -> Any:
    return type(lowering), x, reference


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (of_names, (), ("Told", 1, "SAME", "int32", None)),
        (of_values, ([1.0], np.array([2, 3]), "x", np.int64(4), 5), (True, [2, 3], "x", (4, 5))),
        (lambda *values: values, (1, 2), (1, 2)),
        (np.add, (1, 2), 3),
    ],
)
def test_parameters_say_what_a_function_takes(
    function: Any, given: tuple[Any, ...], expected: Any
) -> None:
    assert adapted(function, ("operation",), OF_VALUES)(Told(), *given) == expected


def test_numbers_are_those_that_variables_hold() -> None:
    run = adapted(of_lowering, ("lowering", "operation"), OF_VALUES, reads=True)
    assert run(Variables(), Told(), "variable", "variable") == (Variables, 5, "variable")


def test_what_must_be_known_is_asked_for() -> None:
    run = adapted(of_values, ("operation",), OF_VALUES)
    with pytest.raises(NeedsValueError):
        run(Told(), 1.0, K.placeholder((2,), dtype="int32"), None)
