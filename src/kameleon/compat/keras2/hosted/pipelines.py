"""What `fit`, `evaluate` and `predict` take besides the original's arrays and generators: loaders
and datasets of today's libraries, frames, tensors.

Keras's loops over a `keras.utils.Sequence` take all that gives batches anew in each epoch. They
draw in the program's own thread; a loader that works ahead does so in its own.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from keras import backend as K

from ...._utils.around import Function, around
from ....config.processes import this_process
from ....errors import FeedError
from ....runtime.feeds import as_numpy
from ....runtime.pipelines import as_array, is_source, kinds, numbers

# Arrays of these libraries become NumPy's. Others stay what they are: Keras reads HDF5's piece by
# piece.
LIBRARIES = frozenset({"jax", "jaxlib", "tensorflow", "torch"})
# TensorFlow's, and TensorFlow 1's own name.
DATASETS = {("tensorflow", "DatasetV2"), ("tensorflow_core", "DatasetV2")}
INFINITE = -1  # the cardinality of such a dataset


class Loop(NamedTuple):
    """Data that one of Keras's loops over generators takes: the argument for these, and the one for
    the number of batches; and whether it takes inputs alone.
    """

    data: str
    steps: str
    inputs_alone: bool = False


VALIDATION = Loop("validation_data", "validation_steps")
LOOPS: dict[str, tuple[Loop, ...]] = {
    "fit_generator": (Loop("generator", "steps_per_epoch"), VALIDATION),
    "evaluate_generator": (Loop("generator", "steps"),),
    "predict_generator": (Loop("generator", "steps", inputs_alone=True),),
}

# --- the original's modules ----------------------------------------------------------------------


def serve(training: ModuleType) -> None:
    """Let models take frames and other libraries' arrays wherever they take arrays, and whatever
    gives batches wherever they take generators.

    Args:
        training: `keras.engine.training`.
    """
    loops, utils, model = training.training_generator, training.training_utils, training.Model
    model._standardize_user_data = _with_arrays(model._standardize_user_data)
    model.fit = _taking(model.fit, (Loop("x", "steps_per_epoch"), VALIDATION), loops)
    is_generator = utils.is_generator_or_sequence
    vars(utils)["is_generator_or_sequence"] = lambda x: is_generator(x) or is_source(x)
    for name, arguments in LOOPS.items():
        vars(loops)[name] = _taking(vars(loops)[name], arguments, loops)
    loops.Progbar.update = _counting(loops.Progbar.update)


@around
def _with_arrays(
    theirs: Function, self: Any, x: Any, y: Any = None, sample_weight: Any = None, *args: Any,
    **options: Any,
) -> Any:  # fmt: skip
    """What checks the data of all of a model's methods, given arrays for what becomes ones."""
    return theirs(self, *map(arrays, (x, y, sample_weight)), *args, **options)


def _taking(theirs: Any, arguments: tuple[Loop, ...], loops: ModuleType) -> Any:
    """A function of Keras's that takes sources, too."""
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def taking(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options)
        given.apply_defaults()
        bound = given.arguments
        taken: list[Batches] = []
        for loop in arguments:
            data = bound[loop.data]
            # An iterator is a generator to Keras, which wants to be told how often to ask it.
            if not is_source(data) or hasattr(data, "__next__") or loops.is_sequence(data):
                continue
            batches = Batches(data, loop.inputs_alone)
            if loop is VALIDATION and not taken:  # Keras's own ways to go take arrays besides
                bound |= {loop.data: batches.joined(bound[loop.steps]), loop.steps: None}
                continue
            taken.append(batches)
            bound |= {loop.data: batches, "workers": 0, "use_multiprocessing": False}
            if bound[loop.steps] is None:
                bound[loop.steps] = batches.steps()
        try:
            return theirs(*given.args, **given.kwargs)
        finally:
            for batches in taken:
                batches.close()

    return taking


@around
def _counting(theirs: Function, self: Any, current: int, values: Any = None) -> None:
    """The update of a progress bar, which counts where nobody knows how many batches come."""
    steps = self.target
    if isinstance(steps, Unknown):
        under_way = None if self.verbose == 1 else math.inf  # a line for each batch, or none
        self.target = under_way if steps > current else current
    try:
        theirs(self, current, values)
    finally:
        self.target = steps


# --- batches -------------------------------------------------------------------------------------


