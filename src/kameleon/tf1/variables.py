"""Variables of TensorFlow 1: `tf.Variable`, assignments, and the operations that initialise."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._scopes import Scope
from ..backend import surface as K
from ..backend._conversions import Conversion, converted, register
from ..backend._tensors import as_tensor
from ..errors import ArgumentError
from ..ir.node import Node, Update, Variable
from ..prims.indexing import scatter_add
from .graph import GraphKeys, control_dependencies, effect, get_default_graph, remember
from .operations import Operation

# Making -------------------------------------------------------------------------------------


class _Variables(type):
    """Lets `isinstance(x, tf.Variable)` ask for variables of K."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Variable)


class VariableClass(metaclass=_Variables):
    """`tf.Variable(…)` gives a variable of K, which has its initial value from the beginning.

    Args:
        initial_value: an array, a number, a tensor, or a function that gives one.
        trainable: whether optimizers change it by default.
        collections: names of collections that it's added to.
        name: its name, `Variable` by default; made unique.
        dtype: of its elements; that of the initial value by default.

    >>> from kameleon import backend as K
    >>> v = VariableClass([1., 2.], name="v")
    >>> v.name, K.eval(v.assign_add([1., 1.]))
    ('v:0', array([2., 3.], dtype=float32))
    """

    def __new__(  # type: ignore[misc]
        cls, initial_value: Any = None, trainable: bool | None = None,
        collections: Iterable[Any] | None = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None,
        dtype: Any = None, expected_shape: Any = None, import_scope: Any = None,
        constraint: Any = None, use_resource: bool | None = None, synchronization: Any = None,
        aggregation: Any = None, shape: Any = None,
    ) -> Variable:  # fmt: skip
        if initial_value is None:
            raise ArgumentError("tf.Variable: initial_value must be specified.")
        return made(initial_value, trainable is not False, collections, name, dtype, constraint)

    SaveSliceInfo = None


def made(
    initial_value: Any, trainable: bool = True, collections: Iterable[Any] | None = None,
    name: str | None = None, dtype: Any = None, constraint: Any = None,
) -> Variable:  # fmt: skip
    """A new variable in the graph in force."""
    with control_dependencies(None):
        value = converted(initial_value() if callable(initial_value) else initial_value, dtype)
    if not isinstance(value, Node):
        value = np.asarray(value, dtype or natural_dtype(value))
    variable: Any = K.variable(value, dtype=dtype or K.dtype(as_tensor(value, "tf.Variable")),
                               name=name, constraint=constraint)  # fmt: skip
    variable.trainable = trainable
    variable.initial = value
    variable.collections = tuple(collections or ())
    graph = get_default_graph()
    for key in variable.collections:
        if key not in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
            graph.add_to_collection(key, variable)
    graph.held.append(variable)
    return remember(variable)  # type: ignore[no-any-return]


def natural_dtype(value: Any) -> str | None:
    """What TensorFlow makes of Python's numbers: float32 and int32; arrays keep their dtype."""
    if isinstance(value, (np.ndarray, np.generic)):
        return None
    kind = np.asarray(value).dtype.kind
    return {"f": "float32", "i": "int32"}.get(kind)


# Changing -----------------------------------------------------------------------------------


def of_variable(change: Callable[..., Update]) -> Callable[..., Update]:
    """A change of a variable, which may be given by an earlier change of it: that comes first then.

    What `tf.assign` and its like return stands for the variable, so changes can be chained.

    Args:
        change: makes an update; its first parameter, `ref`, is the variable.
    """

    @functools.wraps(change)
    def call(ref: Any, *args: Any, **kwargs: Any) -> Update:
        if not isinstance(ref, Update):
            return change(ref, *args, **kwargs)
        with K.control_dependencies([ref]):
            return change(ref.variable, *args, **kwargs)

    return call


@of_variable
def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None,
    name: str | None = None, read_value: bool = True,
) -> Update:  # fmt: skip
    return changed(K.update(ref, _fitting(ref, value)))


@of_variable
def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None,
               read_value: bool = True) -> Update:  # fmt: skip
    return changed(K.update_add(ref, _fitting(ref, value)))


@of_variable
def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None,
               read_value: bool = True) -> Update:  # fmt: skip
    return changed(K.update_sub(ref, _fitting(ref, value)))


