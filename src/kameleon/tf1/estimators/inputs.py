"""Functions that give an estimator its data: read from arrays and tables, and called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..data.iterators import initializable
from ..train.hooks import SessionRunHook

MANY = 2**31 - 1  # repetitions, for a number of epochs that isn't given


class Beginning(SessionRunHook):
    """Lets an iterator begin where the session does."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._iterator.initializer)


def called_with(function: Callable[..., Any], offered: Mapping[str, Any]) -> Any:
    """What a function gives for those of the offered arguments that it takes."""
    return function(**{name: x for name, x in offered.items() if name in taken_by(function)})


def taken_by(function: Callable[..., Any]) -> set[str]:
    """The names of a function's parameters."""
    return set(inspect.signature(function).parameters)


def read(given: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels and hooks of what a function of data gave: a dataset, or tensors."""
    hooks: list[Any] = []
    if isinstance(given, Dataset):
        iterator = initializable(given)
        given, hooks = iterator.get_next(), [Beginning(iterator)]
    if isinstance(given, (list, tuple)):
        if len(given) != 2:
            raise ValueError(
                "input_fn should return (features, labels) as a len 2 tuple, but it gave"
                f" {len(given)} parts"
            )
        return given[0], given[1], hooks
    return given, None, hooks


def numpy_input_fn(
    x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
    shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1,
) -> Callable[[], Any]:  # fmt: skip
    """A function that gives arrays in batches.

    Args:
        x: an array, or a dict of them by feature's name; their first axis is that of examples.
        y: an array of labels, or a dict of them; or None.
        batch_size: how many examples are in a batch; the last one may have fewer.
        num_epochs: how often the arrays are gone through; None: without end.
        shuffle: whether the order is random; it must be given.
        queue_capacity: among how many examples the next one is drawn.
        num_threads: accepted.

    Raises:
        ValueError: `shuffle` isn't given, `x` is empty, or lengths differ.
        TypeError: `x` is neither an array nor a dict.

    >>> feed = numpy_input_fn(np.arange(3.0), np.arange(3), batch_size=2, shuffle=False)
    >>> feed().output_types
    ('float64', 'int64')
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as"
            f" True for training); got {shuffle}"
        )
    if not isinstance(x, (dict, np.ndarray)):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    if isinstance(x, dict) and not x:
        raise ValueError("x cannot be an empty dict")
    parts = x if y is None else (x, y)
    named = [*_arrays(x, "x"), *_arrays(y, "y")]
    lengths = {name: len(value) for name, value in named}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Length of tensors in x and y is mismatched. All must be equal: {lengths}"
        )
    window = max(queue_capacity, batch_size)

    def input_fn() -> Dataset:
        data = Dataset.from_tensor_slices(parts)
        if shuffle:
            data = data.shuffle(window)
        return data.repeat(MANY if num_epochs is None else num_epochs).batch(batch_size)

    return input_fn


def _arrays(given: Any, name: str) -> list[tuple[str, Any]]:
    if given is None:
        return []
    return list(given.items()) if isinstance(given, dict) else [(name, given)]


def pandas_input_fn(
    x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
    shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:  # fmt: skip
    """A function that gives a table's columns in batches, as features by the columns' names.

    Args:
        x: a DataFrame of pandas.
        y: a Series, or a DataFrame, of labels; or None.
        target_column: the name of labels that have none, which no column may have.

    The other arguments are those of `numpy_input_fn`.
    """
    if y is not None and target_column in x:
        raise ValueError(f"Cannot use name {target_column} for target column: DataFrame has it")
    labels = y
    if y is not None:
        columns = getattr(y, "columns", None)
        labels = np.asarray(y) if columns is None else {n: y[n].to_numpy() for n in columns}
    features = {name: x[name].to_numpy() for name in x.columns}
    return numpy_input_fn(
        features, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads
    )


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "estimator.inputs.numpy_input_fn": numpy_input_fn,
    "estimator.inputs.pandas_input_fn": pandas_input_fn,
}
