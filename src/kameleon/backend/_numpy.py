"""How NumPy meets tensors: its functions give tensors, and tensors have its arrays' methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._utils.tracebacks import boundary
from ..graph.ir.node import Node
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import identity
from . import elementwise
from ._numpy_functions import FUNCTIONS
from ._tensors import as_float, as_tensor, binary
from .operators import divide, matmul

# Functions of elements -----------------------------------------------------------------------


def _of_floats(name: str) -> Callable[..., Node]:
    primitive = getattr(ew, name)
    return lambda x: primitive(as_float(x, f"np.{name}"))


def _of_two(name: str) -> Callable[..., Node]:
    primitive = getattr(ew, _OTHER_NAMES.get(name, name))
    return lambda a, b: binary(primitive, a, b, f"np.{name}")


def _of_truth(name: str) -> Callable[..., Node]:
    primitive, what = getattr(ew, name), f"np.{name}"
    return lambda *xs: functools.reduce(
        lambda a, b: binary(primitive, a, b, what), [as_tensor(x, what, "bool") for x in xs]
    )


_OTHER_NAMES = dict(
    pair.split("=")
    for pair in (
        "subtract=sub multiply=mul floor_divide=floor_div remainder=mod power=pow less=lt"
        " less_equal=le greater=gt greater_equal=ge bitwise_and=bit_and bitwise_or=bit_or"
        " bitwise_xor=bit_xor"
    ).split()
)
UFUNCS: dict[Any, Callable[..., Node]] = {
    **{getattr(np, name): _of_two(name) for name in ("add", "maximum", "minimum", *_OTHER_NAMES)},
    **{
        getattr(np, name): _of_floats(name)
        for name in ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "floor", "ceil")
    },
    np.divide: divide,
    np.matmul: matmul,
    np.equal: elementwise.equal,
    np.not_equal: elementwise.not_equal,
    np.isnan: lambda x: ew.is_nan(as_float(x, "np.isnan")),
    np.rint: lambda x: ew.round(as_float(x, "np.rint")),
    np.logical_not: lambda x: ew.logical_not(as_tensor(x, "np.logical_not", "bool")),
    np.logical_and: _of_truth("logical_and"),
    np.logical_or: _of_truth("logical_or"),
    np.negative: ew.neg,
    np.positive: identity,
    np.absolute: ew.abs,
    np.square: ew.square,
    np.sign: ew.sign,
}


def array_ufunc(self: Node, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
    """NumPy's functions of elements; those that aren't in `UFUNCS` refuse tensors."""
    if not _all_known(map(type, inputs), "__array_ufunc__"):
        return NotImplemented
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if given.get("out") is not None:
        raise TypeError(f"np.{name}: {self!r} is symbolic, and can't be written into an array")
    function = UFUNCS.get(ufunc)
    if function is None or method != "__call__":
        raise TypeError(_refusal(name))
    if given:
        raise TypeError(f"np.{name} of tensors takes no {', '.join(f'{key}=' for key in given)}")
    return function(*inputs)


# All other functions ---------------------------------------------------------------------------

# Parameters without a meaning for tensors, and the words that change nothing.
_IDLE = {"out": "", "order": "CKA", "mode": "raise", "casting": "same_kind"}
# What to use in place of functions that there is nothing for, where K has something near.
_NEAR = {
    "median percentile quantile average": "K.mean",
    "nanmean nansum nanmax nanmin": "K.switch for the elements that are NaN, then K.mean, K.sum …",
    "split array_split hsplit vsplit": "slices: x[:, :2], x[:, 2:]",
    "diff ediff1d": "slices: x[1:] - x[:-1]",
    "roll rot90": "slices and K.concatenate",
    "pad": "K.temporal_padding, K.spatial_2d_padding, K.concatenate",
    "einsum inner vdot kron": "K.dot, K.batch_dot",
    "append insert delete dstack column_stack block": "K.concatenate, K.stack",
    "nonzero argwhere flatnonzero extract compress select choose place putmask copyto put":
        "x[mask], K.switch, K.gather",
    "array_equal array_equiv isclose allclose": "K.equal, K.all",
    "atleast_1d atleast_2d atleast_3d": "K.expand_dims, K.reshape",
    "norm": "K.sqrt(K.sum(K.square(x)))",
    "hypot": "K.sqrt(K.square(x) + K.square(y))",
    "logaddexp": "K.logsumexp(K.stack([x, y]), axis=0)",
    "reciprocal": "1 / x",
    "sinh cosh tan": "K.exp, K.sin, K.cos",
    "log2 log10": "K.log(x) / np.log(2)",
    "exp2": "K.pow(2., x)",
    "isfinite isinf": "K.abs(x) < np.inf",
    "logical_xor": "K.not_equal",
    "ptp": "K.max(x) - K.min(x)",
    "take_along_axis": "K.gather, K.one_hot",
    "identity eye": "K.eye",
}  # fmt: skip
_USE = {name: use for names, use in _NEAR.items() for name in names.split()}


def _refusal(name: str) -> str:
    """Why NumPy's function of that name takes no tensor, and what does."""
    use = _USE.get(name.rpartition(".")[2])
    return (
        f"np.{name} takes no symbolic tensors; "
        + (f"use {use}, or" if use else "use")
        + f" np.{name}(K.eval(x)), or kameleon.call, which makes it a node of the graph"
    )