def _fitting(ref: Any, value: Any) -> Any:
    return value if isinstance(value, Node) else as_tensor(value, "tf.assign", ref.dtype)


# Where the innermost branch of a `tf.cond` that's being built collects the updates made in it.
_heard: ContextVar[list[Update] | None] = ContextVar("kameleon_heard", default=None)


def changed(update: Update) -> Update:
    """The update, which the innermost branch of a `tf.cond` that's being built hears of."""
    heard = _heard.get()
    if heard is not None:
        heard.append(update)
    return update


def watched(call: Callable[[], Any]) -> tuple[Any, list[Update]]:
    """The result of a call, and the updates that it made."""
    heard: list[Update] = []
    with Scope(_heard, lambda outer: heard):
        return call(), heard


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = False, name: str | None = None
) -> Update:
    """Move a variable towards a value: `variable * decay + value * (1 - decay)`."""
    return changed(K.moving_average_update(variable, value, decay))


# Initialising -------------------------------------------------------------------------------


def initializer(variable: Any) -> Operation:
    """The operation that sets a variable to its initial value; one drawn at random is drawn anew.

    What a variable begins with is known where a tensor gave it, or `tf.Variable` or
    `tf.get_variable` made it; other variables stay as they are.
    """
    found = variable.__dict__.get("_initializer")
    if found is None:
        value = variable.__dict__.get("initial")
        effects = [] if value is None else [K.update(variable, _fitting(variable, value))]
        found = Operation(f"{variable.name[:-2]}/Assign", effects)
        variable.__dict__["_initializer"] = found
    return found  # type: ignore[no-any-return]


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Operation:
    return effect(name, [initializer(v) for v in var_list])


def global_variables_initializer() -> Operation:
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    return variables_initializer(local_variables(), "init_local")


def nothing_to_initialize(*args: Any, **options: Any) -> Operation:
    return effect("init", [])


def always(*args: Any, **options: Any) -> Any:
    """True: a variable has a value from the beginning."""
    return K.constant(True, dtype="bool")


def none_uninitialized(*args: Any, **options: Any) -> Any:
    """No names: all variables have values."""
    return K.constant(np.zeros((0,)), dtype="float32")


def global_variables(scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def _collection(key: str) -> Callable[..., list[Any]]:
    return lambda scope=None: get_default_graph().get_collection(key, scope)


class IndexedSlices:
    """Rows of a gradient at some indices; here gradients are whole tensors."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    def as_tensor(self) -> Any:
        """The whole tensor: rows with one index are summed, all others are zeros.

        Raises:
            ArgumentError: the number of rows isn't given.
        """
        if self.dense_shape is None:
            raise ArgumentError(
                "tf.IndexedSlices: a tensor without dense_shape was requested: give it the shape of"
                " the whole, whose first size is the number of rows"
            )
        values, indices, shape = (
            as_tensor(x, "tf.IndexedSlices") for x in (self.values, self.indices, self.dense_shape)
        )
        return scatter_add(values, indices, shape[0], 0)


register(Conversion(100, IndexedSlices, lambda x, dtype: x.as_tensor()))


PLAIN: dict[str, Any] = {
    "Variable": VariableClass,
    "assign": assign,
    "assign_add": assign_add,
    "assign_sub": assign_sub,
    "python.assign_moving_average": assign_moving_average,
    "IndexedSlices": IndexedSlices,
    "variables_initializer": variables_initializer,
    "initialize_variables": variables_initializer,
    "global_variables_initializer": global_variables_initializer,
    "initialize_all_variables": global_variables_initializer,
    "local_variables_initializer": local_variables_initializer,
    "initialize_local_variables": local_variables_initializer,
    "tables_initializer": nothing_to_initialize,
    "initialize_all_tables": nothing_to_initialize,
    "is_variable_initialized": always,
    "report_uninitialized_variables": none_uninitialized,
    "global_variables": global_variables,
    "all_variables": global_variables,
    "local_variables": local_variables,
    "trainable_variables": trainable_variables,
    "model_variables": _collection(GraphKeys.MODEL_VARIABLES),
    "moving_average_variables": _collection(GraphKeys.MOVING_AVERAGE_VARIABLES),
}
NAMES: dict[str, Any] = {}
