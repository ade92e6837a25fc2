"""For each extra, a small program that uses what it brings. It's run by the environment's Python,
in an empty folder; it ends with an error where something is missing.
"""

from __future__ import annotations

# A training step on an engine, whose losses are known.
STEP = """
import numpy as np
from kameleon import backend as K

def step(engine):
    x, w = K.placeholder((None, 2)), K.variable([[1.0], [2.0]])
    loss = K.mean(K.square(K.dot(x, w)))
    [slope] = K.gradients(loss, [w])
    train = K.function([x], [loss], updates=[K.update_sub(w, 0.1 * slope)])
    with K.using_engine(engine):
        [before], [after] = train([[[1.0, 0.0], [0.0, 1.0]]]), train([[[1.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_allclose([before, after], [2.5, 2.025], rtol=1e-6)
"""
CORE = """
import sys
from importlib.metadata import distributions

step("numpy")
assert {d.name for d in distributions()} == {"kameleon", "numpy"}
assert not {"rich", "tensorflow", "jax", "torch"} & set(sys.modules)
"""
# The commands of an environment lie beside its Python.
COMMAND = """
import json, pathlib, subprocess, sys

def kameleon(*words):
    command = pathlib.Path(sys.executable).parent / "kameleon"
    return subprocess.run([command, *words], check=True, capture_output=True, text=True).stdout
"""
CLI = """
assert kameleon("--version").startswith("kameleon 0.") and "engines" in kameleon("--help")
rows = json.loads(kameleon("engines", "--json"))["engines"]
assert [row["name"] for row in rows if row["installed"]] == ["numpy"]
"""
DEMO = """
assert "Accuracy on held-out digits" in kameleon("demo", "--epochs", "2")
found = {path.name for path in pathlib.Path("kameleon-demo").iterdir()}
assert found == {"learning.png", "mistakes.png", "variables.safetensors"}, found
"""
SPARSE = """
import scipy.sparse

x, w = K.placeholder((None, 3), sparse=True), K.variable([[1.0], [2.0], [3.0]])
f = K.function([x], [K.dot(x, w)])
np.testing.assert_array_equal(f([scipy.sparse.eye(3, format="csr")])[0], [[1], [2], [3]])
"""
KERAS = """
pathlib.Path("program.py").write_text('''
import numpy as np
from keras.layers import Dense
from keras.models import Sequential, load_model, model_from_yaml
model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(1)])
model.compile("adam", "mse")
x = np.ones((8, 3))
model.fit(x, np.zeros((8, 1)), epochs=2, verbose=0)
model.save("model.h5")
np.testing.assert_array_equal(load_model("model.h5").predict(x), model.predict(x))
assert len(model_from_yaml(model.to_yaml()).layers) == 2
print("trained")
''')
assert kameleon("run", "program.py") == "trained\\n"
"""
CHECKPOINT = """
from kameleon.distributed.checkpoint import Checkpoints

v = K.variable([0.0, 0.0])
with Checkpoints("kept", v) as checkpoints:
    checkpoints.save(1)
K.set_value(v, [1.0, 1.0])
assert Checkpoints("kept", v).restore() == 1 and K.get_value(v).tolist() == [0.0, 0.0]
step("jax")
"""
TENSORBOARD = """
import glob
from kameleon._utils.events import EventFile

file = EventFile("logs")
file.write_scalars({"loss": 0.5}, step=1)
file.close()
assert b"loss" in open(*glob.glob("logs/events.out.tfevents.*"), "rb").read()
"""
COMPARE = """
import kameleon

x, w = K.placeholder((None, 2)), K.variable([[1.0], [2.0]])
report = kameleon.compare(K.tanh(K.dot(x, w)), {x: [[1.0, 2.0]]})
assert set(report.runs) == {"numpy", "tensorflow", "theano", "jax", "torch", "onnxruntime"}
assert report.agree(), report
"""


def of_engine(name: str) -> str:
    return f"{STEP}step({name!r})\n"


# The programs; `core` is no extra, but the package alone.
PROGRAMS = {
    "core": STEP + CORE,
    "cli": COMMAND + CLI,
    "demo": COMMAND + DEMO,
    "sparse": STEP + SPARSE,
    **{name: of_engine(name) for name in ("tensorflow", "theano", "jax", "torch", "onnxruntime")},
    "keras2": COMMAND + KERAS,
    "tensorboard": TENSORBOARD,
    "checkpoint": STEP + CHECKPOINT,
    "engines": STEP + COMPARE,
    "all": STEP + COMPARE + CHECKPOINT + COMMAND + DEMO,
}
# Extras for those who have the sources: what is run there, after `python -m`.
IN_THE_SOURCES = {
    "test": ["pytest -q -n 2 tests/config/test_config.py tests/backend/test_contract.py README.md"],
    "docs": ["docs build --languages en"],
    "dev": ["ruff check .", "ruff format --check .", "pytest -q tests/release/test_package.py"],
}