class Batches:
    """What a source gives, for Keras's loops over a `keras.utils.Sequence`.

    Args:
        source: gives batches as often as it's iterated.
        inputs_alone: whether targets are left out.
    """

    use_sequence_api = True

    def __init__(self, source: Any, inputs_alone: bool) -> None:
        self._source, self._inputs_alone = source, inputs_alone
        self._begin = _passes(source)
        self._pass: Iterator[Any] | None = None
        self._ahead: list[Any] = []  # the next batch, once it was asked whether there's one

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Any]:
        """The batches of one pass."""
        there = self.has_more(begin=True)
        while there:
            yield self._as_item(self._ahead.pop())
            there = self.has_more()

    def on_epoch_end(self) -> None:
        """Nothing: a source knows that it's iterated anew."""

    def has_more(self, begin: bool = False) -> bool:
        """Whether there's another batch in this pass; or in the next, where none is under way and
        one may begin.

        Raises:
            FeedError: a pass begins, and there's none in it.
        """
        if self._ahead:
            return True
        anew = self._pass is None
        if anew and begin:
            self._pass = self._begin()
        if self._pass is not None:
            self._ahead += itertools.islice(self._pass, 1)
        if not self._ahead:
            self.close()
            if begin and anew:
                raise self._error("gives no batches")
        return bool(self._ahead)

    def close(self) -> None:
        """Leave the pass that's under way, and let the loader end its workers."""
        close = getattr(self._pass, "close", None)
        if close is not None:
            close()
        self._pass = None
        self._ahead.clear()

    def steps(self) -> Unknown | None:
        """How many batches an epoch takes; None, if the source says how many it gives.

        Raises:
            FeedError: it never ends; or its end can't be seen by several processes.
        """
        try:
            count = len(self._source)
        except TypeError:
            count = None
        if count is None and _tensorflow_of(self._source) and hasattr(self._source, "cardinality"):
            count = int(self._source.cardinality())
        if count in (sys.maxsize, INFINITE):
            raise self._error("has no end: say how many batches an epoch takes (steps_per_epoch)")
        if count is not None and count >= 0:
            return None
        if this_process() is not None:
            raise self._error("doesn't say how many batches it gives, as several processes need it")
        return Unknown(self)

    def joined(self, count: int | None) -> tuple[Any, ...]:
        """So many batches as one, or all of a pass."""
        try:
            return tuple(map(_joined, zip(*itertools.islice(self, count), strict=True)))
        finally:
            self.close()

    def _as_item(self, batch: Any) -> Any:
        """A batch as Keras takes it from a Sequence.

        Raises:
            FeedError: it lacks targets, or is a single row.
        """
        parts = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        if self._inputs_alone:
            parts = parts[:1]
        elif len(parts) == 1 and isinstance(parts[0], Mapping):
            parts *= 2  # Keras takes what it needs, by the names of inputs and of outputs
        elif len(parts) not in (2, 3):
            raise self._error(
                f"gives batches of {len(parts)} parts: (x, y) and (x, y, sample_weight) are"
                " batches, and so are dicts by the names of the model's inputs and outputs"
            )
        listed = [list(part) if isinstance(part, tuple) else part for part in parts]
        found = tuple(map(arrays, listed))
        if not all(np.ndim(x) for part in found for x in _leaves(part)):
            raise self._error("gives single rows: batch it (batch_size=32, .batch(32))")
        return found[0] if self._inputs_alone else found

    def _error(self, what: str) -> FeedError:
        return FeedError(f"the {type(self._source).__name__} given to the model {what}")


class Unknown(float):
    """The number of batches in an epoch that ends when its source does.

    Keras's loops and bars hold the number of batches so far against it, which begins with 0. It's
    infinite to all others.
    """

    def __new__(cls, batches: Batches) -> Unknown:
        made = super().__new__(cls, math.inf)
        made.batches = batches
        return made

    batches: Batches

    def __gt__(self, done: float) -> bool:
        return done == 0 or self.batches.has_more()

    def __le__(self, done: float) -> bool:
        return not self > done


def _tensorflow_of(source: Any) -> Any:
    """The TensorFlow whose dataset this is; None, if it's none."""
    return next((sys.modules[kind[0]] for kind in kinds(source) if kind in DATASETS), None)


def _passes(source: Any) -> Callable[[], Iterator[Any]]:
    """What begins to iterate a source anew: in a graph of TensorFlow 1, sessions do that."""
    tf = _tensorflow_of(source)
    if tf is None or tf.executing_eagerly():
        return functools.partial(iter, source)
    v1 = tf.compat.v1
    iterator = v1.data.make_initializable_iterator(source)
    element = iterator.get_next()

    def one_pass() -> Iterator[Any]:
        session = v1.Session()  # not by `with`, which would make it Keras's, too, between batches
        try:
            session.run(iterator.initializer)
            while True:
                yield session.run(element)
        except tf.errors.OutOfRangeError:
            return
        finally:
            session.close()

    return one_pass


# --- arrays --------------------------------------------------------------------------------------


def arrays(part: Any) -> Any:
    """Inputs, targets or weights, with frames and arrays of other libraries as NumPy's, and texts
    as the numbers that they tell."""
    if isinstance(part, Mapping):
        return {name: _array(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):  # Keras tells them apart
        found = list(map(_array, part))
        return tuple(found) if isinstance(part, tuple) else found
    return _array(part)


def _array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        is_text = numbers(value).dtype.kind in "US"
        return value.astype(K.floatx()) if is_text else value
    if K.is_tensor(value):
        return value
    found = as_array(value)
    theirs = any(library in LIBRARIES for library, _ in kinds(found))
    return as_numpy(found) if theirs else found


def _leaves(part: Any) -> list[Any]:
    values = part.values() if isinstance(part, Mapping) else part
    found = values if isinstance(part, (list, Mapping)) else [part]
    return [value for value in found if value is not None]


def _joined(parts: tuple[Any, ...]) -> Any:
    """The same part of all batches, as one."""
    first = parts[0]
    if isinstance(first, Mapping):
        return {name: _joined(tuple(part[name] for part in parts)) for name in first}
    if isinstance(first, list):
        return [_joined(each) for each in zip(*parts, strict=True)]
    return None if first is None else np.concatenate(parts)
