"""Names of TensorFlow 1's inside that programs took: helpers of shapes, decorators, inspection.

None of them is public; each is here because published libraries import it.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import unstacked
from ..backend.sparse_tensor import SparseTensor
from ..errors import ArgumentError, UnsupportedError
from ..ir.node import Node
from .control import cond
from .several import get_static_value
from .shapes import Dimension, TensorShape

# --- shapes ---------------------------------------------------------------------------------------


def unknown_shape(rank: Any = None, **older: Any) -> TensorShape:
    """A shape of so many unknown sizes; of an unknown number, for None.

    >>> unknown_shape(2).as_list()
    [None, None]
    """
    rank = older.get("ndims", rank)
    return TensorShape(None if rank is None else [None] * rank)


def joined_sizes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """The sizes of two shapes in one: a tensor, or a list of what's known, if `static`.

    Raises:
        ArgumentError: (a ValueError) a tensor is asked for, and a size isn't known; or a tensor
            of sizes has two axes or more.

    >>> joined_sizes(2, [None, 3], static=True)
    [2, None, 3]
    """
    parts = [_sizes(part) for part in (prefix, suffix)]
    if static:
        shapes = [TensorShape(known) for _, known in parts]
        shape = shapes[0].concatenate(shapes[1])
        return None if shape.ndims is None else shape.as_list()
    tensors = [tensor for tensor, _ in parts]
    if any(tensor is None for tensor in tensors):
        raise ArgumentError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return K.concatenate(tensors, 0)


def _sizes(part: Any) -> tuple[Any, Any]:
    """Sizes as a tensor of one axis, where all are known, and as what's known."""
    if not isinstance(part, Node):
        shape = TensorShape(part)
        known = None if shape.ndims is None else shape.as_list()
        tensor = K.constant(known, "int32") if shape.is_fully_defined() else None
        return tensor, known
    if part.ndim > 1:
        raise ArgumentError(f"sizes must be a scalar or a vector, but {part!r} is given")
    value = get_static_value(part, False)
    known = None if value is None else np.reshape(value, -1).tolist()
    return K.reshape(part, (-1,)), known


def is_like_cell(cell: Any) -> bool:
    """Whether an object has what a recurrent cell has."""
    return callable(cell) and all(
        hasattr(cell, name) for name in ("output_size", "state_size", "zero_state")
    )


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """What is known of a shape that a tensor holds; -1 stands for an unknown size.

    >>> constant_value_as_shape(K.constant([2, -1], "int32")).as_list()
    [2, None]
    """
    value = get_static_value(tensor, False)
    if value is not None:
        return TensorShape([None if n < 0 else int(n) for n in np.reshape(value, -1)])
    if tensor.type.shape[0] is None:
        return TensorShape(None)
    sizes = unstacked(tensor, "constant_value_as_shape")
    return TensorShape([n if isinstance(n, int) and n >= 0 else None for n in sizes])


def evaluated_constant(graph: Any, tensor: Any) -> Any:
    """The value of a tensor that hangs on constants alone; else None."""
    return get_static_value(tensor, False)


# --- sizes of convolutions ------------------------------------------------------------------------


