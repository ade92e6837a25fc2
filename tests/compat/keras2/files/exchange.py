"""Writes networks into files with the Keras at hand, and checks files that any Keras wrote.

    python exchange.py write FOLDER [NAME ...]    make the files of the networks (of those named)
    python exchange.py check FOLDER [NAME ...]    load them, compare, print what differs how much

"The Keras at hand" is what `import keras` finds: the original 2.3.1 on Python 3.6 (Theano) or
3.7 (TensorFlow), or the hosted one. So nothing here is newer than Python 3.6.

For each network there are NAME.h5.gz, the compressed HDF5 file, and NAME.npz: inputs,
targets, what the writer predicted, and the loss and the weights after one more step of training.
`check` exits with 1 if anything differs by more than it may: `TOLERANCE`, with one exception.
"""

# ruff: noqa: B905 - zip() takes no `strict` there

import gzip
import json
import os
import shutil
import sys
import tempfile
import warnings

import numpy as np
from keras import backend as K
from keras import models
from networks import CUSTOM, NETWORKS, Network, takes_some

TOLERANCE = 1e-5
TRAINED = ("losses", "after", "statistics")  # what `step` returns
BATCH = 5
MANY = 100000
STEPS = 3  # before the file is written: the optimizer has a state by then


def fill(model: models.Model, rng: np.random.RandomState) -> models.Model:
    """Set weights that are the same wherever the network is built; return the network."""
    values = []
    for weight in model.weights:
        value = rng.uniform(-0.6, 0.6, K.int_shape(weight))
        values.append(np.abs(value) + 0.5 if "variance" in weight.name else value)
    K.batch_set_value(list(zip(model.weights, values)))
    return model


def start_afresh() -> None:
    """Let the names of layers count from 1 again; on Theano there is no session to clear."""
    getattr(K, "clear_session", K.reset_uids)()


def build(network: Network) -> tuple:
    """Build the network in a fresh session; return it and the generator of its numbers."""
    start_afresh()
    rng = np.random.RandomState(sum(network.name.encode()))
    return fill(network.build(), rng), rng


def draw_inputs(network: Network, rng: np.random.RandomState) -> list:
    """Return an array per input."""
    return [
        (
            rng.normal(size=(BATCH, *shape))
            if below is None
            else rng.randint(below, size=(BATCH, *shape))
        ).astype("float32")
        for shape, below in network.inputs
    ]


def draw_targets(model: models.Model, rng: np.random.RandomState) -> list:
    """Return an array per output: one of the classes, or numbers between 0 and 1."""
    shapes = [(BATCH, *K.int_shape(output)[1:]) for output in model.outputs]
    if model.loss == "categorical_crossentropy":
        return [
            np.eye(size, dtype="float32")[rng.randint(size, size=rows)] for rows, size in shapes
        ]
    return [rng.uniform(size=shape).astype("float32") for shape in shapes]


def as_list(values: object) -> list:
    """Return what `predict` or `train_on_batch` returned as a list of arrays."""
    return [np.asarray(value) for value in (values if isinstance(values, list) else [values])]


def predict(model: models.Model, inputs: list, calls: int) -> list:
    """Return the outputs of all calls, one after the other, from reset states."""
    model.reset_states()
    outputs = [output for _ in range(calls) for output in as_list(model.predict(inputs))]
    model.reset_states()
    return outputs


def step(model: models.Model, inputs: list, targets: list) -> tuple:
    """Train on the batch; return the loss (and metrics), and the weights afterwards.

    The weights are those that are trained, in a row, and likewise all others: the statistics of
    normalizations, and what is frozen.
    """
    losses = as_list(model.train_on_batch(inputs, targets))
    model.reset_states()
    kinds = (model.trainable_weights, model.non_trainable_weights)
    return (np.ravel(losses), *(in_a_row(K.batch_get_value(weights)) for weights in kinds))


def in_a_row(arrays: list) -> np.ndarray:
    """Return the numbers of all arrays."""
    return np.concatenate([np.zeros(0, "float32"), *(np.ravel(array) for array in arrays)])


def settle(optimizer: object) -> None:
    """Set the counter of steps so high that one more or less makes no difference.

    On TensorFlow the original may read the counter before or after it's raised, as the session
    happens to schedule; and the first steps of Adam and its kin depend on the counter.
    """
    K.set_value(optimizer.iterations, MANY)
    if hasattr(optimizer, "m_schedule"):  # Nadam's product of momenta: nothing is left by then
        K.set_value(optimizer.m_schedule, 0.0)


# What the files hold. Each writer trains and stores, and returns the network that predicts;
# each reader returns what it made of the files.


def write_model(path: str, model: models.Model) -> models.Model:
    """A whole model: its configuration, weights, optimizer and the optimizer's state."""
    model.save(f"{path}.h5")
    return model


def read_model(path: str, network: Network) -> models.Model:
    """Load the model."""
    return models.load_model(f"{path}.h5", custom_objects=CUSTOM)


def write_texts(path: str, model: models.Model) -> models.Model:
    """A whole model, and its configuration as JSON and as YAML."""
    for kind, text in (("json", model.to_json(indent=1)), ("yaml", model.to_yaml())):
        with open(f"{path}.{kind}", "w", encoding="utf-8") as file:
            file.write(text + "\n" * (not text.endswith("\n")))
    return write_model(path, model)


def read_texts(path: str, network: Network) -> models.Model:
    """Load the model; the texts must make the same network, with the same weights."""
    model = read_model(path, network)
    for kind, read in (("json", models.model_from_json), ("yaml", models.model_from_yaml)):
        with open(f"{path}.{kind}", encoding="utf-8") as file:
            made = read(file.read(), custom_objects=CUSTOM)
        made.load_weights(f"{path}.h5")
        if made.get_config() != model.get_config():
            raise ValueError(f"{path}.{kind} makes another network than {path}.h5")
        for mine, theirs in zip(made.get_weights(), model.get_weights()):
            np.testing.assert_array_equal(mine, theirs)
    return model


