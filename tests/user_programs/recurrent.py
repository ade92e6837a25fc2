"""A recurrent loop whose step is a function of the user's."""

from __future__ import annotations

import numpy as np

from kameleon import backend as K

x = K.placeholder((None, 5, 2))
kernel, recurrent = K.variable(np.eye(2)), K.variable(0.5 * np.eye(2))


def step(inputs: K.Tensor, states: list[K.Tensor]) -> tuple[K.Tensor, list[K.Tensor]]:
    h = K.tanh(K.dot(inputs, kernel) + K.dot(states[0], recurrent))
    return h, [h]


last, outputs, states = K.rnn(step, x, [K.zeros_like(x[:, 0])], unroll=False)
f = K.function([x], {"last": last, "all": outputs})
found = f([np.ones((3, 5, 2))])
assert found["last"].shape == (3, 2)
assert np.allclose(found["all"][:, -1], found["last"])
assert K.int_shape(last)[-1] == 2 and len(states) == 1

found.last  # wrong
K.rnn(step, x)  # wrong
states.shape  # wrong
found["last"].shap  # wrong
