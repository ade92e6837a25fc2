"""`tf.keras.Model` and `Sequential`: what they take beside what Keras 2.3.1's do."""

from __future__ import annotations

from typing import Any

import keras.models as theirs
from keras import backend as K

from ...errors import UnsupportedError
from ...ir.node import Node
from . import files, optimizers
from .base import given_name
from .logs import Logs
from .nests import leaves, mapped
from .operations import with_history
from .own import unconditional
from .phases import in_phase
from .version import is_second

# What `compile` takes that says how TensorFlow runs the steps.
SILENT = frozenset({"distribute", "experimental_run_tf_function", "steps_per_execution"})
SHORT = {"accuracy": "acc", "crossentropy": "ce"}  # TensorFlow 1's names of metrics in histories


def _tensors(nest: Any) -> Any:
    """Tensors of a model, each the output of a layer."""
    flat = list(nest.values()) if isinstance(nest, dict) else nest
    return mapped(with_history, list(flat) if isinstance(flat, tuple) else flat)


class Model(theirs.Model):  # type: ignore[misc]
    """A model of layers, or one whose `call` a subclass writes.

    Args:
        args: inputs and outputs, tensors or lists of them; functions may lie between the layers.
        kwargs: the same by name, and `name`, `trainable`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for word in ("dynamic", "autocast", "dtype"):
            kwargs.pop(word, None)
        given = [_tensors(nest) for nest in args[:2]]
        for key in ("inputs", "outputs"):
            if key in kwargs:
                kwargs[key] = _tensors(kwargs[key])
        super().__init__(*given, *args[2:], **kwargs)

    def _base_init(self, name: Any = None, trainable: bool = True, dtype: Any = None) -> None:
        super()._base_init(name or given_name(type(self)), trainable, dtype)

    # --- calling ------------------------------------------------------------------------------

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> Any:
        with unconditional():
            return super()._set_inputs(inputs, outputs, training)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The outputs for other inputs, in a phase, or in that of the learning phase."""
        if training is None:
            return super().call(inputs, mask)
        tensors = inputs if isinstance(inputs, list) else [inputs]
        masks = mask if isinstance(mask, list) else [mask] * len(tensors)
        with in_phase(training):
            found = self.run_internal_graph(tensors, masks)[0]
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def build(self, input_shape: Any = None) -> None:
        """Make the weights, for inputs of that shape."""
        if self._is_graph_network or self.built:
            return
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        inputs = [K.placeholder(tuple(s)) for s in shapes]
        with unconditional():
            self.call(inputs if len(inputs) > 1 else inputs[0])

    # --- training -----------------------------------------------------------------------------

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        run_eagerly: Any = None,
        **kwargs: Any,
    ) -> None:
        """Say how the model is trained.

        Raises:
            UnsupportedError: `run_eagerly`: there are no eager tensors here.
        """
        if run_eagerly:
            raise UnsupportedError(
                "compile(run_eagerly=True): there are no eager tensors here; leave it out, and look"
                " at values by K.function, or print them by tf.print"
            )
        kept = {k: v for k, v in kwargs.items() if k not in SILENT}
        rename = (lambda name: name) if is_second() else _short
        super().compile(
            optimizers.get(optimizer),
            loss,
            metrics=mapped(rename, metrics),
            loss_weights=loss_weights,
            sample_weight_mode=sample_weight_mode,
            weighted_metrics=mapped(rename, weighted_metrics),
            target_tensors=target_tensors,
            **kept,
        )

    run_eagerly = False

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Train; the history is found under both names of accuracy."""
        history = super().fit(*args, **kwargs)
        history.history = Logs(history.history)
        return history

    def fit_generator(self, *args: Any, **kwargs: Any) -> Any:
        """Train; the history is found under both names of accuracy."""
        history = super().fit_generator(*args, **kwargs)
        history.history = Logs(history.history)
        return history

    def evaluate(self, *args: Any, return_dict: bool = False, **kwargs: Any) -> Any:
        """The loss and the metrics; by name, if asked for."""
        return self._named(super().evaluate(*args, **kwargs), return_dict)

    def train_on_batch(
        self, x: Any, y: Any = None, *args: Any, return_dict: bool = False, **kwargs: Any
    ) -> Any:
        """One step; gives the loss and the metrics."""
        return self._named(super().train_on_batch(x, y, *args, **kwargs), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, *args: Any, return_dict: bool = False, **kwargs: Any
    ) -> Any:
        """The loss and the metrics of a batch."""
        return self._named(super().test_on_batch(x, y, *args, **kwargs), return_dict)

    def _named(self, found: Any, wanted: bool) -> Any:
        if not wanted:
            return found
        return Logs(zip(self.metrics_names, leaves(found), strict=True))

    @property
    def weights(self) -> Any:
        """All weights, layer by layer, as `get_weights` and `set_weights` have them."""
        own = self._trainable_weights + self._non_trainable_weights
        return _distinct(own + [w for layer in self.layers for w in layer.weights])

    # --- files --------------------------------------------------------------------------------

    def save(
        self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
        save_format: Any = None, signatures: Any = None, options: Any = None, **_: Any,
    ) -> None:  # fmt: skip
        """Write the model to a file, or to a folder that `load_model` reads."""
        files.save_model(self, filepath, overwrite, include_optimizer, save_format)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, save_format: Any = None, **_: Any
    ) -> None:
        """Write the weights to a file."""
        files.save_weights(self, super().save_weights, filepath, overwrite, save_format)

    def load_weights(
        self, filepath: Any, by_name: bool = False, skip_mismatch: bool = False, **_: Any
    ) -> Any:
        """Read weights that `save_weights` wrote, or TensorFlow, in HDF5."""
        load = super().load_weights
        return files.load_weights(load, filepath, by_name, skip_mismatch)


def _short(name: Any) -> Any:
    return SHORT.get(name, name) if isinstance(name, str) else name


def _distinct(variables: list[Any]) -> list[Any]:
    return list(dict.fromkeys(variables))


class Sequential(Model, theirs.Sequential):  # type: ignore[misc]
    """Layers one behind the other.

    Args:
        layers: what to begin with; `tf.keras.Input(…)` may come first.
        name: the model's name.
    """

    def __init__(self, layers: Any = None, name: str | None = None, **_: Any) -> None:
        theirs.Sequential.__init__(self, name=name)
        for layer in layers or []:
            self.add(layer)

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> Any:
        shape = (inputs[0] if isinstance(inputs, list) else inputs).shape
        if type(self).__name__ == "Sequential":
            return super()._set_inputs(inputs, outputs, training)
        return self.build((None, *tuple(shape)[1:]))

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        if isinstance(layer, Node):
            layer = vars(layer)["_keras_history"][0]
        theirs.Sequential.add(self, layer)

    def build(self, input_shape: Any = None) -> None:
        """Make the weights, for inputs of that shape."""
        theirs.Sequential.build(self, None if input_shape is None else tuple(input_shape))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The outputs for other inputs."""
        if not self.built:
            self.build(K.int_shape(inputs))
        return Model.call(self, inputs, training, mask)


NAMES: dict[str, Any] = {
    "Model": Model,
    "Sequential": Sequential,
    "models.Model": Model,
    "models.Sequential": Sequential,
}
