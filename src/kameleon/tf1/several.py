"""Names of TensorFlow 1 of many subjects: indices, histograms, choices, what's printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, broadcast_together, promoted
from ..errors import ArgumentError
from ..ir.node import Node, Print
from ..ir.types import as_dtype, broadcast_shapes
from ..prims import elementwise as ew
from ..prims.control import check, identity
from ..prims.filling import full_like
from ..prims.indexing import nonzero, scatter_add
from .arrays import known
from .calling import called
from .control import case, map_fn
from .graph import control_dependencies, effect, name_scope, parts_of
from .operations import Operation
from .shapes import Dimension, TensorShape
from .static import static_value
from .variables import changed


def init_scope() -> AbstractContextManager[None]:
    """A block whose tensors don't wait for what the blocks around say."""
    return control_dependencies(None)


# Indices --------------------------------------------------------------------------------------


def _best(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(input: Any, dimension: Any, output_type: Any, what: str) -> Any:
        return K.cast(function(as_tensor(input, what), axis=int(dimension)), output_type)

    return call


def searchsorted(sorted_sequence: Any, values: Any, side: str, out_type: Any, what: str) -> Any:
    """Where each value would stand in a sorted row: before equal ones, or after them ('right')."""
    row, v = promoted((sorted_sequence, values), what)
    if side not in ("left", "right"):
        raise ArgumentError(f"{what}: side is {side!r}; there are 'left' and 'right'")
    before = K.less if side == "left" else K.less_equal
    less = before(K.expand_dims(row, -2), K.expand_dims(v, -1))
    return K.sum(K.cast(less, out_type), axis=-1)


def unravel_index(indices: Any, dims: Any, what: str) -> Any:
    """Places in a tensor of some shape, of places in its flattened form: a row for each axis."""
    index, sizes = as_tensor(indices, what), as_tensor(dims, what, None)
    index, sizes = promoted((index, sizes), what)
    rest, found = index, []
    for axis in reversed(range(known(sizes, 0, what))):
        found.append(rest % sizes[axis])
        rest = rest // sizes[axis]
    inside = ew.logical_and(K.all(K.equal(rest, 0)), K.all(K.greater_equal(index, 0)))
    rows = K.stack(found[::-1], axis=0)
    return check(rows, inside, message=f"{what}: an index is out of bounds")


def _bins(values: Any, value_range: Any, nbins: Any, what: str) -> Any:
    x = as_float(values, what)
    ends = K.cast(as_tensor(value_range, what), x.dtype)
    share = (x - ends[0]) / (ends[1] - ends[0])
    count = nbins if isinstance(nbins, int) else K.cast(nbins, x.dtype)
    place = ew.floor(share * count)
    return K.cast(K.maximum(K.minimum(place, count - 1.0), 0.0), "int32")


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any, dtype: Any, what: str
) -> Any:
    """Which of equally wide bins each value is in; what's outside is in the first or the last.

    Args:
        dtype: has no effect, as in TensorFlow: they're int32.
    """
    return _bins(values, value_range, nbins, what)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any, dtype: Any, what: str) -> Any:
    """How many values are in each of equally wide bins."""
    at = K.reshape(_bins(values, value_range, nbins, what), (-1,))
    return scatter_add(K.cast(full_like(at, 1), dtype), at, nbins, 0)


def where_v2(condition: Any, x: Any, y: Any, what: str) -> Any:
    """x where the condition holds, else y, all three stretched; alone, where it holds."""
    held = K.cast(as_tensor(condition, what), "bool")
    if x is None and y is None:
        return nonzero(held)
    if x is None or y is None:
        raise ArgumentError(f"{what}: give both x and y, or neither")
    return ew.select(*broadcast_together([held, *promoted((x, y), what)], what))


# Order ----------------------------------------------------------------------------------------


def _is_rising(holds: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, what: str) -> Any:
        flat = K.reshape(as_tensor(x, what), (-1,))
        return K.all(holds(flat[1:], flat[:-1]))

    return call


def reduce_euclidean_norm(input_tensor: Any, axis: Any, keepdims: bool, what: str) -> Any:
    x = as_tensor(input_tensor, what)
    return K.cast(K.sqrt(K.sum(K.square(as_float(x, what)), axis, bool(keepdims))), x.dtype)


