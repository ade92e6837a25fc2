"""What gives batches, as the hosted Keras takes it: a program that a process of its own runs.

    python pipelines_program.py     # prints JSON: for each case nothing, or how it failed

Each case holds what a model learns and gives against the same batches, drawn by hand.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

ROWS, SIZE = 10, 4  # so the last batch is smaller
DRAW = np.random.RandomState(0)
X = DRAW.rand(ROWS, 3).astype("float32")
Y = DRAW.rand(ROWS, 1).astype("float32")
W = DRAW.rand(ROWS).astype("float32")
STARTS = range(0, ROWS, SIZE)

# --- kinds of sources ----------------------------------------------------------------------------


class Rows:
    """A plain iterable, which doesn't say how many batches it gives."""

    def __init__(self, *parts: Any, kind: Callable[..., Any] = tuple) -> None:
        self.parts, self.kind = parts, kind

    def __iter__(self) -> Iterator[Any]:
        for i in STARTS:
            yield self.kind(part[i : i + SIZE] for part in self.parts)


class Counted(Rows):
    """One that says it."""

    def __len__(self) -> int:
        return len(STARTS)


class Whole(Rows):
    """One that gives all rows as one batch."""

    def __iter__(self) -> Iterator[Any]:
        yield self.kind(self.parts)


class Empty(Rows):
    """One that gives none."""

    def __iter__(self) -> Iterator[Any]:
        yield from ()


def torch_loader(*parts: Any, **options: Any) -> Any:
    """PyTorch's loader of rows of arrays."""
    import torch

    data = torch.utils.data.TensorDataset(*map(torch.from_numpy, parts))
    return torch.utils.data.DataLoader(data, batch_size=SIZE, **options)


def torch_workers(*parts: Any) -> Any:
    """PyTorch's loader with processes of its own."""
    return torch_loader(*parts, num_workers=2)


def torch_stream(*parts: Any) -> Any:
    """PyTorch's loader of a stream, whose length isn't known."""
    import torch

    class Stream(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[Any]:
            return zip(*parts, strict=True)

    return torch.utils.data.DataLoader(Stream(), batch_size=SIZE)


def tf_dataset(*parts: Any) -> Any:
    """TensorFlow 2's dataset."""
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices(parts).batch(SIZE)


def tf_filtered(*parts: Any) -> Any:
    """One whose length TensorFlow doesn't know."""
    return tf_dataset(*parts).filter(lambda *parts: True)


def grain_map(*parts: Any) -> Any:
    """Grain's dataset whose rows have numbers."""
    import grain

    rows = grain.MapDataset.range(len(parts[0]))
    return rows.map(lambda i: tuple(part[i] for part in parts)).batch(SIZE)


def grain_iter(*parts: Any) -> Any:
    """Grain's stream of rows."""
    return grain_map(*parts).to_iter_dataset()


def grain_loader(*parts: Any) -> Any:
    """Grain's loader."""
    from grain import python as grain

    class Data:
        def __len__(self) -> int:
            return ROWS

        def __getitem__(self, i: int) -> Any:
            return tuple(part[i] for part in parts)

    order = grain.SequentialSampler(ROWS, shard_options=grain.NoSharding())
    return grain.DataLoader(data_source=Data(), sampler=order, operations=[grain.Batch(SIZE)])


def pandas_frames(*parts: Any) -> Any:
    """Frames and columns of pandas's."""
    import pandas as pd

    return Rows(*(pd.DataFrame(p) if p.ndim > 1 else pd.Series(p) for p in parts))


def polars_frames(*parts: Any) -> Any:
    """Frames and columns of polars's."""
    import polars as pl

    return Rows(*(pl.DataFrame(p) if p.ndim > 1 else pl.Series(p) for p in parts))


def jax_arrays(*parts: Any) -> Any:
    """Arrays of JAX's."""
    import jax.numpy as jnp

    return Rows(*map(jnp.asarray, parts))


# What gives batches of parts, and the library that it needs.
SOURCES: dict[Callable[..., Any], str] = {
    Rows: "numpy",
    Counted: "numpy",
    torch_loader: "torch",
    torch_workers: "torch",
    torch_stream: "torch",
    tf_dataset: "tensorflow",
    tf_filtered: "tensorflow",
    grain_map: "grain",
    grain_iter: "grain",
    grain_loader: "grain",
    pandas_frames: "pandas",
    polars_frames: "polars",
    jax_arrays: "jax",
}

# --- ways to take them ---------------------------------------------------------------------------


def model() -> Any:
    """A compiled model, which begins with the same weights each time."""
    from keras.layers import Dense
    from keras.models import Sequential

    made = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(1)])
    draw = np.random.RandomState(3)
    made.set_weights([draw.rand(*w.shape) for w in made.get_weights()])
    made.compile("sgd", "mse", metrics=["mae"])
    return made


