"""What the layers of Keras look for on tensors and variables."""

from __future__ import annotations

import pytest

from kameleon import backend as K
from kameleon.engines._base import Engine


def test_variables_are_trainable_until_told_otherwise() -> None:
    v, w = K.variable(1.0), K.zeros((2,))
    assert v.trainable is w.trainable is True
    v.trainable = False
    assert (v.trainable, w.trainable) == (False, True)
    assert not hasattr(v + 1.0, "trainable")


def test_repeated_elements_carry_the_shape_on() -> None:
    y = K.repeat_elements(K.placeholder((2, None, 4)), 3, axis=1)
    assert y._keras_shape == (2, None, 4)
    y = K.repeat_elements(K.placeholder((2, None, 4)), 3, axis=-1)
    assert y._keras_shape == (2, None, 12)
    assert not hasattr(K.repeat_elements(K.constant([1.0]), 3, axis=0), "_keras_shape")


@pytest.mark.parametrize(
    ("message", "shown"), [("x", "x [1. 2.]\n"), ("x: ", "x: [1. 2.]\n"), ("", "[1. 2.]\n")]
)
def test_printed_tensors(
    engine: Engine, message: str, shown: str, capfd: pytest.CaptureFixture[str]
) -> None:
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x, message)])
    f([[1.0, 2.0]])
    assert capfd.readouterr() == (shown, "")