# Effects --------------------------------------------------------------------------------------


def tuple_(tensors: Sequence[Any], control_inputs: Any, what: str) -> list[Any]:
    """The tensors, once all of them, and other updates, are computed."""
    given = [x for x in tensors if x is not None]
    if not given:
        raise ArgumentError(f"{what}: give at least one tensor")
    with control_dependencies([*given, *(control_inputs or [])]):
        return [None if x is None else K.identity(as_tensor(x, what)) for x in tensors]


def count_up_to(ref: Any, limit: Any, what: str) -> Any:
    """The variable's value, which goes up by one; an error, where it has reached the limit."""
    value = K.identity(ref)
    value = check(value, K.less(value, limit), message=f"OutOfRangeError: Reached limit of {limit}")
    step = changed(K.update(ref, value + 1))
    with control_dependencies([step]):
        return K.identity(value)


def print_(
    *inputs: Any, output_stream: Any = None, summarize: Any = None, sep: str = " ",
    end: str = "\n", name: str | None = None, **options: Any,
) -> Operation:  # fmt: skip
    """An operation that prints tensors, a line each, behind the words that stand before them.

    It prints when it's run, or when something is computed that was made under
    `tf.control_dependencies` of it.

    Args:
        inputs: tensors, words and numbers, also in lists and dictionaries; words behind the last
            tensor stand before it, after "…".
        output_stream, summarize, end: have no effect.
        sep: what stands between words.
    """
    lines: list[Print] = []
    words: list[str] = []
    for item in parts_of([list(x.values()) if isinstance(x, dict) else x for x in inputs]):
        if isinstance(item, Node):
            lines.append(Print(sep.join([*words, ""]), item))
            words = []
        else:
            words.append(str(item))
    if words and lines:
        last = lines.pop()
        lines.append(Print(sep.join([f"{last.message}…", *words, ""]), last.value))
    elif words:
        lines.append(Print(sep.join(words), K.constant(np.zeros((0,)))))
    shown = identity(K.constant(0, "int32"))
    shown.effects = (*shown.effects, *lines)
    return effect(name or "PrintV2", [shown])


# What's known before anything runs ------------------------------------------------------------


def get_static_value(tensor: Any, partial: bool) -> Any:
    """The value of a tensor that hangs on constants alone; None, where it isn't known. What is no
    tensor is its own value.
    """
    return static_value(tensor) if isinstance(tensor, Node) else tensor


def dimension_value(dimension: Any) -> Any:
    return dimension.value if isinstance(dimension, Dimension) else dimension


def broadcast_static_shape(shape_x: Any, shape_y: Any, what: str) -> TensorShape:
    x, y = (tuple(TensorShape(s).as_list()) for s in (shape_x, shape_y))
    return TensorShape(broadcast_shapes(what, x, y))


def assert_proper_iterable(values: Any, what: str) -> None:
    """A list, a tuple or their like; no tensor, no array, no string."""
    if isinstance(values, (Node, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what}: expected a list or tuple, got {values!r}")


def assert_same_float_dtype(tensors: Any, dtype: Any, what: str) -> Any:
    """The float dtype that all have; float32, where nothing has one."""
    kinds = {as_dtype(t.dtype) for t in tensors or [] if t is not None}
    kinds |= {as_dtype(dtype)} if dtype is not None else set()
    if len(kinds) > 1:
        raise ArgumentError(f"{what}: the dtypes differ: {sorted(map(str, kinds))}")
    found = next(iter(kinds), as_dtype("float32"))
    if not found.is_float:
        raise ArgumentError(f"{what}: expected floats, got {found}")
    return found


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any, what: str) -> Any:
    return value if K.is_sparse(value) else as_tensor(value, what, dtype)


# Choices --------------------------------------------------------------------------------------


