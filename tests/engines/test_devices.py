"""Results and state lie where the library's user asks for them: it decides, on a GPU's machine too.

The processor counts as two devices here; with the second one asked for, nothing stays on the first.
"""

from __future__ import annotations

from typing import Any

import pytest
from _support.common import engines_under_test, run_python

PROGRAM = """
import numpy as np
from kameleon import backend as K
from kameleon.runtime import engines

x, v = K.placeholder((None, 3)), K.variable(np.ones((3, 3)))
square = K.sum(K.square(K.dot(x, v)))
[slope] = K.gradients(square, [v])
noise = K.random_uniform((2,), seed=1)
train = K.function([x], [square, noise], [(v, v - 0.1 * slope)], as_numpy=False)
double = K.function([x], [x * 2, K.sum(x)], as_numpy=False)
large = K.function([x], [x + 1], as_numpy=False)

def used():
    values = [*train([np.ones((2, 3))]), *double([np.ones((2, 3))])]
    values += large([np.ones((5000, 3), 'float32')])
    engine = engines.current()
    values += [engine.from_numpy(np.ones(3)), engine.adopt(np.ones(3000))]
    return {place(value) for value in values}

first = used()
with second:
    for step in range(3):
        found = used()
    assert K.get_value(v).shape == (3, 3)
print(len(first), len(found), found.isdisjoint(first), used() == first)
"""

PLACES = {
    "jax": """
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import jax
second = jax.default_device(jax.devices()[1])
place = lambda array: array.devices().pop()
""",
    "tensorflow": """
import tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
second = tf.device('CPU:1')
place = lambda array: array.device
""",
}


@pytest.mark.parametrize("engine", sorted(PLACES.keys() & set(engines_under_test())))
def test_the_users_device_is_used(engine: str, tmp_path: Any) -> None:
    settings = {"KERAS_BACKEND": engine, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = run_python(PLACES[engine] + PROGRAM, tmp_path, settings)
    assert done.stdout == "1 1 True True\n", done.stderr
