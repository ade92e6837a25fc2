"""The base of all layers of TensorFlow 1: variables in a scope of theirs, that can be shared."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ..graph import GraphKeys, get_default_graph
from ..scopes import VariableScope, get_variable, variable_scope
from ..shapes import TensorShape


class InputSpec:
    """What a layer asks of its input: rank, sizes, dtype."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Any = None,
    ):
        self.dtype, self.shape = dtype, shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim, self.axes = max_ndim, min_ndim, axes or {}


class Layer:
    """Makes its variables at the first call, and computes with them at each.

    A subclass gives `call`, and `build`, which makes variables by `add_weight`.

    Args:
        trainable: whether its variables are trained.
        name: of its scope; by default that of the class, made unique.
        dtype: of its variables; that of the first input by default.
        _reuse: True shares the variables of another layer with that name.
        _scope: the scope itself.
    """

    stateful = False
    dtype: Any = None

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any
    ):
        self._reuse = kwargs.pop("_reuse", None)
        scope = kwargs.pop("_scope", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        for key in ("input_shape", "batch_input_shape", "weights", "batch_size"):
            kwargs.pop(key, None)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {', '.join(sorted(kwargs))}")
        self.trainable, self.dtype, self.built = trainable, dtype, False
        self._base_name = name or _snake(type(self).__name__)
        self._name, self.input_spec = name, None
        self._wanted = scope if scope is not None else (name if self._reuse else None)
        self._entered: VariableScope | None = None
        self._trained: list[Any] = []
        self._fixed: list[Any] = []
        self._losses: list[Any] = []
        self._updates: list[Any] = []
        if isinstance(self._wanted, VariableScope):
            self._entered = self._wanted

    # What subclasses give -----------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The layer's output."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of that shape."""
        raise NotImplementedError

    # Calling ------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The output for an input; `scope` names another scope for the variables."""
        inputs = _tensors(inputs)
        if self.dtype is None:
            first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
            self.dtype = first.dtype if first.dtype.is_float else "float32"
        with self._scope(kwargs.pop("scope", None)):
            if not self.built:
                shapes = (
                    [TensorShape(K.int_shape(x)) for x in inputs]
                    if isinstance(inputs, (list, tuple))
                    else TensorShape(K.int_shape(inputs))
                )
                self.build(shapes)
                self.built = True
            outputs = self.call(inputs, *args, **kwargs)
        if self.activity_regularizer is not None:
            self.add_loss(self.activity_regularizer(outputs))
        return outputs

    apply = __call__

    def _scope(self, given: Any) -> Any:
        """The scope of the variables: entered anew at the first call, the same at the others."""
        if self._entered is None or not self.built:
            return _First(self, given)
        return variable_scope(self._entered, reuse=True)

    @property
    def name(self) -> str:
        """The layer's name."""
        if self._name is None:
            self._name = self._entered.name if self._entered is not None else self._base_name
        return self._name

    @property
    def scope_name(self) -> str:
        """The name of the scope of its variables."""
        if self._entered is None:
            raise ArgumentError(f"No name available for layer scope: {self.name!r} wasn't called")
        return str(self._entered.name)

    @property
    def graph(self) -> Any:
        """The graph in force."""
        return get_default_graph()

    # Variables ----------------------------------------------------------------------------------

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A variable in the layer's scope; shared, where the scope says so."""
        trained = self.trainable and trainable is not False
        graph = get_default_graph()
        before = len(graph.get_collection(GraphKeys.REGULARIZATION_LOSSES))
        variable = get_variable(
            name, shape, dtype or self.dtype or "float32", initializer, regularizer, trained,
            constraint=constraint,
        )  # fmt: skip
        self._losses += graph.get_collection(GraphKeys.REGULARIZATION_LOSSES)[before:]
        own = self._fixed if trainable is False else self._trained
        if all(variable is not v for v in own):
            own.append(variable)
        return variable

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add losses to the layer's, and to those of the graph."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if loss is not None:
                self._losses.append(loss)
                get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add updates to the layer's, and to those of the graph."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(update)
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, update)

    @property
    def losses(self) -> list[Any]:
        """The losses of regularizers."""
        return list(self._losses)

    @property
    def updates(self) -> list[Any]:
        """Updates that belong to a step of training."""
        return list(self._updates)

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained."""
        return list(self._trained) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that aren't trained."""
        return list(self._fixed) if self.trainable else self._trained + self._fixed

    @property
    def weights(self) -> list[Any]:
        """All variables."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    def count_params(self) -> int:
        """How many numbers the variables hold."""
        return int(sum(K.count_params(v) for v in self.weights))


class _First:
    """The scope of a layer's first call, which the layer keeps."""

    def __init__(self, layer: Layer, given: Any):
        self.layer, wanted = layer, layer._wanted if given is None else given
        name = wanted if layer._entered is None else layer._entered
        self.block = variable_scope(name, layer._name or layer._base_name, reuse=layer._reuse)

    def __enter__(self) -> Any:
        scope = self.block.__enter__()
        self.layer._entered = scope
        return scope

    def __exit__(self, *exception: Any) -> Any:
        return self.block.__exit__(*exception)


def _snake(name: str) -> str:
    """'batch_normalization', of 'BatchNormalization'."""
    parted = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


def _tensors(inputs: Any) -> Any:
    if isinstance(inputs, (list, tuple)) and any(K.is_tensor(x) for x in inputs):
        return type(inputs)(inputs) if isinstance(inputs, list) else inputs
    return inputs if not _is_plain(inputs) else as_tensor(inputs, "tf.layers")


def _is_plain(inputs: Any) -> bool:
    return not K.is_tensor(inputs) and not isinstance(inputs, (list, tuple))


def activated(activation: Callable[[Any], Any] | str | None, x: Any) -> Any:
    """An activation's value, by function or by name; x itself for None."""
    if activation is None:
        return x
    return getattr(K, activation)(x) if isinstance(activation, str) else activation(x)


def as_function(kind: Callable[..., Any], name: str, shared: bool = True) -> Callable[..., Any]:
    """A function that makes a layer and calls it: `inputs`, then the layer's own arguments.

    Args:
        kind: the layer's class.
        name: the function's.
        shared: whether the function takes `reuse`.
    """
    own = [p for p in signature(kind).parameters.values() if p.kind is not p.VAR_KEYWORD]
    parameters = [Parameter("inputs", Parameter.POSITIONAL_OR_KEYWORD), *own]
    if shared:
        parameters.append(Parameter("reuse", Parameter.POSITIONAL_OR_KEYWORD, default=None))
    taken = Signature(parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = taken.bind(*args, **kwargs).arguments
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        return kind(**given, _scope=given.get("name"), _reuse=reuse)(inputs)

    call.__name__ = call.__qualname__ = name
    vars(call)["__signature__"] = taken
    return call


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"layers.Layer": Layer, "layers.InputSpec": InputSpec}