def by_hand(*parts: Any) -> Iterator[Any]:
    """The same batches, for ever, as the original's generators give them."""
    while True:
        yield from Rows(*parts)


def fitted(made: Any, history: Any) -> Any:
    """What a model has learned, and what it said."""
    return [*made.get_weights(), *(np.array(v) for _, v in sorted(history.history.items()))]


def fit(make: Callable[..., Any]) -> Any:
    """Two epochs, and validation after each."""
    ours, theirs, steps = model(), model(), len(STARTS)
    found = ours.fit(make(X, Y), epochs=2, validation_data=make(X, Y), verbose=0)
    plain = {"validation_data": by_hand(X, Y), "validation_steps": steps, "workers": 0}
    wanted = theirs.fit_generator(by_hand(X, Y), steps, 2, verbose=0, **plain)
    return fitted(ours, found), fitted(theirs, wanted)


def fit_weighted(make: Callable[..., Any]) -> Any:
    """Rows with weights, and what's given by keywords to `fit_generator`."""
    ours, theirs = model(), model()
    found = ours.fit_generator(generator=make(X, Y, W), epochs=2, verbose=0)
    wanted = theirs.fit_generator(by_hand(X, Y, W), len(STARTS), 2, verbose=0, workers=0)
    return fitted(ours, found), fitted(theirs, wanted)


def fit_in_steps(make: Callable[..., Any]) -> Any:
    """Epochs that are longer than a pass: the next one begins in the midst of them."""
    ours, theirs = model(), model()
    found = ours.fit(make(X, Y), steps_per_epoch=5, epochs=2, verbose=0)
    wanted = theirs.fit_generator(by_hand(X, Y), 5, 2, verbose=0, workers=0)
    return fitted(ours, found), fitted(theirs, wanted)


def validate_arrays(make: Callable[..., Any]) -> Any:
    """Arrays to train on, and batches to validate with."""
    ours, theirs = model(), model()
    plain = {"shuffle": False, "batch_size": SIZE, "epochs": 2, "verbose": 0}
    found = ours.fit(X, Y, validation_data=make(X, Y), **plain)
    wanted = theirs.fit(X, Y, validation_data=(X, Y), **plain)
    return fitted(ours, found), fitted(theirs, wanted)


def evaluate(make: Callable[..., Any]) -> Any:
    """The loss and a metric, where the last batch is smaller."""
    wanted = model().evaluate_generator(by_hand(X, Y, W), len(STARTS), workers=0)
    return model().evaluate(make(X, Y, W), verbose=0), wanted


def predict(make: Callable[..., Any]) -> Any:
    """Of inputs alone, and of those that have targets."""
    wanted = model().predict(X, batch_size=SIZE)
    return [model().predict(make(X)), model().predict(make(X, Y))], [wanted, wanted]


def call(make: Callable[..., Any]) -> Any:
    """A function of K's that is called with each batch."""
    from keras import backend as K

    x, y = K.placeholder((None, 3)), K.placeholder((None, None))
    function = K.function([x, y], [K.sum(x, axis=-1), y * 2.0])
    found = [a for batch in make(X, Y) for a in function(list(batch))]
    return found, [a for batch in Rows(X, Y) for a in function(batch)]


WAYS = (fit, fit_weighted, fit_in_steps, validate_arrays, evaluate, predict, call)

# --- structures, and how it goes -----------------------------------------------------------------


def two_of_each() -> Any:
    """A model of two inputs and two outputs, with names."""
    from keras.layers import Dense, Input, add
    from keras.models import Model

    a, b = Input((3,), name="a"), Input((3,), name="b")
    shared = add([a, b])
    made = Model([a, b], [Dense(1, name="p")(shared), Dense(1, name="q")(shared)])
    made.set_weights([np.full(w.shape, 0.1) for w in made.get_weights()])
    made.compile("sgd", "mse")
    return made


