"""What a model file may run when the hosted Keras loads it: nothing, unless the user says so.

One process writes models; others load them, so that they have stored no function themselves.
"""

from __future__ import annotations

import base64
import functools
import json
import marshal
import tempfile
from pathlib import Path

import pytest
from _support.originals import needs_original, run_hosted

pytestmark = needs_original

START = """
import json, os, sys
from kameleon.compat.keras2 import location
sys.path[:0] = filter(None, [location.find()])
import numpy as np
from keras import backend as K, layers, models
"""

WRITE = """
def marked(x):
    import pathlib
    pathlib.Path("ran").touch()
    return x * 2.0

def shape_of(shape):
    return shape

stack = [layers.Lambda(marked, output_shape=shape_of, input_shape=(3,), name="doubled")]
model = models.Sequential(stack)
model.save("model.h5")
nested = models.Sequential([models.Sequential([layers.TimeDistributed(layers.Lambda(
    lambda x: K.abs(x), name="inner"), input_shape=(2, 3))])])
nested.save("nested.h5")
for kind in ("json", "yaml"):
    with open(f"model.{kind}", "w") as file:
        file.write(getattr(model, f"to_{kind}")())
with open("config.json", "w") as file:
    json.dump(model.get_config(), file)
import pickle
with open("model.pickle", "wb") as file:
    pickle.dump(model, file)
os.remove("ran")
"""


READ = """
import contextlib, io
x = np.ones((1, 3))
told = {}
for code, allowed in json.load(open("codes.json")):
    with contextlib.suppress(FileNotFoundError):
        os.remove("ran")
    os.environ["KAMELEON_UNSAFE_LAMBDA"] = allowed
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            exec(code, globals())
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    told[code + allowed] = [said.getvalue(), os.path.exists("ran")]
with open("told.json", "w") as file:
    json.dump(told, file)
"""

_codes: list[tuple[str, str]] = []


class Load:
    """A piece of code that loads something; all pieces run in one process, when one is asked."""

    def __init__(self, code: str, allowed: str = "") -> None:
        self.key = code + allowed
        _codes.append((code, allowed))

    @property
    def said(self) -> str:
        """What it printed, and the error that it raised."""
        return outcomes()[self.key][0]

    @property
    def ran(self) -> bool:
        """Whether the stored function ran."""
        return outcomes()[self.key][1]


@functools.cache
def outcomes() -> dict[str, tuple[str, bool]]:
    """By code: what was said, and whether the stored function ran."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "codes.json").write_text(json.dumps(_codes), "utf-8")
        for work in (WRITE, READ):
            done = run_hosted(["-c", f"{START}\nos.chdir({folder!r})\n{work}"], Path(folder))
            assert done.returncode == 0, done.stderr
        found: dict[str, tuple[str, bool]] = json.loads((Path(folder) / "told.json").read_text())
    return found


LOADS = {
    "load_model": "models.load_model('model.h5'{})",
    "json": "models.model_from_json(open('model.json').read(){})",
    "yaml": "models.model_from_yaml(open('model.yaml').read(){})",
    "config": "models.model_from_config(json.load(open('model.json')){})",
    "from_config": "models.Sequential.from_config(json.load(open('config.json')){})",
}


USE = "print(({}).predict(x).tolist())"

PLAIN = {name: Load(load.format("")) for name, load in LOADS.items()}


@pytest.mark.parametrize("name", PLAIN)
def test_byte_code_is_refused(name: str) -> None:
    load = PLAIN[name]
    assert "ByteCodeError: the Lambda layer 'doubled' has its function as byte code" in load.said
    assert "'pathlib'" in load.said and "'touch'" in load.said and "IMPORT_NAME" in load.said
    for remedy in ("custom_objects={'doubled': function}", "safe_mode=False", "KAMELEON_UNSAFE"):
        assert remedy in load.said
    assert not load.ran


NESTED = Load("models.load_model('nested.h5')")


def test_byte_code_within_other_layers_is_refused() -> None:
    assert NESTED.said.startswith("ByteCodeError: the Lambda layer 'inner'")


UNSAFE = {
    name: Load(USE.format(LOADS[name].format(", safe_mode=False")))
    for name in ("load_model", "json", "yaml", "config")
}


@pytest.mark.parametrize("name", UNSAFE)
def test_the_user_may_allow_it(name: str) -> None:
    assert UNSAFE[name].said.strip() == "[[2.0, 2.0, 2.0]]"
    assert UNSAFE[name].ran


BY_VARIABLE = [Load(USE.format(LOADS["from_config"].format("")), value) for value in ("1", "0")]


def test_the_environment_may_allow_it() -> None:
    allowed, refused = BY_VARIABLE
    assert allowed.said.strip() == "[[2.0, 2.0, 2.0]]" and allowed.ran
    assert refused.said.startswith("ByteCodeError") and not refused.ran


GIVEN = {
    name: Load(USE.format(load.format(", custom_objects={'doubled': lambda x: x * 3.0}")))
    for name, load in LOADS.items()
}
IN_A_SCOPE = Load(
    "import keras\nwith keras.utils.CustomObjectScope({'doubled': lambda x: x - 1.0}):\n "
    + USE.format(LOADS["load_model"].format(""))
)


@pytest.mark.parametrize("name", GIVEN)
def test_a_function_may_be_given_by_the_layer_s_name(name: str) -> None:
    assert GIVEN[name].said.strip() == "[[3.0, 3.0, 3.0]]"
    assert not GIVEN[name].ran


def test_a_function_may_be_given_in_a_scope() -> None:
    assert IN_A_SCOPE.said.strip() == "[[0.0, 0.0, 0.0]]"


OWN = Load("""
import copy, pickle
def tripled(x):
    return x * 3.0
