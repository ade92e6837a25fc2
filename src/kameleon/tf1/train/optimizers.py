"""The optimizers of `tf.train`: their slots, rates, and the equations of one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ..operations import Operation
from .optimizer import Optimizer
from .slots import known_shape, plain_name

Values = Iterable[tuple[Any, Any]]


# Class attributes of the optimizers: see `Ruled`.
Rates = Mapping[str, str]
Slots = Mapping[str, str | float]


class Ruled(Optimizer):
    """An optimizer whose step is a table: what each variable becomes.

    Attributes:
        RATES: by the name of a tensor that `_prepare` makes, the attribute with its value.
        SLOTS: by slot, the attribute with its first value, or a number.
    """

    RATES: Rates = {}
    SLOTS: Slots = {}

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            for slot, first in self.SLOTS.items():
                value = getattr(self, first) if isinstance(first, str) else first
                filled = np.full(known_shape(var), value, var.dtype)
                self._get_or_make_slot(var, filled, slot, self._slot_suffix(slot))

    def _slot_suffix(self, slot: str) -> str:
        """How the name of a slot's variable ends."""
        return self._name

    def _prepare(self) -> None:
        for tensor, attribute in self.RATES.items():
            rate = self._call_if_callable(getattr(self, attribute))
            setattr(self, tensor, as_tensor(rate, f"{type(self).__name__}, {attribute}"))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        updates = [K.update(variable, new) for variable, new in self._values(grad, var)]
        return Operation(f"{plain_name(var)}/{self._name}", updates)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _values(self, grad: Any, var: Any) -> Values:
        """The new values of a variable and of its slots."""
        raise NotImplementedError

    def _rates(self, var: Any) -> list[Any]:
        """The tensors of `_prepare`, in the variable's dtype."""
        return [K.cast(getattr(self, tensor), var.dtype) for tensor in self.RATES]


class GradientDescentOptimizer(Ruled):
    """w - rate * g"""

    RATES: Rates = {"_learning_rate_tensor": "_learning_rate"}

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _values(self, grad: Any, var: Any) -> Values:
        (rate,) = self._rates(var)
        return [(var, var - rate * grad)]


class MomentumOptimizer(Ruled):
    """m' = momentum * m + g; w - rate * m', or with Nesterov's w - rate * (g + momentum * m')

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning"
    (2013).
    """

    RATES: Rates = {"_learning_rate_tensor": "_learning_rate", "_momentum_tensor": "_momentum"}
    SLOTS: Slots = {"momentum": 0.0}

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _values(self, grad: Any, var: Any) -> Values:
        rate, momentum = self._rates(var)
        slot = self.get_slot(var, "momentum")
        new = slot * momentum + grad
        step = grad + momentum * new if self._use_nesterov else new
        return [(slot, new), (var, var - rate * step)]


class AdamOptimizer(Ruled):
    """Means of gradients and of their squares; the second one's root divides the first.

    Source: Kingma and Ba, "Adam: A method for stochastic optimization" (2014), in the order of
    the end of section 2: `epsilon` is added to the root of the mean that isn't corrected.
    """

    RATES: Rates = {
        "_lr_t": "_lr",
        "_beta1_t": "_beta1",
        "_beta2_t": "_beta2",
        "_epsilon_t": "_epsilon",
    }
    SLOTS: Slots = {"m": 0.0, "v": 0.0}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: str(v.name))
        for power, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            value = np.float32(self._call_if_callable(beta))
            self._create_non_slot_variable(value, power, first)
        super()._create_slots(var_list)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        """beta1 and beta2, to the power of the number of the next step."""
        return (
            self._get_non_slot_variable("beta1_power"),
            self._get_non_slot_variable("beta2_power"),
        )

    def _values(self, grad: Any, var: Any) -> Values:
        rate, beta1, beta2, epsilon = self._rates(var)
        power1, power2 = (K.cast(p, var.dtype) for p in self._get_beta_accumulators())
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = m + (grad - m) * (1.0 - beta1)
        square = v + (K.square(grad) - v) * (1.0 - beta2)
        step = rate * K.sqrt(1.0 - power2) / (1.0 - power1)
        moved = step * self._direction(mean, grad, beta1) / (K.sqrt(square) + epsilon)
        return [(m, mean), (v, square), (var, var - moved)]

    def _direction(self, mean: Any, grad: Any, beta1: Any) -> Any:
        return mean

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power1, power2 = self._get_beta_accumulators()
        later = [
            K.update(power1, power1 * K.cast(self._beta1_t, power1.dtype)),
            K.update(power2, power2 * K.cast(self._beta2_t, power2.dtype)),
        ]
        return Operation(name_scope, [*update_ops, *later])

    _lr_t: Any
    _beta1_t: Any
    _beta2_t: Any
    _epsilon_t: Any


