"""Reads a model with the original Keras, and leaves what it computes: in a process of its own."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any

import numpy as np

from kameleon._utils.names import untaken
from kameleon.cli.convert import apart
from kameleon.cli.parsing import CommandError

# What is left in the folder.
FUNCTION, CALLS, TOLD = "function.safetensors", "calls.npz", "model.json"
CONFIG, WEIGHTS = "config.json", "weights.npz"
# Libraries whose names in a module of custom objects are no custom objects.
THEIRS = frozenset({"keras", "kameleon", "tensorflow", "tensorflow_core"})


def main(
    folder: str, source: str, weights: str | None, custom: str | None, layers: bool, check: bool
) -> None:
    """Read a model; leave its function, and calls with what it predicts.

    Args:
        folder: gets the files.
        source: a whole model in HDF5, or a configuration in JSON or YAML.
        weights: the weights of a configuration.
        custom: a module, or the file of one, with the model's custom objects.
        layers: whether its configuration and weights are asked for as well.
        check: whether the calls are.
    """
    importlib.import_module("kameleon.as_keras")
    keras: Any = importlib.import_module("keras")
    K: Any = importlib.import_module("kameleon.backend")
    K.set_learning_phase(0)
    with keras.utils.CustomObjectScope(dict(_custom_objects(custom)) if custom else {}):
        model = _read(keras, source, weights)
    if not model.inputs:
        raise CommandError(
            f"{source}: the model doesn't say what its input is: its first layer needs an"
            " input_shape"
        )
    names: list[str] = []
    for name in model.output_names:
        names.append(untaken(name, names))
    function = K.function(model.inputs, model.outputs, updates=model.state_updates)
    arrays: dict[str, Any] = {}
    for number, call in enumerate(_calls(model, function) if check else ()):
        arrays |= {f"given{number}.{i}": x for i, x in enumerate(call.given)}
        arrays |= {f"expected{number}.{i}": x for i, x in enumerate(call.expected)}
    function.save(os.path.join(folder, FUNCTION))
    np.savez(os.path.join(folder, CALLS), **arrays)
    if layers:
        _write_json(folder, CONFIG, json.loads(model.to_json()))
        kept = {f"{i}": x for i, x in enumerate(model.get_weights())}
        np.savez(os.path.join(folder, WEIGHTS), **kept)
    _write_json(folder, TOLD, {"name": model.name, "outputs": names})


def _write_json(folder: str, name: str, data: Any) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(data, file)


# The model ---------------------------------------------------------------------------------------


# How Keras's errors begin, and what to do here.
REMEDIES = {
    "Unknown ": "name the module that has it by --custom",
    "the Lambda layer": "--custom takes a module with a function of the layer's name",
    "the layer ": "--custom takes a module with a class of that name that can",
    "Keras 3": "Keras 3 itself exports it: model.export(…)",
}


def _read(keras: Any, source: str, weights: str | None) -> Any:
    try:
        return _whole(keras, source) if weights is None else _composed(keras, source, weights)
    except ValueError as error:
        remedies = [remedy for head, remedy in REMEDIES.items() if str(error).startswith(head)]
        if not remedies:
            raise
        raise CommandError(f"{source}: {error}: {remedies[0]}") from None


def _whole(keras: Any, path: str) -> Any:
    h5py: Any = importlib.import_module("h5py")
    with _opened(h5py, path) as file:
        if "model_config" not in file.attrs:
            raise CommandError(
                f"{path} holds weights, and no model: name the file of its configuration (JSON or"
                f" YAML), and this one behind it: --weights {path}"
            )
    return keras.models.load_model(path, compile=False)


def _opened(h5py: Any, path: str) -> Any:
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise CommandError(f"{path}: this HDF5 file can't be read: {error}") from None


def _composed(keras: Any, path: str, weights: str) -> Any:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    is_json = path.lower().endswith(".json")
    read = keras.models.model_from_json if is_json else keras.models.model_from_yaml
    try:
        model = read(text)
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise CommandError(f"{path}: this is no model's configuration: {error!r}") from error
    importlib.import_module("h5py")
    model.load_weights(weights)
    return model


# Custom objects ----------------------------------------------------------------------------------


def _custom_objects(named: str) -> Iterator[tuple[str, Any]]:
    """By name, the classes and functions of a module, but those of Keras and TensorFlow."""
    for name, found in vars(_module(named)).items():
        if inspect.isclass(found) or inspect.isroutine(found):
            home = getattr(found, "__module__", None) or ""
            if home.partition(".")[0] not in THEIRS:
                yield name, found


def _module(named: str) -> ModuleType:
    if not named.endswith(".py"):
        return importlib.import_module(named)
    sys.path.insert(0, os.path.dirname(os.path.abspath(named)))  # for what it imports itself
    spec = importlib.util.spec_from_file_location(os.path.basename(named)[:-3], named)
    if spec is None or spec.loader is None:
        raise CommandError(f"{named} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module


# What it predicts --------------------------------------------------------------------------------


def _calls(model: Any, function: Any) -> Iterator[Any]:
    """Calls with inputs that are made up, and what the model predicts for them."""
    examples: Any = importlib.import_module("kameleon.backend.export.examples")
    pure: Any = importlib.import_module("kameleon.backend.interop.pure")
    program = pure.Stateless(function, "convert")
    program.refuse_sparse("convert")
    limits = dict(_limits(model))
    given = []
    for number, call in enumerate(examples.calls_of(program, None)):
        draw, count = np.random.default_rng(number), min(map(len, call.given))
        parts = [x[:count] for x in call.given]  # a graph needn't tell that these are equal
        for i, below in limits.items():
            parts[i] = draw.integers(0, below, parts[i].shape).astype(parts[i].dtype)
        given.append(parts)
    for call in examples.calls_of(program, given):
        yield call if program.sources else _predicted(model, function, call)


def _limits(model: Any) -> Iterator[tuple[int, int]]:
    """By number of an input that's looked up in a table: how many rows that has. Fractions, which
    the input's dtype allows, mean nothing there.
    """
    for layer in model.layers:
        if type(layer).__name__ == "Embedding":
            found = [x for node in layer._inbound_nodes for x in node.input_tensors]
            for i, x in enumerate(model.inputs):
                if any(x is y for y in found):
                    yield i, layer.input_dim


def _predicted(model: Any, function: Any, call: Any) -> Any:
    """The call with what `predict` gives, and the states behind it."""
    K: Any = importlib.import_module("kameleon.backend")
    model.reset_states()
    found = model.predict(call.given, batch_size=len(call.given[0]))
    states = [np.asarray(K.get_value(v)) for v, _ in function.compiled.program.updates]
    model.reset_states()
    outputs = found if isinstance(found, list) else [found]
    return call._replace(expected=[*map(np.asarray, outputs), *states])


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        apart.begin(main)
