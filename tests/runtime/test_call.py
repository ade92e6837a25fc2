"""`kameleon.call`: functions of NumPy as nodes, on every engine."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kameleon
from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, EvaluationError, GradientError, GraphError
from kameleon.graph.ir.node import Node

ROWS = np.array([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]], "float32")


def rows() -> Node:
    return K.placeholder((None, 3))


class Recorder:
    """A function with effects: it keeps what it's given, and gives how often it was called."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, *arrays: Any) -> int:
        self.seen.append(arrays)
        return len(self.seen)


def raising(*arrays: Any) -> Any:
    raise KeyError("no such thing")


def shout(x: Any) -> Any:
    raise OSError("the disk is gone")


# --- what is called, and what it gives --------------------------------------------------------


def test_a_function_is_part_of_the_graph(engine: Engine) -> None:
    x = rows()
    y = kameleon.call(np.sort, x * 2.0, like=x)
    f = K.function([x], [y + 1.0, K.sum(y)])
    for given in (ROWS, ROWS[:1], ROWS[:0]):
        found, total = f([given])
        np.testing.assert_array_equal(found, np.sort(given * 2) + 1)
        assert total == given.sum() * 2


def test_several_results_of_unknown_sizes(engine: Engine) -> None:
    x = rows()
    values, counts = kameleon.call(
        lambda a: np.unique(a, return_counts=True),
        x,
        shapes=[(None,), (None,)],
        dtypes=["float32", "int64"],
    )
    assert (values.shape, values.dtype, counts.dtype) == ((None,), "float32", "int64")
    f = K.function([x], [values * 2.0, K.shape(values), K.sum(counts)])
    for given in (ROWS, np.ones((4, 3), "float32")):
        doubled, shape, count = f([given])
        np.testing.assert_array_equal(doubled, np.unique(given) * 2)
        assert (shape.tolist(), count) == ([len(np.unique(given))], given.size)


def test_a_function_that_gives_nothing(engine: Engine) -> None:
    x, log = rows(), Recorder()
    done = kameleon.call(log, x, dtypes=[], pure=False)
    f = K.function([x], [done, K.sum(x)])
    given = ROWS.copy()
    assert f([given])[0].item() is True
    given[:] = 0.0
    (seen,) = log.seen
    np.testing.assert_array_equal(seen[0], ROWS)  # which it may keep: it's a copy


def test_a_function_without_arguments(engine: Engine) -> None:
    count = kameleon.call(Recorder(), [], shapes=(), dtypes="int32", pure=False)
    f = K.function([], [count + 1])
    assert [f([])[0] for _ in range(3)] == [2, 3, 4]


def test_several_tensors_and_constants(engine: Engine) -> None:
    x = rows()
    y = kameleon.call(lambda a, b, c: a[:, ::-1] * b + c, [x, 2.0, np.float32(1.0)], like=x)
    np.testing.assert_array_equal(K.function([x], [y])([ROWS])[0], ROWS[:, ::-1] * 2 + 1)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "uint16", "uint32", "uint64", "int64", "float16", "float64"]
)
def test_every_dtype_goes_in_and_comes_out(engine: Engine, dtype: str) -> None:
    given: list[Any] = []
    x = K.placeholder((None,), dtype=dtype)
    y = kameleon.call(lambda a: given.append(a.dtype) or a[::-1], x, like=x)
    values = np.array([0, 1, 1], dtype)
    found = K.function([x], [y])([values])[0]
    assert (found.dtype, set(given)) == (np.dtype(dtype), {np.dtype(dtype)})
    np.testing.assert_array_equal(found, values[::-1])


def test_results_belong_to_nobody_else(engine: Engine) -> None:
    kept = np.zeros(3, "float32")
    x = rows()
    same = kameleon.call(lambda a: a, x, like=x)
    own = kameleon.call(lambda a: kept, x, shapes=(3,))
    given = ROWS.copy()
    a, b = K.function([x], [same, own])([given])
    a[:], b[:] = 7.0, 7.0
    np.testing.assert_array_equal(given, ROWS)
    assert not kept.any()