def conv_output_length(
    input_length: Any, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> Any:
    """The length of a convolution's result; None of an unknown one.

    >>> conv_output_length(10, 3, "valid", 2), conv_output_length(10, 3, "same", 2)
    (4, 5)
    """
    if input_length is None:
        return None
    reach = dilation * (filter_size - 1) + 1
    trim = {"same": 0, "causal": 0, "valid": reach - 1, "full": 1 - reach}
    if padding not in trim:
        raise ArgumentError(f"padding={padding!r} must be one of {sorted(trim)}")
    return -(-(input_length - trim[padding]) // stride)


def conv_input_length(output_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The length whose convolution has this one.

    >>> conv_input_length(4, 3, "valid", 2)
    9
    """
    if output_length is None:
        return None
    margin = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}
    if padding not in margin:
        raise ArgumentError(f"padding={padding!r} must be one of {sorted(margin)}")
    return (output_length - 1) * stride - 2 * margin[padding] + filter_size


def deconv_output_length(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The length of a transposed convolution's result.

    >>> deconv_output_length(4, 3, "valid", 2), deconv_output_length(4, 3, "same", 2)
    (9, 8)
    """
    if input_length is None:
        return None
    more = {"same": 0, "valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}
    if padding not in more:
        raise ArgumentError(f"padding={padding!r} must be one of {sorted(more)}")
    return input_length * stride + more[padding]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """An int for each of n axes.

    >>> normalize_tuple(3, 2, "strides")
    (3, 3)
    """
    try:
        values = (int(value),) * n if isinstance(value, int) else tuple(int(v) for v in value)
    except (TypeError, ValueError):
        values = ()
    if len(values) != n:
        raise ArgumentError(f"`{name}` must be an int or a tuple of {n} ints: {value!r}")
    return values


def _one_of(what: str, *allowed: str) -> Callable[[Any], str]:
    def normalize(value: Any) -> str:
        word = str(value).lower()
        if word not in allowed:
            raise ArgumentError(f"`{what}` must be one of {', '.join(allowed)}: {value!r}")
        return word

    return normalize


def convert_data_format(data_format: str, ndim: int) -> str:
    """TensorFlow's word for a layout of images of so many axes.

    >>> convert_data_format("channels_first", 4)
    'NCHW'
    """
    inner = {3: "W", 4: "HW", 5: "DHW"}.get(ndim)
    if inner is None:
        raise ArgumentError(f"Input rank not supported: {ndim}")
    last = _one_of("data_format", "channels_first", "channels_last")(data_format)
    return f"N{inner}C" if last == "channels_last" else f"NC{inner}"


# --- choices --------------------------------------------------------------------------------------


def smart_constant_value(pred: Any) -> bool | None:
    """Whether it's true, where that is known before the graph runs.

    Raises:
        TypeError: it's no bool, 0, 1 or tensor.
    """
    if isinstance(pred, Node):
        value = get_static_value(pred, False)
        return None if value is None else bool(value)
    if isinstance(pred, bool) or pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0: {pred!r}")


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """What one of two functions gives: a choice of the graph only where `pred` isn't known.

    >>> smart_cond(True, lambda: "yes", lambda: "no")
    'yes'
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("`true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


# --- Python's inside ------------------------------------------------------------------------------


def unwrapping(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that does nothing: what it would record is nobody's here."""
    return lambda decorated: decorated


def argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that may be given by an older name, but not by both."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ArgumentError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def getargspec(obj: Any) -> Any:
    """A function's arguments, as Python's inspect says them; keywords beside."""
    spec = inspect.getfullargspec(obj)
    return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


class _ArgSpec(NamedTuple):
    """Arguments of a function as before Python 3."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def make_decorator(target: Any, decorator_func: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that bears another's name and text."""
    return functools.wraps(target)(decorator_func)


@contextmanager
def stop_recording() -> Iterator[None]:
    """Nothing is recorded: the graph is all there is."""
    yield


def with_own_gradient(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives whose second result is its gradient."""
    return K.custom_gradient(f)(*args, **kwargs)


class NoTransformer:
    """A base of classes that rewrite the code of functions.

    Raises:
        UnsupportedError: always: it can be derived, but not made.
    """

    def __init__(self, *args: Any) -> None:
        raise UnsupportedError(
            "tf.autograph isn't there: loops and conditions over tensors are tf.while_loop and"
            " tf.cond here, and functions run as they're written"
        )


class CompositeTensor(abc.ABC):  # noqa: B024 - TensorFlow's; programs derive from it
    """A base of classes whose objects hold several tensors; sparse tensors count as derived."""


CompositeTensor.register(SparseTensor)


class TypeSpec(abc.ABC):  # noqa: B024 - TensorFlow's; programs derive from it
    """A base of classes that describe such objects."""


INSPECT = """
    currentframe getcallargs getdoc getfile getframeinfo getfullargspec getmembers getmodule getmro
    getsource getsourcefile getsourcelines isbuiltin isclass isframe isfunction isgenerator
    isgeneratorfunction ismethod ismodule isroutine stack
"""


def _under(path: str, **names: Any) -> dict[str, Any]:
    return {f"python.{path}.{name}": value for name, value in names.items()}


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **_under(
        "framework.tensor_shape", unknown_shape=unknown_shape, as_dimension=Dimension,
        as_shape=TensorShape, scalar=lambda: TensorShape([]), vector=lambda n: TensorShape([n]),
        matrix=lambda rows, cols: TensorShape([rows, cols]),
    ),
    **_under("framework.tensor_util", constant_value_as_shape=constant_value_as_shape),
    **_under("pywrap_tensorflow", TF_TryEvaluateConstant_wrapper=evaluated_constant),
    **_under("ops.rnn_cell_impl", _concat=joined_sizes, _like_rnncell=is_like_cell),
    **_under(
        "layers.utils", conv_output_length=conv_output_length, conv_input_length=conv_input_length,
        deconv_output_length=deconv_output_length, normalize_tuple=normalize_tuple,
        normalize_data_format=_one_of("data_format", "channels_first", "channels_last"),
        normalize_padding=_one_of("padding", "valid", "same"), smart_cond=smart_cond,
        convert_data_format=convert_data_format, constant_value=smart_constant_value,
    ),
    **_under(
        "framework.smart_cond", smart_cond=smart_cond, smart_constant_value=smart_constant_value
    ),
    **{
        f"contrib.framework.{name}": smart
        for name, smart in
        {"smart_cond": smart_cond, "smart_constant_value": smart_constant_value}.items()
    },
    **_under(
        "util.tf_export", tf_export=unwrapping, keras_export=unwrapping, estimator_export=unwrapping
    ),
    **_under(
        "util.deprecation", deprecated=unwrapping, deprecated_args=unwrapping,
        deprecated_arg_values=unwrapping, deprecated_endpoints=unwrapping,
        deprecated_argument_lookup=argument_lookup, silence=contextlib.nullcontext,
    ),
    **_under("util.tf_contextlib", contextmanager=contextmanager),
    **_under("util.tf_decorator", make_decorator=make_decorator, unwrap=lambda f: ([], f)),
    **_under(
        "util.tf_inspect", getargspec=getargspec,
        **{name: getattr(inspect, name) for name in INSPECT.split()},
    ),
    **_under("framework.composite_tensor", CompositeTensor=CompositeTensor),
    **_under("framework.type_spec", TypeSpec=TypeSpec, BatchableTypeSpec=TypeSpec),
    **_under("autograph.pyct.transformer", Base=NoTransformer),
    **_under("eager.tape", stop_recording=stop_recording),
    **_under(
        "eager.context", graph_mode=contextlib.nullcontext, in_eager_mode=lambda: False,
        num_gpus=lambda: 0,
    ),
    **_under(
        "ops.custom_gradient",
        _graph_mode_decorator=with_own_gradient,
    ),
}  # fmt: skip
