"""`tf.contrib.framework`: variables of models, found by scopes and names, and their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...errors import ArgumentError
from ..graph import GraphKeys, add_to_collection, get_collection, group
from ..nets.arguments import add_arg_scope
from ..scopes import get_variable
from ..train.checkpoints import assign_from, load_checkpoint
from ..train.slots import plain_name


@add_arg_scope
def variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: bool = True, collections: Any = None,
    caching_device: Any = None, device: Any = None, partitioner: Any = None,
    custom_getter: Any = None, use_resource: Any = None, synchronization: Any = None,
    aggregation: Any = None,
) -> Any:  # fmt: skip
    """`tf.get_variable`, whose arguments a scope may set."""
    kept = None if collections is None else [*collections, GraphKeys.GLOBAL_VARIABLES]
    if kept is not None and trainable and GraphKeys.TRAINABLE_VARIABLES not in kept:
        kept.append(GraphKeys.TRAINABLE_VARIABLES)
    return get_variable(
        name, shape, dtype, initializer, regularizer, trainable, kept, custom_getter=custom_getter
    )


@add_arg_scope
def model_variable(
    name: str, shape: Any = None, dtype: Any = "float32", initializer: Any = None,
    regularizer: Any = None, trainable: bool = True, collections: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """A variable of the model: one that a checkpoint of it holds."""
    kept = [*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, kept, **options)


@add_arg_scope
def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None,
    use_resource: Any = None,
) -> Any:  # fmt: skip
    """A variable that no checkpoint holds."""
    from ..variables import made

    return made(initial_value, False, [GraphKeys.LOCAL_VARIABLES], name)


def add_model_variable(var: Any) -> None:
    """Count a variable among the model's."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# Which there are ----------------------------------------------------------------------------------


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a scope, or those whose names end so."""
    start = getattr(scope, "name", scope)
    if suffix is None:
        return get_collection(collection, start)
    pattern = f"{start or ''}.*{suffix}(:0)?$"
    return [v for v in get_collection(collection) if re.match(pattern, v.name)]


def _of(collection: str) -> Callable[..., list[Any]]:
    def found(scope: Any = None, suffix: str | None = None) -> list[Any]:
        return get_variables(scope, suffix, collection)

    return found


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables of a name, in any scope within one."""
    return get_variables(scope, f"/{given_name}|^{given_name}")


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of a whole name.

    Raises:
        ArgumentError: (a ValueError) there's none.
    """
    found = [v for v in get_variables() if plain_name(v) == var_op_name]
    if not found:
        raise ArgumentError(f"Couldn't find variable {var_op_name}")
    return found[0]


def filter_variables(
    var_list: Any, include_patterns: Any = None, exclude_patterns: Any = None,
    reg_search: bool = True,
) -> list[Any]:  # fmt: skip
    """The variables whose names hold one of some patterns, and none of others."""
    meets = re.search if reg_search else re.match

    def holds(v: Any, patterns: Any) -> bool:
        return any(meets(pattern, plain_name(v)) for pattern in patterns)

    return [
        v for v in var_list
        if (include_patterns is None or holds(v, include_patterns))
        and not holds(v, exclude_patterns or ())
    ]  # fmt: skip


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """The variables within some scopes, but for those within others."""
    starts = [None] if include is None else list(include)
    found = dict.fromkeys(v for scope in starts for v in get_variables(scope))
    left = {v for scope in exclude or () for v in get_variables(scope)}
    return [v for v in found if v not in left]


# Values -------------------------------------------------------------------------------------------


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables by name, and what to feed it."""
    updates, feeds = [], {}
    for name, value in var_names_to_values.items():
        target = get_unique_variable(name)
        array = np.asarray(value)
        given = K.placeholder(array.shape, dtype=target.dtype, name=f"{name}/assign_value")
        updates.append(K.update(target, K.reshape(given, K.int_shape(target))))
        feeds[given] = array
    return group(*updates), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """A function of a session that sets variables by name."""
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


def _by_name(var_list: Any) -> dict[str, Any]:
    if isinstance(var_list, Mapping):
        return dict(var_list)
    return {plain_name(v): v for v in var_list}


def _read(model_path: str, var_list: Any, ignore_missing_vars: bool) -> tuple[Any, dict[str, Any]]:
    reader, wanted = load_checkpoint(model_path), _by_name(var_list)
    if ignore_missing_vars:
        wanted = {name: v for name, v in wanted.items() if reader.has_tensor(name)}
    missing = [name for name in wanted if not reader.has_tensor(name)]
    if missing:
        raise ArgumentError(f"Checkpoint {model_path} is missing variables {missing}")
    return reader, wanted


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables by a checkpoint's values, and what to feed it."""
    reader, wanted = _read(model_path, var_list, ignore_missing_vars)
    return assign_from_values(
        {plain_name(v): reader.get_tensor(name) for name, v in wanted.items()}
    )


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:  # fmt: skip
    """A function of a session that sets variables by a checkpoint's values; None for no variable.

    Args:
        model_path: the checkpoint's prefix.
        var_list: variables, or a dict of them by their names in the checkpoint.
        ignore_missing_vars: leave out those that the checkpoint hasn't.
        reshape_variables: whether a value may have another shape.
    """
    if not var_list:
        raise ArgumentError("var_list cannot be empty")
    reader, wanted = _read(model_path, var_list, ignore_missing_vars)
    return (lambda session: assign_from(reader, wanted, reshape_variables)) if wanted else None


FUNCTIONS: tuple[Any, ...] = (
    variable, model_variable, local_variable, add_model_variable, get_variables,
    get_variables_by_suffix, get_variables_by_name, get_unique_variable, filter_variables,
    get_variables_to_restore, assign_from_values, assign_from_values_fn, assign_from_checkpoint,
    assign_from_checkpoint_fn,
)  # fmt: skip
COLLECTED = {
    "get_model_variables": GraphKeys.MODEL_VARIABLES,
    "get_local_variables": GraphKeys.LOCAL_VARIABLES,
    "get_trainable_variables": GraphKeys.TRAINABLE_VARIABLES,
}
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"contrib.framework.{function.__name__}": function for function in FUNCTIONS},
    **{f"contrib.framework.{name}": _of(key) for name, key in COLLECTED.items()},
    "contrib.framework.get_variable_full_name": plain_name,
}