def write_weights(path: str, model: models.Model) -> models.Model:
    """Weights alone."""
    model.save_weights(f"{path}.h5")
    return model


def read_weights(path: str, network: Network) -> models.Model:
    """Load the weights into a network of the same topology, which had other weights."""
    model = network.build()
    model.load_weights(f"{path}.h5")
    return model


def write_names(path: str, model: models.Model) -> models.Model:
    """Weights alone, for a network that takes those whose names it has, and that fit."""
    write_weights(path, model)
    return read_names(path)


def read_names(path: str, network: object = None) -> models.Model:
    """Load the weights into a network that takes some of them."""
    model = fill(takes_some(), np.random.RandomState(7))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras says which layers don't fit
        model.load_weights(f"{path}.h5", by_name=True, skip_mismatch=True)
    return model


STORES = {
    "model": (write_model, read_model),
    "texts": (write_texts, read_texts),
    "weights": (write_weights, read_weights),
    "names": (write_names, read_names),
}


def write(folder: str, network: Network) -> dict:
    """Train the network, write its files, train it by one more step; return the sizes."""
    path = os.path.join(folder, network.name)
    model, rng = build(network)
    inputs = draw_inputs(network, rng)
    arrays = {f"input{i}": array for i, array in enumerate(inputs)}
    arrays["backend"] = np.array(K.backend())
    if model.optimizer:
        targets = draw_targets(model, rng)
        arrays.update((f"target{i}", array) for i, array in enumerate(targets))
        for _ in range(STEPS):
            step(model, inputs, targets)
        settle(model.optimizer)
    model = STORES[network.stores][0](path, model)
    outputs = predict(model, inputs, network.calls)
    arrays.update((f"output{i}", array) for i, array in enumerate(outputs))
    if model.optimizer:
        arrays.update(zip(TRAINED, step(model, inputs, targets)))
    np.savez_compressed(f"{path}.npz", **arrays)
    return {"bytes": pack(path)}


def pack(path: str) -> int:
    """Compress the HDF5 file, most of which is gaps; return the size of the compressed file."""
    with open(f"{path}.h5", "rb") as file, open(f"{path}.h5.gz", "wb") as shell:
        shell.write(gzip.compress(file.read()))
    os.remove(f"{path}.h5")
    return os.path.getsize(f"{path}.h5.gz")


def unpack(path: str, folder: str) -> str:
    """Copy the network's files to the folder, the HDF5 file uncompressed; return the path."""
    copy = os.path.join(folder, os.path.basename(path))
    with gzip.open(f"{path}.h5.gz", "rb") as shell, open(f"{copy}.h5", "wb") as file:
        shutil.copyfileobj(shell, file)
    for kind in ("json", "yaml"):
        if os.path.exists(f"{path}.{kind}"):
            shutil.copy(f"{path}.{kind}", folder)
    return copy


def check(folder: str, network: Network) -> dict:
    """Load the network's files and return how much everything differs at most."""
    path = os.path.join(folder, network.name)
    with np.load(f"{path}.npz") as file:
        arrays = dict(file)
    inputs, targets, outputs = (
        [arrays[f"{kind}{i}"] for i in range(len(arrays)) if f"{kind}{i}" in arrays]
        for kind in ("input", "target", "output")
    )
    start_afresh()
    with tempfile.TemporaryDirectory() as scratch:
        model = STORES[network.stores][1](unpack(path, scratch), network)
    mine = predict(model, inputs, network.calls)
    found = {"outputs": max(largest(a, b) for a, b in zip(mine, outputs))}
    if "losses" not in arrays:
        return found
    found["counter"] = float(abs(K.get_value(model.optimizer.iterations) - MANY))
    for kind, value in zip(TRAINED, step(model, inputs, targets)):
        found[kind] = largest(value, arrays[kind])
    if network.theano == "turned" and is_theano(K.backend()) != is_theano(arrays["backend"]):
        # On Theano kernels lie turned, and Keras doesn't turn what the optimizer knows of them;
        # and Theano adds BatchNormalization's epsilon to the variances.
        del found["after"], found["statistics"]
    return found


def is_theano(backend: object) -> bool:
    """Say whether the backend is Theano, whose kernels are turned."""
    return str(backend) == "theano"


def too_large(found: dict, network: Network) -> dict:
    """Return those of the differences that are larger than they may be."""
    may_be = dict(dict.fromkeys(found, TOLERANCE), statistics=network.statistics)
    return {kind: size for kind, size in found.items() if not size <= may_be[kind]}


def largest(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference; infinity where the shapes differ."""
    if mine.shape != theirs.shape:
        return float("inf")
    return float(np.max(np.abs(mine - theirs))) if mine.size else 0.0


def main(command: str, folder: str, *names: str) -> int:
    """Write or check the networks named, or those the folder has, or all; print JSON lines."""
    work = {"write": write, "check": check}[command]
    os.makedirs(folder, exist_ok=True)
    failed = False
    for network in NETWORKS:
        if network.name not in names if names else not meant(command, folder, network):
            continue
        found = work(folder, network)
        if command == "check":
            found["bad"] = sorted(too_large(found, network))
            failed |= bool(found["bad"])
        print(json.dumps({"name": network.name, **found}), flush=True)
    return int(failed)


def meant(command: str, folder: str, network: Network) -> bool:
    """Say whether a network that wasn't named is meant."""
    if command == "check":
        return os.path.exists(os.path.join(folder, f"{network.name}.h5.gz"))
    return bool(network.theano) or K.backend() != "theano"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
