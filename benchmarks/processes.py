"""A training step in two processes, pinned to a core each, against the same in one: strong scaling.

    python benchmarks/processes.py

Batches are the same; each process computes its part of the rows. The two ways take turns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

TURNS = 5
STEPS = 12
# By name: rows in a batch, and what a row is.
SIZES = {"dense": (1024, (512,)), "convolutional": (64, (32, 32, 3))}


def worker() -> None:
    """In each process: time the steps; the first one says so."""
    index = int(os.environ.get("KAMELEON_PROCESS", "0"))
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[index]})
    import keras

    for name, build in (("dense", dense), ("convolutional", convolutional)):
        rows, shape = SIZES[name]
        model = build(keras, shape)
        x = np.random.RandomState(0).normal(size=(rows, *shape)).astype("float32")
        y = np.eye(10, dtype="float32")[np.arange(rows) % 10]
        for _ in range(3):
            model.train_on_batch(x, y)
        times = []
        for _ in range(STEPS):
            start = time.perf_counter()
            model.train_on_batch(x, y)
            times.append(time.perf_counter() - start)
        print(f"seconds {name} {min(times)}", flush=True)


def dense(keras: Any, shape: tuple[int, ...]) -> Any:
    """Three wide layers."""
    layers = [keras.layers.Dense(1024, activation="relu", input_shape=shape)]
    layers += [
        keras.layers.Dense(1024, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
    return _compiled(keras, layers)


def convolutional(keras: Any, shape: tuple[int, ...]) -> Any:
    """Three convolutions with batch normalization, whose statistics are the whole batch's."""
    layers = [keras.layers.Conv2D(32, 3, activation="relu", input_shape=shape)]
    for _ in range(2):
        layers += [keras.layers.BatchNormalization(), keras.layers.Conv2D(32, 3, activation="relu")]
    layers += [keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")]
    return _compiled(keras, layers)


def _compiled(keras: Any, layers: list[Any]) -> Any:
    model = keras.models.Sequential(layers)
    model.compile(keras.optimizers.SGD(0.01), "categorical_crossentropy")
    return model


def timed(processes: int) -> dict[str, float]:
    """The seconds of a step, by network, in so many processes."""
    command = ["-m", "kameleon", "launch", "--processes", str(processes), __file__, "--worker"]
    done = subprocess.run([sys.executable, *command], text=True, stdout=subprocess.PIPE, check=True)
    lines = [line.split("seconds ")[1] for line in done.stdout.splitlines() if "seconds " in line]
    return {name: float(number) for name, number in map(str.split, lines)}


def main() -> None:
    """Both ways in turns, and their ratio."""
    found = [(timed(1), timed(2)) for _ in range(TURNS)]
    for name, (rows, _) in SIZES.items():
        one, two = (min(turn[i][name] for turn in found) for i in (0, 1))
        ratios = [a[name] / b[name] for a, b in found]
        print(
            f"{name}, {rows} rows: {1e3 * one:.1f} ms in one process, {1e3 * two:.1f} ms in two:"
            f" {one / two:.2f} times as fast (median of turns {statistics.median(ratios):.2f})"
        )


if __name__ == "__main__":
    worker() if "--worker" in sys.argv else main()
