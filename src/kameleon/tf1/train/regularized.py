"""Optimizers that keep weights small or sparse, and variants from `tf.contrib.opt`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from .optimizer import Optimizer, with_value
from .optimizers import AdamOptimizer, MomentumOptimizer, Rates, Ruled, Slots, Values


def _shrunk(x: Any, by: Any) -> Any:
    """Towards zero by so much, and not beyond."""
    return K.sign(x) * K.maximum(K.abs(x) - by, 0.0)


class FtrlOptimizer(Ruled):
    """Follow the regularized leader, proximally.

    Source: McMahan et al., "Ad click prediction: A view from the trenches" (2013), algorithm 1.
    """

    RATES: Rates = {
        "_learning_rate_tensor": "_learning_rate",
        "_l1_tensor": "_l1",
        "_l2_tensor": "_l2",
        "_shrinkage_tensor": "_shrinkage",
    }
    SLOTS: Slots = {"accum": "_initial_accumulator_value", "linear": 0.0}

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ):
        super().__init__(use_locking, name)
        if initial_accumulator_value < 0.0 or learning_rate_power > 0.0:
            raise ArgumentError(
                "FtrlOptimizer: initial_accumulator_value needs to be positive or zero, and"
                " learning_rate_power negative or zero; got"
                f" {initial_accumulator_value} and {learning_rate_power}"
            )
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._suffixes = {"accum": accum_name, "linear": linear_name}

    def _slot_suffix(self, slot: str) -> str:
        return self._suffixes[slot] or self._name

    def _values(self, grad: Any, var: Any) -> Values:
        rate, l1, l2, shrinkage = self._rates(var)
        accum, linear = self.get_slot(var, "accum"), self.get_slot(var, "linear")
        squares = accum + K.square(grad)
        scale = K.pow(squares, -self._power)
        sigma = (scale - K.pow(accum, -self._power)) / rate
        new = linear + grad + 2.0 * shrinkage * var - sigma * var
        weight = -_shrunk(new, l1) / (scale / rate + 2.0 * l2)
        return [(accum, squares), (linear, new), (var, weight)]


def _proximal(x: Any, rate: Any, l1: Any, l2: Any) -> Any:
    """The minimum of (y - x)² / 2 + rate * (l1 * |y| + l2 * y² / 2)."""
    return _shrunk(x, rate * l1) / (1.0 + l2 * rate)


class ProximalGradientDescentOptimizer(Ruled):
    """Descent, then shrinkage.

    Source: Duchi and Singer, "Efficient online and batch learning using forward backward
    splitting" (2009).
    """

    RATES: Rates = {
        "_learning_rate_tensor": "_learning_rate",
        "_l1_tensor": "_l1",
        "_l2_tensor": "_l2",
    }

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _values(self, grad: Any, var: Any) -> Values:
        rate, l1, l2 = self._rates(var)
        return [(var, _proximal(var - rate * grad, rate, l1, l2))]


class ProximalAdagradOptimizer(Ruled):
    """Adagrad, then shrinkage."""

    RATES: Rates = ProximalGradientDescentOptimizer.RATES
    SLOTS: Slots = {"accumulator": "_initial_accumulator_value"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _values(self, grad: Any, var: Any) -> Values:
        rate, l1, l2 = self._rates(var)
        slot = self.get_slot(var, "accumulator")
        squares = slot + K.square(grad)
        own = rate / K.sqrt(squares)
        return [(slot, squares), (var, _proximal(var - own * grad, own, l1, l2))]


class AdagradDAOptimizer(Ruled):
    """Adagrad by dual averaging: a weight follows from sums over all steps.

    Source: as Adagrad.
    """

    RATES: Rates = ProximalGradientDescentOptimizer.RATES
    SLOTS: Slots = {"gradient_accumulator": 0.0, "gradient_squared_accumulator": "_first"}

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._first = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _values(self, grad: Any, var: Any) -> Values:
        rate, l1, l2 = self._rates(var)
        sums = self.get_slot(var, "gradient_accumulator")
        squares = self.get_slot(var, "gradient_squared_accumulator")
        total, square = sums + grad, squares + K.square(grad)
        steps = K.cast(as_tensor(self._global_step, "AdagradDA"), var.dtype) + 1.0
        weight = -rate * _shrunk(total, l1 * steps) / (l2 * steps * rate + K.sqrt(square))
        return [(sums, total), (squares, square), (var, weight)]


# tf.contrib.opt -------------------------------------------------------------------------------


class LazyAdamOptimizer(AdamOptimizer):
    """Adam: gradients are whole tensors here, so that no row is left out."""


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum.

    Source: Dozat, "Incorporating Nesterov momentum into Adam" (2016).
    """

    def _direction(self, mean: Any, grad: Any, beta1: Any) -> Any:
        return grad * (1.0 - beta1) + beta1 * mean