class Nested(Rows):
    """Batches of lists or dicts, as loaders collate them."""

    def __iter__(self) -> Iterator[Any]:
        for a, b, p, q in Rows(X, 2 * X, Y, 3 * Y):
            yield self.kind(a, b, p, q)


STRUCTURES: dict[str, Callable[..., Any]] = {
    "tuples": lambda a, b, p, q: ((a, b), (p, q)),
    "lists": lambda a, b, p, q: [[a, b], [p, q]],
    "dicts": lambda a, b, p, q: ({"a": a, "b": b}, {"p": p, "q": q}),
    "one dict": lambda a, b, p, q: {"a": a, "b": b, "p": p, "q": q},
    "a dict alone": lambda a, b, p, q: ({"a": a, "b": b, "p": p, "q": q},),
}


def structure(name: str) -> None:
    """A model of several inputs and outputs learns, evaluates and predicts."""
    source, theirs, ours = Nested(kind=STRUCTURES[name]), two_of_each(), two_of_each()
    plain = [([a, b], [p, q]) for a, b, p, q in Rows(X, 2 * X, Y, 3 * Y)]
    wanted = theirs.fit_generator(iter(plain), 3, verbose=0, workers=0)
    same(fitted(ours, ours.fit(source, verbose=0)), fitted(theirs, wanted))
    same(ours.evaluate(source, verbose=0), theirs.evaluate_generator(iter(plain), 3, workers=0))
    same(ours.predict(source), theirs.predict([X, 2 * X], batch_size=SIZE))


def frames_whole(library: str) -> None:
    """Frames in the place of arrays: to learn, to validate, as weights, by name."""
    module = __import__(library)
    x, y, w = module.DataFrame(X), module.DataFrame(Y), module.Series(W)
    ours, theirs = model(), model()
    options = {"epochs": 2, "verbose": 0, "batch_size": SIZE, "shuffle": False}
    found = ours.fit(x, y, sample_weight=w, validation_data=(x, y, w), **options)
    wanted = theirs.fit(X, Y, sample_weight=W, validation_data=(X, Y, W), **options)
    same(fitted(ours, found), fitted(theirs, wanted))
    same(ours.evaluate(x, y, verbose=0), theirs.evaluate(X, Y, verbose=0))
    same(ours.predict(x), theirs.predict(X))
    same(two_of_each().predict({"a": x, "b": x}), two_of_each().predict([X, X]))


# Arrays of other libraries.
ARRAYS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "torch": lambda torch, array: torch.from_numpy(array),
    "jax": lambda jax, array: jax.numpy.asarray(array),
    "tensorflow": lambda tf, array: tf.constant(array),
}


def tensors_whole(library: str) -> None:
    """Arrays of other libraries in the place of NumPy's, also where a model takes its shape of
    them.
    """
    from keras.layers import Dense
    from keras.models import Sequential

    x, y = (ARRAYS[library](__import__(library), array) for array in (X, Y))
    ours, theirs = model(), model()
    np.random.seed(0)  # for the order of rows
    found = ours.fit(x, y, verbose=0, batch_size=SIZE)
    np.random.seed(0)
    wanted = theirs.fit(X, Y, verbose=0, batch_size=SIZE)
    same(fitted(ours, found), fitted(theirs, wanted))
    same([ours.train_on_batch(x, y)], [theirs.train_on_batch(X, Y)])
    shapeless = Sequential([Dense(1)])
    shapeless.compile("sgd", "mse")
    shapeless.fit(x, y, verbose=0)
    assert shapeless.predict(x).shape == (ROWS, 1)


def class_weights() -> None:
    """Weights of classes, where targets are whole numbers of another library."""
    from keras.layers import Dense
    from keras.models import Sequential

    labels = (np.arange(ROWS) % 2).astype("int64")
    results = []
    for batches in (torch_loader(X, labels), by_hand(X, labels)):
        made = Sequential([Dense(2, activation="softmax", input_shape=(3,))])
        made.set_weights([np.full((3, 2), 0.1), np.zeros(2)])
        made.compile("sgd", "sparse_categorical_crossentropy")
        options = {"class_weight": {0: 1.0, 1: 5.0}, "verbose": 0, "workers": 0}
        history = made.fit_generator(batches, len(STARTS), 2, **options)
        results.append(fitted(made, history))
    same(*results)


