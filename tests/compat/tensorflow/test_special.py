"""Functions that K lacks and TensorFlow has, against Python's own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.compat.tensorflow.arithmetic.special import lgamma

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lgamma_is_of_the_precision_of_its_dtype(dtype: str) -> None:
    x = np.linspace(0.05, 2.95, 59, dtype=dtype)
    p = K.placeholder(x.shape, dtype=dtype)
    found = K.function([p], [lgamma(p)])([x])[0]
    expected = np.array([math.lgamma(v) for v in x.tolist()])
    np.testing.assert_allclose(found, expected, rtol=2 * np.finfo(dtype).eps, atol=1e-14)