def _all_known(kinds: Any, protocol: str) -> bool:
    """Whether no operand is of a class that wants to answer for itself."""
    return all(
        issubclass(kind, Node | np.ndarray | np.generic) or not hasattr(kind, protocol)
        for kind in kinds
    )


def array_function(
    self: Node, function: Any, types: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """NumPy's functions: those of `FUNCTIONS` give tensors, the rest are refused by name."""
    if not _all_known(types, "__array_function__"):
        return NotImplemented
    name = function.__name__
    if function.__module__ not in ("numpy", None):
        name = f"{function.__module__.removeprefix('numpy.')}.{name}"
    if function not in FUNCTIONS:
        raise TypeError(_refusal(name))
    return _called(FUNCTIONS[function], f"np.{name}", args, kwargs)


_signature = functools.cache(inspect.signature)


def _called(function: Any, what: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function with the arguments of a call of NumPy's."""
    signature = _signature(function)
    rest = {key: value for key, value in kwargs.items() if key not in signature.parameters}
    given = signature.bind(*args, **{k: v for k, v in kwargs.items() if k not in rest})
    idle = {key: value for key, value in given.arguments.items() if key in _IDLE}
    for key, value in {**idle, **rest}.items():
        if value is not None and not (isinstance(value, str) and value in _IDLE.get(key, "")):
            raise TypeError(f"{what} of symbolic tensors takes no {key}=")
    return function(*given.args, **given.kwargs)


# Methods ---------------------------------------------------------------------------------------

METHODS = """
    all any argmax argmin clip copy cumprod cumsum dot max mean min prod ravel repeat reshape round
    squeeze std sum swapaxes take transpose var
""".split()
# Methods of arrays that have no counterpart; `hasattr` doesn't find them.
_ABSENT = {
    **dict.fromkeys(("item", "numpy", "tolist", "tobytes"), "K.eval(x) gives its numbers"),
    **dict.fromkeys(("fill", "put", "itemset"), "K.update gives variables new values"),
    **dict.fromkeys("argsort compress diagonal nonzero searchsorted sort trace".split(), ""),
}


def _method(name: str) -> Callable[..., Any]:
    """The method of NumPy's arrays that does what NumPy's function of that name does."""
    function = FUNCTIONS[getattr(np, name)]

    def method(self: Node, *args: Any, **kwargs: Any) -> Any:
        if name in ("reshape", "transpose") and len(args) > 1:  # sizes, or axes, one by one
            args = (args,)
        return _called(function, f"x.{name}", (self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`np.{name}` of this tensor."
    return method


class _Absent:
    """An attribute that arrays have and tensors lack: an error that says what to use."""

    def __init__(self, name: str, use: str):
        self.name, self.use = name, use

    @boundary
    def __get__(self, x: Node | None, kind: type) -> Any:
        if x is None:
            return self
        raise AttributeError(f"{x!r} has no {self.name}: {self.use or _refusal(self.name)}")


def install() -> None:
    """Give tensors NumPy's protocols, and the methods of its arrays."""
    functions: dict[str, Callable[..., Any]] = {
        "__array_ufunc__": array_ufunc,
        "__array_function__": array_function,
        **{name: _method(name) for name in METHODS},
        "flatten": _method("ravel"),
        "astype": lambda self, dtype: ew.cast(self, dtype),
    }
    methods: dict[str, Any] = {
        **{name: boundary(function) for name, function in functions.items()},
        "T": property(boundary(FUNCTIONS[np.transpose])),
        "size": property(boundary(FUNCTIONS[np.size])),
        **{name: _Absent(name, use) for name, use in _ABSENT.items()},
    }
    for name, method in methods.items():
        setattr(Node, name, method)
