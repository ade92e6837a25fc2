"""`tf.keras.optimizers.schedules`: learning rates that change from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keras.utils.generic_utils import deserialize_keras_object

from ...tf1.train import schedules as functions


class LearningRateSchedule:
    """A learning rate as a function of the number of steps."""

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a schedule again."""
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The schedule of these arguments."""
        return cls(**config)


REQUIRED = object()
RATE = {"initial_learning_rate": REQUIRED}
STEPS = {"decay_steps": REQUIRED}

# By class: the function of `tf.train` that computes it, and the arguments of the class. The
# function calls the first rate `learning_rate`, the others as the class does.
TABLE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "ExponentialDecay": (
        functions.exponential_decay,
        {**RATE, **STEPS, "decay_rate": REQUIRED, "staircase": False},
    ),
    "PiecewiseConstantDecay": (
        functions.piecewise_constant,
        {"boundaries": REQUIRED, "values": REQUIRED},
    ),
    "PolynomialDecay": (
        functions.polynomial_decay,
        {**RATE, **STEPS, "end_learning_rate": 0.0001, "power": 1.0, "cycle": False},
    ),
    "InverseTimeDecay": (
        functions.inverse_time_decay,
        {**RATE, **STEPS, "decay_rate": REQUIRED, "staircase": False},
    ),
    "CosineDecay": (functions.cosine_decay, {**RATE, **STEPS, "alpha": 0.0}),
    "CosineDecayRestarts": (
        functions.cosine_decay_restarts,
        {**RATE, "first_decay_steps": REQUIRED, "t_mul": 2.0, "m_mul": 1.0, "alpha": 0.0},
    ),
    "LinearCosineDecay": (
        functions.linear_cosine_decay,
        {**RATE, **STEPS, "num_periods": 0.5, "alpha": 0.0, "beta": 0.001},
    ),
}


def _class(name: str) -> type:
    function, parameters = TABLE[name]
    step_name = "x" if "boundaries" in parameters else "global_step"

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = {**dict(zip([*parameters, "name"], args, strict=False)), **kwargs}
        self.name = given.pop("name", None)
        self.settings = {**parameters, **given}
        lacking = [key for key, value in self.settings.items() if value is REQUIRED]
        if lacking or given.keys() - parameters.keys():
            raise TypeError(f"{name} takes {', '.join(parameters)}; got {', '.join(given)}")
        vars(self).update(self.settings)

    def __call__(self: Any, step: Any) -> Any:  # noqa: N807
        named = {key.removeprefix("initial_"): value for key, value in self.settings.items()}
        return function(**named, **{step_name: step})

    def get_config(self: Any) -> dict[str, Any]:
        return {**self.settings, "name": self.name}

    return type(
        name,
        (LearningRateSchedule,),
        {
            "__init__": __init__,
            "__call__": __call__,
            "get_config": get_config,
            "__module__": __name__,
            "__doc__": f"`tf.train`'s {function.__name__}, as a schedule.",
        },
    )


CLASSES: dict[str, Any] = {name: _class(name) for name in TABLE}
globals().update(CLASSES)  # so that pickle finds them


def serialize(schedule: Any) -> dict[str, Any]:
    """A schedule as data."""
    return {"class_name": type(schedule).__name__, "config": schedule.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The schedule that the data say."""
    return deserialize_keras_object(config, CLASSES, custom_objects, "decay")


IN_SCHEDULES = (
    "ExponentialDecay", "PiecewiseConstantDecay", "PolynomialDecay", "InverseTimeDecay",
)  # fmt: skip
NAMES: dict[str, Any] = {
    "optimizers.schedules.LearningRateSchedule": LearningRateSchedule,
    "optimizers.schedules.serialize": serialize,
    "optimizers.schedules.deserialize": deserialize,
    **{f"optimizers.schedules.{name}": CLASSES[name] for name in IN_SCHEDULES},
    **{f"experimental.{name}": CLASSES[name] for name in CLASSES.keys() - {*IN_SCHEDULES}},
}
