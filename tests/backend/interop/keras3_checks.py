"""What a layer of Keras 3 made of a function does, on the backend that KERAS_BACKEND names.

python keras3_checks.py layer FOLDER      a layer: numbers, training, and a file of its model
python keras3_checks.py convert FOLDER    models of Keras 2 that lie in the folder
python keras3_checks.py load FOLDER       converted models, without Kameleon
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np

BACKEND = keras.backend.backend()


def layer(folder: Path) -> None:
    """Numbers, shapes, training, updates, random streams, files, and what's refused."""
    from kameleon import backend as K
    from kameleon.backend.interop.keras3 import to_keras3
    from kameleon.errors import EngineError, FeedError

    random = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> Any:
        return K.variable((0.3 * random.normal(size=shape)).astype("float32"), name=name)

    x = K.placeholder((None, 5), name="x")
    w, v = weight("w", 5, 8), weight("dense/v", 8, 3)
    mean = K.variable(np.zeros(8, "float32"), name="mean")
    h = K.tanh(K.dot(x, w))
    y = K.dot(K.in_train_phase(K.dropout(h, 0.3), h - 0.1 * mean), v)
    updates = [(mean, 0.9 * mean + 0.1 * K.mean(h, axis=0))]
    function = K.function([x, K.learning_phase()], {"y": y, "more": (h, [y])}, updates)
    found = to_keras3(function, name="mine")
    assert [w.name for w in found.trainable_weights] == ["w", "dense_v"], found.trainable_weights
    given = random.normal(size=(64, 5)).astype("float32")
    for phase in (0, 1, 1, 0):
        want, got = function([given, phase]), found(given, training=bool(phase))
        assert isinstance(got["more"], tuple)
        for a, b in ((got["y"], want["y"]), (got["more"][1][0], want["y"])):
            np.testing.assert_allclose(keras.ops.convert_to_numpy(a), b, rtol=1e-5, atol=1e-6)
    start = keras.Input((5,))
    symbolic = found(start)
    assert symbolic["y"].shape == (None, 3) and symbolic["more"][0].shape == (None, 8)
    shapes = {"y": (4, 3), "more": ((4, 8), [(4, 3)])}
    assert found.compute_output_shape((4, 5)) == found.compute_output_shape([(4, 5)]) == shapes

    target = given[:, :3] @ random.normal(size=(3, 3)).astype("float32")
    model = keras.Model(start, keras.layers.Dense(3, use_bias=False)(symbolic["y"]))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    losses = model.fit(given, target, epochs=8, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < 0.8 * losses[0], losses
    model.save(folder / "model.keras")
    again = keras.models.load_model(folder / "model.keras")
    want = model.predict(given, verbose=0)
    np.testing.assert_allclose(again.predict(given, verbose=0), want, rtol=1e-5, atol=1e-6)
    twice = keras.layers.deserialize(keras.layers.serialize(found))
    assert len(twice.weights) == len(found.weights)
    for wrong in (np.zeros((2, 4), "float32"), [given, given]):
        try:
            found(wrong)
        except (FeedError, ValueError) as error:
            assert "K.function" in str(error) or "fit" in str(error), error
        else:
            raise AssertionError("wrong inputs are taken")

    count = K.placeholder((), dtype="int32", name="count")
    first = to_keras3(K.function([x, count], x[:count]))
    try:
        assert first([given, np.int32(3)]).shape == (3, 5)
        assert BACKEND != "jax"
    except EngineError as error:
        assert BACKEND == "jax" and "the value of 'count:0' decides shapes" in str(error), error


def convert(folder: Path) -> None:
    """Converted models predict what the originals do."""
    from kameleon.backend.interop.keras3_model import convert_model
    from kameleon.errors import UnsupportedError

    refused = []
    for path in sorted(folder.glob("*.npz")):
        kept = np.load(path)
        try:
            model = convert_model(json.loads(str(kept["config"])), _arrays(kept, "weight"))
        except UnsupportedError as error:
            refused.append(path.stem)
            assert path.stem in str(error).lower(), error
            continue
        _compare(model, kept, path.stem)
        model.save(folder / f"{path.stem}.keras")
    assert refused == ["lambda", "local"], refused


def load(folder: Path) -> None:
    """Files of converted models need no Kameleon."""
    sys.modules["kameleon"] = None  # type: ignore[assignment]
    files = sorted(folder.glob("*.keras"))
    assert len(files) > 8
    for path in files:
        _compare(keras.models.load_model(path), np.load(path.with_suffix(".npz")), path.stem)


def _arrays(kept: Any, kind: str) -> list[Any]:
    names = (f"{kind}{i}" for i in range(len(kept.files)))
    return [kept[name] for name in names if name in kept.files]


def _compare(model: Any, kept: Any, name: str) -> None:
    given = _arrays(kept, "input")
    found = model.predict(given if len(given) > 1 else given[0], verbose=0)
    found = found if isinstance(found, list) else [found]
    for got, want in zip(found, _arrays(kept, "output"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=name)


if __name__ == "__main__":
    {"layer": layer, "convert": convert, "load": load}[sys.argv[1]](Path(sys.argv[2]))
