"""Checkpoints: state that is kept and taken again, on any engine; Keras programs that go on."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, needs_orbax

from kameleon import backend as K
from kameleon.distributed.checkpoint import Checkpoints
from kameleon.errors import (
    ArgumentError,
    FileFormatError,
    MissingLibraryError,
    TargetError,
    UncheckedFileWarning,
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
def test_what_is_saved_after_going_back_is_kept(tmp_path: Path) -> None:
    v = K.variable(1.0)
    with Checkpoints(tmp_path, v, keep=5) as kept:
        kept.save(10)
        kept.save(20)
        assert kept.restore(10) == 10
        K.set_value(v, 5.0)
        kept.save(15)
        assert kept.steps == [10, 15, 20]
        assert kept.restore(15) == 15 and K.get_value(v) == 5.0


@needs_orbax
def test_others_checkpoints_of_the_folder_count(tmp_path: Path) -> None:
    v = K.variable(1.0)
    with Checkpoints(tmp_path, v, keep=2) as first, Checkpoints(tmp_path, v, keep=2) as second:
        for step in (1, 2, 3):
            first.save(step)
        first.wait()
        assert (second.steps, second.restore(), second.restore(2)) == ([2, 3], 3, 2)
        second.save(3)
        assert second.restore() == 3
    with Checkpoints(tmp_path, v, keep=2) as third:
        third.save(4)
        third.wait()
        assert third.steps == [3, 4]
    (tmp_path / "7").write_text("not a folder"), (tmp_path / "08").mkdir()
    assert Checkpoints(tmp_path, v).steps == [3, 4]


# Damage ------------------------------------------------------------------------------------------

FLIPS = 12  # as many bits of each file are flipped, each on its own


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of two steps; in that of step n, the variables hold n."""
    pytest.importorskip("orbax", reason="Orbax writes checkpoints")
    folder = tmp_path_factory.mktemp("sound")
    _, variables = _numbers()
    with Checkpoints(folder, variables) as kept:
        for step in (1, 2):
            _set(variables, step)
            kept.save(step, {"loss": float(step)})
    return folder


def _numbers() -> tuple[Any, list[Any]]:
    K.clear_session()  # names begin anew
    noise = K.random_normal((2,), seed=7)
    made = [K.variable(np.zeros((40, 30)), "float32", "w"), K.variable(np.zeros(9), "int64", "n")]
    return noise, [*made, K.variable(np.zeros((0, 2)), name="none"), K.function([], [noise])]


def _set(variables: list[Any], step: int) -> None:
    rng = np.random.default_rng(step)
    K.set_value(variables[0], rng.normal(size=(40, 30)).astype("float32"))
    K.set_value(variables[1], np.full(9, step))


