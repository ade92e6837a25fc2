"""A line through points, by gradient descent."""

from __future__ import annotations

import numpy as np

from kameleon import backend as K

rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 3))
targets = inputs @ np.array([[1.0], [-2.0], [0.5]]) + 0.25

x, y = K.placeholder((None, 3)), K.placeholder((None, 1))
w, b = K.variable(np.zeros((3, 1)), name="w"), K.variable(np.zeros(1), name="b")
loss = K.mean(K.square(K.dot(x, w) + b - y))
gradients = K.gradients(loss, [w, b])
updates = [K.update_sub(v, 0.1 * g) for v, g in zip([w, b], gradients)]
step = K.function([x, y], [loss], updates=updates)
losses: list[float] = []
for _ in range(200):
    (value,) = step([inputs, targets])
    losses.append(float(value))
assert losses[-1] < 1e-3 < losses[0]
print(f"{K.get_value(w).ravel().tolist()} {K.get_value(b).item():.3f}")

step([inputs, targets]).mean()  # wrong
step([inputs, targets])[0].foo  # wrong
gradients[0].shap  # wrong
K.get_value(w).reshap(3)  # wrong
