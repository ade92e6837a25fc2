"""Layers that a program writes: what `tf.keras` lets their methods do.

`build` gets shapes with the methods of `tf.TensorShape`; `call` may ask `if training:`, give
tuples, and take several tensors; `compute_output_shape` may be left out.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import FrameType
from typing import Any

from keras import backend as K
from keras.engine.base_layer import Layer

from ..._scopes import Scope
from ...hosting.naming import INSIDE
from ...ir.node import Node, Variable, walk
from .nests import layers_in, leaves, mapped
from .places import in_nest
from .shapes import plain, shown

# The inputs of the outermost layer of the program whose `call` runs: losses and updates of the
# layers inside depend on these. None outside of all; () where they're to count as unconditional.
_inputs: ContextVar[Any] = ContextVar("kameleon_inputs", default=None)


def is_of_program(kind: type) -> bool:
    """Whether a class is the program's own."""
    return kind.__module__.partition(".")[0] not in INSIDE


def is_asked_by_program(frame: FrameType) -> bool:
    """Whether the code in a frame is the program's."""
    name = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] not in INSIDE


def inputs_in_force(given: Any) -> Any:
    """What losses and updates made now depend on."""
    return _inputs.get() or given


def unconditional() -> Scope[Any]:
    """A block in which losses and updates depend on no inputs."""
    return Scope(_inputs, lambda outer: ())


# --- classes ------------------------------------------------------------------------------------


def adopt(kind: type) -> None:
    """Wrap the methods that a class of the program defines."""
    if is_of_program(kind):
        wrapped = dict(WRAPPED)
        for base, more in WRAPPED_IN.items():
            wrapped |= more if issubclass(kind, base) else {}
        for name, wrap in wrapped.items():
            method = vars(kind).get(name)
            if inspect.isfunction(method):
                setattr(kind, name, wrap(method))


