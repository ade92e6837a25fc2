"""Checkpoints: state that is kept and taken again, on any engine; Keras programs that go on."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import engines_under_test

from kameleon import backend as K
from kameleon.checkpoint import Checkpoints
from kameleon.errors import ArgumentError, FileFormatError, MissingLibraryError

needs_orbax = pytest.mark.skipif(
    importlib.util.find_spec("orbax") is None, reason="Orbax writes checkpoints"
)
DTYPES = ("float16", "float32", "float64", "int8", "int64", "uint8", "bool")


def _program(seed: int = 7) -> tuple[Any, list[Any]]:
    """A step with variables, noise and a count, and what it changes."""
    w = K.variable(np.linspace(0, 1, 6).reshape(2, 3), dtype="float64", name="w")
    count = K.variable(0, dtype="int64", name="count")
    none = K.variable(np.zeros((0, 3)), name="none")
    noise = K.random_normal((2, 3), seed=seed, dtype="float64")
    changes = [(w, 0.9 * w + noise), (count, count + 1), (none, none * 2)]
    return K.function([], [K.sum(w)], updates=changes), [w, count, none]


def _values(variables: list[Any]) -> list[Any]:
    return [K.get_value(v) for v in variables]


@needs_orbax
@pytest.mark.parametrize("engine", engines_under_test())
def test_a_program_goes_on_as_if_it_had_not_ended(engine: str, tmp_path: Path) -> None:
    with K.using_engine(engine):
        step, variables = _program()
        with Checkpoints(tmp_path, step) as kept:
            for i in range(4):
                step([])
                if i == 1:
                    kept.save(2)
        want = _values(variables)
        K.clear_session()
        step, variables = _program()
        with Checkpoints(tmp_path, step) as kept:
            assert kept.restore() == 2
            step([])
            step([])
        for found, value in zip(_values(variables), want, strict=True):
            np.testing.assert_array_equal(found, value, strict=True)


@needs_orbax
def test_another_engine_takes_what_one_has_kept(tmp_path: Path) -> None:
    first, *_, last = engines_under_test()
    variables = [K.variable(np.arange(3), dtype=dtype, name=f"v{dtype}") for dtype in DTYPES]
    half = K.variable([0.5, 3.0], dtype="bfloat16")  # ONNX Runtime lacks it
    double = K.function([], [], updates=[(v, v) for v in variables], engine=first)
    double([])
    with Checkpoints(tmp_path, variables, half) as kept:
        kept.save(1)
    want = _values([*variables, half])
    K.batch_set_value([(v, np.zeros(3)) for v in variables] + [(half, np.zeros(2))])
    K.function([], [], updates=[(v, v) for v in variables], engine=last)([])
    assert Checkpoints(tmp_path, variables, half).restore() == 1
    for found, value in zip(_values([*variables, half]), want, strict=True):
        np.testing.assert_array_equal(found, value, strict=True)


@needs_orbax
def test_what_is_saved_is_the_state_of_that_moment(tmp_path: Path) -> None:
    """It's written in the background, while the variables change."""
    v = K.variable(np.zeros(200_000))
    step = K.function([], [], updates=[(v, v + 1)])
    with Checkpoints(tmp_path, v, keep=9) as kept:
        for i in range(5):
            step([])
            kept.save(i + 1)
        assert kept.steps == [1, 2, 3, 4, 5]
        for i in range(5):
            assert kept.restore(i + 1) == i + 1
            assert set(K.get_value(v)) == {i + 1.0}


@needs_orbax
def test_the_last_ones_are_kept_and_steps_can_be_saved_anew(tmp_path: Path) -> None:
    v = K.variable(1.0)
    with Checkpoints(tmp_path / "deep" / "er", v, keep=2) as kept:
        assert (kept.restore(), kept.notes()) == (0, None)
        for i in (1, 2, 3, 3):
            K.set_value(v, 10.0 * i + len(kept.steps))
            kept.save(i, {"loss": i})
        kept.wait()
        assert kept.steps == [2, 3]
        assert (kept.notes(), kept.notes(2)) == ({"loss": 3}, {"loss": 2})
        assert kept.restore() == 3
        assert K.get_value(v) == 32.0


@needs_orbax
def test_generators_go_on_where_they_were(tmp_path: Path) -> None:
    v = K.variable(1.0)
    np.random.seed(3), random.seed(3)
    np.random.normal(), random.gauss(0, 1)  # each keeps a second number
    with Checkpoints(tmp_path, v) as kept:
        kept.save(1)
        want = np.random.normal(size=3).tolist(), random.gauss(0, 1), random.random()
        kept.restore()
        assert (np.random.normal(size=3).tolist(), random.gauss(0, 1), random.random()) == want
        kept.restore(generators=False)
        assert random.random() != want[2]