def test_arguments_cannot_be_written_to(engine: Engine) -> None:
    v = K.variable(ROWS)
    f = K.function([], [kameleon.call(lambda a: a.fill(0.0), v, dtypes=[])])
    with pytest.raises(ValueError, match="read-only"):
        f([])
    np.testing.assert_array_equal(K.get_value(v), ROWS)


# --- how often it's called --------------------------------------------------------------------


def test_equal_calls_are_made_once_where_the_function_is_pure(engine: Engine) -> None:
    log = Recorder()
    counted = lambda a: log(a) and a  # noqa: E731
    x = rows()
    twice = [kameleon.call(counted, x, like=x) for _ in range(2)]
    K.function([x], [twice[0] + twice[1]])([ROWS])
    assert len(log.seen) == 1


def test_no_calls_are_merged_where_it_has_effects(engine: Engine) -> None:
    log = Recorder()
    x = rows()
    twice = [kameleon.call(log, x, shapes=(), dtypes="int32", pure=False) for _ in range(2)]
    assert K.function([x], [twice[0] * twice[1]])([ROWS])[0] == 2


def test_other_functions_and_types_are_other_calls(engine: Engine) -> None:
    x = rows()
    make = lambda k: lambda a: a * np.float32(k)  # noqa: E731
    found = [kameleon.call(make(k), x, like=x) for k in (2, 3)]
    a, b = K.function([x], found)([ROWS])
    np.testing.assert_array_equal(a * 1.5, b)


def test_what_isnt_needed_isnt_called(engine: Engine) -> None:
    x = rows()
    kameleon.call(raising, x, like=x)
    K.function([x], [x + 1.0])([ROWS])


def test_copies_of_functions_call_it(engine: Engine) -> None:
    v = K.variable(ROWS)
    f = K.function([], [kameleon.call(np.sort, v, like=v)])
    clone = copy.deepcopy(f)
    K.set_value(v, ROWS * 2)
    np.testing.assert_array_equal(clone([])[0], np.sort(ROWS))
    np.testing.assert_array_equal(f([])[0], np.sort(ROWS * 2))


# --- loops and conditions ---------------------------------------------------------------------


def test_inside_of_a_scan(engine: Engine) -> None:
    x = K.placeholder((None, None))
    y = K.map_fn(lambda row: kameleon.call(np.sort, row, like=row), x)
    f = K.function([x], [y])
    np.testing.assert_array_equal(f([ROWS])[0], np.sort(ROWS))


def test_a_function_with_effects_is_called_in_each_step(engine: Engine) -> None:
    x, log = rows(), Recorder()
    count = lambda: kameleon.call(log, [], shapes=(), pure=False)  # noqa: E731
    f = K.function([x], [K.map_fn(lambda row: row[0] * 0.0 + count(), x)])
    assert f([ROWS])[0].tolist() == [1.0, 2.0]


def test_inside_of_a_condition(engine: Engine) -> None:
    x, which = rows(), K.placeholder(())
    y = K.switch(which > 0, lambda: kameleon.call(raising, x, like=x), lambda: x * 2.0)
    f = K.function([which, x], [y])
    np.testing.assert_array_equal(f([0.0, ROWS])[0], ROWS * 2)
    with pytest.raises(KeyError, match="no such thing"):
        f([1.0, ROWS])


def test_inside_of_a_while_loop(engine: Engine) -> None:
    step = lambda i, x: [i + 1, kameleon.call(lambda a: a * 2, x, like=x)]  # noqa: E731
    x = rows()
    f = K.function([x], [K.while_loop(lambda i, x: i < 3, step, [K.constant(0), x])[1]])
    np.testing.assert_array_equal(f([ROWS])[0], ROWS * 8)


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize(("function", "error"), [(raising, KeyError), (shout, OSError)])
def test_an_exception_comes_out_as_it_is(
    engine: Engine, function: Any, error: type[Exception], pure: bool
) -> None:
    x, v = rows(), K.variable(1.0)
    y = kameleon.call(function, x, like=x, pure=pure)
    f = K.function([x], [y], updates=[K.update_add(v, 1.0)])
    for _ in range(3):
        with pytest.raises(error) as caught:
            f([ROWS])
        (note,) = caught.value.__notes__
        assert "made at" in note and __file__ in note and f"line {line_of(y)}," in note
    assert K.get_value(v) == 1.0