def every_epoch_is_a_pass() -> None:
    """A source is iterated anew in each epoch, and no further than it goes."""
    for kind in (Rows, Counted):
        source = noted(kind)
        model().fit(source, epochs=3, verbose=0, workers=4)
        assert source.passes == [[4, 4, 2]] * 3, source.passes


def noted(kind: Any) -> Any:
    """Batches of a kind of source, which notes how they were taken."""

    class Noted(kind):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            self.passes.append([])
            for batch in super().__iter__():
                self.passes[-1].append(len(batch[0]))
                yield batch

    made = Noted(X, Y)
    made.passes = []
    return made


def training_may_stop() -> None:
    """A callback ends an epoch in its midst; the loader is left."""
    from keras.callbacks import LambdaCallback

    ended = []

    class Noted(Rows):
        def __iter__(self) -> Iterator[Any]:
            try:
                yield from super().__iter__()
            finally:
                ended.append(True)

    made = model()
    stop = LambdaCallback(on_batch_end=lambda batch, logs: setattr(made, "stop_training", True))
    history = made.fit(Noted(X, Y), epochs=3, callbacks=[stop], verbose=0)
    assert len(history.epoch) == 1 and ended == [True], (history.epoch, ended)


def bars_count() -> None:
    """The bar counts where nobody knows how many batches come, and ends with the epoch."""
    import contextlib
    import io

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        model().fit(Rows(X, Y), epochs=2, validation_data=Rows(X, Y))
        model().fit(Whole(X, Y), epochs=2)
        model().evaluate(Rows(X, Y), verbose=1)
    text = told.getvalue()
    assert "1/Unknown" in text and "3/3 [====" in text and "1/1 [====" in text, text
    assert "\nEpoch 2/2" in text, text


def workers_end() -> None:
    """Processes that a loader has begun are gone after `fit`, also where it fails."""
    import multiprocessing

    model().fit(torch_workers(X, Y), epochs=2, verbose=0)
    assert not multiprocessing.active_children()
    try:
        model().fit(torch_workers(X, Y[:, [0, 0]]), verbose=0)
    except ValueError:
        pass
    else:
        raise AssertionError("targets of another shape were taken")
    assert not multiprocessing.active_children()


def errors_reach_the_user() -> None:
    """What a loader raises is raised as it is."""

    class Broken(Counted):
        def __iter__(self) -> Iterator[Any]:
            yield X[:SIZE], Y[:SIZE]
            raise LookupError("row 5")

    try:
        model().fit(Broken(X, Y), verbose=0)
    except LookupError as error:
        assert error.args == ("row 5",)
    else:
        raise AssertionError("it was kept quiet")


def iterators_are_generators() -> None:
    """An iterator is what it was: a generator, which is asked as often as Keras is told."""
    made, theirs = model(), model()
    found = made.fit(iter(torch_loader(X, Y)), steps_per_epoch=3, verbose=0)
    wanted = theirs.fit_generator(by_hand(X, Y), 3, verbose=0, workers=0)
    same(fitted(made, found), fitted(theirs, wanted))
    refuses("steps_per_epoch", lambda: model().fit(iter(Rows(X, Y))))


def endless() -> Any:
    """A dataset of TensorFlow's that begins again and again."""
    return tf_dataset(X, Y).repeat()


def endless_map() -> Any:
    """One of Grain's."""
    return grain_map(X, Y).repeat()


def broken_frame(library: str, column: Any) -> Any:
    """A frame with a column that is no number."""
    return __import__(library).DataFrame({"age": [1.0, 2.0], "b": [0.0, 1.0], "city": column})