class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the largest gradient, which fades, in the place of the root.

    Source: Kingma and Ba (2014), section 7.1.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _values(self, grad: Any, var: Any) -> Values:
        rate, beta1, beta2, epsilon = self._rates(var)
        power = K.cast(self._get_beta_accumulators()[0], var.dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = m + (grad - m) * (1.0 - beta1)
        largest = K.maximum(beta2 * v, K.abs(grad))
        moved = rate / (1.0 - power) * (mean / (largest + epsilon))
        return [(m, mean), (v, largest), (var, var - moved)]


class _SignOptimizer(Ruled):
    """Steps that depend on whether a gradient has the sign of the mean of those before.

    Source: Bello et al., "Neural optimizer search with reinforcement learning" (2017).
    """

    RATES: Rates = {"_lr_t": "_lr", "_beta_t": "_beta"}
    SLOTS: Slots = {"m": 0.0}
    _lr: Any
    _beta: Any
    _sign_decay_fn: Callable[[Any], Any] | None
    _decay: Any = 1.0

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        if self._sign_decay_fn is not None:
            self._decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _values(self, grad: Any, var: Any) -> Values:
        rate, beta = self._rates(var)
        m = self.get_slot(var, "m")
        mean = beta * m + (1.0 - beta) * grad
        agreement = self._decay * (K.sign(grad) * K.sign(mean))
        return [(m, mean), (var, var - rate * self._factor(agreement) * grad)]

    def _factor(self, agreement: Any) -> Any:
        raise NotImplementedError


class PowerSignOptimizer(_SignOptimizer):
    """base ** ±1"""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Any = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._logbase = math.log(base)

    def _factor(self, agreement: Any) -> Any:
        return K.exp(self._logbase * agreement)


class AddSignOptimizer(_SignOptimizer):
    """alpha ± 1"""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Any = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._alpha = alpha

    def _factor(self, agreement: Any) -> Any:
        return self._alpha + agreement


class DecoupledWeightDecayExtension(Optimizer):
    """Weights shrink by a part of theirs at each step, whatever the gradients are.

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization" (2017).
    """

    def __init__(self, weight_decay: Any, **kwargs: Any):
        self._weight_decay = weight_decay
        self._decay_var_list: Any = None
        super().__init__(**kwargs)

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **options: Any) -> Any:
        """`Optimizer.minimize`; `decay_var_list`: the variables that shrink, all by default."""
        self._decay_var_list = decay_var_list and set(decay_var_list)
        return super().minimize(loss, *args, **options)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """`Optimizer.apply_gradients`; `decay_var_list` as in `minimize`."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else self._decay_var_list
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _applied(self, grad: Any, var: Any) -> Any:
        applied = super()._applied(grad, var)
        if self._decay_var_list and var not in self._decay_var_list:
            return applied
        decay = K.cast(as_tensor(self._call_if_callable(self._weight_decay), "decay"), var.dtype)
        return with_value(applied, var, lambda new: new - decay * var)


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """A class like `base_optimizer`, whose weights shrink; its first argument is the decay."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[misc]
    ):
        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            self._weight_decay = weight_decay
            self._decay_var_list: Any = None
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam, with weights that shrink."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            use_locking=use_locking, name=name,
        )  # fmt: skip


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum, with weights that shrink."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum,
            use_locking=use_locking, name=name, use_nesterov=use_nesterov,
        )  # fmt: skip


def same_optimizer(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """The optimizer: numbers keep their dtypes here."""
    return opt


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{
        f"train.{kind.__name__}": kind
        for kind in (
            FtrlOptimizer, ProximalGradientDescentOptimizer, ProximalAdagradOptimizer,
            AdagradDAOptimizer,
        )
    },
    **{
        f"contrib.opt.{kind.__name__}": kind
        for kind in (
            LazyAdamOptimizer, NadamOptimizer, AdaMaxOptimizer, PowerSignOptimizer,
            AddSignOptimizer, AdamWOptimizer, MomentumWOptimizer,
            DecoupledWeightDecayExtension, extend_with_decoupled_weight_decay,
        )
    },
    "train.experimental.enable_mixed_precision_graph_rewrite": same_optimizer,
}  # fmt: skip
