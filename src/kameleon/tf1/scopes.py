"""Scopes of variables: `tf.variable_scope`, `tf.get_variable`, and how variables are shared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._scopes import Scope
from ..errors import ArgumentError
from ..ir.context import context
from ..ir.node import Node, Variable
from ..ir.types import as_dtype
from .graph import GraphKeys, control_dependencies, get_default_graph, name_scope
from .initializers import GlorotUniform
from .shapes import TensorShape
from .variables import made


class _AutoReuse:
    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE: Any = _AutoReuse()  # share a variable that's there, make one that isn't


class VariableScope:
    """What `tf.variable_scope` gives: a prefix of names, and defaults for new variables."""

    def __init__(
        self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None,
        custom_getter: Any = None, dtype: Any = "float32", constraint: Any = None,
        name_scope: str = "",
    ):  # fmt: skip
        self._reuse, self._name, self._scope = reuse, name, name_scope
        self._initializer, self._regularizer = initializer, regularizer
        self._custom_getter, self._dtype, self._constraint = custom_getter, dtype, constraint

    # Variables lie in one piece, where the engine puts them.
    caching_device = partitioner = None
    use_resource: Any = False

    name = property(lambda self: self._name)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)
    dtype = property(lambda self: as_dtype(self._dtype))
    original_name_scope = property(lambda self: self._scope)

    def reuse_variables(self) -> None:
        """From here on, `get_variable` gives variables that there are."""
        self._reuse = True

    def set_caching_device(self, caching_device: Any) -> None:
        """Nothing: the engine places variables."""

    def set_use_resource(self, use_resource: Any) -> None:
        """Is kept, and makes no difference: all variables are of one kind."""
        self.use_resource = use_resource

    def set_initializer(self, initializer: Any) -> None:
        """The initializer of variables that give none."""
        self._initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """The regularizer of variables that give none."""
        self._regularizer = regularizer

    def set_partitioner(self, partitioner: Any) -> None:
        """Does nothing: a variable is in one piece, which the engine places."""

    def set_custom_getter(self, custom_getter: Any) -> None:
        """A function that's called instead of `get_variable`, with it as first argument."""
        self._custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """The dtype of variables that give none."""
        self._dtype = dtype

    def get_variable(self, name: str, *args: Any, **options: Any) -> Any:
        """`tf.get_variable` in this scope."""
        with variable_scope(self, auxiliary_name_scope=False):
            return get_variable(name, *args, **options)

    def get_collection(self, name: Any) -> list[Any]:
        """The values of a collection whose names begin with the scope's."""
        return get_default_graph().get_collection(name, f"{self._name}/" if self._name else None)

    def global_variables(self) -> list[Any]:
        """The scope's variables."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The scope's variables that optimizers change."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The scope's local variables."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


_scope: ContextVar[VariableScope | None] = ContextVar("kameleon_variable_scope", default=None)


def get_variable_scope() -> VariableScope:
    """The variable scope in force."""
    entered = _scope.get()
    if entered is not None:
        return entered
    graph = get_default_graph()
    if graph.outermost is None:
        graph.outermost = VariableScope(False)
    return graph.outermost  # type: ignore[no-any-return]


@contextmanager
def variable_scope(
    name_or_scope: Any = None, default_name: str | None = None, values: Any = None,
    initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
    partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
    use_resource: Any = None, constraint: Any = None, auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:  # fmt: skip
    """A block in which variables have names that begin with the scope's, and may be shared.

    Args:
        name_or_scope: a name, or a scope that's entered again.
        default_name: made unique and taken where there's no name.
        initializer, regularizer, custom_getter, dtype, constraint: for variables made inside
            that give none.
        reuse: True: variables that there are; False or None: as outside; `tf.AUTO_REUSE`.
        auxiliary_name_scope: whether tensors' names begin with the scope's, too.
    """
    outer = get_variable_scope()
    if name_or_scope is None and default_name is None:
        raise ArgumentError("variable_scope: give a name or a default_name")
    again = name_or_scope if isinstance(name_or_scope, VariableScope) else None
    base = outer if again is None else again
    if again is not None:
        name, short = again.name, again.name.rpartition("/")[2]
    else:
        short = name_or_scope or _unused(outer.name, str(default_name))
        name = f"{outer.name}/{short}" if outer.name else short
    scope = VariableScope(
        reuse or outer.reuse or base.reuse,
        name,
        base.initializer if initializer is None else initializer,
        base.regularizer if regularizer is None else regularizer,
        _composed(base.custom_getter, custom_getter),
        base.dtype if dtype is None else dtype,
        base.constraint if constraint is None else constraint,
    )
    token = _scope.set(scope)
    try:
        if auxiliary_name_scope and short:
            with name_scope(short) as prefix:
                scope._scope = prefix
                yield scope
        else:
            scope._scope = context.scope
            yield scope
    finally:
        _scope.reset(token)
        _forget_defaults(name)


def _unused(outer: str, name: str) -> str:
    """`name`, or `name_1` … where a default name was taken before in the scope."""
    counts = get_default_graph().defaults
    key = (outer, name)
    counts[key] = counts.get(key, -1) + 1
    return f"{name}_{counts[key]}" if counts[key] else name


def _forget_defaults(name: str) -> None:
    """Whoever enters the scope again gets the same default names again."""
    counts = get_default_graph().defaults
    for outer, default in list(counts):
        if f"{outer}/".startswith(f"{name}/"):
            counts.pop((outer, default), None)


def _composed(outer: Any, inner: Any) -> Any:
    if outer is None or inner is None:
        return inner or outer
    return lambda getter, *args, **options: inner(
        functools.partial(outer, getter), *args, **options
    )


def variable_op_scope(values: Any, name_or_scope: Any, default_name: Any = None,
                      **options: Any) -> Any:  # fmt: skip
    return variable_scope(name_or_scope, default_name, values, **options)


# Variables ----------------------------------------------------------------------------------


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool | None = None, collections: Any = None,
    caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: Any = None, aggregation: Any = None,
) -> Any:  # fmt: skip
    """The variable of a name in the scope in force: made, or the one that's there.

    Raises:
        ArgumentError: (a ValueError) the variable is there and isn't to be shared; or it isn't
            there and is; or its shape is another.
    """
    scope = get_variable_scope()
    getter = _composed(scope.custom_getter, custom_getter)
    full = f"{scope.name}/{name}" if scope.name else name
    options = {
        "shape": shape,
        "dtype": scope.dtype if dtype is None else dtype,
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "reuse": scope.reuse,
        "trainable": trainable is not False,
        "collections": collections,
        "caching_device": None,
        "partitioner": None,
        "validate_shape": True,
        "use_resource": False,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": None,
        "aggregation": None,
    }
    return (
        _true_getter(full, **options)
        if getter is None
        else getter(_true_getter, name=full, **options)
    )


def _true_getter(
    name: str, shape: Any = None, dtype: Any = "float32", initializer: Any = None,
    regularizer: Any = None, reuse: Any = None, trainable: bool | None = True,
    collections: Any = None, constraint: Any = None, **ignored: Any,
) -> Any:  # fmt: skip
    store = get_default_graph().store
    if name in store:
        return _shared(store[name], name, shape, dtype, reuse)
    if reuse is True:
        raise ArgumentError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you"
            " mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    with name_free(), control_dependencies(None):  # it's initialized before anything runs
        variable = made(
            _initial(name, shape, as_dtype(dtype), initializer), trainable is not False,
            collections, name, None if _gives_value(initializer) else dtype, constraint,
        )  # fmt: skip
    store[name] = variable
    if regularizer is not None:
        with name_scope(f"{name}/Regularizer/"), control_dependencies(None):
            loss = regularizer(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def name_free() -> Scope[str]:
    """A block without a scope of names: a variable's name is that of its own scope."""
    return context.within("scope", lambda outer: "")


