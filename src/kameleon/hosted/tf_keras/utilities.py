"""`tf.keras.utils` and `tf.keras.backend`: names and arguments that Keras 2.3.1 lacks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keras import backend as K
from keras.utils import generic_utils

from .phases import in_phase
from .shapes import plain, shown


def shape_type_conversion(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes and gives shapes as tuples, whatever kind of shape it's given."""

    @functools.wraps(function)
    def call(self: Any, input_shape: Any) -> Any:
        found = function(self, plain(input_shape))
        return None if found is None else shown(found)

    return call


def learning_phase_scope(value: Any) -> Any:
    """A block in which the learning phase is 0 or 1."""
    return in_phase(value)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Any:
    """A decorator: files may name the class or function, without `custom_objects`."""

    def register(thing: Any) -> Any:
        known = generic_utils.get_custom_objects()
        known[name or thing.__name__] = known[f"{package}>{name or thing.__name__}"] = thing
        return thing

    return register


def register_symbolic_tensor_type(cls: type) -> None:
    """Nothing: what a layer gives has to be a tensor here, whatever it may be converted to."""


def function(
    inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any
) -> Any:
    """`K.function`; `name` has no effect."""
    return K.function(inputs, outputs, updates=updates, **kwargs)


def set_epsilon(value: float) -> None:
    """Set the fuzz factor."""
    K.set_epsilon(value)


def set_floatx(value: str) -> None:
    """Set the default float type."""
    K.set_floatx(value)


NAMES: dict[str, Any] = {
    "utils.tf_utils.shape_type_conversion": shape_type_conversion,
    "utils.tf_utils.register_symbolic_tensor_type": register_symbolic_tensor_type,
    "utils.register_keras_serializable": register_keras_serializable,
    "backend.learning_phase_scope": learning_phase_scope,
    "backend.function": function,
    "backend.set_epsilon": set_epsilon,
    "backend.set_floatx": set_floatx,
}
HINTS: dict[str, str] = {
    "preprocessing.image_dataset_from_directory": (
        "ImageDataGenerator().flow_from_directory(…) reads images from folders"
    ),
    "preprocessing.text_dataset_from_directory": "read the files, and use Tokenizer",
    "estimator": "there are no estimators; use model.fit",
    "mixed_precision": "set the float type: tf.keras.backend.set_floatx('float16')",
    "layers.DenseFeatures": "make columns in NumPy, and give the model arrays",
    "layers.experimental.preprocessing": "Rescaling is there; do the rest in NumPy before `fit`",
    "layers.MultiHeadAttention": "TensorFlow has it from 2.4 on; Attention is there",
    "experimental.export_saved_model": "use model.save('model.h5')",
    "experimental.load_from_saved_model": "use load_model of a file in HDF5 format",
    "experimental": "use Model, and layers.concatenate for wide and deep models",
}
