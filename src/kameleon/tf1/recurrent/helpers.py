"""`tf.contrib.seq2seq`: helpers, which say what a decoder's next input is, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node
from ...prims.filling import full_like
from ...prims.indexing import gather
from ...prims.movement import move_axis
from ...prims.sizes import as_node, size_of
from ..nests import map_structure
from ..networks import look_up
from ..randomness import categorical
from ..shapes import TensorShape


class Helper:
    """What a decoder's inputs are, and what it draws from its outputs: the base of all helpers.

    A subclass gives `batch_size`, `sample_ids_shape`, `sample_ids_dtype`, and the three methods.
    """

    batch_size: Any
    sample_ids_shape: Any = TensorShape([])
    sample_ids_dtype: Any = "int32"

    def initialize(self, name: str | None = None) -> Any:
        """Which samples have ended before the first step, and its inputs."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What's taken of a step's outputs."""
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Which samples have ended, the inputs of the next step, and its state."""
        raise NotImplementedError


def best(outputs: Any) -> Node:
    """The most probable class of each sample."""
    return K.cast(K.argmax(as_tensor(outputs, "a helper"), -1), "int32")


def drawn(logits: Any, seed: int | None) -> Node:
    """A class of each sample, drawn by the logits."""
    found = categorical(logits, 1, "int32", seed, "a helper")
    return K.reshape(found, (-1,))


def chosen(condition: Any, then: Any, otherwise: Any) -> Any:
    """Of two nests, the leaves that a condition says: one for all samples, or one for each."""

    def pick(a: Any, b: Any) -> Any:
        missing = len(a.type.shape) - len(condition.type.shape)
        flag = condition
        for _ in range(missing if condition.type.shape else 0):
            flag = K.expand_dims(flag, -1)
        return K.switch(flag, a, b)

    return map_structure(pick, then, otherwise)


class TrainingHelper(Helper):
    """The inputs of each step are given.

    Args:
        inputs: a nest of tensors (samples, steps, …), or (steps, samples, …) with `time_major`.
        sequence_length: how many steps each sample has.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ):
        self._inputs = map_structure(lambda x: as_tensor(x, "TrainingHelper"), inputs)
        self._steps = map_structure(lambda x: x if time_major else move_axis(x, 1, 0), self._inputs)
        self._sequence_length = as_tensor(sequence_length, "TrainingHelper", "int32")
        if len(self._sequence_length.type.shape) != 1:
            raise ArgumentError(
                "Expected sequence_length to be a vector, but received shape:"
                f" {TensorShape(self._sequence_length.type.shape)}"
            )

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return K.size(self._sequence_length)

    def initialize(self, name: str | None = None) -> Any:
        return K.equal(self._sequence_length, 0), self.at(K.constant(0, "int32"))

    def at(self, time: Any) -> Any:
        """The inputs of a step; zeros, once all samples have ended."""
        over = K.all(K.less_equal(self._sequence_length, time))

        def step(x: Node) -> Node:
            last = K.cast(as_node(size_of(x, 0)), "int32") - 1
            row = gather(x, K.minimum(K.cast(time, "int32"), last), 0)
            return K.switch(over, full_like(row, 0), row)

        return map_structure(step, self._steps)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return best(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        return K.less_equal(self._sequence_length, time + 1), self.at(time + 1), state


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """The inputs are given, or, by chance, are the rows of classes that were drawn.

    Args:
        embedding: a function of classes, or a matrix with a row for each.
        sampling_probability: how often classes are drawn.
        seed, scheduling_seed: of the classes, and of the chances.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, embedding: Any, sampling_probability: Any,
        time_major: bool = False, seed: int | None = None, scheduling_seed: int | None = None,
        name: str | None = None,
    ):  # fmt: skip
        super().__init__(inputs, sequence_length, time_major)
        self._embedding, self._seed = rows_of(embedding), seed
        self._probability, self._scheduling_seed = (
            as_tensor(sampling_probability, "ScheduledEmbeddingTrainingHelper"), scheduling_seed,
        )  # fmt: skip

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        found = drawn(outputs, self._seed)
        chance = K.random_uniform(K.shape(found), seed=self._scheduling_seed)
        return K.switch(K.less(chance, self._probability), found, full_like(found, -1))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state)
        rows = self._embedding(K.maximum(sample_ids, 0))
        return finished, chosen(K.greater(sample_ids, -1), rows, given), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """The inputs are given, or, by chance, are the outputs of the step before.

    Args:
        next_inputs_fn: what becomes of the outputs before.
        auxiliary_inputs: a nest of tensors that stand beside the inputs at every step.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, sampling_probability: Any,
        time_major: bool = False, seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None, auxiliary_inputs: Any = None,
        name: str | None = None,
    ):  # fmt: skip
        self._beside = auxiliary_inputs is not None
        if self._beside:
            inputs = map_structure(lambda x, y: K.concatenate([x, y], -1), inputs, auxiliary_inputs)
        super().__init__(inputs, sequence_length, time_major)
        self._auxiliary = TrainingHelper(
            inputs if auxiliary_inputs is None else auxiliary_inputs, sequence_length, time_major
        )
        self._probability = as_tensor(sampling_probability, "ScheduledOutputTrainingHelper")
        self._seed, self._function = seed, next_inputs_fn or (lambda outputs: outputs)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        chance = K.random_uniform(K.shape(outputs)[:1], seed=self._seed)
        return K.cast(K.less(chance, self._probability), "int32")

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state)
        own = self._function(outputs)
        if self._beside:
            extra = self._auxiliary.at(time + 1)
            own = map_structure(lambda x, y: K.concatenate([x, y], -1), own, extra)
        return finished, chosen(K.cast(sample_ids, "bool"), own, given), state


