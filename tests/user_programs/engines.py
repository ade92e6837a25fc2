"""One program, run where it's best."""

from __future__ import annotations

import numpy as np

import kameleon
from kameleon import backend as K

x = K.placeholder((None, 3), name="x")
y = K.softmax(x)
with K.using_engine("numpy"):
    here = K.function([x], [y])([np.zeros((1, 3))])
named = K.function([x], [y, K.sum(y)], engine="numpy")
probabilities, total = named([np.zeros((1, 3))])
assert probabilities.shape == (1, 3) and abs(float(total) - 1) < 1e-6
assert np.allclose(here[0], probabilities)
own = K.function([x], [y], engine="numpy", as_numpy=False)
anything = own([np.zeros((1, 3))])[0].whatever_its_engine_gives if False else None
kameleon.set_engine("numpy")

kameleon.set_engine(1)  # wrong
kameleon.set_engin("numpy")  # wrong
K.function([x], [y], as_nump=False)  # wrong
K.function([x], y)([1.0]).foo  # wrong
