"""NumPy's functions, methods and indices, of tensors."""

from __future__ import annotations

import numpy as np

from kameleon import backend as K


def standardized(x: K.Tensor) -> K.Tensor:
    return (x - x.mean(axis=0)) / (x.std(axis=0, keepdims=True) + 1e-6)


x = K.variable(np.arange(12.0).reshape(3, 4))
y = standardized(x).reshape(4, 3).T.clip(-1, 1).astype("float64")
positive = x[x > 3]
rows = x[[2, 0], 1:]
total = np.sum(x) + np.exp(x).sum() + np.concatenate([x, x]).sum()
assert K.eval(y).shape == (3, 4) and K.eval(rows).shape == (2, 3)
assert K.eval(positive).tolist() == [4.0, 5, 6, 7, 8, 9, 10, 11]
assert K.eval(np.where(x > 3, x, 0.0).max()) == 11 and float(K.eval(total)) > 0
first, *others = x
assert len(others) == 2 and first.ndim == 1

x.meen()  # wrong
x.mean(axs=0)  # wrong
x.reshape(4, 3).TT  # wrong
x.argmax(axis="rows")  # wrong