def rows_of(embedding: Any) -> Callable[[Any], Any]:
    """A function of classes that gives their rows."""
    return (
        embedding
        if callable(embedding)
        else lambda ids: look_up(embedding, ids, "mod", None, "a helper")
    )


class GreedyEmbeddingHelper(Helper):
    """The next input is the row of the most probable class, until that's the last one.

    Args:
        embedding: a function of classes, or a matrix with a row for each.
        start_tokens: the class that each sample begins with.
        end_token: the class that ends a sample.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        self._embedding = rows_of(embedding)
        self._start = as_tensor(start_tokens, "start_tokens", "int32")
        self._end = as_tensor(end_token, "end_token", "int32")
        if len(self._start.type.shape) != 1:
            raise ArgumentError("start_tokens must be a vector")
        if len(self._end.type.shape):
            raise ArgumentError("end_token must be a scalar")
        self._start_inputs = self._embedding(self._start)

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return K.size(self._start)

    def initialize(self, name: str | None = None) -> Any:
        return K.cast(full_like(self._start, 0), "bool"), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return best(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        finished = K.equal(sample_ids, self._end)
        rows = self._embedding(sample_ids)
        return finished, chosen(K.all(finished), self._start_inputs, rows), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """The next input is the row of a class drawn by the logits, divided by a temperature."""

    def __init__(
        self, embedding: Any, start_tokens: Any, end_token: Any,
        softmax_temperature: Any = None, seed: int | None = None,
    ):  # fmt: skip
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        logits = outputs if self._temperature is None else outputs / self._temperature
        return drawn(logits, self._seed)


class CustomHelper(Helper):
    """A helper of functions.

    Args:
        initialize_fn: () -> (which have ended, inputs).
        sample_fn: (time, outputs, state) -> what's taken of the outputs.
        next_inputs_fn: (time, outputs, state, sample_ids) -> (which have ended, inputs, state).
        sample_ids_shape, sample_ids_dtype: of what `sample_fn` gives for one sample.
    """

    def __init__(
        self, initialize_fn: Callable[..., Any], sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any], sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ):  # fmt: skip
        self._functions = initialize_fn, sample_fn, next_inputs_fn
        self._size: Any = None
        self.sample_ids_shape = TensorShape(sample_ids_shape or [])
        self.sample_ids_dtype = sample_ids_dtype or "int32"

    @property
    def batch_size(self) -> Any:
        """The number of samples, known once `initialize` was called."""
        if self._size is None:
            raise ArgumentError("batch_size accessed before initialize was called")
        return self._size

    def initialize(self, name: str | None = None) -> Any:
        finished, inputs = self._functions[0]()
        self._size = K.size(as_tensor(finished, "CustomHelper"))
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return self._functions[1](time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        return self._functions[2](time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(Helper):
    """The next input is what a function takes of the outputs.

    Args:
        sample_fn: what's taken of the outputs.
        sample_shape, sample_dtype: of that, for one sample.
        start_inputs: of the first step.
        end_fn: which samples end with what was taken.
        next_inputs_fn: the inputs for what was taken; that itself, if None.
    """

    def __init__(
        self, sample_fn: Callable[..., Any], sample_shape: Any, sample_dtype: Any,
        start_inputs: Any, end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        self._sample, self._ends, self._next = sample_fn, end_fn, next_inputs_fn
        self.sample_ids_shape, self.sample_ids_dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = as_tensor(start_inputs, "start_inputs")

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return K.shape(self._start_inputs)[0]

    def initialize(self, name: str | None = None) -> Any:
        first = self._start_inputs
        flags = K.reshape(first, (K.shape(first)[0], -1))[:, 0]
        return K.cast(full_like(flags, 0), "bool"), first

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return self._sample(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None
    ) -> Any:
        inputs = sample_ids if self._next is None else self._next(sample_ids)
        return self._ends(sample_ids), inputs, state


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.seq2seq.{kind.__name__}": kind
    for kind in (
        Helper, TrainingHelper, ScheduledEmbeddingTrainingHelper, ScheduledOutputTrainingHelper,
        GreedyEmbeddingHelper, SampleEmbeddingHelper, CustomHelper, InferenceHelper,
    )
}  # fmt: skip
