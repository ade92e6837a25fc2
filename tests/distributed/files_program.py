"""A program that writes what Keras programs write, and reads it again; run by processes."""

import json
import os
import shutil
import sys
from pathlib import Path

import keras
import numpy as np
from keras import layers

folder = Path(sys.argv[1])
np.random.seed(1)
draw = np.random.RandomState(0)
x, y = draw.normal(size=(40, 6)), draw.randint(0, 2, (40, 1))
model = keras.Sequential([layers.Dense(8, activation="tanh", input_shape=(6,)), layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])

shutil.rmtree(folder / "old")
os.makedirs(folder / "weights", exist_ok=True)
best = str(folder / "weights" / "best.h5")
history = model.fit(
    x,
    y,
    batch_size=16,
    epochs=3,
    verbose=2,
    callbacks=[
        keras.callbacks.ModelCheckpoint(best, save_weights_only=True),
        keras.callbacks.CSVLogger(str(folder / "log.csv")),
    ],
)
model.save(str(folder / "model.h5"))
again = keras.models.load_model(str(folder / "model.h5"))
np.testing.assert_array_equal(again.predict(x), model.predict(x))
model.load_weights(best)
np.save(folder / "predictions.npy", model.predict(x))
with open(folder / "history.json", "w") as file:
    json.dump({k: [float(v) for v in values] for k, values in history.history.items()}, file)
with open(folder / "notes.txt", "a") as file:
    file.write("one line\n")
os.rename(folder / "notes.txt", folder / "notes")
assert (folder / "notes").read_text().count("one line") == 1, "written more than once"
assert sorted(os.listdir(folder)) == sorted(p.name for p in folder.iterdir())
assert {"model.h5", "notes", "weights"} <= set(os.listdir(folder))
assert not os.path.exists(folder / "notes.txt")
print("written in", os.path.basename(folder))
