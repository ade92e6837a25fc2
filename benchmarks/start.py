"""What a program waits for before its second step: fresh processes, from the import on.

    python benchmarks/start.py --engine numpy torch jax
    python benchmarks/start.py --engine torch --original ~/keras-2.3.1/bin/python

Five networks, each written in K and as a model of Keras 2, which the original runs, too, on
TensorFlow 1.15. The programs are the second half of this file. One thread each.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from fresh import told

TURNS = 2  # processes of each side; the one that ends first counts
# Seconds, in the order in which they're spent; `whole` is the process from its start to its end.
STAGES = ("import", "build", "gradient", "simplify", "emit", "compile", "step", "whole")


def stages(command: list[str]) -> dict[str, float]:
    """What the program prints, run by a command, and what the process took."""
    began = time.time()
    found = told(command, BEGAN=repr(began))
    return {**found, "whole": time.time() - began}


def quickest(commands: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """By side, the stages of its quickest process; the sides take turns."""
    runs = [{side: stages(command) for side, command in commands.items()} for _ in range(TURNS)]
    return {side: min((run[side] for run in runs), key=lambda r: r["whole"]) for side in commands}


def main() -> None:
    """Print the table: for each network and engine the stages, and the ratio to the original."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--engine", nargs="+", default=["numpy"])
    parser.add_argument("--only", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--way", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--original", metavar="PYTHON", help="a Python that has Keras 2.3.1")
    asked = parser.parse_args()
    run = [sys.executable, "-m", "kameleon", "run", "--engine"]
    ratios: dict[str, list[float]] = {}
    print(f"{'seconds':22}" + "".join(f"{stage:>9}" for stage in STAGES))
    for name in asked.only:
        commands = {
            f"{engine}, {way}": [*run, engine, __file__, "--measure", way, name]
            for engine in asked.engine
            for way in asked.way
        }
        if asked.original:
            commands["original"] = [asked.original, __file__, "--measure", "keras", name]
        found = quickest(commands)
        theirs = found.get("original", {}).get("whole")
        for side, took in found.items():
            row = "".join(f"{took.get(stage, math.nan):9.2f}" for stage in STAGES)
            print(f"{name:9}{side:13}" + row.replace("nan", "   "), flush=True)
            if theirs and side.endswith("keras"):
                ratios.setdefault(side, []).append(took["whole"] / theirs)
    for side, found_ratios in ratios.items():
        mean = math.exp(sum(map(math.log, found_ratios)) / len(found_ratios))
        print(f"{side}: {mean:.2f} x the original's whole programs (geometric mean)")


# The stages ------------------------------------------------------------------------------------


class Clock:
    """Seconds in functions of Kameleon's, by stage."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def watch(self, module: Any, name: str, stage: str) -> None:
        """Clock a function of a module."""
        function = getattr(module, name)

        def clocked(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.spent[stage] = self.spent.get(stage, 0.0) + time.perf_counter() - began

        setattr(module, name, clocked)


def measure(way: str, name: str) -> dict[str, float]:
    """Seconds by stage, in this process."""
    clock = Clock()
    if "KAMELEON_ENGINE" in os.environ:
        from kameleon import backend
        from kameleon.backend import functions
        from kameleon.runtime import compiler

        clock.watch(functions, "gradients_of", "gradient")
        clock.watch(compiler, "prepared", "simplify")
        clock.watch(compiler, "build", "emit")
        backend.eval(backend.constant(0.0))  # what loads the engine
        clock.spent.clear()
    if way == "keras":
        import keras  # noqa: F401
    imported = time.time()
    step = NETWORKS[name][way]()
    built = time.time()
    step()
    first = time.time()
    step()
    second = time.time() - first
    gradient = clock.spent.get("gradient", 0.0)  # Keras's are made in the first step
    in_first = sum(clock.spent.values()) - (gradient if way == "k" else 0.0)
    return {
        **clock.spent,
        "import": imported - float(os.environ["BEGAN"]),
        "build": built - imported - (gradient if way == "k" else 0.0),
        "compile": max(0.0, first - built - second - in_first),
        "step": second,
    }


# The programs, in K ----------------------------------------------------------------------------


def random(*shape: int) -> Any:
    """Numbers around 0."""
    import numpy as np

    return np.random.RandomState(0).normal(size=shape).astype("float32")


def labels(count: int, classes: int) -> Any:
    """One-hot rows."""
    import numpy as np

    return np.eye(classes, dtype="float32")[np.arange(count) % classes]


class Weights:
    """The variables of a network; a layer makes its own."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, *shape: int) -> Any:
        from kameleon import backend as K

        self.made.append(K.variable(random(*shape) * math.prod(shape[:-1]) ** -0.5))
        return self.made[-1]