@needs_orbax
def test_half_a_checkpoint_does_not_count(tmp_path: Path) -> None:
    v = K.variable(1.0)
    with Checkpoints(tmp_path, v) as kept:
        kept.save(1)
    (tmp_path / "2.orbax-checkpoint-tmp").mkdir()
    K.set_value(v, 5.0)
    assert Checkpoints(tmp_path, v).restore() == 1
    assert K.get_value(v) == 1.0


@needs_orbax
@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: K.variable(np.zeros((2, 2)), name="w"), "w float32(3,) there, w float32(2, 2)"),
        (lambda: K.variable(np.zeros(3), "float64", "w"), "there, w float64(3,) here"),
        (lambda: K.variable(np.zeros(3), name="u"), "there, u float32(3,) here"),
        (lambda: [K.variable(np.zeros(3), name="w"), K.variable(1)], "1 variables there, 2 here"),
        (lambda: [K.variable(np.zeros(3), name="w"), _program()[0]], "1 variables there, 4 here"),
    ],
)
def test_another_programs_checkpoint_is_refused(make: Any, message: str, tmp_path: Path) -> None:
    with Checkpoints(tmp_path, K.variable(np.ones(3), name="w")) as kept:
        kept.save(1)
    K.clear_session()
    given = make()
    with pytest.raises(FileFormatError, match="of another program") as caught:
        Checkpoints(tmp_path, given).restore()
    assert message in str(caught.value)


@needs_orbax
def test_other_seeds_are_told(tmp_path: Path) -> None:
    step, _ = _program()
    with Checkpoints(tmp_path, step) as kept:
        kept.save(1)
    K.clear_session()
    step, _ = _program(seed=8)
    with pytest.warns(RuntimeWarning, match="random streams have other seeds"):
        Checkpoints(tmp_path, step).restore()


@needs_orbax
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda folder: Checkpoints(folder, "weights"), "has no variables to keep"),
        (lambda folder: Checkpoints(folder, []), "give variables, functions or Keras models"),
        (lambda folder: Checkpoints(folder, K.variable(1), keep=0), "keep is a number of 1 or"),
        (lambda folder: Checkpoints(folder, K.variable(1)).save(-1), "a number of 0 or more"),
        (lambda folder: Checkpoints(folder, K.variable(1)).save(1.5), "a number of 0 or more"),
        (lambda folder: Checkpoints(folder, K.variable(1)).restore(3), "no checkpoint of step 3"),
    ],
)
def test_mistakes_are_told(call: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(tmp_path)


def test_without_orbax_it_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "orbax", None)
    monkeypatch.delitem(sys.modules, "orbax.checkpoint", raising=False)
    with pytest.raises(MissingLibraryError, match="pip install orbax-checkpoint jax"):
        Checkpoints(tmp_path, K.variable(1))


# A program whose second run goes on; data from a generator, and a callback that changes the rate.
TRAINING = """
import hashlib, json, os, sys
import keras, numpy as np, kameleon
from keras import layers
folder, kind, last = sys.argv[1:]
np.random.seed(1)
x, y = np.random.normal(size=(64, 6)), np.random.randint(0, 2, (64, 1))
model = keras.Sequential([
    layers.Dense(16, activation="tanh", input_shape=(6,)), layers.Dropout(0.3),
    layers.BatchNormalization(), layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
def ends(epoch, logs):
    if epoch == int(last):
        os.kill(os.getpid(), 9)
callbacks = [
    kameleon.checkpoint.Resume(folder),
    keras.callbacks.LambdaCallback(on_epoch_end=ends),
    keras.callbacks.ReduceLROnPlateau("loss", patience=0, min_delta=0.1),
    keras.callbacks.CSVLogger(folder + ".csv"),
]
if kind == "arrays":
    history = model.fit(x, y, 16, 6, 0, callbacks, validation_split=0.25)
else:
    def rows():
        while True:
            chosen = np.random.randint(0, 64, 16)
            yield x[chosen], y[chosen]
    history = model.fit_generator(rows(), 4, 6, verbose=0, callbacks=callbacks, workers=0)
bits = b"".join(w.tobytes() for w in model.get_weights())
told = {k: [float(np.float32(v)) for v in vs] for k, vs in history.history.items()}
lines = open(folder + ".csv").read().count("\\n")
print(json.dumps([hashlib.sha256(bits).hexdigest(), told, lines]))
"""


@needs_orbax
@pytest.mark.parametrize("kind", ["arrays", "generator"])
def test_a_killed_keras_program_ends_with_the_same_bits(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(TRAINING)

    def run(folder: str, last: int) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "kameleon", "run", "--engine", "numpy", str(program)]
        told = [str(tmp_path / folder), kind, str(last)]
        return subprocess.run([*line, *told], capture_output=True, text=True, env=os.environ)

    whole = run("whole", -1)
    assert whole.returncode == 0, whole.stderr
    assert run("cut", 3).returncode == -signal.SIGKILL
    rest = run("cut", -1)
    assert rest.returncode == 0, rest.stderr
    assert rest.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]
