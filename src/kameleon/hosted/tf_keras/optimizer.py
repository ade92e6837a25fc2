"""What the optimizers of `tf.keras` have in common: rates, clipping, slots, `minimize`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from keras import backend as K
from keras import initializers
from keras import optimizers as theirs

from ...errors import ArgumentError
from ...ir.node import Node, Update, Variable
from ...tf1.graph import name_scope
from ...tf1.operations import Operation
from . import schedules

HYPER = "_hyper"


class Optimizer(theirs.Optimizer):  # type: ignore[misc]
    """Changes variables so that a loss gets smaller.

    Args:
        name: the optimizer's name.
        kwargs: `clipnorm`, `clipvalue`; `lr` for the learning rate, and `decay`.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.__dict__[HYPER] = {}
        unknown = kwargs.keys() - {"clipnorm", "clipvalue", "lr", "decay", "global_clipnorm"}
        if unknown:
            raise TypeError(f"Unexpected keyword argument passed to optimizer: {min(unknown)}")
        self._rate_given = kwargs.pop("lr", None)
        self._initial_decay = kwargs.pop("decay", 0.0)
        if self._initial_decay < 0.0:
            raise ArgumentError(f"decay cannot be less than 0: {self._initial_decay}")
        super().__init__(**{k: v for k, v in kwargs.items() if k != "global_clipnorm"})
        self.global_clipnorm = kwargs.get("global_clipnorm")
        self._name, self._use_locking = name, False
        self._slots: dict[tuple[Any, str], Any] = {}
        self._slot_order: list[str] = []
        self.iterations = K.variable(0, dtype="int64", name=f"{name}/iterations")
        self.weights = [self.iterations]

    # --- settings that may be variables -----------------------------------------------------

    def _set_hyper(self, name: str, value: Any) -> None:
        """Set a number, which becomes a variable, or a schedule or function."""
        known = self.__dict__[HYPER].get(name)
        if isinstance(value, (int, float, np.number)):
            if isinstance(known, Variable):
                K.set_value(known, value)
                return
            value = K.variable(value, name=f"{self._name}/{name}")
        self.__dict__[HYPER][name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """The setting of this name: a variable, or a schedule."""
        value = self.__dict__[HYPER][name]
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) else value
        return value if dtype is None else K.cast(value, dtype)

    def __getattr__(self, name: str) -> Any:
        hyper = self.__dict__.get(HYPER, {})
        if name == "lr":
            name = "learning_rate"
        if name in hyper:
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        key = "learning_rate" if name == "lr" else name
        if key in self.__dict__.get(HYPER, {}):
            self._set_hyper(key, value)
        else:
            object.__setattr__(self, name, value)

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self.__dict__[HYPER].get(name)
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        if callable(value):
            return value()
        return float(K.get_value(value)) if isinstance(value, Node) else value

    def _decayed_lr(self, dtype: Any = None) -> Any:
        """The learning rate of the step to come."""
        rate = self._get_hyper("learning_rate")
        step = K.cast(self.iterations, K.floatx())
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = rate(step)
        if self._initial_decay > 0.0:
            rate = rate / (1.0 + K.cast(self._get_hyper("decay"), K.floatx()) * step)
        return K.cast(rate, dtype or K.floatx())

    # --- slots --------------------------------------------------------------------------------

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """A variable of this name for each variable that is trained."""
        if (var, slot_name) not in self._slots:
            shape = K.int_shape(var)
            if callable(initializer):
                value = initializer(shape, dtype=K.dtype(var))
            else:
                value = initializer if isinstance(initializer, Node) else np.zeros(shape)
            made = K.variable(value, dtype=K.dtype(var), name=f"{self._name}/{slot_name}")
            made.trainable = False
            self._slots[var, slot_name] = made
            self.weights.append(made)
        return self._slots[var, slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The variable that `add_slot` made."""
        return self._slots[var, slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of all slots."""
        return list(dict.fromkeys(name for _, name in self._slots))

    def add_weight(
        self, name: str, shape: Any = (), dtype: Any = None, initializer: Any = "zeros",
        trainable: Any = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """A variable of the optimizer's own."""
        value = initializers.get(initializer)(tuple(shape), dtype=dtype or K.floatx())
        made = K.variable(value, dtype=dtype or K.floatx(), name=f"{self._name}/{name}")
        self.weights.append(made)
        return made

    def variables(self) -> list[Any]:
        """The number of steps, and all slots."""
        return list(self.weights)

    # --- what a subclass gives ----------------------------------------------------------------

    def _create_slots(self, var_list: list[Any]) -> None:
        """Make the slots of these variables."""

    def _prepare(self, var_list: list[Any]) -> Any:
        """What's computed once in a step."""

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        """The updates of a variable and its slots."""
        raise NotImplementedError

    # --- steps --------------------------------------------------------------------------------

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """Gradients, clipped as asked for.

        Raises:
            ArgumentError: (a ValueError) a variable has none.
        """
        found = K.gradients(loss, list(params))
        if any(g is None for g in found):
            names = ", ".join(str(p) for p, g in zip(params, found, strict=True) if g is None)
            raise ArgumentError(
                f"An operation has `None` for gradient: the loss doesn't depend on {names}, or by"
                " functions that have no gradient alone (K.argmax, K.round, K.eval)"
            )
        return self._clipped(found)

    def _clipped(self, found: list[Any]) -> list[Any]:
        if getattr(self, "clipnorm", None) is not None:
            found = [_within_norm(g, self.clipnorm, K.sum(K.square(g))) for g in found]
        if self.global_clipnorm is not None:
            total = sum(K.sum(K.square(g)) for g in found)
            found = [_within_norm(g, self.global_clipnorm, total) for g in found]
        if getattr(self, "clipvalue", None) is not None:
            found = [K.clip(g, -self.clipvalue, self.clipvalue) for g in found]
        return found

    def get_updates(self, loss: Any = None, params: Any = None, **older: Any) -> list[Any]:
        """The updates of one step, for `K.function`."""
        params = list(params if params is not None else older["params"])
        pairs = list(zip(self.get_gradients(loss, params), params, strict=True))
        self.updates = list(self._updates(pairs))
        return self.updates

    def _updates(self, pairs: list[tuple[Any, Any]]) -> Iterator[Any]:
        variables = [v for _, v in pairs]
        with name_scope(self._name):
            self._create_slots(variables)
            state = self._prepare(variables)
            for gradient, variable in pairs:
                constrain = getattr(variable, "constraint", None)
                for update in _flat(self._applied(gradient, variable, state)):
                    if update.variable is variable and constrain is not None:
                        yield K.update(variable, constrain(update.value))
                    else:
                        yield update
            yield K.update_add(self.iterations, 1)

    def _applied(self, gradient: Any, variable: Any, state: Any) -> Any:
        method = self._resource_apply_dense
        if "apply_state" in method.__code__.co_varnames:
            return method(gradient, variable, apply_state=state)
        return method(gradient, variable)

    def apply_gradients(self, grads_and_vars: Iterable[Any], name: Any = None, **_: Any) -> Any:
        """The operation of a step whose gradients are given."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ArgumentError("No gradients provided for any variable")
        return Operation(name or self._name, list(self._updates(pairs)))

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None, name: Any = None) -> Any:
        """The operation of a step.

        Args:
            loss: a tensor, or a function that gives one.
            var_list: what is to be changed, or a function that gives it.
        """
        loss = loss() if callable(loss) else loss
        variables = list(var_list() if callable(var_list) else var_list)
        return self.apply_gradients(
            zip(self.get_gradients(loss, variables), variables, strict=True), name=name
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer again."""
        config = {"name": self._name, **super().get_config()}
        config |= {name: self._serialize_hyperparameter(name) for name in self.__dict__[HYPER]}
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer of a configuration."""
        given = dict(config)
        if "lr" in given:
            given["learning_rate"] = given.pop("lr")
        if isinstance(given.get("learning_rate"), dict):
            given["learning_rate"] = schedules.deserialize(given["learning_rate"], custom_objects)
        return cls(**given)


def _flat(updates: Any) -> Iterator[Any]:
    """The updates in a nest of lists and operations."""
    if isinstance(updates, (list, tuple)):
        for each in updates:
            yield from _flat(each)
    elif isinstance(updates, Update):
        yield updates
    elif isinstance(updates, Operation):
        yield from _flat(updates.needed)


def _within_norm(x: Any, limit: float, squares: Any) -> Any:
    """x, scaled where the norm, whose square is given, exceeds the limit."""
    norm = K.sqrt(K.maximum(squares, 1e-30))
    return x * (limit / K.maximum(norm, limit))


Settings = dict[str, float]


class Ruled(Optimizer):
    """An optimizer that is told by tables.

    DEFAULTS: by name, its settings that are numbers, the learning rate first.
    OPTIONS: by name, its settings that choose a formula.
    SLOTS: by name, the first values of its slots.
    """

    DEFAULTS: ClassVar[Settings] = {}
    OPTIONS: ClassVar[dict[str, Any]] = {}
    SLOTS: ClassVar[Settings] = {}
    epsilon: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        order = [*self.DEFAULTS, *self.OPTIONS, "name"]
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        name = given.pop("name", None) or type(self).__name__
        settings = {k: given.pop(k) for k in [*self.DEFAULTS, *self.OPTIONS] if k in given}
        super().__init__(name, **given)
        rate = self._rate_given
        if rate is not None:
            settings["learning_rate"] = rate
        for key, default in self.DEFAULTS.items():
            value = settings.get(key, default)
            self._set_hyper(key, default if value is None else value)
        self._set_hyper("decay", self._initial_decay)
        for key, default in self.OPTIONS.items():
            setattr(self, key, settings.get(key, default))
        if "epsilon" in self.OPTIONS and self.epsilon is None:
            self.epsilon = K.epsilon()
        self._momentum_first = settings.get("momentum", self.DEFAULTS.get("momentum"))

    def slots(self) -> dict[str, float]:
        """The slots that the settings need."""
        return self.SLOTS

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot, start in self.slots().items():
            for var in var_list:
                self.add_slot(var, slot, _filled(start))

    def _prepare(self, var_list: list[Any]) -> Any:
        """The rates of a step."""
        return {
            name: self._decayed_lr() if name == "learning_rate" else self._get_hyper(name)
            for name in self.DEFAULTS
        }

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        slots = {name: self.get_slot(var, name) for name in self.slots()}
        new = self.rule(grad, var, **apply_state, **slots)
        targets = {"var": var, **slots}
        return [K.update(targets[name], value) for name, value in new.items()]

    def rule(self, g: Any, x: Any, **given: Any) -> dict[str, Any]:
        """The new values of the variable (`var`) and of its slots."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer again."""
        return {**super().get_config(), **{name: getattr(self, name) for name in self.OPTIONS}}


def _filled(value: float) -> Callable[..., Any]:
    return lambda shape, dtype: np.full(shape, value, dtype)
