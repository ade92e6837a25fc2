"""Layers of Keras 3 that hold compiled functions; Keras is loaded here."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from ...errors import EngineError, FeedError
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.rewrite import substitute
from ...graph.ir.types import TensorType, as_dtype
from ...runtime import saving
from .._nests import structure_of
from ..functions import restored
from .pure import KEY, Pure, Stateless

Run = Callable[[Sequence[Any]], Sequence[Any]]


@keras.saving.register_keras_serializable(package="kameleon")
class FunctionLayer(keras.layers.Layer):  # type: ignore[misc]
    """What `to_keras3` returns; see there."""

    def __init__(self, function: Any, **options: Any):
        options.setdefault("autocast", False)
        super().__init__(**options)
        self._program = Plan(function)
        program = self._program.stateless
        trainable = self._program.trainable
        self._variables = [
            self._weight(name, value, i in trainable)
            for i, (name, value) in enumerate(zip(program.names, program.values, strict=True))
        ]
        self._keys = [self._weight(KEY, key, False) for key in program.keys]
        self.built = True

    def _weight(self, name: str, value: np.ndarray, trainable: bool) -> Any:
        found = self.add_weight(
            shape=value.shape,
            initializer="zeros",
            dtype=value.dtype.name,
            trainable=trainable,
            autocast=False,
            name=name.replace("/", "_"),
        )
        found.assign(value)
        return found

    def build(self, *shapes: Any) -> None:
        """There's nothing left to build."""

    def call(self, inputs: Any = (), training: Any = None) -> Any:
        """The outputs; see `to_keras3`."""
        plan, program = self._program, self._program.stateless
        values = plan.given(inputs)
        phase = None if program.phase is None else bool(training)
        if program.phase is not None:
            node = program.inputs[program.phase]
            values.insert(program.phase, np.asarray(int(bool(phase)), str(node.dtype)))
        state = [x.value for x in self._variables]
        for i in program.updated:  # PyTorch assigns in place, and its gradients need the old ones
            state[i] = keras.ops.copy(state[i])
        keys = [keras.ops.copy(x.value) for x in self._keys]
        found = plan.run(phase)([*values, *state, *keys])
        first = len(program.function.outputs)
        for i, at in program.updated.items():
            self._variables[i].assign(found[first + at])
        for variable, key in zip(self._keys, keys, strict=True):
            variable.assign(keras.ops.add(key, keras.ops.convert_to_tensor([0, 1], key.dtype)))
        return program.rebuilt(list(found[:first]))

    def compute_output_spec(self, inputs: Any = (), training: Any = None) -> Any:
        """The outputs' shapes and dtypes, as the graph infers them of the inputs' shapes."""
        plan, program = self._program, self._program.stateless
        given = iter(plan.given(inputs))
        known: dict[Node, Node] = {}
        for x in plan.inputs:
            shape = tuple(
                d if own is None else own for own, d in zip(x.shape, next(given).shape, strict=True)
            )
            known[x] = input_node(TensorType(shape, x.dtype))
        outputs = substitute(program.pure().graph.outputs, known)
        specs = [
            keras.KerasTensor(y.shape, str(y.dtype))
            for y in outputs[: len(program.function.outputs)]
        ]
        return program.rebuilt(specs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The outputs' shapes, given that of the input, or a list of those of all inputs."""
        one = bool(input_shape) and not isinstance(input_shape[0], list | tuple)
        pairs = zip(self._program.inputs, [input_shape] if one else input_shape, strict=False)
        given = [keras.KerasTensor(shape, str(x.dtype)) for x, shape in pairs]
        return keras.tree.map_structure(lambda y: y.shape, self.compute_output_spec(given))

    def get_config(self) -> dict[str, Any]:
        """The function as text, with the values that its variables had."""
        return {**super().get_config(), "function": self._program.text}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> FunctionLayer:
        """The layer of such a text."""
        options = {k: v for k, v in config.items() if k != "function"}
        return cls(function_of(config["function"]), **options)


class Plan:
    """A function as a layer takes it.

    Attributes:
        stateless: the pure program.
        inputs: those that are given: all but the learning phase.
        trainable: the numbers of the variables that outputs are differentiated by.
    """

    def __init__(self, function: Any):
        self.stateless = Stateless(function, "to_keras3")
        self._function = function
        self.stateless.refuse_sparse("to_keras3")
        at = self.stateless.phase
        self.inputs = [x for i, x in enumerate(self.stateless.inputs) if i != at]
        self.trainable = self.stateless.trainable
        self._runs: dict[bool | None, Run] = {}

    def run(self, phase: bool | None) -> Run:
        """What computes outputs and new values, in the backend's tensors."""
        if phase not in self._runs:
            make = RUNS[keras.backend.backend()]
            program = self.stateless
            self._runs[phase] = make(
                program.pure(phase), len(program.function.outputs), program.name
            )
        return self._runs[phase]

    def given(self, inputs: Any) -> list[Any]:
        """A tensor of its dtype for each input.

        Raises:
            FeedError: it doesn't fit.
        """
        values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(values) != len(self.inputs):
            names = ", ".join(f"'{x.name[:-2]}'" for x in self.inputs)
            raise FeedError(
                f"{self.stateless.name}: {len(values)} tensors are given for {len(self.inputs)}"
                f" inputs: {names}"
            )
        return [self._fitting(x, v) for x, v in zip(self.inputs, values, strict=True)]

    def _fitting(self, x: Node, value: Any) -> Any:
        if not hasattr(value, "shape"):
            value = keras.ops.convert_to_tensor(value, str(x.dtype))
        shape, dtype = tuple(value.shape), keras.backend.standardize_dtype(value.dtype)
        own = keras.backend.standardize_dtype(str(x.dtype))
        sizes = [d if isinstance(d, int) else None for d in shape]  # JAX may trace with symbols
        if not x.type.may_accept(sizes) or not np.can_cast(
            as_dtype(dtype), as_dtype(own), "same_kind"
        ):
            raise FeedError(
                f"{self.stateless.name}: input '{x.name}' is {x.type}; a tensor of {dtype} and"
                f" shape {shape} doesn't fit: cast or reshape it"
            )
        return value if dtype == own else keras.ops.cast(value, own)

    @property
    def text(self) -> str:
        """The function as text."""
        function = self._function
        nests = [structure_of(function.inputs), _marked(structure_of(function.outputs))]
        data = zlib.compress(saving.to_bytes(self.stateless.function))
        return json.dumps([self.stateless.name, *nests, base64.b64encode(data).decode()])


def function_of(text: str) -> Any:
    """The function of a `Plan`'s text.

    Raises:
        FileFormatError: it's damaged.
    """
    name, inputs, outputs, data = json.loads(text)
    compiled = saving.from_bytes(zlib.decompress(base64.b64decode(data)), name=name)
    return restored(compiled, inputs, _unmarked(outputs))


def _marked(nest: Any) -> Any:
    """A nest as JSON has it, where tuples are marked."""
    if isinstance(nest, dict):
        return {"dict": [[k, _marked(v)] for k, v in nest.items()]}
    if isinstance(nest, list | tuple):
        return {type(nest).__name__: [_marked(v) for v in nest]}
    return nest


def _unmarked(nest: Any) -> Any:
    if not isinstance(nest, dict):
        return nest
    ((kind, items),) = nest.items()
    if kind == "dict":
        return {k: _unmarked(v) for k, v in items}
    parts = [_unmarked(v) for v in items]
    return tuple(parts) if kind == "tuple" else parts


# What runs pure graphs ------------------------------------------------------------------------


def _on_tensorflow(pure: Pure, outputs: int, what: str) -> Run:
    import tensorflow as tf

    from .tensorflow_graph import Applied

    applied = Applied(pure, [i < outputs for i in range(len(pure.graph.outputs))])
    specs = [tf.TensorSpec(x.shape, str(x.dtype)) for x in pure.graph.inputs]
    traced = tf.function(lambda *x: applied(x), input_signature=specs, autograph=False)
    return lambda tensors: list(traced(*map(tf.convert_to_tensor, tensors)))


def _on_jax(pure: Pure, outputs: int, what: str) -> Run:
    import jax

    from .jax_function import in_dtype
    from .jax_gradients import Program

    program, types = Program(pure, what), [x.dtype for x in pure.graph.inputs]
    for i in program.deciding:
        raise EngineError(
            f"{what}: the value of '{pure.graph.inputs[i].name}' decides shapes, and JAX knows"
            " these before: make it a constant, by feed_dict= of K.function, read the size from the"
            " shape of another input, or let Keras run on TensorFlow or PyTorch"
        )

    def run(tensors: Sequence[Any]) -> Sequence[Any]:
        found = program(*(in_dtype(x, d) for x, d in zip(tensors, types, strict=True)))
        return [in_dtype(y, jax.dtypes.canonicalize_dtype(y.dtype)) for y in found]

    return run


def _on_torch(pure: Pure, outputs: int, what: str) -> Run:
    import torch

    from ...engines.torch.tensors import TORCH
    from .torch_autograd import Differentiable

    program, types = Differentiable(pure, what, outputs), [x.dtype for x in pure.graph.inputs]

    def run(tensors: Sequence[Any]) -> Sequence[Any]:
        device = next((x.device for x in tensors if isinstance(x, torch.Tensor)), None)
        given = [torch.as_tensor(x, device=device) for x in tensors]
        pairs = zip(given, types, strict=True)
        return program([x if x.dtype == TORCH[d] else x.to(TORCH[d]) for x, d in pairs])

    return run


RUNS: dict[str, Callable[[Pure, int, str], Run]] = {
    "tensorflow": _on_tensorflow,
    "jax": _on_jax,
    "torch": _on_torch,
}