model = models.Sequential([layers.Lambda(tripled, input_shape=(3,), output_shape=lambda s: s)])
model.save("own.h5")
texts = model.to_json(), model.to_yaml()
again = [
    models.load_model("own.h5"), models.model_from_json(texts[0]), models.model_from_yaml(texts[1]),
    models.Sequential.from_config(model.get_config()), models.clone_model(model),
    copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
]
print(*[float(m.predict(x).sum()) for m in again])
""")


def test_what_a_process_has_stored_itself_it_may_load() -> None:
    assert OWN.said.split() == ["9.0"] * 7


UNPICKLED = Load("import pickle\n" + USE.format("pickle.load(open('model.pickle', 'rb'))"))


def test_who_unpickles_runs_code_anyway() -> None:
    assert UNPICKLED.said.strip() == "[[2.0, 2.0, 2.0]]"


# The last is `lambda x: x * 2` as Keras stores it on Python 3.7.
HOSTILE = {
    "no code": "!",
    "no base64": "\ud800",
    "not marshalled": "AAAA",
    "a number": 3,
    "another object": base64.b64encode(marshal.dumps((1,))).decode(),
    "another Python's": "4wEAAAAAAAAAAQAAAAIAAABDAAAAcwgAAAB8AGQBFABTACkCTukCAAAAqQApAdoBeHICAAAA"
    "cgIAAADaCDxzdHJpbmc+2gg8bGFtYmRhPgMAAADzAAAAAA==",
}
LAYER = (
    "layers.Lambda.from_config(dict(name='f', function=[{!r}, None, None], function_type='lambda',"
    " output_shape=None, output_shape_type='raw', arguments={{}}))"
)
NO_CODE = {name: Load(LAYER.format(code)) for name, code in HOSTILE.items()}


@pytest.mark.parametrize("name", NO_CODE)
def test_what_is_no_byte_code_is_refused_as_well(name: str) -> None:
    assert NO_CODE[name].said.startswith("ByteCodeError: the Lambda layer 'f'")
    assert "so it can't be shown" in NO_CODE[name].said


PICKLED = Load("""
import pickle
class Evil:
    def __reduce__(self):
        return open, ("ran", "w")
state = {"_is_group": True, "model_config": pickle.dumps(Evil()), "_model_config_pickled": True}
try:
    models.load_model(state)
except pickle.UnpicklingError as error:
    print(error)
from keras.utils.io_utils import H5Dict
held = {}
H5Dict(held, "w")["array"] = np.arange(3.0)
H5Dict(held)["number"] = np.float32(4)
print(H5Dict(held)["array"].tolist(), H5Dict(held)["number"])
""")


def test_pickles_in_a_model_hold_arrays_alone() -> None:
    assert "open in a pickle: a model holds arrays of numbers alone" in PICKLED.said
    assert "[0.0, 1.0, 2.0] 4.0" in PICKLED.said
    assert not PICKLED.ran


YAML = Load("""
import yaml
text = "class_name: Sequential\\nconfig: !!python/{}"
for made in ("object/apply:os.system ['touch ran']", "object/new:os.system ['touch ran']",
             "name:os.system", "module:os", "object:subprocess.Popen {args: [touch, ran]}"):
    try:
        models.model_from_yaml(text.format(made))
    except yaml.YAMLError as error:
        print("refused")
""")


def test_yaml_makes_no_objects() -> None:
    assert YAML.said.split() == ["refused"] * 5
    assert not YAML.ran