def _shared(variable: Variable, name: str, shape: Any, dtype: Any, reuse: Any) -> Variable:
    if not reuse:
        raise ArgumentError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or"
            f" reuse=tf.AUTO_REUSE in VarScope? It was made at {variable.source}"
        )
    if shape is not None and not TensorShape(shape).is_compatible_with(variable.type.shape):
        raise ArgumentError(
            f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and found"
            f" shape {variable.type.shape}."
        )
    return variable


def _gives_value(initializer: Any) -> bool:
    return initializer is not None and (isinstance(initializer, Node) or not callable(initializer))


def _initial(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    """The initial value: of the initializer, or Glorot's uniform one, or zeros for integers."""
    if _gives_value(initializer):
        return initializer
    if shape is None:
        raise ArgumentError(f"Shape of a new variable ({name}) must be fully defined; give one")
    sizes: list[Any] = TensorShape(shape).as_list()
    if None in sizes:
        raise ArgumentError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was"
            f" {TensorShape(shape)}."
        )
    if initializer is None:
        return GlorotUniform()(sizes, dtype) if dtype.is_float else np.zeros(sizes, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    return _called(initializer, sizes, dtype)


def _called(initializer: Callable[..., Any], sizes: list[Any], dtype: Any) -> Any:
    try:
        return initializer(sizes, dtype=dtype, partition_info=None)
    except TypeError:
        try:
            return initializer(sizes, dtype=dtype)
        except TypeError:
            return initializer(sizes) if sizes else initializer()


def get_local_variable(name: str, *args: Any, **options: Any) -> Any:
    options.setdefault("collections", [GraphKeys.LOCAL_VARIABLES])
    return get_variable(name, *args, **(options | {"trainable": False}))


def no_regularizer(_: Any) -> None:
    """No loss for a variable, whatever its scope says."""


PLAIN: dict[str, Any] = {
    "AUTO_REUSE": AUTO_REUSE,
    "VariableScope": VariableScope,
    "variable_scope": variable_scope,
    "variable_op_scope": variable_op_scope,
    "get_variable": get_variable,
    "get_local_variable": get_local_variable,
    "get_variable_scope": get_variable_scope,
    "no_regularizer": no_regularizer,
}
NAMES: dict[str, Any] = {}