class RMSPropOptimizer(Ruled):
    """Gradients over the root of the mean of their squares, or of their variance.

    Source: Tieleman and Hinton, "Lecture 6.5: rmsprop" (2012); Graves, "Generating sequences with
    recurrent neural networks" (2013), equation 39.
    """

    RATES: Rates = {
        "_learning_rate_tensor": "_learning_rate",
        "_decay_tensor": "_decay",
        "_momentum_tensor": "_momentum",
        "_epsilon_tensor": "_epsilon",
    }

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered
        mean: Mapping[str, float] = {"mg": 0.0} if centered else {}
        self.SLOTS = {"rms": 1.0, **mean, "momentum": 0.0}

    def _slot_suffix(self, slot: str) -> str:
        return self._name

    def _values(self, grad: Any, var: Any) -> Values:
        rate, decay, momentum, epsilon = self._rates(var)
        rms, moment = self.get_slot(var, "rms"), self.get_slot(var, "momentum")
        square = rms + (K.square(grad) - rms) * (1.0 - decay)
        values, variance = [(rms, square)], square
        if self._centered:
            mg = self.get_slot(var, "mg")
            mean = mg + (grad - mg) * (1.0 - decay)
            values.append((mg, mean))
            variance = square - K.square(mean)
        new = moment * momentum + rate * grad / K.sqrt(variance + epsilon)
        return [*values, (moment, new), (var, var - new)]


class AdagradOptimizer(Ruled):
    """Gradients over the root of the sum of their squares.

    Source: Duchi et al., "Adaptive subgradient methods for online learning and stochastic
    optimization" (2011).
    """

    RATES: Rates = {"_learning_rate_tensor": "_learning_rate"}
    SLOTS: Slots = {"accumulator": "_initial_accumulator_value"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _values(self, grad: Any, var: Any) -> Values:
        (rate,) = self._rates(var)
        slot = self.get_slot(var, "accumulator")
        new = slot + K.square(grad)
        return [(slot, new), (var, var - rate * grad / K.sqrt(new))]


def _check_positive(name: str, value: float) -> None:
    if value <= 0.0:
        raise ArgumentError(f"{name} must be positive: {value}")


class AdadeltaOptimizer(Ruled):
    """Gradients times the root of the mean square of steps over that of gradients.

    Source: Zeiler, "ADADELTA: An adaptive learning rate method" (2012).
    """

    RATES: Rates = {"_lr_t": "_lr", "_rho_t": "_rho", "_epsilon_t": "_epsilon"}
    SLOTS: Slots = {"accum": 0.0, "accum_update": 0.0}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _values(self, grad: Any, var: Any) -> Values:
        rate, rho, epsilon = self._rates(var)
        accum, steps = self.get_slot(var, "accum"), self.get_slot(var, "accum_update")
        square = accum * rho + K.square(grad) * (1.0 - rho)
        step = K.sqrt(steps + epsilon) / K.sqrt(square + epsilon) * grad
        new = steps * rho + K.square(step) * (1.0 - rho)
        return [(accum, square), (steps, new), (var, var - rate * step)]


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"train.{kind.__name__}": kind
    for kind in (
        GradientDescentOptimizer, MomentumOptimizer, AdamOptimizer, RMSPropOptimizer,
        AdagradOptimizer, AdadeltaOptimizer,
    )
}  # fmt: skip
