"""Whatever stands in place of an argument: the call works, or the error says what is wrong."""

from __future__ import annotations

import functools
import inspect
import warnings
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from backend.calls_of_every_dtype import CALLS
from backend.numeric_cases import CASES
from kameleon import backend as K
from kameleon._utils import tracebacks as _tracebacks
from kameleon.errors import KindError

Given = tuple[tuple[Any, ...], dict[str, Any]]

FUNCTIONS = [name for name in K.__all__ if isinstance(getattr(K, name), FunctionType)]
WRONG = {
    "None": None, "a string": "text", "bytes": b"text", "an object": object(), "True": True,
    "a negative": -1, "a fraction": 1.5, "a huge integer": 10**30, "no number": float("nan"),
    "a complex number": 3 + 4j, "nothing in a list": [], "None in a list": [None],
    "kinds in a list": [1, "a"], "five of them": (1, 2, 3, 4, 5), "a dict": {},
    "a function": lambda: 0, "an array": np.ones((2, 3, 5)), "a tensor": K.placeholder((7, 9)),
}  # fmt: skip


ASKED = (
    "count_params dtype eval get_value get_variable_shape int_shape is_keras_tensor is_placeholder"
    " is_sparse is_tensor is_variable ndim size"
).split()
DRAWN = "random_binomial random_normal random_uniform truncated_normal".split()


def others() -> dict[str, tuple[Any, ...]]:
    """Arguments of functions that `CALLS` doesn't call by themselves."""
    x, ones = K.variable(np.ones((3, 4))), np.ones((3, 4))
    return {
        **dict.fromkeys(ASKED, (x,)), **dict.fromkeys(DRAWN, ((2, 3),)),
        "batch_get_value": ([x],), "batch_set_value": ([(x, ones)],), "cast_to_floatx": (ones,),
        "control_dependencies": ([x],), "custom_gradient": (lambda x: (x, lambda d: d),),
        "function": ([K.placeholder((2,))], [x]), "get_uid": ("a",), "gradients": (K.sum(x), [x]),
        "manual_variable_initialization": (True,), "moving_average_update": (x, x, 0.5),
        "name_scope": ("a",), "normalize_data_format": ("channels_last",), "placeholder": ((2, 3),),
        "pool2d": (K.ones((2, 5, 4, 3)), (2, 2)), "pool3d": (K.ones((1, 4, 5, 4, 2)), (2, 2, 2)),
        "print_tensor": (x, "m"), "random_normal_variable": ((2,), 0.0, 1.0),
        "random_uniform_variable": ((2,), 0.0, 1.0), "set_check": (None,),
        "set_engine": ("numpy",),
        "set_epsilon": (1e-7,), "set_floatx": ("float32",),
        "set_image_data_format": ("channels_last",), "set_image_dim_ordering": ("tf",),
        "set_learning_phase": (0,), "set_session": (None,), "set_value": (x, ones),
        "show": (x,), "update": (x, x), "update_add": (x, x), "update_sub": (x, x),
        "using_engine": ("numpy",),
        "variable": (ones,), "watch": (x, "w"),
        "while_loop": (lambda i: i < 3, lambda i: i + 1, [K.constant(0)]),
    }  # fmt: skip


@functools.cache
def calls() -> dict[str, Given]:
    """By its name, what is given to a function in a call that works."""
    found: dict[str, Given] = {name: (given, {}) for name, given in others().items()}

    def recording(name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            found.setdefault(name, (args, kwargs))
            return function(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in FUNCTIONS:
            patch.setattr(K, name, recording(name, getattr(K, name)))
        for key, case in CALLS.items():
            whole = any(word in key for word in ("gather-by", "one_hot", "&", "~"))
            tensors = [K.variable(np.ones(s), "int32" if whole else None) for s in case.shapes]
            recording(case.call.__name__, case.call)(*tensors)
    for row in CASES:
        found.setdefault(row.call.__name__, (tuple(map(K.variable, row.operands)), {}))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_error_is_raw(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(K, name)
    parameters = inspect.signature(function).parameters
    if not parameters:
        return
    monkeypatch.setenv(_tracebacks.SWITCH, _tracebacks.FULL)
    args, kwargs = calls()[name]
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    named = {key: value for key, value in given.items() if parameters[key].kind.value in (1, 3)}
    for parameter in parameters:
        for what, value in WRONG.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(**{**named, parameter: value})
            except Exception as error:
                steps = list(_tracebacks._steps(error.__traceback__))
                assert _tracebacks._is_users(error, steps), (parameter, what, error)
                assert not isinstance(error, KindError) or str(error).startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: K.identity(x, name=3), "identity: name must be a string, not 3 (a int)"),
        (lambda x: K.placeholder((2,), None, None, False, 3), "placeholder: name must be a string"),
        (lambda x: K.placeholder(ndim="2"), "placeholder: ndim must be an integer, not '2'"),
        (lambda x: K.arange("3"), "arange: start must be a finite number, not '3' (a str)"),
        (lambda x: K.concatenate(5), "concatenate: tensors must be a list of tensors, not 5"),
        (lambda x: K.map_fn(None, x), "map_fn: fn must be a function, not None"),
        (lambda x: K.reshape(x, 10**30), "reshape: shape must be a shape"),
        (lambda x: K.sum(x, keepdims=np.ones(3)), "sum: keepdims must be True or False, not array"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call: Any, message: str) -> None:
    with pytest.raises(KindError) as caught:
        call(K.variable(np.ones((3, 4))))
    assert str(caught.value).startswith(message) and isinstance(caught.value, TypeError)
    assert caught.value.__suppress_context__  # Python's own message would say less