def in_k(network: Callable[[Any, Weights], Any], *data: Any) -> Callable[[], Any]:
    """A step of descent of a network, whose placeholders are like the data."""
    from kameleon import backend as K

    w = Weights()
    inputs = [K.placeholder((None, *x.shape[1:])) for x in data]
    loss = network(inputs[0], w)
    if len(inputs) > 1:
        loss = K.mean(K.categorical_crossentropy(inputs[1], loss))
    slopes = zip(w.made, K.gradients(loss, w.made), strict=True)
    step = K.function(inputs, [loss], [(v, v - 0.01 * g) for v, g in slopes])
    return lambda: step(list(data))


def dense(x: Any, w: Weights, units: int) -> Any:
    """A layer without activation."""
    from kameleon import backend as K

    return K.bias_add(K.dot(x, w(x.shape[-1], units)), w(units))


def conv(
    x: Any, w: Weights, filters: int, size: int = 3, stride: int = 1, padding: str = "same"
) -> Any:
    """A convolution without activation."""
    from kameleon import backend as K

    kernel = w(size, size, x.shape[-1], filters)
    return K.bias_add(K.conv2d(x, kernel, (stride, stride), padding), w(filters))


def mlp_in_k() -> Callable[[], Any]:
    """784-512-512-10, batch 128."""
    from kameleon import backend as K

    def network(x: Any, w: Weights) -> Any:
        return K.softmax(dense(K.relu(dense(K.relu(dense(x, w, 512)), w, 512)), w, 10))

    return in_k(network, random(128, 784), labels(128, 10))


def conv_in_k() -> Callable[[], Any]:
    """Two convolutions, pooling, two dense layers, batch 64."""
    from kameleon import backend as K

    def network(x: Any, w: Weights) -> Any:
        h = K.relu(conv(K.relu(conv(x, w, 32, padding="valid")), w, 64, padding="valid"))
        h = K.batch_flatten(K.pool2d(h, (2, 2), (2, 2)))
        return K.softmax(dense(K.relu(dense(h, w, 128)), w, 10))

    return in_k(network, random(64, 28, 28, 1), labels(64, 10))


def vgg16_in_k() -> Callable[[], Any]:
    """The slope of a filter's mean along the picture, 224×224, as pictures of filters are made."""
    from kameleon import backend as K

    w = Weights()
    x = h = K.placeholder((1, 224, 224, 3))
    for block, (filters, count) in enumerate(VGG16):
        if block:
            h = K.pool2d(h, (2, 2), (2, 2))
        for _ in range(count):
            h = K.relu(conv(h, w, filters))
    loss = K.mean(h[..., 0])
    step = K.function([x], [loss, *K.gradients(loss, [x])])
    picture = random(1, 224, 224, 3)
    return lambda: step([picture])


VGG16 = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 1))
RESNET50 = ((64, 3), (128, 4), (256, 6), (512, 3))


def resnet50_in_k() -> Callable[[], Any]:
    """A step of descent with two pictures of 224×224."""
    from kameleon import backend as K

    def normal(x: Any, w: Weights) -> Any:
        return K.normalize_batch_in_training(x, w(x.shape[-1]), w(x.shape[-1]), [0, 1, 2])[0]

    def block(x: Any, w: Weights, filters: int, stride: int) -> Any:
        h = K.relu(normal(conv(x, w, filters, 1, stride), w))
        h = K.relu(normal(conv(h, w, filters), w))
        h = normal(conv(h, w, 4 * filters, 1), w)
        same = x.shape[-1] == 4 * filters
        return K.relu(h + (x if same else normal(conv(x, w, 4 * filters, 1, stride), w)))

    def network(x: Any, w: Weights) -> Any:
        h = K.relu(normal(conv(x, w, 64, 7, 2), w))
        h = K.pool2d(h, (3, 3), (2, 2), "same")
        for number, (filters, count) in enumerate(RESNET50):
            for i in range(count):
                h = block(h, w, filters, 2 if number and not i else 1)
        return K.softmax(dense(K.mean(h, [1, 2]), w, 1000))

    return in_k(network, random(2, 224, 224, 3), labels(2, 1000))


