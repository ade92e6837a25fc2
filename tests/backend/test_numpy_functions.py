"""NumPy's functions, and the methods of its arrays, of tensors: against those of arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

X = np.array([[1.5, -2.25, 3.5], [0.125, 5.0, -0.75]], "float32")
WHOLE = np.array([[3, -1, 0], [7, 2, 2]], "int32")
B = X > 1
V, ONE = np.array([2.0, 0.5, -1.0], "float32"), X[:, None, :1]

# Calls of NumPy's functions and of methods, of `x` (floats), `i` (ints), `b` (bools), `v`, `one`.
CALLS = """
np.sum(x); np.sum(x, 1); np.sum(x, axis=(0, 1)); np.sum(x, axis=-1, keepdims=True); np.sum(b, 0)
np.sum(x, None, 'float64'); np.prod(x, 0); np.mean(x, axis=0, keepdims=True); np.mean(b)
np.std(x); np.std(x, 1, ddof=1); np.var(x, 0); np.var(x, ddof=1, keepdims=True); np.var(x, 1, None)
np.max(x); np.amax(x, 0); np.min(x, axis=1, keepdims=True); np.amin(x)
np.any(x > 3, 0); np.all(b); np.any(b, axis=1, keepdims=True); np.count_nonzero(i, 1)
np.argmax(x); np.argmax(x, 1); np.argmin(x, axis=0, keepdims=True); np.argmin(x, keepdims=True)
np.cumsum(x); np.cumsum(x, 1); np.cumprod(x, axis=0); np.sum(i); np.cumsum(i, 1)
np.clip(x, -1, 2); np.clip(x, None, 1.); np.clip(x, 0., None); np.clip(x, v, 3.); np.clip(i, 0, 5)
np.round(x); np.around(x, 1); np.round(10 * x, -1); np.round(i)
np.where(b, x, 0.); np.where(x > v, x, v); np.where(i, x, -x); np.where(b, i, 7)
np.zeros_like(x); np.ones_like(i); np.full_like(x, 7); np.full_like(x, 2, dtype='int32'); np.copy(x)
np.reshape(x, (3, 2)); np.reshape(x, -1); np.ravel(x); np.reshape(x, (1, -1, 1))
np.transpose(x); np.transpose(one, (2, 0, 1)); np.swapaxes(one, 0, -1); np.moveaxis(one, 0, 2)
np.moveaxis(one, (0, 1), (-1, 0)); np.squeeze(one); np.squeeze(one, 1); np.squeeze(one, (1, 2))
np.expand_dims(x, 1); np.expand_dims(x, (0, -1)); np.broadcast_to(v, (2, 3)); np.flip(x)
np.flip(x, 1); np.flip(x, (0,)); np.broadcast_to(x, (2, 2, 3))
np.concatenate([x, x]); np.concatenate((x, X), axis=1); np.concatenate([x, v], axis=None)
np.concatenate([x, i]); np.stack([x, x + 1]); np.stack([v, v], axis=-1); np.vstack([x, v])
np.hstack([x, x]); np.hstack([v, v]); np.vstack((v, v))
np.tile(x, 2); np.tile(x, (2, 1)); np.tile(v, (2, 2)); np.tile(x, (2, 1, 1)); np.repeat(x, 2)
np.repeat(x, 2, axis=1); np.repeat(x, 3, 0); np.take(x, [2, 0], axis=1); np.take(x, 3)
np.take(v, [[0], [2]])
np.dot(x, v); np.dot(v, v); np.dot(x, x.T); np.dot(np.float32(2), x); np.dot(one, X[:1, :2])
np.outer(v, x)
np.tensordot(x, x, ((0, 1), (0, 1))); np.tensordot(x, v, 1); np.tensordot(x, v, axes=(1, 0))
np.matmul(x, v); np.abs(x); np.absolute(i); np.exp(x); np.sqrt(np.abs(x)); np.square(x); np.sign(x)
np.negative(x); np.add(x, v); np.maximum(x, 0); np.power(x, 2.); np.isnan(x); np.rint(x)
np.equal(x, 1.5); np.not_equal(i, 2); np.logical_and(b, x < 3); np.logical_or(b, i)
np.logical_not(x)
np.bitwise_and(i, 3); np.bitwise_or(i, 1); np.positive(x); np.divide(i, 2); np.remainder(i, 4)
np.floor_divide(i, 2); np.log1p(np.square(x)); np.tanh(x)
x.sum(); x.sum(0); x.sum(axis=1, keepdims=True); x.mean(); x.mean(0); x.prod(); x.max(); x.min(1)
x.std(); x.var(axis=0); (x > 1).any(); (x > 1).all(0); x.argmax(); x.argmin(1); x.cumsum(0)
x.cumprod(); x.T; one.T; x.reshape(3, 2); x.reshape((3, 2)); x.reshape(-1); x.reshape([6])
x.ravel()
x.flatten(); x.transpose(); x.transpose(1, 0); one.transpose((2, 1, 0)); x.transpose(None)
x.swapaxes(0, 1); one.squeeze(); one.squeeze(1); x.clip(-1, 2); x.clip(max=0); x.round(); x.round(1)
x.dot(v); x.repeat(2); x.repeat(2, 1); x.take([0, 2], 1); x.astype('int32'); x.astype('float64')
x.copy(); x.sum(0, 'float64'); b.sum(); i.sum(1); i.mean(); i.std(0); b.mean(0)
"""
CALLS_OF_TENSORS = [call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()]
GRADIENTS = "np.sum np.mean np.std np.max np.prod np.ravel np.transpose np.exp np.cumsum".split()


def arrays() -> dict[str, Any]:
    return {"x": X, "i": WHOLE, "b": B, "v": V, "one": ONE}


def all_of_them(build: Callable[[np.ndarray], Any]) -> tuple[list[Any], list[Any]]:
    """Tensors for all calls, and what NumPy gives for arrays."""
    given = {"np": np, "X": X}
    tensors = {name: build(array) for name, array in arrays().items()}
    made = [eval(call, given | tensors) for call in CALLS_OF_TENSORS]
    wanted = [eval(call, given | arrays()) for call in CALLS_OF_TENSORS]
    return made, wanted


def compare(found: list[Any], wanted: list[Any]) -> None:
    for call, got, want in zip(CALLS_OF_TENSORS, found, wanted, strict=True):
        want = np.asarray(want)
        of_integers = not re.search(r"\b(x|v|one)\b", call)
        kind = "float32" if want.dtype == "float64" and of_integers else want.dtype
        assert got.dtype == kind, call
        assert got.shape == want.shape, call
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=call)


@pytest.mark.usefixtures("engine")
def test_functions_and_methods_are_numpys() -> None:
    made, wanted = all_of_them(lambda array: K.constant(array, dtype=str(array.dtype)))
    for call, tensor, want in zip(CALLS_OF_TENSORS, made, wanted, strict=True):
        assert K.is_tensor(tensor), call
        assert K.int_shape(tensor) == np.shape(want), call
    compare(K.function([], made)([]), wanted)


@pytest.mark.usefixtures("engine")
def test_sizes_that_are_known_only_at_run_time() -> None:
    inputs: list[Any] = []

    def build(array: np.ndarray) -> Any:
        sizes = [None if size > 1 else 1 for size in array.shape]
        inputs.append(K.placeholder(sizes, dtype=str(array.dtype)))
        return inputs[-1]

    made, wanted = all_of_them(build)
    compare(K.function(inputs, made)(list(arrays().values())), wanted)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients_go_through_numpys_functions(call: str) -> None:
    x = K.constant(X)
    function = eval(call)
    (ours,) = K.gradients(K.sum(function(x) ** 2), [x])
    step = 1e-3 * np.eye(6).reshape(6, 2, 3)
    wide = X.astype("float64")
    slopes = [(np.sum(function(wide + h) ** 2) - np.sum(function(wide - h) ** 2)) for h in step]
    np.testing.assert_allclose(
        K.eval(ours), np.reshape(slopes, (2, 3)) / 2e-3, rtol=1e-2, atol=1e-2
    )


# Calls that have no meaning for tensors, and what their errors say.
REFUSED = {
    "np.median(x)": "np.median takes no symbolic tensors; use K.mean",
    "np.linalg.norm(x)": "np.linalg.norm takes no symbolic tensors; use K.sqrt",
    "np.fft.fft(x)": "use np.fft.fft(K.eval(x)), or kameleon.call",
    "np.hypot(x, x)": "use K.sqrt",
    "np.add.reduce(x)": "np.add.reduce takes no symbolic tensors",
    "np.allclose(x, X)": "K.equal",
    "np.pad(x, 1)": "K.spatial_2d_padding",
    "np.where(x > 1)": "x[mask]",
    "np.nonzero(x)": "x[mask]",
    "np.sum(x, out=X)": "takes no out=",
    "np.sum(x, where=B)": "takes no where=",
    "np.max(x, initial=3)": "takes no initial=",
    "np.reshape(x, (3, 2), order='F')": "takes no order=",
    "np.take(x, [1], mode='wrap')": "takes no mode=",
    "np.exp(x, where=B)": "takes no where=",
    "np.add(X, x, out=X)": "can't be written into an array",
    "np.copyto(X, x)": "K.switch",
    "np.repeat(x, [1, 2], axis=0)": "one count for all",
    "np.moveaxis(x, (0, 1), 0)": "one to one",
    "np.size(p)": "K.size(x)",
    "x.item()": "K.eval(x) gives its numbers",
    "x.tolist()": "K.eval(x) gives its numbers",
    "x.numpy()": "K.eval(x) gives its numbers",
    "x.sort()": "np.sort(K.eval(x))",
    "x.nonzero()": "x[mask]",
    "x.fill(0)": "K.update",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_has_no_meaning_is_refused_with_what_to_use(call: str) -> None:
    given = {"np": np, "X": X, "B": B, "x": K.constant(X), "p": K.placeholder((None, 2))}
    with pytest.raises((TypeError, ValueError, AttributeError), match=re.escape(REFUSED[call])):
        eval(call, given)


def test_absent_methods_are_absent() -> None:
    assert not hasattr(K.constant(X), "item")
    assert not hasattr(K.placeholder((None, 2)), "size") or K.placeholder((3, 2)).size == 6
    assert (np.shape(K.constant(X)), np.ndim(K.constant(X)), np.size(K.constant(X))) == (
        (2, 3),
        2,
        6,
    )


def test_other_classes_answer_for_themselves() -> None:
    class Own:
        def __array_function__(self, *given: Any) -> str:
            return "own"

        def __array_ufunc__(self, *given: Any, **rest: Any) -> str:
            return "own"

    assert np.concatenate([K.constant(X), Own()]) == "own"  # type: ignore[comparison-overlap]
    assert np.add(K.constant(X), Own()) == "own"