def switch_case(branch_index: Any, branch_fns: Any, default: Any, what: str) -> Any:
    """What the function of an index gives; the last one's, or `default`'s, for all others."""
    pairs = branch_fns.items() if isinstance(branch_fns, dict) else enumerate(branch_fns)
    found = [p if isinstance(p, tuple) else (i, p) for i, p in enumerate(branch_fns)]
    table = list(pairs) if isinstance(branch_fns, dict) else found
    index = as_tensor(branch_index, what)
    otherwise = table[-1][1] if default is None else default
    return case([(K.equal(index, i), function) for i, function in table], default=otherwise)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose gradients are those of its results."""

    def call(x: Any, *rest: Any, **options: Any) -> Any:
        y = f(x, *rest, **options)
        return as_tensor(x, "tf.grad_pass_through") + K.stop_gradient(y - x)

    return call


def vectorized_map(fn: Callable[..., Any], elems: Any) -> Any:
    return map_fn(fn, elems)


# Scopes ---------------------------------------------------------------------------------------


def block(**given: Any) -> AbstractContextManager[None]:
    """A block that changes nothing."""
    return nullcontext()


def op_scope(values: Any, name: Any, default_name: Any) -> Any:
    return name_scope(name, default_name, values)


def nothing(**given: Any) -> None:
    """A setting of TensorFlow's own, which makes no difference here."""


SETTINGS = """
enable_resource_variables disable_resource_variables enable_control_flow_v2
disable_control_flow_v2 enable_v2_tensorshape disable_v2_tensorshape disable_tensor_equality
config.experimental.set_memory_growth
config.experimental.set_visible_devices config.experimental.set_virtual_device_configuration
config.experimental.set_device_policy config.experimental.set_synchronous_execution
config.optimizer.set_experimental_options config.optimizer.set_jit
config.set_soft_device_placement config.threading.set_inter_op_parallelism_threads
config.threading.set_intra_op_parallelism_threads debugging.set_log_device_placement
autograph.set_verbosity logging.flush
""".split()
FIXED: dict[str, Any] = {
    "control_flow_v2_enabled": False, "resource_variables_enabled": False,
    "config.get_soft_device_placement": True,
    "config.threading.get_inter_op_parallelism_threads": 0,
    "config.threading.get_intra_op_parallelism_threads": 0,
    "debugging.get_log_device_placement": False,
    "config.experimental.get_synchronous_execution": True,
    "config.experimental.get_memory_growth": False, "config.optimizer.get_jit": False,
}  # fmt: skip


def _always(value: Any) -> Callable[..., Any]:
    return lambda **given: value


PLAIN: dict[str, Any] = {
    **called({
        **dict.fromkeys(SETTINGS, nothing),
        **{name: _always(value) for name, value in FIXED.items()},
        **dict.fromkeys(("colocate_with", "container"), block),
        "init_scope": init_scope,
        "arg_max": _best(K.argmax), "arg_min": _best(K.argmin),
        "searchsorted": searchsorted, "unravel_index": unravel_index,
        "histogram_fixed_width": histogram_fixed_width,
        "histogram_fixed_width_bins": histogram_fixed_width_bins, "where_v2": where_v2,
        "is_non_decreasing": _is_rising(K.greater_equal),
        "is_strictly_increasing": _is_rising(K.greater),
        "math.reduce_euclidean_norm": reduce_euclidean_norm, "tuple": tuple_,
        "count_up_to": count_up_to, "get_static_value": get_static_value,
        "dimension_value": dimension_value, "broadcast_static_shape": broadcast_static_shape,
        "assert_proper_iterable": assert_proper_iterable,
        "assert_same_float_dtype": assert_same_float_dtype,
        "convert_to_tensor_or_sparse_tensor": convert_to_tensor_or_sparse_tensor,
        "switch_case": switch_case, "vectorized_map": vectorized_map,
    }),
    "compat.dimension_value": dimension_value,
    "compat.dimension_at_index": lambda shape, index: TensorShape(shape)[index],
    "dimension_at_index": lambda shape, index: TensorShape(shape)[index],
    "convert_to_tensor_or_indexed_slices": lambda value, dtype=None, name=None: as_tensor(
        value, "tf.convert_to_tensor_or_indexed_slices", dtype
    ),
    "grad_pass_through": grad_pass_through, "recompute_grad": lambda f: f,
    "print": print_, "op_scope": op_scope,
    "assert_variables_initialized": lambda var_list=None: effect("assert_initialized", []),
}  # fmt: skip
