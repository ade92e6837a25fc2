"""The demo's network through PyTensor's modes, by its gradients and by those of K."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session

if "theano" not in engines_under_test():
    pytest.skip("needs the package pytensor", allow_module_level=True)

import pytensor

import kameleon
from kameleon import backend as K
from kameleon.cli.demo.digits import Variables, network

# What it says in C where it comes from pip; that there are no errors at run time in JAX, and that
# sums come as float64 there.
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:Skipping Assert"),
    pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types"),
]

# FAST_RUN is the same as NUMBA where that's installed, else as CVM.
MODES = ("FAST_COMPILE", "CVM", "NUMBA", "JAX")
BATCH, STEPS, RATE = 12, 3, np.float32(0.05)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    reset_session(K)
    yield
    reset_session(K)


class Step:
    """The demo's network and its loss on a batch, learning by plain descent."""

    def __init__(self, known: bool) -> None:
        """`known`: say size and phase beforehand. To JAX's random numbers their count must be, and
        conditions want dtypes that its sums don't keep."""
        size = BATCH if known else None
        if known:
            K.set_learning_phase(1)
        self.state = Variables(np.random.default_rng(0))
        images, labels = K.placeholder((size, 8, 8, 1)), K.placeholder((size,), dtype="int32")
        self.inputs = [images, labels, *([] if known else [K.learning_phase()])]
        scores = network(self.state, images)
        self.loss = K.mean(K.sparse_categorical_crossentropy(labels, scores))
        self.weights = list(self.state.weights.values())
        self.slopes = K.gradients(self.loss, self.weights)

    def batch(self) -> list[Any]:
        """Values of the inputs."""
        rng = np.random.default_rng(1)
        images = rng.random((BATCH, 8, 8, 1), dtype="float32")
        values = [images, rng.integers(0, 10, BATCH).astype("int32"), np.int32(1)]
        return values[: len(self.inputs)]

    def by_kameleon(self) -> list[Any]:
        """The losses of some steps, then the weights, on the embedded engine."""
        updates = [
            K.update_sub(w, g * RATE) for w, g in zip(self.weights, self.slopes, strict=True)
        ]
        with K.using_engine("numpy"):
            step = K.function(self.inputs, [self.loss], updates)
            losses = [step(self.batch())[0] for _ in range(STEPS)]
        return [*losses, *K.batch_get_value(self.weights)]

    def by_pytensor(self, mode: str, theirs: bool) -> list[Any]:
        """The same by PyTensor, with gradients of its own or of K."""
        tensors = [self.loss, *self.slopes]
        (loss, *slopes), inputs = kameleon.to_pytensor(tensors, self.inputs)
        shared = kameleon.to_pytensor(self.weights)
        if theirs:
            slopes = pytensor.grad(loss, shared)
        updates = [(w, w - RATE * g) for w, g in zip(shared, slopes, strict=True)]
        step = pytensor.function(inputs, loss, updates=updates, mode=mode)
        with np.errstate(all="ignore"):
            losses = [step(*self.batch()) for _ in range(STEPS)]
        return [*losses, *(w.get_value() for w in shared)]


@pytest.mark.parametrize("theirs", [False, True], ids=["slopes of K", "slopes of PyTensor"])
@pytest.mark.parametrize("mode", MODES)
def test_steps(mode: str, theirs: bool) -> None:
    """Losses and weights behind some steps, with the same random numbers drawn."""
    if mode in ("NUMBA", "JAX"):
        pytest.importorskip(mode.lower())
    step = Step(known=mode == "JAX")
    found = step.by_pytensor(mode, theirs)
    for got, want in zip(found, step.by_kameleon(), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-5)
