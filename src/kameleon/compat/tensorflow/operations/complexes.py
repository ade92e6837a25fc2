"""Complex numbers, which K doesn't compute with: what NumPy gives for them, on the host; and
transforms of Fourier.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node

from .table import FOLDS, PURE, fold
from .values import integers, result_type

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


def _typed(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of NumPy's, as a fold whose results have the types that are wanted; of real
    numbers K's, where it has it.
    """

    def call(operation: Operation, *values: Array) -> Array:
        if operation.type in PURE and not any(map(np.iscomplexobj, values)):
            return np.asarray(_arrays(PURE[operation.type](operation, *values)))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of imaginary parts that are dropped
            return np.asarray(function(*values)).astype(result_type(operation))

    return call


def _unless(zero: Callable[[Array, Array], Array], function: Callable[..., Any]) -> Any:
    """A function of two operands that is 0 where one of them is."""
    return lambda a, b: np.where(zero(a, b) == 0, 0, function(a, b))


def _direction(x: Array) -> Array:
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


PARTS: dict[str, Callable[..., Any]] = {
    "Complex": lambda a, b: a + 1j * b,
    "Real": np.real,
    "Imag": np.imag,
    "ComplexAbs": np.abs,
    "Angle": np.angle,
    "Conj": np.conj,
    "ConjugateTranspose": lambda x, order: np.conj(np.transpose(x, integers(order))),
}
UNARY: dict[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Sign": _direction,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log1p": np.log1p,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal Inv": lambda x: 1 / x,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "AddN AccumulateNV2": lambda *xs: sum(xs[1:], xs[0]),
}
BINARY: dict[str, Callable[..., Any]] = {
    "Div TruncateDiv": np.divide,
    "Pow": np.power,
    "SquaredDifference": lambda a, b: (a - b) * np.conj(a - b),
    "DivNoNan": _unless(lambda a, b: b, np.divide),
    "MulNoNan": _unless(lambda a, b: b, np.multiply),
    "Xdivy": _unless(lambda a, b: a, np.divide),
    "Xlogy": _unless(lambda a, b: a, lambda a, b: a * np.log(b)),
    # Gradients, of a function's value (some take its conjugate) and the gradient of its value.
    "TanhGrad": lambda y, g: g * (1 - y**2),
    "SigmoidGrad": lambda y, g: g * y * (1 - y),
    "SqrtGrad": lambda y, g: g * 0.5 / np.conj(y),
    "RsqrtGrad": lambda y, g: g * -0.5 * np.conj(y) ** 3,
    "ReciprocalGrad InvGrad": lambda y, g: -g * np.conj(y) ** 2,
}
for _names, _function in (PARTS | UNARY | BINARY).items():
    fold(_names)(_typed(_function))


# Products and sums ------------------------------------------------------------------------------


@fold("MatMul")
def _matmul(operation: Operation, a: Array, b: Array) -> Array:
    one = a.T if operation.attribute("transpose_a") else a
    return np.asarray(one @ (b.T if operation.attribute("transpose_b") else b))


@fold("BatchMatMul BatchMatMulV2")
def _batch_matmul(operation: Operation, a: Array, b: Array) -> Array:
    one, other = (
        np.conj(np.swapaxes(x, -1, -2)) if operation.attribute(name) else x
        for x, name in ((a, "adj_x"), (b, "adj_y"))
    )
    return np.asarray(one @ other)


@fold("Cumsum Cumprod")
def _cumulative(operation: Operation, x: Array, axis: Array) -> Array:
    at, is_sum = int(axis), operation.type == "Cumsum"
    given = np.flip(x, at) if operation.attribute("reverse") else x
    found = (np.cumsum if is_sum else np.cumprod)(given, at, x.dtype)
    if operation.attribute("exclusive"):
        first = np.full_like(np.take(found, [0], at), not is_sum)
        found = np.concatenate([first, np.delete(found, -1, at)], at)
    return np.flip(found, at) if operation.attribute("reverse") else found


# What moves numbers -----------------------------------------------------------------------------

# They give real parts for real parts, and imaginary ones for imaginary ones.
MOVING = (
    "MatrixDiag MatrixDiagV2 MatrixDiagPart MatrixDiagPartV2 MatrixSetDiag MatrixSetDiagV2"
    " MatrixBandPart Diag DiagPart ScatterNd TensorScatterAdd TensorScatterSub TensorScatterUpdate"
    " UnsortedSegmentSum Roll MirrorPad MirrorPadGrad StridedSliceGrad ReverseSequence BiasAdd"
    " BiasAddGrad SpaceToBatchND BatchToSpaceND ConcatV2 Concat EnsureShape CheckNumerics"
    " DynamicStitch ParallelDynamicStitch"
)


def _by_parts(name: str) -> Callable[..., Any]:
    def call(operation: Operation, *values: Array) -> Any:
        if not any(np.iscomplexobj(value) for value in values):
            return _arrays(PURE[name](operation, *values))
        real, imaginary = (
            _arrays(PURE[name](operation, *map(part, values))) for part in (np.real, _imaginary)
        )
        return np.asarray(real + 1j * imaginary, result_type(operation))

    return call


def _imaginary(value: Array) -> Array:
    return np.imag(value) if np.iscomplexobj(value) else value


def _arrays(found: Any) -> Any:
    return K.eval(found) if isinstance(found, Node) else found


for _name in MOVING.split():
    if _name not in FOLDS:
        fold(_name)(_by_parts(_name))


# Transforms of Fourier --------------------------------------------------------------------------


def _axes(operation: Operation) -> list[int]:
    rank = int(operation.type[-2]) if operation.type.endswith("D") else 1
    return list(range(-rank, 0))


@fold("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D")
def _transform(operation: Operation, x: Array) -> Array:
    function = np.fft.ifftn if "IFFT" in operation.type else np.fft.fftn
    return function(x, axes=_axes(operation)).astype(result_type(operation))


@fold("RFFT RFFT2D RFFT3D")
def _of_real(operation: Operation, x: Array, sizes: Array) -> Array:
    """The first half of the last axis: the other one mirrors it."""
    wanted = integers(sizes)
    found = np.fft.rfftn(fitted(x, wanted), axes=_axes(operation))
    return found.astype(result_type(operation))


@fold("IRFFT IRFFT2D IRFFT3D")
def _to_real(operation: Operation, x: Array, sizes: Array) -> Array:
    wanted = integers(sizes)
    inner = fitted(x, [*wanted[:-1], wanted[-1] // 2 + 1])
    return np.fft.irfftn(inner, wanted, _axes(operation)).astype(result_type(operation))


def fitted(x: Array, sizes: Sequence[int]) -> Array:
    """The last axes cut, or padded with zeros, to some sizes.

    Raises:
        ValueError: an axis is shorter.
    """
    for axis, size in zip(range(-len(sizes), 0), sizes, strict=True):
        if x.shape[axis] < size and x.shape[axis]:
            raise ValueError(f"an axis of {x.shape[axis]} is transformed as one of {size}")
        x = np.take(x, np.arange(size), axis)
    return x
