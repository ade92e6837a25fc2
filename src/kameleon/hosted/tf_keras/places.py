"""Tensors in several places of a layer's call: `layer(q, v)`, `layer(x, gate=g)`, `layer({…})`.

Keras 2.3.1 knows one tensor or one list of tensors for each call. Here a node's tensors are those
of the inputs, then those among the further arguments; where each belongs is told by an argument of
the node, which is data, so that models with such calls can be called, cloned and saved.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from keras import backend as K
from keras.utils.generic_utils import to_list

from ..._scopes import Scope
from ...ir.node import Node

# The argument of a node that says where its tensors belong: {'inputs': nest, 'more': {name: nest}}
# with the tensors' numbers in the nests.
PLACES = "kameleon_places"
CONSTANT = "="  # the key of what is no tensor

# The layer that is called, and the nest of its inputs, where that is no tensor or list of tensors.
_nest: ContextVar[tuple[Any, Any] | None] = ContextVar("kameleon_nest_of_inputs", default=None)


def is_output(x: Any) -> bool:
    """Whether something is a tensor that a layer gave."""
    return isinstance(x, Node) and "_keras_history" in vars(x)


def numbered(nest: Any, wanted: Callable[[Any], bool], found: list[Any]) -> Any:
    """The nest with numbers for the tensors that are wanted; these are appended to `found`."""
    if isinstance(nest, Mapping):
        return {key: numbered(nest[key], wanted, found) for key in sorted(nest)}
    if isinstance(nest, (list, tuple)):
        return [numbered(part, wanted, found) for part in nest]
    if not wanted(nest):
        return {CONSTANT: nest}
    found.append(nest)
    return len(found) - 1


def filled(nest: Any, tensors: Sequence[Any]) -> Any:
    """The nest of which `numbered` made this one, with other tensors."""
    if isinstance(nest, dict):
        if nest.keys() == {CONSTANT}:
            return nest[CONSTANT]
        return {key: filled(part, tensors) for key, part in nest.items()}
    if isinstance(nest, list):
        return [filled(part, tensors) for part in nest]
    return tensors[nest]


def unpacked(inputs: Any, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The inputs and the further arguments of a call, of the tensors and arguments of a node."""
    kept = dict(arguments)
    places = kept.pop(PLACES, None)
    if places is None:
        return inputs, kept
    tensors = to_list(inputs)
    more = {key: filled(nest, tensors) for key, nest in places["more"].items()}
    return filled(places["inputs"], tensors), kept | more


# --- nests as inputs ------------------------------------------------------------------------------


def flat_inputs(inputs: Any) -> tuple[Any, Any]:
    """Inputs as a tensor or a list of tensors, and their nest, if that is another one."""
    is_nest = isinstance(inputs, Mapping) or (
        isinstance(inputs, (list, tuple))
        and any(isinstance(x, Mapping) or _holds_tensors(x) for x in inputs)
    )
    if not is_nest:
        return inputs, None
    found: list[Any] = []
    nest = numbered(inputs, lambda x: True, found)
    return found, nest


def _holds_tensors(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(isinstance(part, Node) for part in x)


def nested(layer: Any, nest: Any) -> Scope[Any]:
    """A block in which a layer's methods get their inputs in that nest."""
    return Scope(_nest, lambda outer: None if nest is None else (layer, nest))


def in_nest(layer: Any, flat: Any) -> Any:
    """Inputs, or shapes of inputs, as the layer's methods take them."""
    told = _nest.get()
    if told is None or told[0] is not layer:
        return flat
    return filled(told[1], flat if isinstance(flat, list) else [flat])


# --- nodes ----------------------------------------------------------------------------------------


def noting(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer._add_inbound_node`, which also knows tensors among the further arguments."""

    def _add_inbound_node(
        self: Any, input_tensors: Any, output_tensors: Any, input_masks: Any, output_masks: Any,
        input_shapes: Any, output_shapes: Any, arguments: Any = None,
    ) -> None:  # fmt: skip
        tensors = list(to_list(input_tensors))
        nest = _nest.get()
        inputs = nest[1] if nest is not None and nest[0] is self else None
        known, more, kept = len(tensors), {}, {}
        for key, value in (arguments or {}).items():
            found = list(tensors)
            numbers = numbered(value, is_output, found)
            if len(found) == len(tensors):
                kept[key] = value
            else:
                more[key], tensors = numbers, found
        if more or inputs is not None:
            if inputs is None:
                inputs = list(range(known)) if isinstance(input_tensors, list) else 0
            kept[PLACES] = {"inputs": inputs, "more": more}
        others = tensors[known:]
        theirs(
            self, tensors, output_tensors,
            [*to_list(input_masks), *(None for _ in others)], output_masks,
            [*to_list(input_shapes), *(K.int_shape(x) for x in others)], output_shapes, kept,
        )  # fmt: skip

    return _add_inbound_node


class Placed:
    """A layer, called with the tensors of a node, each of which goes to its place."""

    def __init__(self, layer: Any, arguments: Mapping[str, Any]):
        vars(self).update(layer=layer, places={PLACES: arguments[PLACES]})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "layer" not in vars(self):
            raise AttributeError(name)
        return getattr(vars(self)["layer"], name)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives for its inputs."""
        given, more = unpacked(inputs, vars(self)["places"])
        layer = vars(self)["layer"]
        flat, nest = flat_inputs(given)
        with nested(layer, nest):
            return layer.call(flat, **kwargs, **more)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of what the layer gives."""
        return vars(self)["layer"].compute_mask(self._of_inputs(inputs), self._of_inputs(mask))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of what the layer gives."""
        layer, nest = vars(self)["layer"], self._nest()
        with nested(layer, nest if isinstance(nest, dict) else None):
            return layer.compute_output_shape(self._of_inputs(input_shape))

    def _nest(self) -> Any:
        return vars(self)["places"][PLACES]["inputs"]

    def _of_inputs(self, found: Any) -> Any:
        """Of what there is for each tensor, that for the inputs, which come first."""
        if not isinstance(found, list) or self._nest() == 0:
            return found[0] if isinstance(found, list) else found
        return found[: _count(self._nest())]


def _count(nest: Any) -> int:
    if isinstance(nest, dict):
        nest = list(nest.values())
    return sum(map(_count, nest)) if isinstance(nest, list) else 1


def placed(node: Any) -> Any:
    """A node of Keras whose layer sends each tensor to its place."""
    if PLACES not in (node.arguments or {}):
        return node
    found = copy.copy(node)
    found.outbound_layer = Placed(node.outbound_layer, node.arguments)
    found.arguments = {k: v for k, v in node.arguments.items() if k != PLACES}
    return found


def layer_of(node: Any) -> Any:
    """The layer of a node."""
    layer = node.outbound_layer
    return vars(layer)["layer"] if isinstance(layer, Placed) else layer


def layer_of_tensor(x: Any) -> Any:
    """The layer that gave a tensor."""
    return vars(x)["_keras_history"][0]


def call_of(node: Any, tensors: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
    """Inputs and further arguments with which a node's layer is called, of other tensors."""
    layer = node.outbound_layer
    given = tensors[0] if len(tensors) == 1 else list(tensors)
    places = vars(layer)["places"] if isinstance(layer, Placed) else {}
    # Keras 2.3.1 keeps masks of other calls there, which the layer gets anew.
    kept = {k: v for k, v in (node.arguments or {}).items() if k != "mask"}
    return unpacked(given, {**kept, **places})
