"""`tf.keras.optimizers`: TensorFlow's defaults, arguments, formulas and order of slots.

Differences from Keras 2.3.1: rates and epsilons, `RMSprop` with momentum, `clipnorm` for each
gradient by itself, schedules, and `apply_gradients`. A subclass of the program gives
`_create_slots` and `_resource_apply_dense`, as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from keras import backend as K
from keras import optimizers as theirs
from keras.utils.generic_utils import deserialize_keras_object

from ...errors import ArgumentError
from .optimizer import Optimizer, Ruled


class SGD(Ruled):
    """Steps against the gradient, with momentum (Nesterov's, if asked for)."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.01, "momentum": 0.0}
    OPTIONS: ClassVar[dict[str, Any]] = {"nesterov": False}

    def slots(self) -> dict[str, float]:
        moves = self._momentum_first
        return {} if isinstance(moves, (int, float)) and moves == 0.0 else {"momentum": 0.0}

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        rate, momentum = apply_state["learning_rate"], apply_state["momentum"]
        if not self.slots():
            return [K.update(var, var - rate * grad)]
        slot = self.get_slot(var, "momentum")
        speed = momentum * slot - rate * grad
        step = momentum * speed - rate * grad if self.nesterov else speed
        return [K.update(slot, speed), K.update(var, var + step)]


class Adam(Ruled):
    """Kingma & Ba, "Adam" (2014); with `amsgrad`, Reddi et al. (2018)."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999}
    OPTIONS: ClassVar[dict[str, Any]] = {"epsilon": 1e-7, "amsgrad": False}

    def slots(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0, **({"vhat": 0.0} if self.amsgrad else {})}

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        b1, b2, t = s["beta_1"], s["beta_2"], self._step()
        rate = s["learning_rate"] * K.sqrt(1 - K.pow(b2, t)) / (1 - K.pow(b1, t))
        m, v = b1 * s["m"] + (1 - b1) * g, b2 * s["v"] + (1 - b2) * K.square(g)
        new = {"m": m, "v": v}
        if self.amsgrad:
            v = new["vhat"] = K.maximum(s["vhat"], v)
        return {**new, "var": x - rate * m / (K.sqrt(v) + self.epsilon)}

    def _step(self) -> Any:
        return K.cast(self.iterations + 1, K.floatx())


class Adamax(Adam):
    """Kingma & Ba (2014), section 7: by the largest gradient."""

    OPTIONS: ClassVar[dict[str, Any]] = {"epsilon": 1e-7}

    def slots(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0}

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        b1, b2 = s["beta_1"], s["beta_2"]
        m, v = b1 * s["m"] + (1 - b1) * g, K.maximum(b2 * s["v"], K.abs(g))
        rate = s["learning_rate"] / (1 - K.pow(b1, self._step()))
        return {"m": m, "v": v, "var": x - rate * m / (v + self.epsilon)}


class Nadam(Adam):
    """Dozat, "Incorporating Nesterov Momentum into Adam" (2015)."""

    OPTIONS: ClassVar[dict[str, Any]] = {"epsilon": 1e-7}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", kwargs.pop("decay", 0.004))
        super().__init__(*args, **kwargs)
        self._product = self.add_weight("momentum_cache", initializer="ones")

    def slots(self) -> dict[str, float]:
        return {"m": 0.0, "v": 0.0}

    def _decayed_lr(self, dtype: Any = None) -> Any:
        return K.cast(self._get_hyper("learning_rate"), dtype or K.floatx())

    def _momenta(self, b1: Any) -> tuple[Any, Any]:
        t, decay = self._step(), self._get_hyper("decay")
        now, then = (1 - 0.5 * K.pow(0.96, decay * step) for step in (t, t + 1))
        return b1 * now, b1 * then

    def _updates(self, pairs: list[tuple[Any, Any]]) -> Iterator[Any]:
        yield from super()._updates(pairs)
        yield K.update(self._product, self._product * self._momenta(self._get_hyper("beta_1"))[0])

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        b1, b2 = s["beta_1"], s["beta_2"]
        now, then = self._momenta(b1)
        product = self._product * now
        m, v = b1 * s["m"] + (1 - b1) * g, b2 * s["v"] + (1 - b2) * K.square(g)
        ahead = then * m / (1 - product * then) + (1 - now) * g / (1 - product)
        scale = K.sqrt(v / (1 - K.pow(b2, self._step()))) + self.epsilon
        return {"m": m, "v": v, "var": x - s["learning_rate"] * ahead / scale}


class RMSprop(Ruled):
    """Tieleman & Hinton, lecture 6.5 (2012); with momentum, and centered by the mean gradient."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.001, "rho": 0.9, "momentum": 0.0}
    OPTIONS: ClassVar[dict[str, Any]] = {"epsilon": 1e-7, "centered": False}

    def slots(self) -> dict[str, float]:
        moves = {"momentum": 0.0} if self._momentum_first else {}
        return {"rms": 0.0, **moves, **({"mg": 0.0} if self.centered else {})}

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        rate, rho, momentum = (apply_state[k] for k in self.DEFAULTS)
        slots = {name: self.get_slot(var, name) for name in self.slots()}
        new = {"rms": rho * slots["rms"] + (1 - rho) * K.square(grad)}
        scale = new["rms"]
        if self.centered:
            new["mg"] = rho * slots["mg"] + (1 - rho) * grad
            scale = scale - K.square(new["mg"])
        if "momentum" in slots:
            # With momentum, epsilon stands under the root, as in TensorFlow's kernel.
            new["momentum"] = momentum * slots["momentum"] + rate * grad / K.sqrt(
                scale + self.epsilon
            )
            step = new["momentum"]
        else:
            step = rate * grad / (K.sqrt(scale) + self.epsilon)
        return [*(K.update(slots[k], v) for k, v in new.items()), K.update(var, var - step)]


class Adagrad(Ruled):
    """Duchi et al. (2011)."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.001}
    OPTIONS: ClassVar[dict[str, Any]] = {"initial_accumulator_value": 0.1, "epsilon": 1e-7}

    def slots(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value}

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        total = s["accumulator"] + K.square(g)
        step = s["learning_rate"] * g / (K.sqrt(total) + self.epsilon)
        return {"accumulator": total, "var": x - step}


class Adadelta(Ruled):
    """Zeiler, "ADADELTA" (2012)."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.001, "rho": 0.95}
    OPTIONS: ClassVar[dict[str, Any]] = {"epsilon": 1e-7}
    SLOTS: ClassVar[dict[str, Any]] = {"accum_grad": 0.0, "accum_var": 0.0}

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        rho, eps = s["rho"], self.epsilon
        squares = rho * s["accum_grad"] + (1 - rho) * K.square(g)
        step = g * K.sqrt(s["accum_var"] + eps) / K.sqrt(squares + eps)
        moved = rho * s["accum_var"] + (1 - rho) * K.square(step)
        return {"accum_grad": squares, "accum_var": moved, "var": x - s["learning_rate"] * step}


class Ftrl(Ruled):
    """Follow the regularized leader: McMahan et al. (2013), algorithm 1."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"learning_rate": 0.001}
    OPTIONS: ClassVar[dict[str, Any]] = {
        "learning_rate_power": -0.5,
        "initial_accumulator_value": 0.1,
        "l1_regularization_strength": 0.0,
        "l2_regularization_strength": 0.0,
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["shrinkage"] = kwargs.pop("l2_shrinkage_regularization_strength", 0.0)
        super().__init__(*args, **kwargs)

    def slots(self) -> dict[str, float]:
        return {"accumulator": self.initial_accumulator_value, "linear": 0.0}

    def rule(self, g: Any, x: Any, **s: Any) -> dict[str, Any]:
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        total, power = s["accumulator"] + K.square(g), -self.learning_rate_power
        scale, rate = K.pow(total, power), s["learning_rate"]
        sigma = (scale - K.pow(s["accumulator"], power)) / rate
        linear = s["linear"] + g + 2 * self.shrinkage * x - sigma * x
        rest = K.sign(linear) * K.maximum(K.abs(linear) - l1, 0.0)
        return {"accumulator": total, "linear": linear, "var": -rest / (scale / rate + 2 * l2)}

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "l2_shrinkage_regularization_strength": self.shrinkage}


CLASSES: dict[str, Any] = {
    kind.__name__: kind for kind in (SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam, Ftrl)
}


def serialize(optimizer: Any) -> dict[str, Any]:
    """An optimizer as data."""
    return {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The optimizer that the data say."""
    known = {**CLASSES, **{name.lower(): kind for name, kind in CLASSES.items()}}
    return deserialize_keras_object(config, known, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """An optimizer: the one that is given, or that of a name or configuration."""
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier.lower(), "config": {}})
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, type):
        raise ArgumentError(f"Could not interpret optimizer identifier: {identifier}")
    return theirs.get(identifier)


NAMES: dict[str, Any] = {
    **{f"optimizers.{name}": kind for name, kind in CLASSES.items()},
    "optimizers.Optimizer": Optimizer,
    "optimizers.OptimizerV2": Optimizer,
    "optimizers.get": get,
    "optimizers.serialize": serialize,
    "optimizers.deserialize": deserialize,
}