# What is refused: what it needs, what makes it, and words of the error.
REFUSED: dict[str, tuple[str, Callable[[], Any], str]] = {
    "no batches": ("numpy", lambda: model().fit(Empty()), "gives no batches"),
    "no targets": ("numpy", lambda: model().fit(Rows(X)), "batches of 1 parts"),
    "too many parts": ("numpy", lambda: model().fit(Rows(X, Y, W, W)), "batches of 4 parts"),
    "targets besides": ("numpy", lambda: model().fit(Rows(X), Y), "`y` argument"),
    "a batch size": (
        "numpy",
        lambda: model().fit(Rows(X, Y), batch_size=2),
        "`batch_size` argument",
    ),
    "a split": (
        "numpy",
        lambda: model().fit(Rows(X, Y), validation_split=0.5),
        "`validation_split`",
    ),
    "another name": (
        "numpy",
        lambda: two_of_each().fit(Nested(kind=lambda a, b, p, q: {"a": a, "c": b})),
        'No data provided for "b"',
    ),
    "single rows": (
        "tensorflow",
        lambda: model().fit(tf_dataset(X, Y[:, 0]).unbatch()),
        "gives single rows: batch it",
    ),
    "an endless dataset": ("tensorflow", lambda: model().fit(endless()), "has no end"),
    "an endless map": ("grain", lambda: model().fit(endless_map()), "has no end"),
    "texts of pandas": (
        "pandas",
        lambda: model().predict(broken_frame("pandas", ["x", "y"])),
        "column 'city' of a pandas.DataFrame holds",
    ),
    "nulls of polars": (
        "polars",
        lambda: model().predict(broken_frame("polars", [1.0, None])),
        "column 'city' of a polars.DataFrame has nulls",
    ),
    "a loader among inputs": (
        "torch",
        lambda: two_of_each().predict([torch_loader(X), X]),
        "for batch in batches",
    ),
}


def texts_tell_numbers() -> None:
    """Arrays of texts in the place of arrays, as the original takes them."""
    ours, theirs = model(), model()
    x, y, w = X.astype(str), Y.astype(str).astype(object), W.astype(str)
    options = {"verbose": 0, "batch_size": SIZE, "shuffle": False}
    found = ours.fit(x, y, sample_weight=w, **options)
    wanted = theirs.fit(X, Y, sample_weight=W, **options)
    same(fitted(ours, found), fitted(theirs, wanted))
    same(ours.predict(x.astype("S")), theirs.predict(X))


def refuses(words: str, run: Callable[[], Any]) -> None:
    """It's an error that says these words."""
    try:
        run()
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError("nothing was refused")


def same(found: Any, wanted: Any) -> None:
    """Both are made of equal numbers."""
    found, wanted = list(found), list(wanted)
    assert len(found) == len(wanted), (len(found), len(wanted))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


# By name of a case: the library that it needs, and what runs it.
CASES: dict[str, tuple[str, Callable[[], None]]] = {
    **{
        f"{way.__name__} {make.__name__}": (needs, lambda way=way, make=make: same(*way(make)))
        for make, needs in SOURCES.items()
        for way in WAYS
    },
    **{f"batches of {name}": ("numpy", lambda name=name: structure(name)) for name in STRUCTURES},
    **{
        f"{name} whole": (name, lambda name=name: frames_whole(name))
        for name in ("pandas", "polars")
    },
    **{f"arrays of {name}": (name, lambda name=name: tensors_whole(name)) for name in ARRAYS},
    **{
        each.__name__: (needs, each)
        for needs, each in (
            ("torch", class_weights),
            ("numpy", every_epoch_is_a_pass),
            ("numpy", training_may_stop),
            ("numpy", bars_count),
            ("torch", workers_end),
            ("numpy", errors_reach_the_user),
            ("numpy", texts_tell_numbers),
            ("torch", iterators_are_generators),
        )
    },
    **{
        f"refused: {name}": (needs, lambda words=words, run=run: refuses(words, run))
        for name, (needs, run, words) in REFUSED.items()
    },
}


def main() -> None:
    """Run all cases whose libraries are there, or those that are named; print how they went."""
    from kameleon.compat.keras2 import location

    sys.path[:0] = [path for path in [location.find()] if path]
    import keras  # noqa: F401

    found = {}
    for name, (needs, run) in CASES.items():
        if find_spec(needs) is None or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        try:
            run()
        except BaseException:
            found[name] = traceback.format_exc()
        else:
            found[name] = ""
    print(json.dumps(found))


if __name__ == "__main__":
    main()