def line_of(x: Node) -> int:
    return x.source.line


def test_the_line_is_that_of_the_function_that_fails(engine: Engine) -> None:
    """Equal graphs share their code."""
    x = rows()
    first = kameleon.call(raising, x, like=x)
    second = kameleon.call(raising, x, like=x)
    for y in (first, second):
        with pytest.raises(KeyError) as caught:
            K.function([x], [y])([ROWS])
        assert f"line {line_of(y)}," in caught.value.__notes__[0]


def test_an_exception_in_a_loop(engine: Engine) -> None:
    x, v = rows(), K.variable(1.0)
    y = K.map_fn(lambda row: kameleon.call(raising, row, like=row), x)
    f = K.function([x], [y], updates=[K.update_add(v, 1.0)])
    with pytest.raises(KeyError, match="no such thing"):
        f([ROWS])
    assert K.get_value(v) == 1.0


def test_effects_are_not_repeated_to_explain_another_failure(engine: Engine) -> None:
    log = Recorder()
    i = K.placeholder((), dtype="int32")
    count = kameleon.call(log, i, shapes=(), dtypes="int32", pure=False)
    f = K.function([i], [K.gather(K.variable(ROWS), i), count])
    with pytest.raises((EvaluationError, IndexError)):
        f([7])
    assert len(log.seen) <= 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: a.astype("float64"), "of dtype float64, not float32 as declared"),
        (lambda a: a[0], r"has shape \(3,\), not \(None, 3\) as declared"),
        (lambda a: a[:1], "isn't as long as axis 0 of operand 0"),
        (lambda a: None, "of dtype object"),
        (lambda a: "text", "of dtype"),
    ],
    ids=["dtype", "rank", "size", "none", "text"],
)
def test_results_are_held_against_what_was_declared(
    engine: Engine, function: Any, message: str
) -> None:
    x = rows()
    f = K.function([x], [kameleon.call(function, x, like=x)])
    with pytest.raises(EvaluationError, match=message) as caught:
        f([ROWS])
    assert f'File "{__file__}", line ' in str(caught.value)


def test_the_number_of_results_is_checked(engine: Engine) -> None:
    x = rows()
    y = kameleon.call(lambda a: (a, a, a), x, like=[x, x])
    with pytest.raises(EvaluationError, match="gave 3 results, 2 were declared"):
        K.function([x], y)([ROWS])


def test_numbers_of_python_take_the_declared_dtype() -> None:
    x = rows()
    for value, dtype in ((1, "float32"), (1.5, "float16"), (3, "uint8"), ([1, 2], "float64")):
        y = kameleon.call(lambda a, v=value: v, x, shapes=np.shape(value), dtypes=dtype)
        found = np.asarray(K.function([x], [y])([ROWS])[0])
        assert (found.tolist(), found.dtype) == (value, dtype)
    for value, dtype in ((1.5, "int32"), (300, "uint8"), (-1, "uint8")):
        y = kameleon.call(lambda a, v=value: v, x, shapes=(), dtypes=dtype)
        with pytest.raises(EvaluationError, match="as declared"):
            K.function([x], [y])([ROWS])


# --- gradients --------------------------------------------------------------------------------


def cosh(x: Any) -> Any:
    return kameleon.call(np.cosh, x, like=x, gradient=lambda x, g: g * sinh(x))


def sinh(x: Any) -> Any:
    return kameleon.call(np.sinh, x, like=x, gradient=lambda x, g: g * cosh(x))