def _damages(data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Ways to damage a file: its new content, or None where it's gone."""
    yield from {
        "gone": None,
        "empty": b"",
        "cut": data[: len(data) // 2],
        "short": data[:-1],
    }.items()
    yield from {"foreign": b"PK\x03\x04" * 50, "zeros": bytes(len(data)), "JSON": b"[{}]"}.items()
    rng = np.random.default_rng(len(data))
    for at in rng.integers(0, len(data), FLIPS):
        changed = data[at] ^ 1 << int(rng.integers(8))
        yield f"bit at {at}", data[:at] + bytes([changed]) + data[at + 1 :]


def _restored(folder: Path, step: int | None = None) -> tuple[int, list[str]]:
    """The step that is restored, where it has that step's values; and the warnings."""
    _, variables = _numbers()
    _set(variables, 9)
    with warnings.catch_warnings(record=True) as caught, Checkpoints(folder, variables) as kept:
        warnings.simplefilter("always")
        found = kept.restore(step)
        assert kept.notes(step) == {"loss": float(found)}
    got = _values(variables[:2])
    _set(variables, found)
    for a, b in zip(got, _values(variables[:2]), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    return found, [str(w.message) for w in caught]


@needs_orbax
def test_damage_of_any_file_is_found(sound: Path, tmp_path: Path) -> None:
    """Each file that is read, damaged in many ways: an error that names it, and an older step."""
    folder = tmp_path / "kept"
    shutil.copytree(sound, folder)
    checked = {"SHA256SUMS", *re.findall("  (.+)", (sound / "2" / "SHA256SUMS").read_text())}
    assert {"arrays/_METADATA", "arrays/manifest.ocdbt", "about/metadata"} <= checked
    for part in [p for p in (folder / "2").rglob("*") if p.is_file()]:
        data = part.read_bytes()
        for label, content in _damages(data):
            part.unlink() if content is None else part.write_bytes(content)
            if part.relative_to(folder / "2").as_posix() not in checked:  # nor is it read
                assert _restored(folder) == (2, []), (part, label)
                continue
            with pytest.raises(FileFormatError) as caught:
                _restored(folder, 2)
            assert f"the checkpoint {folder / '2'} is damaged" in str(caught.value), label
            named = part.name if part.name == "SHA256SUMS" else str(part)
            assert named in str(caught.value), label
            step, [said, *_] = _restored(folder)
            assert (
                said
                == f"{caught.value}; the checkpoint of step 1 is taken, the last one that is sound"
            )
            assert step == 1
        part.write_bytes(data)
    assert _restored(folder) == (2, [])


@needs_orbax
@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="it checks the checksums")
def test_others_check_the_checksums(sound: Path) -> None:
    subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=sound / "2", check=True
    )


def _remove(path: Path) -> None:
    shutil.rmtree(path)


def _empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def _as_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("not a folder")


def _of_another(path: Path) -> None:
    """Sound, and another checkpoint's."""
    shutil.rmtree(path)
    shutil.copytree(path.parent.parent / "1" / path.name, path)


@needs_orbax
@pytest.mark.parametrize("damage", [_remove, _empty, _as_file, _of_another])
@pytest.mark.parametrize("part", ["about", "arrays"])
def test_damaged_folders_are_found(
    damage: Callable[[Path], None], part: str, sound: Path, tmp_path: Path
) -> None:
    shutil.copytree(sound, tmp_path / "kept")
    damage(tmp_path / "kept" / "2" / part)
    named = f"{tmp_path / 'kept' / '2'} is damaged: {tmp_path / 'kept' / '2' / part}"
    with pytest.raises(FileFormatError, match=named):
        _restored(tmp_path / "kept", 2)
    assert _restored(tmp_path / "kept")[0] == 1


@needs_orbax
def test_where_all_are_damaged_all_are_named_and_nothing_changes(
    sound: Path, tmp_path: Path
) -> None:
    shutil.copytree(sound, tmp_path / "kept")
    for step in ("1", "2"):
        _empty(tmp_path / "kept" / step)
    _, variables = _numbers()
    _set(variables, 9)
    before = _values(variables[:2])
    for call in ("restore", "notes"):
        with (
            Checkpoints(tmp_path / "kept", variables) as kept,
            pytest.raises(FileFormatError, match=r"2 is damaged.*; .*1 is damaged"),
        ):
            getattr(kept, call)()
    for a, b in zip(_values(variables[:2]), before, strict=True):
        np.testing.assert_array_equal(a, b)


@needs_orbax
def test_a_damaged_checkpoint_is_replaced_by_the_next_one(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "kept")
    _empty(tmp_path / "kept" / "2" / "arrays")
    _, variables = _numbers()
    with Checkpoints(tmp_path / "kept", variables) as kept:
        _set(variables, 2)
        kept.save(2, {"loss": 2.0})
    assert _restored(tmp_path / "kept") == (2, [])


@needs_orbax
def test_checkpoints_without_checksums_are_read_and_it_is_said(sound: Path, tmp_path: Path) -> None:
    """What early versions wrote."""
    shutil.copytree(sound, tmp_path / "kept")
    path = tmp_path / "kept" / "2" / "about" / "metadata"
    told = json.loads(path.read_text())
    del told["format"]
    path.write_text(json.dumps(told))
    (tmp_path / "kept" / "2" / "SHA256SUMS").unlink()
    _, variables = _numbers()
    with (
        Checkpoints(tmp_path / "kept", variables) as kept,
        pytest.warns(UncheckedFileWarning, match="has no checksums"),
    ):
        assert kept.restore() == 2


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
        (lambda folder: Checkpoints(folder, K.variable(1)).save(1, K), "notes are what JSON has"),
        (lambda folder: Checkpoints("", K.variable(1)), "Checkpoints: the path is empty"),
        (lambda folder: Checkpoints(None, K.variable(1)), "Checkpoints: a path is text or a Path"),
    ],
)
def test_mistakes_are_told(call: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(tmp_path)


@needs_orbax
def test_a_file_is_no_folder_of_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TargetError, match=r"Checkpoints: .*file isn't a folder"):
        Checkpoints(tmp_path / "file", K.variable(1))


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
