"""Variables, read and written by name, as a program keeps its state."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

import kameleon
from kameleon import backend as K


def snapshot(variables: dict[str, K.Variable]) -> dict[str, npt.NDArray[np.float32]]:
    values = K.batch_get_value(list(variables.values()))
    return dict(zip(variables, values))


def restore(variables: dict[str, K.Variable], values: dict[str, npt.NDArray[np.float32]]) -> None:
    K.batch_set_value([(variables[name], value) for name, value in values.items()])


variables = {"w": K.variable(np.ones((2, 2))), "b": K.zeros((2,))}
total: int = sum(K.count_params(v) for v in variables.values())
before = snapshot({name: v for name, v in variables.items() if isinstance(v, K.Variable)})
K.set_value(variables["b"], [1.0, 2.0])
assert total == 6 and K.get_value(variables["b"]).tolist() == [1.0, 2.0]
kept = {name: v for name, v in variables.items() if isinstance(v, K.Variable)}
restore(kept, before)
assert not K.get_value(variables["b"]).any()

x = K.placeholder((2,))
f = K.function([x], [x * 2.0])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "f.safetensors"
    f.save(path)
    again = kameleon.load(path)
assert again([[1.0, 2.0]])[0].tolist() == [2.0, 4.0]
kind: str = K.dtype(x)

snapshot([1.0, 2.0])  # wrong
K.count_params(variables["w"]).shape  # wrong
K.dtype(x).itemsize  # wrong
f.sav(path)  # wrong
