"""Models of later versions of Keras 2 in the hosted Keras 2.3.1, and what these can't do.

The files in `files/later` come from TensorFlow's Keras 2.21: see `files/later_networks.py`.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from _support.commands import kameleon
from _support.common import SOURCE
from _support.originals import needs_original, run_hosted

from kameleon.compat.keras2 import later, location

FILES = Path(__file__).with_name("files") / "later"
NAMES = sorted(path.name.removesuffix(".h5.gz") for path in FILES.glob("*.h5.gz"))


def hosted(program: str, home: Path, *arguments: str) -> list[str]:
    """The lines that a program prints in which `import keras` gives the hosted Keras."""
    script = home / "program.py"
    script.write_text(program, "utf-8")
    paths = os.pathsep.join(path for path in (location.find(), str(SOURCE)) if path)
    done = run_hosted([str(script), *arguments], home, {"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


READ = """
import json, sys, warnings
import keras, numpy as np
for name in sys.argv[1:]:
    with np.load(name + ".npz") as arrays:
        given = [arrays[key] for key in arrays if key != "predicted"]
        predicted = arrays["predicted"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        whole = keras.models.load_model(name + ".h5")
    said = [str(w.message) for w in told if w.filename == __file__]
    with open(name + ".json") as file:
        composed = keras.models.model_from_json(file.read())
    composed.load_weights(name + ".h5")
    off = [float(np.abs(m.predict(given) - predicted).max()) for m in (whole, composed)]
    whole.save(name + "_again.h5")
    again = keras.models.load_model(name + "_again.h5", compile=False)
    off.append(float(np.abs(again.predict(given) - predicted).max()))
    print(json.dumps({"off": off, "said": said}))
"""


@needs_original
def test_what_later_versions_wrote_predicts_the_same(tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="h5py reads the files")
    for name in NAMES:
        (tmp_path / f"{name}.h5").write_bytes(
            gzip.decompress((FILES / f"{name}.h5.gz").read_bytes())
        )
        for kind in ("json", "npz"):
            (tmp_path / f"{name}.{kind}").write_bytes((FILES / f"{name}.{kind}").read_bytes())
    lines = hosted(READ, tmp_path, *(str(tmp_path / name) for name in NAMES))
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    found = dict(zip(NAMES, rows, strict=True))
    assert len(found) >= 6
    for name, row in found.items():
        assert max(row["off"]) < 1e-6, (name, row)
        compiled = name == "pictures_over_time"
        assert ["Compile the model" in said for said in row["said"]] == [True] * compiled, row


@needs_original
def test_they_can_be_converted(tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="h5py reads the files")
    source = tmp_path / "nested.h5"
    source.write_bytes(gzip.decompress((FILES / "nested.h5.gz").read_bytes()))
    ended = kameleon("convert", str(source), "--to", "kameleon")
    assert ended.status == 0, ended.said


WRONG = """
import json, sys
import keras
def layer(kind, **config):
    given = {"batch_input_shape": [None, 8, 8, 4], "name": "i"}
    layers = [{"class_name": "InputLayer", "config": given}]
    layers.append({"class_name": kind, "config": {"name": "x", **config}})
    return {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}
class Own(keras.layers.Layer):
    def __init__(self, groups=1, **options):
        super(Own, self).__init__(**options)
        self.groups = groups
def made(version, custom, config):
    config["keras_version"] = version
    try:
        model = keras.models.model_from_json(json.dumps(config), custom)
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
    return str([getattr(x, "groups", "") for x in model.layers])
conv = dict(filters=4, kernel_size=3)
half = {"class_name": "Policy", "config": {"name": "mixed_float16"}}
print("\\n".join(made(*row).partition("\\n")[0] for row in [
    ("2.15.0", {}, layer("Conv2D", groups=2, **conv)),
    ("2.15.0", {}, layer("Conv2D", groups=1, **conv)),
    ("2.15.0", {}, layer("UpSampling2D", interpolation="bilinear")),
    ("2.3.1", {}, layer("UpSampling2D", interpolation="bilinear")),
    ("2.15.0", {}, layer("Dense", units=2, dtype=half)),
    ("2.4.0", {}, layer("LayerNormalization", axis=-1)),
    ("2.4.0", {"Own": Own}, layer("Own", groups=3)),
    ("2.4.0", {"Own": Own}, layer("mine>Own", groups=3)),
    ("2.3.0-tf", {}, layer("BatchNormalization", axis=[3], ragged=False)),
    ("3.4.1", {}, layer("Flatten")),
]))
"""
FOUND = [
    "ValueError: the layer 'x' (Conv2D) has groups=2, which Keras 2.3.1 can't do",
    "['']",
    "ValueError: the layer 'x' (UpSampling2D) has interpolation='bilinear', for which",
    "['']",
    "ValueError: the layer 'x' (Dense) has dtype='mixed_float16', which Keras 2.3.1 can't do",
    "ValueError: Unknown layer: LayerNormalization",
    "[3]",
    "[3]",
    "['']",
    "ValueError: Keras 3.4.1 has written this model",
]


@needs_original
def test_what_keras_2_3_1_cant_do_is_an_error_that_says_so(tmp_path: Path) -> None:
    lines = hosted(WRONG, tmp_path)[-len(FOUND) :]
    assert all(line.startswith(x) for line, x in zip(lines, FOUND, strict=True)), lines


@pytest.mark.parametrize(
    "config",
    [
        {"class_name": "Model", "config": {"layers": []}},
        {"class_name": "Sequential", "config": {"layers": [{"class_name": "L", "config": {}}]}},
        {"class_name": "Model", "config": {"layers": [{"class_name": "InputLayer", "config": {}}]}},
        {"class_name": "VarianceScaling", "config": {"distribution": "normal"}},
    ],
)  # fmt: skip
def test_the_words_of_2_3_1_stay(config: Any) -> None:
    assert later.translated(config, {}) == config


def test_ends_with_names_and_new_words_of_distributions() -> None:
    ends = {"q": ["q", 0, 0], "p": ["p", 0, 0]}
    config = {"class_name": "Functional", "config": {"layers": [], "output_layers": ends}}
    found = later.translated({**config, "registered_name": None}, {})
    expected = {"layers": [], "output_layers": [["p", 0, 0], ["q", 0, 0]]}
    assert found == {"class_name": "Model", "config": expected}
    scaled = {"class_name": "VarianceScaling", "config": {"distribution": "truncated_normal"}}
    assert later.translated(scaled, {})["config"] == {"distribution": "normal"}
