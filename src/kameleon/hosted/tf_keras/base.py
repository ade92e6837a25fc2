"""What layers of `tf.keras` have beside those of Keras 2.3.1.

The hosted Keras's class `Layer` is the one that both know: it gets the names that it lacks, and
takes arguments that it refused. What it did before, it does as before.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from keras import backend as K
from keras import constraints, initializers, regularizers
from keras.engine.base_layer import Layer

from ...errors import UnsupportedError
from ...ir.node import Variable
from . import operations, own, places
from .nests import layers_in
from .shapes import plain

# Arguments of layers that say where or how TensorFlow computes: they mean nothing here.
SILENT = frozenset({"autocast", "experimental_autocast", "distribution_strategy"})


def dtype_name(dtype: Any) -> str | None:
    """The name of an element type, as Keras takes it; of a policy, what variables have."""
    if dtype is None:
        return None
    dtype = getattr(dtype, "variable_dtype", dtype)
    return str(getattr(dtype, "name", None) or np.dtype(dtype).name)


def given_name(kind: type) -> str:
    """A new name for a layer or model: `dense`, `dense_1` … as TensorFlow counts."""
    words = re.sub(
        r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", kind.__name__)
    )
    known = words.lower()
    name = f"private{known}" if known.startswith("_") else known
    count = K.get_uid(name)
    return name if count == 1 else f"{name}_{count - 1}"


# --- making a layer -----------------------------------------------------------------------------


def _making(theirs: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(theirs)
    def __init__(  # noqa: N807
        self: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if dynamic:
            raise UnsupportedError(
                f"{type(self).__name__}(dynamic=True) runs eagerly; here layers are symbolic: leave"
                " the argument out, and use K.switch, tf.cond or tf.while_loop in `call`"
            )
        given = {k: v for k, v in kwargs.items() if k not in SILENT}
        for shape in ("input_shape", "batch_input_shape"):
            if given.get(shape) is not None:
                given[shape] = plain(given[shape])
        name = name or given_name(type(self))
        theirs(self, trainable=trainable, name=name, dtype=dtype_name(dtype), **given)

    return __init__


def _setting(theirs: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(theirs)
    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if own.is_asked_by_program(sys._getframe(1)):
            value = own.tracked(self, value)
        if isinstance(value, Variable) and not value.__dict__.get("_tracked"):
            own.track_variable(self, value)
        theirs(self, name, value)

    return __setattr__


# --- weights ------------------------------------------------------------------------------------


def add_weight(
    self: Any,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    constraint: Any = None,
    partitioner: Any = None,
    use_resource: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
    **kwargs: Any,
) -> Any:
    """A new variable of the layer.

    Args:
        name: the variable's name.
        shape: ints, or a `TensorShape`; a scalar by default.
        dtype: of its elements; the layer's by default.
        initializer: gives the first value; Glorot's uniform distribution for floats, else zeros.
        regularizer: adds to the loss.
        trainable: whether optimizers change it.
        constraint: what is applied after an update.
        partitioner: with `use_resource`, `synchronization` and `aggregation`: variables are whole
            here, and on one device.
    """
    kind = dtype_name(dtype) or self.dtype or K.floatx()
    if initializer is None:
        initializer = "glorot_uniform" if kind.startswith(("float", "bfloat")) else "zeros"
    made = initializer() if inspect.isclass(initializer) else initializer
    if trainable is None:
        trainable = not str(synchronization).endswith("ON_READ")
    sizes = () if shape is None else plain((shape,) if isinstance(shape, int) else shape)
    with own.unconditional():
        weight = _theirs["add_weight"](
            self,
            name=name,
            shape=sizes,
            dtype=kind,
            initializer=initializers.get(made),
            regularizer=regularizers.get(regularizer),
            trainable=bool(trainable),
            constraint=constraints.get(constraint),
        )
    weight.trainable = bool(trainable)
    return weight


def add_metric(
    self: Any, value: Any, *more: Any, name: str | None = None, aggregation: str | None = None
) -> None:
    """Show the mean of a tensor with the losses.

    Args:
        value: a tensor.
        more: `aggregation` and `name` by position, in either order: TensorFlow changed it.
        name: under which it's shown.
        aggregation: 'mean', or None for the result of a metric.
    """
    for word in more:
        if word in ("mean", None):
            aggregation = word
        else:
            name = word
    if aggregation not in ("mean", None):
        raise UnsupportedError(f"add_metric: aggregation={aggregation!r}; use 'mean', or a metric")
    _theirs["add_metric"](self, value, name=name)


def add_loss(self: Any, losses: Any, inputs: Any = None) -> None:
    """Add tensors, or functions that give them, to the losses."""
    given = losses if isinstance(losses, (list, tuple)) else [losses]
    found = [each() if callable(each) else each for each in given]
    _theirs["add_loss"](self, found, inputs=own.inputs_in_force(inputs))


def add_update(self: Any, updates: Any, inputs: Any = None) -> None:
    """Add updates, or functions that give them, to what a step of training does."""
    given = updates if isinstance(updates, (list, tuple)) else [updates]
    found = [each() if callable(each) else each for each in given]
    kept = [each for each in found if each is not None]
    _theirs["add_update"](self, kept, inputs=own.inputs_in_force(inputs))


# --- calling ------------------------------------------------------------------------------------


def _calling(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def __call__(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        kwargs |= own.by_name(self, args)
        inputs, kwargs = places.unpacked(inputs, kwargs)
        kwargs = {k: v for k, v in kwargs.items() if k != "mask" or v is not None}
        flat, nest = places.flat_inputs(inputs)
        with operations.calling(self, flat) as taken, places.nested(self, nest):
            return own.as_given(self, theirs(self, taken, **kwargs))

    return __call__


def compute_output_shape(self: Any, input_shape: Any) -> Any:
    """The shape of the output; for a layer of the program, that of what `call` gives."""
    if own.is_of_program(type(self)):
        found = own.shape_of_output(self, plain(input_shape))
        if found is not None:
            return found
    return _theirs["compute_output_shape"](self, input_shape)


def _submodules(self: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for layer in layers_in(getattr(self, "_layers", [])):
        found += [layer, *_submodules(layer)]
    return tuple(dict.fromkeys(found))


OF_LAYERS: dict[str, Any] = {
    "trainable_variables": property(lambda self: self.trainable_weights),
    "non_trainable_variables": property(lambda self: self.non_trainable_weights),
    "variables": property(lambda self: self.weights),
    "inbound_nodes": property(lambda self: self._inbound_nodes),
    "outbound_nodes": property(lambda self: self._outbound_nodes),
    "submodules": property(_submodules),
    "dynamic": property(lambda self: False),
    "name_scope": lambda self: nullcontext(),
    "activity_regularizer": None,
    "add_weight": add_weight,
    "add_variable": add_weight,
    "add_metric": add_metric,
    "add_loss": add_loss,
    "add_update": add_update,
    "apply": lambda self, inputs, *args, **kwargs: self(inputs, *args, **kwargs),
    "compute_output_shape": compute_output_shape,
    "_compute_dtype": property(lambda self: self.dtype),
}
CHANGED = {
    "__init__": _making,
    "__setattr__": _setting,
    "__call__": _calling,
    "_add_inbound_node": places.noting,
}
_theirs: dict[str, Any] = {}


def install() -> None:
    """Give the hosted Keras's layers what those of `tf.keras` have. A second call does nothing."""
    if _theirs:
        return
    for name in OF_LAYERS:
        if hasattr(Layer, name):
            _theirs[name] = getattr(Layer, name)
    for name, change in CHANGED.items():
        _theirs[name] = getattr(Layer, name)
        setattr(Layer, name, change(_theirs[name]))
    for name, value in OF_LAYERS.items():
        setattr(Layer, name, value)
    Layer.__init_subclass__ = classmethod(lambda cls, **kwargs: own.adopt(cls))
