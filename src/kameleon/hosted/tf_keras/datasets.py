"""Training, evaluation and prediction with a `tf.data.Dataset`, whose elements are batches."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras.models as theirs
import numpy as np
from keras.callbacks import Callback

from ...errors import ArgumentError
from ...tf1.data.dataset import Dataset
from ...tf1.data.elements import packed
from ...tf1.data.iterators import passed
from .version import is_second

# What says how to make batches of arrays, or of what: a dataset's elements are batches already.
OF_ARRAYS = ("y", "batch_size", "sample_weight", "validation_split")
PARAMETERS = {name: inspect.signature(getattr(theirs.Model, name)).parameters
              for name in ("fit", "evaluate", "predict")}  # fmt: skip


def arguments(method: str, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of `fit`, `evaluate` or `predict`, by name."""
    return dict(zip(list(PARAMETERS[method])[1:], args, strict=False)) | dict(kwargs)


def batches(dataset: Dataset) -> Iterator[Any]:
    """The elements of a pass: (x, y), (x, y, weights) or x, with lists for tuples inside."""
    for parts in passed(dataset):
        element = packed(dataset.spec, [np.asarray(part) for part in parts])
        if isinstance(element, tuple):
            yield tuple(list(x) if isinstance(x, tuple) else x for x in element)
        else:
            yield element


def _pairs(dataset: Dataset) -> Iterator[Any]:
    """Batches with targets: None, where there are none."""
    for batch in batches(dataset):
        yield batch if isinstance(batch, tuple) and len(batch) > 1 else (_inputs(batch), None)


def _inputs(batch: Any) -> Any:
    return batch[0] if isinstance(batch, tuple) else batch


def _again(dataset: Dataset, steps: int) -> Iterator[Any]:
    """The first batches of a pass, then those of the next one, and so on."""
    while True:
        yield from itertools.islice(_pairs(dataset), steps)


def steps_in(dataset: Dataset, wanted: Any, name: str) -> int:
    """How many batches there are, at most as many as are wanted.

    Raises:
        ArgumentError: (a ValueError) there's no end of them, and nobody says how many.
    """
    if wanted is None and dataset.is_endless:
        raise ArgumentError(
            f"When passing an infinitely repeating dataset, you must specify the `{name}` argument."
        )
    found = sum(1 for _ in itertools.islice(passed(dataset), wanted))
    if wanted is not None and found < wanted:
        _warn(wanted)
    return found


def _warn(wanted: int) -> None:
    warnings.warn(
        f"Your dataset ran out of data; interrupting. Make sure that it has at least {wanted}"
        " batches, by dataset.repeat().",
        UserWarning,
        stacklevel=5,
    )


class MeanOfBatches(Callback):  # type: ignore[misc]
    """Gives each batch the same weight in an epoch's loss, whatever its size."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin anew."""
        self.losses: list[float] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Note a loss."""
        self.losses.append(float(logs["loss"]))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Put the mean in the place of what Keras has."""
        logs["loss"] = np.mean(self.losses)


class Ended(Callback):  # type: ignore[misc]
    """Ends training where a dataset has no more elements."""

    def __init__(self, elements: Iterator[Any], wanted: int):
        super().__init__()
        self.elements, self.left = elements, wanted
        self.following = next(elements, None)

    def __iter__(self) -> Iterator[Any]:
        while self.following is not None:
            found, self.following = self.following, next(self.elements, None)
            self.left -= 1
            yield found

    def missing(self) -> bool:
        """Whether more is wanted than there is."""
        return self.following is None and self.left > 0

    def _look(self) -> None:
        if self.missing():
            self.model.stop_training = True

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look whether there's more."""
        self._look()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look again, as validation has said that training goes on."""
        self._look()


def fitted(model: Any, fit_generator: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Train on a dataset; `fit_generator` is the model's.

    Raises:
        ArgumentError: (a ValueError) something is said that makes batches of arrays.
    """
    dataset = _dataset(given)
    kept = {key: given.pop(key, None) for key in ("steps_per_epoch", "epochs", "callbacks")}
    steps, epochs = kept["steps_per_epoch"], kept["epochs"] or 1
    if not model.inputs:
        model._standardize_user_data(*next(_pairs(dataset)))
    callbacks = [MeanOfBatches(), *(kept["callbacks"] or [])]
    if steps is None:
        steps = steps_in(dataset, None, "steps_per_epoch")
        elements = _again(dataset, steps)
    else:
        wanted = (epochs - given.get("initial_epoch", 0)) * steps
        callbacks.append(Ended(_pairs(dataset), wanted))
        elements = iter(callbacks[-1])
    validation = given.get("validation_data")
    if isinstance(validation, Dataset):
        wanted = given.get("validation_steps")
        wanted = steps_in(validation, wanted, "validation_steps")
        given |= {"validation_data": _again(validation, wanted), "validation_steps": wanted}
    if not is_second():
        given.pop("class_weight", None)  # TensorFlow 1.15 doesn't look at it here
    given.pop("shuffle", None)  # the dataset's order is what it says
    given |= {"workers": 0, "use_multiprocessing": False}
    history = fit_generator(
        elements, steps_per_epoch=steps, epochs=epochs, callbacks=callbacks, **given
    )
    if isinstance(callbacks[-1], Ended) and callbacks[-1].missing():
        _warn(steps * epochs)
    return history


def evaluated(evaluate_generator: Callable[..., Any], given: dict[str, Any]) -> Any:
    """The loss and the metrics of a dataset."""
    dataset = _dataset(given)
    steps = steps_in(dataset, given.pop("steps", None), "steps")
    return evaluate_generator(_again(dataset, steps), **{**given, "steps": steps, "workers": 0})


def predicted(predict_generator: Callable[..., Any], given: dict[str, Any]) -> Any:
    """The outputs for a dataset's inputs."""
    dataset = _dataset(given)
    steps = steps_in(dataset, given.pop("steps", None), "steps")
    inputs = ((_inputs(batch), None) for batch in batches(dataset))
    return predict_generator(inputs, **{**given, "steps": steps, "workers": 0})


def arrays_of(dataset: Dataset, steps: Any) -> Any:
    """All elements of a dataset as one, for validation beside arrays."""
    steps_in(dataset, steps, "validation_steps")
    found = list(itertools.islice(_pairs(dataset), steps))
    return tuple(_joined(parts) for parts in zip(*found, strict=True))


def _joined(parts: Any) -> Any:
    if isinstance(parts[0], dict):
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    if isinstance(parts[0], list):
        return [np.concatenate(each) for each in zip(*parts, strict=True)]
    return np.concatenate(parts)


def _dataset(given: dict[str, Any]) -> Dataset:
    """Take the dataset out of the arguments, of which some must not be there."""
    dataset: Dataset = given.pop("x")
    for name in OF_ARRAYS:
        if name in given and given.pop(name) not in (None, 0, 0.0):
            raise ArgumentError(
                f"The `{name}` argument must not be specified when using dataset as an input: its"
                " elements are batches, with targets and weights"
            )
    return dataset
