"""Averages of variables over the steps: `tf.train.ExponentialMovingAverage`, and global steps."""

from __future__ import annotations

import functools
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Variable
from ..graph import GraphKeys, add_to_collection, get_collection, get_default_graph
from ..initializers import Zeros
from ..operations import Operation
from ..scopes import get_variable, variable_scope
from ..variables import made, trainable_variables
from .slots import create_average, create_zeros_slot, known_shape, plain_name


class ExponentialMovingAverage:
    """Keeps averages in which a value counts `decay` times less at each step.

    Args:
        decay: how much of an average stays, 0 … 1.
        num_updates: a count; averages move faster while it's small.
        zero_debias: whether averages of tensors, which begin with zero, are corrected for that.
        name: the averages' names end so.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._averages: dict[Any, Any] = {}
        self._biased: dict[Any, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """How the averages' names end."""
        return self._name

    def apply(self, var_list: Any = None) -> Operation:
        """The operation that moves the averages of variables, or of other tensors.

        Args:
            var_list: all trainable variables, by default.
        """
        tensors = trainable_variables() if var_list is None else list(var_list)
        for x in tensors:
            if not x.dtype.is_float:
                raise TypeError(f"The variables must be half, float, or double: {x.name}")
            if x not in self._averages:
                self._averages[x] = self._new(x)
        decay = as_tensor(self._decay, "ExponentialMovingAverage")
        if self._num_updates is not None:
            count = K.cast(as_tensor(self._num_updates, "num_updates"), "float32")
            decay = K.minimum(decay, (1.0 + count) / (10.0 + count))
        updates = [u for x in tensors for u in self._updates(x, K.cast(decay, x.dtype))]
        return Operation(self._name, updates)

    def _new(self, x: Any) -> Any:
        if isinstance(x, Variable):
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, x)
            return create_average(x, self._name)
        average = create_zeros_slot(x, self._name)
        if self._zero_debias:
            biased = create_zeros_slot(average, "biased")
            self._biased[x] = biased, made(0.0, False, name=f"{plain_name(average)}/local_step")
        return average

    def _updates(self, x: Any, decay: Any) -> list[Any]:
        average = self._averages[x]
        if x not in self._biased:
            return [assign_moving_average(average, x, decay, zero_debias=False)]
        biased, steps = self._biased[x]
        moved, count = biased - (biased - x) * (1.0 - decay), steps + 1.0
        corrected = moved / (1.0 - K.pow(decay, count))
        return [K.update(biased, moved), K.update(steps, count), K.update(average, corrected)]

    def average(self, var: Any) -> Any:
        """The average of a variable; None where none is kept."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of the variable that has, or would have, the average."""
        if var in self._averages:
            return plain_name(self._averages[var])
        return f"{plain_name(var)}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """By the names of averages, the variables that take their places: for a `Saver`."""
        averaged = trainable_variables() if moving_avg_variables is None else moving_avg_variables
        averaged = {*averaged, *get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES)}
        found = {self.average_name(v): v for v in averaged}
        own = {plain_name(v) for v in averaged}
        for v in get_collection(GraphKeys.GLOBAL_VARIABLES):
            if plain_name(v) not in own and plain_name(v) not in found:
                found[plain_name(v)] = v
        return found


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """variable - (variable - value) * (1 - decay)

    With `zero_debias` the average is that of the values alone, as if it hadn't begun with the
    variable's first value: the sum that began with 0, over 1 - decay ** steps.
    Source: Kingma and Ba, "Adam" (2015), section 3.
    """
    if not zero_debias:
        return K.update_sub(variable, (variable - value) * (1.0 - decay))
    with variable_scope(plain_name(variable), auxiliary_name_scope=False):
        make = functools.partial(get_variable, dtype=variable.dtype, trainable=False)
        biased = make("biased", known_shape(variable), initializer=Zeros())
        steps = make("local_step", [], initializer=Zeros())
    moved = biased - (biased - value) * (1.0 - decay)
    share = 1.0 - K.pow(K.cast(decay, variable.dtype), steps + 1.0)
    updates = [K.update(biased, moved), K.update_add(steps, 1.0)]
    with K.control_dependencies(updates):
        return K.update(variable, moved / share)


# Global steps ---------------------------------------------------------------------------------


def get_global_step(graph: Any = None) -> Any:
    """The variable that counts steps; None where there's none."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise ArgumentError("Multiple items in global_step collection.")
    if not found:  # a program's own variable of that name counts, too
        known = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        found = [v for v in known if plain_name(v) == "global_step"]
    return found[0] if found else None


def create_global_step(graph: Any = None) -> Any:
    """A new variable that counts steps."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ArgumentError('"global_step" already exists.')
    with graph.as_default():
        return get_variable(
            "global_step",
            [],
            "int64",
            lambda shape, dtype: K.constant(0, dtype, shape),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts steps, made where there's none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number of steps so far."""
    return int(K.get_value(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """Raise a TypeError where the tensor can't count steps."""
    if not getattr(getattr(global_step_tensor, "dtype", None), "is_integer", False):
        raise TypeError(f"Existing 'global_step' must be an integer: {global_step_tensor!r}")


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "train.ExponentialMovingAverage": ExponentialMovingAverage,
    "python.training.moving_averages.assign_moving_average": assign_moving_average,
    **{
        f"train.{function.__name__}": function
        for function in (
            get_global_step, create_global_step, get_or_create_global_step, global_step,
            assert_global_step,
        )
    },
}  # fmt: skip