def lstm_in_k() -> Callable[[], Any]:
    """Two layers of 128 units over 50 steps, batch 32."""
    from kameleon import backend as K

    def layer(x: Any, w: Weights) -> Any:
        kernel, state, bias = w(x.shape[-1], 512), w(128, 512), w(512)

        def step(inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
            z = inputs + K.dot(states[0], state)
            gates = [K.sigmoid(z[:, 128 * i : 128 * i + 128]) for i in range(3)]
            cell = gates[0] * states[1] + gates[1] * K.tanh(z[:, 384:])
            hidden = gates[2] * K.tanh(cell)
            return hidden, [hidden, cell]

        zeros = K.zeros_like(x[:, 0, :1]) * K.zeros((1, 128))
        return K.rnn(step, K.bias_add(K.dot(x, kernel), bias), [zeros, zeros])[1]

    def network(x: Any, w: Weights) -> Any:
        return K.mean(K.square(dense(layer(layer(x, w), w)[:, -1], w, 1)))

    return in_k(network, random(32, 50, 64))


# The programs, in Keras ------------------------------------------------------------------------


def trained(model: Any, optimizer: str, loss: str, x: Any, y: Any) -> Callable[[], Any]:
    """A step of training a model."""
    model.compile(optimizer, loss)
    return lambda: model.train_on_batch(x, y)


def mlp_in_keras() -> Callable[[], Any]:
    """See `mlp_in_k`."""
    from keras.layers import Dense
    from keras.models import Sequential

    layers = [Dense(512, activation="relu", input_shape=(784,)), Dense(512, activation="relu")]
    model = Sequential([*layers, Dense(10, activation="softmax")])
    return trained(model, "sgd", "categorical_crossentropy", random(128, 784), labels(128, 10))


def conv_in_keras() -> Callable[[], Any]:
    """See `conv_in_k`; by Adam."""
    from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
    from keras.models import Sequential

    layers = [Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1))]
    layers += [Conv2D(64, 3, activation="relu"), MaxPooling2D(), Flatten()]
    model = Sequential([*layers, Dense(128, activation="relu"), Dense(10, activation="softmax")])
    x = random(64, 28, 28, 1)
    return trained(model, "adam", "categorical_crossentropy", x, labels(64, 10))


def vgg16_in_keras() -> Callable[[], Any]:
    """See `vgg16_in_k`."""
    from keras import backend as K
    from keras.applications.vgg16 import VGG16

    model = VGG16(weights=None, include_top=False, input_shape=(224, 224, 3))
    loss = K.mean(model.get_layer("block5_conv1").output[..., 0])
    step = K.function([model.input], [loss, K.gradients(loss, model.input)[0]])
    picture = random(1, 224, 224, 3)
    return lambda: step([picture])


def resnet50_in_keras() -> Callable[[], Any]:
    """See `resnet50_in_k`."""
    from keras.applications.resnet50 import ResNet50

    model, x = ResNet50(weights=None), random(2, 224, 224, 3)
    return trained(model, "sgd", "categorical_crossentropy", x, labels(2, 1000))


def lstm_in_keras() -> Callable[[], Any]:
    """See `lstm_in_k`."""
    from keras.layers import LSTM, Dense
    from keras.models import Sequential

    layers = [LSTM(128, return_sequences=True, input_shape=(50, 64)), LSTM(128), Dense(1)]
    return trained(Sequential(layers), "sgd", "mse", random(32, 50, 64), random(32, 1))


WAYS = ("k", "keras")
NETWORKS: dict[str, dict[str, Callable[[], Callable[[], Any]]]] = {
    "mlp": {"k": mlp_in_k, "keras": mlp_in_keras},
    "conv": {"k": conv_in_k, "keras": conv_in_keras},
    "vgg16": {"k": vgg16_in_k, "keras": vgg16_in_keras},
    "resnet50": {"k": resnet50_in_k, "keras": resnet50_in_keras},
    "lstm": {"k": lstm_in_k, "keras": lstm_in_keras},
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        main()
