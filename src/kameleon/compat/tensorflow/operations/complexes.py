"""Complex numbers, which K doesn't compute with: what NumPy gives for them, on the host; and
transforms of Fourier.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node

from ..arithmetic.matrices import adjoint
from ..failures import invalid
from ..graph import Operation
from .table import PURE, fold, host
from .values import integers, is_text, result_type, texts

Array = np.ndarray


def of_complex(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of NumPy's, as a fold whose results have the types that are wanted; of real
    numbers K's, where it has it.
    """

    def call(operation: Operation, *values: Array) -> Array:
        if operation.type in PURE and not any(map(np.iscomplexobj, values)):
            return np.asarray(_arrays(PURE[operation.type](operation, *values)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of imaginary parts that are dropped
            return np.asarray(function(*values)).astype(result_type(operation))

    return call


def _joined(real: Array, imaginary: Array) -> Array:
    """Complex numbers of their parts; a sum would lose the signs of zeros, and infinite parts."""
    parts = np.stack(np.broadcast_arrays(real, imaginary), -1)
    return parts.view(parts.dtype.char.upper())[..., 0]


PARTS: dict[str, Callable[..., Any]] = {
    "Complex": _joined,
    "Real": np.real,
    "Imag": np.imag,
    "ComplexAbs": np.abs,
    "Angle": np.angle,
    "Conj": np.conj,
    "ConjugateTranspose": lambda x, order: np.conj(np.transpose(x, integers(order))),
}
for _name, _function in PARTS.items():
    fold(_name)(of_complex(_function))


# Products and sums ------------------------------------------------------------------------------


@fold("MatMul")
def _matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    return np.asarray((a.T if transpose_a else a) @ (b.T if transpose_b else b), a.dtype)


@fold("BatchMatMul BatchMatMulV2")
def _batch_matmul(a: Array, b: Array, *, adj_x: bool, adj_y: bool) -> Array:
    return np.asarray((adjoint(a) if adj_x else a) @ (adjoint(b) if adj_y else b), a.dtype)


@fold("Cumsum Cumprod")
def _cumulative(
    operation: Operation, x: Array, at: int, *, exclusive: bool, reverse: bool
) -> Array:
    is_sum, given = operation.type == "Cumsum", np.flip(x, at) if reverse else x
    found = (np.cumsum if is_sum else np.cumprod)(given, at, x.dtype)
    if exclusive:
        first = np.full_like(np.take(found, [0], at), not is_sum)
        found = np.concatenate([first, np.delete(found, -1, at)], at)
    return np.flip(found, at) if reverse else found


# What moves numbers -----------------------------------------------------------------------------

# They give real parts for real parts, and imaginary ones for imaginary ones.
MOVING = (
    "MatrixDiag MatrixDiagV2 MatrixDiagPart MatrixDiagPartV2 MatrixSetDiag MatrixSetDiagV2"
    " MatrixBandPart Diag DiagPart ScatterNd TensorScatterAdd TensorScatterSub TensorScatterUpdate"
    " UnsortedSegmentSum Roll MirrorPad MirrorPadGrad StridedSliceGrad ReverseSequence BiasAdd"
    " BiasAddGrad SpaceToBatchND BatchToSpaceND Concat EnsureShape"
)


def by_parts(operation: Operation, compute: Callable[..., Any], values: Sequence[Any]) -> Any:
    """What an operation gives that moves numbers, or adds them: computed of real and of imaginary
    parts; of texts, by numbers that stand for them.
    """
    if any(map(is_text, values)):
        if _ADDING.search(operation.type):
            raise invalid(f"No OpKernel was registered to support Op '{operation.type}'")
        given = [texts(value) if is_text(value) else value for value in values]
        known = np.unique(np.concatenate([[b""], *(x.ravel() for x in given if is_text(x))]))
        coded = (np.searchsorted(known, x) if is_text(x) else x for x in given)
        return known[compute(*coded)]  # none, where zero stands
    if not any(map(np.iscomplexobj, values)):
        return compute(*values)
    real, imaginary = (compute(*map(part, values)) for part in (np.real, _imaginary))
    return _joined(real, imaginary)


_ADDING = re.compile("(Add|Sub)(VariableOp)?$")


def moved(operation: Operation, *values: Any) -> Any:
    """What an operation of a type that K has gives of numbers that K hasn't."""
    function = PURE[operation.type]
    return by_parts(operation, lambda *parts: _arrays(function(operation, *parts)), values)


def _imaginary(value: Array) -> Array:
    return np.imag(value) if np.iscomplexobj(value) else value


def _arrays(found: Any) -> Any:
    return K.eval(found) if isinstance(found, Node) else found


for _name in MOVING.split():
    fold(_name)(moved)
host("InplaceUpdate InplaceAdd InplaceSub SpaceToDepth DepthToSpace OneHot")(moved)


@host("ScatterNd")
def _scattered(operation: Operation, at: Array, values: Array, sizes: list[int]) -> Array:
    """Of several texts for one place all, one behind the other."""
    if not is_text(values):
        return np.asarray(moved(operation, at, values, sizes))
    found, depth = np.full(sizes, b"", object), at.shape[-1]
    parts = texts(values).reshape(-1, *sizes[depth:])
    for place, part in zip(at.reshape(-1, depth), parts, strict=True):
        found[tuple(place)] += part
    return found


# Transforms of Fourier --------------------------------------------------------------------------


def _axes(operation: Operation) -> list[int]:
    rank = int(operation.type[-2]) if operation.type.endswith("D") else 1
    return list(range(-rank, 0))


@fold("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D")
def _transform(operation: Operation, x: Array) -> Array:
    function = np.fft.ifftn if "IFFT" in operation.type else np.fft.fftn
    return function(x, axes=_axes(operation)).astype(result_type(operation))


@fold("RFFT RFFT2D RFFT3D")
def _of_real(operation: Operation, x: Array, sizes: list[int]) -> Array:
    """The first half of the last axis: the other one mirrors it."""
    found = np.fft.rfftn(fitted(x, sizes), axes=_axes(operation))
    return found.astype(result_type(operation))


@fold("IRFFT IRFFT2D IRFFT3D")
def _to_real(operation: Operation, x: Array, sizes: list[int]) -> Array:
    inner = fitted(x, [*sizes[:-1], sizes[-1] // 2 + 1])
    return np.fft.irfftn(inner, sizes, _axes(operation)).astype(result_type(operation))


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
