"""Modules of TensorFlow's that hold compiled functions; TensorFlow is loaded here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from ..._utils.names import distinct, identifier
from ..._utils.tracebacks import boundary
from ...engines.tensorflow.control import BORROWED, is_own
from ...errors import FeedError
from ...graph.ir.node import Node
from .pure import KEY, Stateless
from .tensorflow_graph import Applied, GraphTracing, Tensors, raw


class Module(tf.Module):  # type: ignore[misc]
    """What `to_tensorflow` returns; see there.

    Attributes:
        weights: the variables by name.
        random_keys: for each random stream, the key of the next call.
    """

    def __init__(self, program: Stateless):
        program.refuse_sparse("to_tensorflow")
        super().__init__(name=re.sub(r"\W", "_", program.name))
        trainable = program.trainable
        self.weights = {
            name: _variable(name, value, i in trainable, i in program.updated)
            for i, (name, value) in enumerate(zip(program.names, program.values, strict=True))
        }
        self.random_keys = [_variable(KEY, key, False, True) for key in program.keys]
        self._traces = Traces(program, list(self.weights.values()), list(self.random_keys))

    @boundary
    def __call__(self, *inputs: Any, training: Any = None) -> Any:
        """The outputs; see `to_tensorflow`.

        Raises:
            FeedError: another number of inputs than the function has, or a value that doesn't fit.
        """
        return self._traces.program.rebuilt(self._traces(inputs, training))


class Traces:
    """What a module computes, in graphs of TensorFlow's, one for each mode.

    (It's no attribute that a module or a checkpoint looks into for variables.)
    """

    def __init__(self, program: Stateless, variables: list[Any], keys: list[Any]):
        self.program, self.variables, self.keys = program, variables, keys
        self._applied: dict[Any, Applied] = {}
        self._modes: dict[bool | None, Any] = {}

    def __call__(self, inputs: Sequence[Any], training: Any = None) -> list[Any]:
        """The outputs' tensors; updates are made.

        Args:
            inputs: a value for each input, or one list of them.
            training: the learning phase, where it's an input; None: it's given, or its default.
        """
        if len(inputs) == 1 and isinstance(inputs[0], list | tuple):
            inputs = inputs[0]
        mode, values = self._placed(list(inputs), training)
        name, nodes = self.program.name, self.program.inputs
        if len(values) != len(nodes):
            names = ", ".join(f"'{x.name[:-2]}'" for x in nodes)
            raise FeedError(f"{name}: {len(values)} values are given for {len(nodes)}: {names}")
        tensors = [as_given(x, value, name) for x, value in zip(nodes, values, strict=True)]
        if tf.distribute.has_strategy() and not tf.executing_eagerly():
            return self._traced(mode, *tensors)  # replicas can't meet in functions within functions
        return list(self.mode(mode)(*tensors))

    def _placed(self, values: list[Any], training: Any) -> tuple[bool | None, list[Any]]:
        """The learning phase where it's known as code is made, and the values with it."""
        at, whole = self.program.phase, len(self.program.inputs)
        if at is None or (training is None and len(values) == whole):
            return None, values
        node = self.program.inputs[at]
        phase = getattr(node, "default", 0) if training is None else training
        known = None if tf.is_tensor(phase) else bool(phase)
        value = tf.cast(phase, str(node.dtype)) if known is None else int(phase)
        return known, [*values[:at], value, *values[at + (len(values) == whole) :]]

    def mode(self, phase: bool | None) -> Any:
        """The tf.function for a learning phase; None: it's the value of an input."""
        if phase not in self._modes:
            traced, specs = partial(self._traced, phase), specs_of(self.program)
            self._modes[phase] = tf.function(traced, input_signature=specs, autograph=False)
        return self._modes[phase]

    def _traced(self, phase: bool | None, *inputs: Any) -> list[Any]:
        outputs, assign = self.computed(phase, inputs)
        assign()
        return outputs

    def computed(
        self, phase: bool | None, inputs: Tensors, lowering: type[GraphTracing] = GraphTracing
    ) -> tuple[list[Any], Callable[..., None]]:
        """The outputs, where a graph is traced, and what assigns there: new values to variables,
        unless it's told False, and to the keys of random streams.
        """
        outputs, first = len(self.program.function.outputs), len(self.variables)
        added = _operations()
        state = [v.read_value() for v in (*self.variables, *self.keys)]
        found = self._applied_in(phase, lowering)([*inputs, *state])
        checks = [op for op in added() if op.op_def is not None and op.op_def.is_stateful]
        keys = [raw.AddV2(x=k, y=tf.constant([0, 1], k.dtype)) for k in state[first:]]

        def assign(updates: bool = True) -> None:
            # By operations that the optimiser leaves alone: of others it would wait for those only
            # that compute what is assigned.
            whole = [raw.PlaceholderWithDefault(input=x, shape=x.shape).op for x in found]
            with tf.control_dependencies([*whole, *checks]):
                for i, at in self.program.updated.items() if updates else ():
                    self.variables[i].assign(found[outputs + at], read_value=False)
                for variable, key in zip(self.keys, keys, strict=True):
                    variable.assign(key, read_value=False)

        return found[:outputs], assign

    def _applied_in(self, phase: bool | None, lowering: type[GraphTracing]) -> Applied:
        key = phase, lowering
        if key not in self._applied:
            outputs, updates = len(self.program.function.outputs), len(self.program.updated)
            followed = [True] * outputs + [False] * updates
            self._applied[key] = Applied(self.program.pure(phase), followed, lowering)
        return self._applied[key]


def _operations() -> Callable[[], list[Any]]:
    """What gives the operations that were added to the graph since."""
    graph = tf.compat.v1.get_default_graph()
    before = len(graph.get_operations())
    return lambda: graph.get_operations()[before:]


def _variable(name: str, value: np.ndarray, trainable: bool, written: bool) -> Any:
    """A variable; in replicas of one of `tf.distribute` a new value is the first replica's."""
    aggregation = tf.VariableAggregation.ONLY_FIRST_REPLICA if written and not trainable else None
    return tf.Variable(
        value,
        trainable=trainable,
        name=_identifier(name),
        aggregation=aggregation or tf.VariableAggregation.NONE,
    )


def _identifier(name: str) -> str:
    """A name as TensorFlow takes it for a variable, or for a module."""
    found = re.sub(r"[^\w.\\/>-]", "_", name, flags=re.ASCII)
    return found if re.match(r"[A-Za-z0-9.]", found) else f"K{found}"


def specs_of(program: Stateless) -> list[Any]:
    """The types of inputs as TensorFlow's, with names that parameters of Python can have."""
    names = unique_names([identifier(x.name[:-2]) for x in program.inputs])
    pairs = zip(program.inputs, names, strict=True)
    return [tf.TensorSpec(x.shape, str(x.dtype), name) for x, name in pairs]


def unique_names(names: Sequence[str]) -> list[str]:
    """Names as TensorFlow takes them, with numbers where they are taken."""
    return distinct(map(_identifier, names))


def is_called_back(node: Node) -> bool:
    """Whether TensorFlow's runtime calls Python for a node."""
    if node.primitive.name in BORROWED:
        return True
    return bool(node.primitive.host_callback) and not is_own(node)


def as_given(node: Node, value: Any, what: str) -> Any:
    """A value as a tensor for an input.

    Raises:
        FeedError: it isn't one of the input's dtype and sizes; NumPy's arrays and Python's numbers
            may be of another dtype, if it's cast without loss of kind.
    """
    dtype = str(node.dtype)
    try:
        if not (tf.is_tensor(value) or isinstance(value, tf.Variable)):
            array = np.asarray(value)
            value = array.astype(dtype, casting="same_kind") if array.dtype != dtype else array
        found = tf.convert_to_tensor(value, dtype)
        fits = tf.TensorShape(node.shape).is_compatible_with(found.shape)
    except (TypeError, ValueError) as error:
        raise FeedError(f"{what}: the value for input '{node.name}' {node.type}: {error}") from None
    if not fits:
        raise FeedError(
            f"{what}: input '{node.name}' has shape {node.shape}, the value given for it"
            f" {found.shape}"
        )
    return found
