"""`tf.keras.Model` and `Sequential`: what they take beside what Keras 2.3.1's do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import keras.models as theirs
import numpy as np
from keras import backend as K
from keras.callbacks.callbacks import CallbackList

from ...errors import ArgumentError, UnsupportedError
from ...ir.node import Node, Update, dependents, walk
from ...tf1.data.dataset import Dataset
from . import arrays, base, datasets, files, losses, metrics, optimizers, own, places
from .base import given_name
from .logs import Logs, Losses, scalars
from .nests import leaves, mapped
from .operations import with_history
from .own import unconditional
from .phases import in_phase
from .version import is_second

# What `compile` takes that says how TensorFlow runs the steps.
SILENT = frozenset({"distribute", "experimental_run_tf_function", "steps_per_execution"})
# Metrics whose function follows from the loss, and what TensorFlow 1's histories call them.
CHOSEN_BY_LOSS = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}


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

    def __setattr__(self, name: str, value: Any) -> None:
        if own.is_asked_by_program(sys._getframe(1)):
            value = own.tracked(self, value)
        super().__setattr__(name, value)

    def _base_init(self, name: Any = None, trainable: bool = True, dtype: Any = None) -> None:
        super()._base_init(name or given_name(type(self)), trainable, dtype)

    # --- calling ------------------------------------------------------------------------------

    built: bool
    _nodes_by_depth: dict[int, list[Any]]

    def _init_graph_network(self, *args: Any, **kwargs: Any) -> None:
        super()._init_graph_network(*args, **kwargs)
        by_depth = self._nodes_by_depth.items()
        self._nodes_by_depth = {d: [places.placed(n) for n in nodes] for d, nodes in by_depth}

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> Any:
        flat, nest = places.flat_inputs(inputs)
        with unconditional(), places.nested(self, nest), K.name_scope(self.name):
            found = super()._set_inputs(flat, outputs, training)
        if isinstance(inputs, dict):  # which gives the names that feeds have
            self.input_names = sorted(inputs)
            self._feed_input_names = list(self.input_names)
        return found

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs; of a model whose `call` a subclass writes, what that gives."""
        if not self._is_graph_network:
            return base.compute_output_shape(self, input_shape)
        return super().compute_output_shape(input_shape)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs for other inputs, with the further arguments of `call`."""
        # `build` would call it for these shapes alone; what's built knows its inputs.
        pending = not self.built and type(self).build is Model.build
        if pending:
            self.built = True
        try:
            return super().__call__(inputs, *args, **kwargs)
        finally:
            if pending and not self.inputs:
                self.built = False

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

    @property
    def updates(self) -> list[Any]:
        """What a step of training does beside the optimizer: the updates of layers that are
        trainable now, or have a state, as far as the model's inputs determine them.
        """
        found = list(dict.fromkeys(_updates_of(self)))
        if not found or not self.inputs:
            return found
        order = walk([u.value for u in found])
        known = set(self.inputs)
        foreign = [n for n in order if n.primitive.name == "input" and n not in known]
        others = dependents(order, [n for n in foreign if not vars(n).get("is_phase")])
        return [u for u in found if u.value not in others]

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
        super().compile(
            optimizers.get(optimizer),
            _made(_loss, loss),
            metrics=_made(_metric, metrics),
            loss_weights=loss_weights,
            sample_weight_mode=sample_weight_mode,
            weighted_metrics=_made(_metric, weighted_metrics),
            target_tensors=target_tensors,
            **kept,
        )

    run_eagerly = False

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Train on arrays, a generator or a dataset; the history is found under both names of
        accuracy.
        """
        given = datasets.arguments("fit", args, kwargs)
        if isinstance(given.get("x"), Dataset):
            return datasets.fitted(self, self.fit_generator, given)
        if isinstance(given.get("validation_data"), Dataset):
            steps = given.pop("validation_steps", None)
            given["validation_data"] = datasets.arrays_of(given["validation_data"], steps)
        history = super().fit(**given)
        history.history = Logs(history.history)
        return history

    def fit_generator(self, *args: Any, **kwargs: Any) -> Any:
        """Train; the history is found under both names of accuracy."""
        history = super().fit_generator(*args, **kwargs)
        history.history = Logs(history.history)
        return history

    def evaluate(self, *args: Any, return_dict: bool = False, **kwargs: Any) -> Any:
        """The loss and the metrics; by name, if asked for."""
        given = datasets.arguments("evaluate", args, kwargs)
        if isinstance(given.get("x"), Dataset):
            return self._named(datasets.evaluated(self.evaluate_generator, given), return_dict)
        return self._named(_scalars(super().evaluate(**given)), return_dict)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for arrays, or for the inputs in a dataset."""
        given = datasets.arguments("predict", args, kwargs)
        if isinstance(given.get("x"), Dataset):
            return datasets.predicted(self.predict_generator, given)
        return super().predict(**given)

    def evaluate_generator(
        self, generator: Any, steps: Any = None, callbacks: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """The loss and the metrics of what a generator yields."""
        losses = Losses()
        if isinstance(callbacks, CallbackList):  # of `fit`
            losses.model = callbacks.model
            given: Any = CallbackList([*callbacks.callbacks, losses])
            given.model, given.params = callbacks.model, callbacks.params
        else:
            given = [*(callbacks or []), losses]
        found = super().evaluate_generator(generator, steps, given, *args, **kwargs)
        if isinstance(found, list):
            return _scalars([losses.mean(), *found[1:]])
        return _scalars(losses.mean())

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile`, those of the layers, and the model's own."""
        own_ones = list(self._metrics)
        others = [m for m in super().metrics if not any(m is each for each in own_ones)]
        return [*others, *own_ones]

    @property
    def metrics_names(self) -> list[str]:
        """What the numbers that `evaluate` gives are called."""
        several = self._is_compiled and len(self.outputs) > 1
        losses = [
            f"{name}_loss"
            for i, name in enumerate(self.output_names if several else ())
            if i not in self.skip_target_indices
        ]
        return ["loss", *losses, *(m.name for m in self.metrics)]

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

    def _standardize_user_data(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(args[0], dict) and not self.inputs:
            self._set_inputs({key: np.asarray(value) for key, value in args[0].items()})
        if isinstance(args[0], dict) and not self._is_graph_network:
            args = ([np.asarray(args[0][name]) for name in self._feed_input_names], *args[1:])
        x, y, weights = super()._standardize_user_data(*args, **kwargs)
        return x, arrays.as_targets(y, getattr(self, "_feed_targets", [])), weights

    def _named(self, found: Any, wanted: bool) -> Any:
        if not wanted:
            return found
        return Logs(zip(self.metrics_names, leaves(found), strict=True))

    @property
    def weights(self) -> Any:
        """All weights: those of each layer, or each list of layers, then the model's own."""
        found: list[Any] = []
        for part in own.parts(self):
            if len(part) == 1:
                found += part[0].weights
            else:
                found += [w for layer in part for w in layer.trainable_weights]
                found += [w for layer in part for w in layer.non_trainable_weights]
        return _distinct([*found, *self._trainable_weights, *self._non_trainable_weights])

    def get_weights(self) -> list[Any]:
        """The values of all weights, in their order."""
        return list(K.batch_get_value(self.weights))

    def set_weights(self, weights: Any) -> None:
        """Give all weights values, in their order.

        Raises:
            ArgumentError: (a ValueError) there are more or fewer values than weights.
        """
        known = self.weights
        if len(known) != len(weights):
            raise ArgumentError(
                f"set_weights: {self.name} has {len(known)} weights, not {len(weights)}"
            )
        K.batch_set_value(list(zip(known, weights, strict=True)))

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """The model of a configuration, with weights of its own."""
        with files.known(custom_objects):
            return super().from_config(config, custom_objects)

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


def _scalars(found: Any) -> Any:
    """What `evaluate` gives: numbers of the types that TensorFlow gives."""
    return scalars(found) if isinstance(found, list) else scalars([found])[0]


def _made(get: Any, nest: Any) -> Any:
    """A nest of losses or metrics, those made that are told as configurations."""
    if losses.is_config(nest) or not isinstance(nest, (list, tuple, dict)):
        return nest if nest is None else get(nest)
    if isinstance(nest, dict):
        return {key: _made(get, part) for key, part in nest.items()}
    return [_made(get, part) for part in nest]


def _loss(given: Any) -> Any:
    is_ours = isinstance(given, str) and given == "cosine_similarity"
    return losses.get(given) if is_ours or losses.is_config(given) else given


def _metric(given: Any) -> Any:
    """A metric as Keras 2.3.1 takes it, which reports it under the name that TensorFlow gives it:
    TensorFlow 2 that of the program, TensorFlow 1 that of the function.
    """
    if isinstance(given, str):
        if given in CHOSEN_BY_LOSS:
            return given if is_second() else CHOSEN_BY_LOSS[given]
        found = metrics.get(given)
        if isinstance(found, type):
            return found()
        return given if is_second() else found
    return metrics.get(given) if losses.is_config(given) else given


def _updates_of(layer: Any, frozen: bool = True) -> Iterator[Any]:
    """The updates of a layer and the layers in it, but of those that are frozen.

    A network that was called also has the updates of its layers; they're the layers' own.
    """
    if not frozen or layer.trainable or getattr(layer, "stateful", False):
        inner = getattr(layer, "_layers", [])
        inners = {u for each in inner for u in _updates_of(each, frozen=False)}
        yield from (u for u in layer._updates if isinstance(u, Update) and u not in inners)
        for each in inner:
            yield from _updates_of(each, frozen)


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

    def get_config(self) -> dict[str, Any]:
        """What makes such a model again, with the shape of its inputs."""
        config: dict[str, Any] = theirs.Sequential.get_config(self)
        if self.inputs and config["layers"]:
            first = config["layers"][0]["config"]
            if "batch_input_shape" not in first and "layers" not in first:
                config.setdefault("build_input_shape", K.int_shape(self.inputs[0]))
        return config

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
