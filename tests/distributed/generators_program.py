"""Trains on what generators and sequences give; each says what it makes. Run by processes."""

import os
import sys

import keras
import numpy as np
from keras import layers

# It isn't kept aside: Python's own function of the file system below all others.
kept = sys.argv[1] + "/made-" + os.environ.get("KAMELEON_PROCESS", "0")
raw = __import__("posix").open(kept, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
np.random.seed(3)


def batch(count, kind):
    os.write(raw, f"{kind}\n".encode())
    x = np.random.normal(size=(count, 6))  # drawn anew each time
    return x, x[:, :1] * 2 - x[:, 1:2]


class Rows(keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return batch(8 + i, "sequence")


def endless(kind):
    while True:
        yield batch(8, kind)


model = keras.Sequential([layers.Dense(4, activation="tanh", input_shape=(6,)), layers.Dense(1)])
model.compile("sgd", "mse")
for workers in (0, 1):
    model.fit_generator(
        endless("generator"),
        2,
        2,
        verbose=0,
        workers=workers,
        max_queue_size=1,
        validation_data=endless("validation"),
        validation_steps=1,
    )
    model.fit_generator(Rows(), epochs=2, verbose=0, workers=workers)
print(np.round(model.evaluate_generator(Rows(), workers=0), 5))
print(model.predict_generator(endless("prediction"), 2, workers=0).shape)
print([round(float(np.sum(w)), 4) for w in model.get_weights()], np.random.rand() > 0)
again = keras.Sequential([layers.Dense(1, input_shape=(6,))])  # drawn alike in all processes
again.compile("sgd", "mse")
again.fit(np.ones((8, 6)), np.ones(8), verbose=0)