def like(method: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper under the method's name and signature, by which Keras finds its arguments."""
    functools.update_wrapper(wrapper, method)
    vars(wrapper)["__signature__"] = inspect.signature(method)
    return wrapper


def _build(method: Callable[..., Any]) -> Callable[..., Any]:
    def build(self: Any, input_shape: Any = None) -> None:
        method(self, shown(in_nest(self, input_shape)))
        self.built = True

    return like(method, build)


def _compute_output_shape(method: Callable[..., Any]) -> Callable[..., Any]:
    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        return plain(method(self, shown(input_shape)))

    return like(method, compute_output_shape)


def _call(method: Callable[..., Any]) -> Callable[..., Any]:
    asks = asks_for_training(method)

    def call(self: Any, flat: Any, *args: Any, **kwargs: Any) -> Any:
        force = _inputs.get()
        outer = list(leaves(flat)) if force is None else force
        inputs = in_nest(self, flat)
        with Scope(_inputs, lambda _: outer):
            if asks:
                found = _in_both_phases(method, self, inputs, args, kwargs)
            else:
                found = method(self, inputs, *args, **kwargs)
        self.__dict__["_kameleon_keys"] = list(found) if isinstance(found, dict) else None
        found = _as_outputs(found)
        self.__dict__["_kameleon_last"] = (_shapes(flat), found)
        return found

    return like(method, call)


WRAPPED = {"build": _build, "call": _call, "compute_output_shape": _compute_output_shape}
WRAPPED_IN: dict[type, dict[str, Any]] = {}  # by base class, what is wrapped beside these


def _as_outputs(found: Any) -> Any:
    """What `call` gives, as Keras takes it: a tensor or a list of tensors, each of which says
    whether it depends on the phase.
    """
    for x in leaves(found):
        if isinstance(x, Node) and "_uses_learning_phase" not in vars(x):
            x._uses_learning_phase = any(vars(n).get("is_phase") for n in walk([x]))
    if isinstance(found, dict):
        return list(found.values())
    return list(found) if isinstance(found, tuple) else found


def as_given(layer: Any, found: Any) -> Any:
    """What a layer's call gives, in a dict where its `call` gave one."""
    keys = layer.__dict__.get("_kameleon_keys")
    if keys is None:
        return found
    return dict(zip(keys, found if isinstance(found, list) else [found], strict=True))


def _shapes(inputs: Any) -> Any:
    return mapped(lambda x: K.int_shape(x) if isinstance(x, Node) else None, inputs)


# --- shapes -------------------------------------------------------------------------------------


def shape_of_output(layer: Any, input_shape: Any) -> Any:
    """The shape of what `call` gave for inputs of this shape, or would give."""
    known, found = layer.__dict__.get("_kameleon_last", (None, None))
    if plain(known) != input_shape:
        kinds = K.floatx() if layer.dtype is None else layer.dtype
        with unconditional():
            found = layer.call(mapped_shape(lambda s: K.placeholder(s, dtype=kinds), input_shape))
    if isinstance(found, list):
        return [K.int_shape(x) for x in found]
    return K.int_shape(found) if isinstance(found, Node) else None


def mapped_shape(function: Callable[[Any], Any], shape: Any) -> Any:
    """A function of one shape, for each of a list of shapes."""
    return [function(part) for part in shape] if isinstance(shape, list) else function(shape)


# --- the phase ----------------------------------------------------------------------------------

JUMPS = ("POP_JUMP", "JUMP_IF")
BETWEEN = frozenset({"TO_BOOL", "UNARY_NOT", "COPY", "POP_TOP", "NOP", "CACHE"})


def asks_for_training(method: Callable[..., Any]) -> bool:
    """Whether a function has a parameter `training` on whose truth it branches.

    >>> asks_for_training(lambda self, x, training=None: 1 if training else x)
    True
    >>> asks_for_training(lambda self, x, training=None: self.drop(x, training=training))
    False
    """
    code = method.__code__
    if "training" not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    found = list(dis.get_instructions(code))
    for i, instruction in enumerate(found):
        if instruction.opname.startswith("LOAD_FAST") and instruction.argval == "training":
            after = (x.opname for x in found[i + 1 :] if x.opname not in BETWEEN)
            following = next(after, "")
            # `training is None` asks for something else, and is answered as it stands.
            if any(jump in following for jump in JUMPS) and "NONE" not in following:
                return True
    return False


def _in_both_phases(
    method: Callable[..., Any], self: Any, inputs: Any, args: Any, kwargs: Any
) -> Any:
    """What a method gives that branches on `training`: by the phase, where that's open."""
    bound = inspect.signature(method).bind(self, inputs, *args, **kwargs).arguments
    training = kwargs.get("training", bound.get("training"))
    phase = K.learning_phase() if training is None else training
    if not isinstance(phase, Node):
        return _called(method, {**bound, "training": bool(phase)})
    yes = _called(method, {**bound, "training": True})
    no = _called(method, {**bound, "training": False})
    return _chosen(yes, no, None if training is None else phase)


def _called(method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    bound = inspect.BoundArguments(inspect.signature(method), arguments)
    return method(*bound.args, **bound.kwargs)


def _chosen(yes: Any, no: Any, phase: Any) -> Any:
    if isinstance(yes, (list, tuple)):
        return [_chosen(a, b, phase) for a, b in zip(yes, no, strict=True)]
    return yes if yes is no else K.in_train_phase(yes, no, training=phase)


# --- arguments ----------------------------------------------------------------------------------


def by_name(layer: Any, args: Iterable[Any]) -> dict[str, Any]:
    """Arguments of `layer(inputs, …)` behind the inputs, by the names that `call` has for them."""
    given = list(args)
    if not given:
        return {}
    names = list(inspect.signature(layer.call).parameters)[1:]
    return dict(zip(names, given, strict=False))


# --- attributes ---------------------------------------------------------------------------------


class TrackedList(list[Any]):
    """A list in a layer's attribute: layers that are put in later belong to that layer, too."""

    owner: Any = None

    def append(self, item: Any) -> None:
        """Put an item at the end."""
        track_layers(self.owner, item)
        super().append(item)

    def extend(self, items: Iterable[Any]) -> None:
        """Put items at the end."""
        for item in items:
            self.append(item)

    def insert(self, index: Any, item: Any) -> None:
        """Put an item before that of the index."""
        track_layers(self.owner, item)
        super().insert(index, item)

    def __setitem__(self, index: Any, item: Any) -> None:
        track_layers(self.owner, item)
        super().__setitem__(index, item)

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        self.extend(items)
        return self


class TrackedDict(dict[Any, Any]):
    """A dict in a layer's attribute: layers that are put in later belong to that layer, too."""

    owner: Any = None

    def __setitem__(self, key: Any, item: Any) -> None:
        track_layers(self.owner, item)
        super().__setitem__(key, item)


def tracked(layer: Any, value: Any) -> Any:
    """The value of an attribute that a program sets: the layer's, with the layers in it."""
    kinds: dict[type, Any] = {list: TrackedList, dict: TrackedDict}
    kind = kinds.get(type(value))
    if kind is None and not isinstance(value, tuple):
        return value
    track_layers(layer, value)
    for each in leaves(value):
        if isinstance(each, Variable):
            track_variable(layer, each)
    if kind is not None and isinstance(layer, Layer) and _is_for_layers(value):
        value = kind(value)
        value.owner = layer
    return value


def _is_for_layers(value: Any) -> bool:
    return not value or bool(layers_in(value))


def parts(model: Any) -> list[list[Any]]:
    """The layers of a model; those of one list in an attribute are one part."""
    lists = [v for v in vars(model).values() if isinstance(v, (TrackedList, TrackedDict))]
    found: list[list[Any]] = []
    seen: set[Any] = set()
    for layer in model.layers:
        if layer not in seen:
            part = next((p for p in map(layers_in, lists) if layer in p), [layer])
            found.append(part)
            seen.update(part)
    return found


def track_layers(layer: Any, nest: Any) -> None:
    """Make the layers in a nest parts of a layer."""
    found = layers_in(nest)
    if found:
        known = layer.__dict__.setdefault("_layers", [])
        known += [each for each in dict.fromkeys(found) if each not in known]


def track_variable(layer: Any, variable: Any) -> None:
    """Make a variable one of a layer's weights."""
    where = "_trainable_weights" if variable.trainable else "_non_trainable_weights"
    known = layer.__dict__.setdefault(where, [])
    if not any(each is variable for each in known):
        known.append(variable)
    variable._tracked = True