def test_a_gradient_of_ones_own_to_any_order(engine: Engine) -> None:
    x = rows()
    [first] = K.gradients(K.sum(sinh(x)), [x])
    [second] = K.gradients(K.sum(first * x), [x])
    f = K.function([x], [first, second])
    slope, curvature = f([ROWS])
    np.testing.assert_allclose(slope, np.cosh(ROWS), rtol=1e-6)
    np.testing.assert_allclose(curvature, np.cosh(ROWS) + ROWS * np.sinh(ROWS), rtol=1e-6)


def test_the_gradient_of_several_results_and_tensors() -> None:
    x, y = rows(), rows()
    slopes = lambda x, y, g, h: [g * y, g * x + h]  # noqa: E731
    product, _, same = kameleon.call(
        lambda a, b: (a * b, np.int32(a.size), b.copy()),
        [x, y],
        shapes=[(None, 3), (), (None, 3)],
        dtypes=["float32", "int32", "float32"],
        gradient=slopes,
    )
    found = K.gradients(K.sum(product + 2.0 * same), [x, y])
    a, b = K.function([x, y], found)([ROWS, ROWS + 1])
    np.testing.assert_array_equal(a, ROWS + 1)
    np.testing.assert_array_equal(b, ROWS + 2)
    (alone,) = K.gradients(K.sum(same), [y])
    assert K.function([x, y], [alone])([ROWS, ROWS])[0].tolist() == np.ones((2, 3)).tolist()


def test_without_a_gradient_there_is_none() -> None:
    x = rows()
    y = kameleon.call(np.sort, x, like=x)
    with pytest.raises(GradientError, match=r"sort.*has no gradient: give .*gradient=") as caught:
        K.gradients(K.sum(y), [x])
    assert f'File "{__file__}", line {line_of(y)}' in str(caught.value)
    still = kameleon.call(np.sort, K.stop_gradient(x), like=x)
    (slope,) = K.gradients(K.sum(x * still), [x])
    np.testing.assert_array_equal(K.function([x], [slope])([ROWS])[0], np.sort(ROWS))
    assert K.gradients(K.sum(kameleon.call(np.rint, 2.0, shapes=())), [x]) == [None]


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda x, g: [g, g], "gave 2 cotangents for 1 tensors"),
        (lambda x, g: K.sum(g), r"a cotangent of shape \(\) for a tensor of shape \(None, 3\)"),
    ],
)
def test_a_gradient_that_is_none(gradient: Any, message: str) -> None:
    x = rows()
    y = kameleon.call(np.sort, x, like=x, gradient=gradient)
    with pytest.raises(GradientError, match=message):
        K.gradients(K.sum(y), [x])


# --- what can't be done -----------------------------------------------------------------------


def test_functions_are_no_data(tmp_path: Path) -> None:
    x = rows()
    f = K.function([x], [kameleon.call(np.sort, x, like=x)])
    with pytest.raises(GraphError, match=r"sort, called at File .*can't be saved"):
        f.save(tmp_path / "sort.safetensors")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing tells what sort gives"),
        ({"dtypes": "float32"}, "nothing tells what sort gives"),
        ({"like": 1.0, "shapes": ()}, "not both"),
        ({"shapes": [(1,), (2,)], "dtypes": ["float32"]}, "2 shapes, but 1 dtypes"),
        ({"shapes": (1,), "dtypes": ["float32", "int32"]}, "one shape, dtypes a list"),
        ({"shapes": ("a",)}, "ints and None"),
        ({"library": "fortran", "shapes": ()}, "library must be one of"),
    ],
)
def test_types_must_be_declared(options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        kameleon.call(np.sort, rows(), **options)


def test_the_result_may_have_a_name() -> None:
    assert kameleon.call(np.sort, rows(), like=rows(), name="sorted").name == "sorted:0"


def test_a_bound_method_is_the_same_function_each_time() -> None:
    log = Recorder()
    x = rows()
    same = [kameleon.call(log.__call__, x, shapes=(), dtypes="int32") for _ in range(2)]
    K.function([x], [same[0] + same[1]])([ROWS])
    assert len(log.seen) == 1
