"""What PyTensor lacks: a few Ops of our own, equal where what they do is equal, so that they merge.

Each says why it's there. PyTensor's compilers for Numba and JAX find an Op that names a ufunc of
NumPy (`nfunc_spec`) by that name, and take `Wrap` for the cast that it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scalar.basic import (
    Add,
    BinaryScalarOp,
    Cast,
    IntDiv,
    Mul,
    Sub,
    UnaryScalarOp,
    get_scalar_type,
)
from pytensor.scalar.basic import upcast_out as first_type
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.type import TensorType as ArrayType

from ..._kernels import ctc

# The version of the C code made here: PyTensor keeps compiled code on disk.
VERSION = 1


class _OfBits:
    """What is done to the bits of numbers: its C code is made here, and there's no slope."""

    def c_code_cache_version(self) -> tuple[int, ...]:
        """See PyTensor's `CLinkerOp`."""
        return (VERSION,)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        """See PyTensor's `ScalarOp`."""
        return [x.zeros_like(dtype="float64") for x in inputs]


class _Shift(_OfBits, BinaryScalarOp):  # type: ignore[misc]
    """Bits moved. PyTensor's arithmetic has no shifts, and powers of two overflow."""

    symbol: str

    def impl(self, x: Any, y: Any) -> Any:
        """The value for two numbers."""
        return getattr(np, self.nfunc_spec[0])(x, y)

    def c_code(self, node: Any, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        """The same in C."""
        return f"{outputs[0]} = {inputs[0]} {self.symbol} {inputs[1]};"


class ShiftLeft(_Shift):
    """x * 2**y, of integers."""

    nfunc_spec = ("left_shift", 2, 1)
    symbol = "<<"


class ShiftRight(_Shift):
    """floor(x / 2**y), of integers."""

    nfunc_spec = ("right_shift", 2, 1)
    symbol = ">>"


class Wrap(Cast):  # type: ignore[misc]
    """A cast to integers that wraps around. In Python code PyTensor's own cast raises instead."""

    def impl(self, x: Any) -> Any:
        """The value for a number, which comes as one of Python's."""
        if isinstance(x, int) and not isinstance(x, bool):
            x = np.array(x & (2**64 - 1), "uint64")
        with np.errstate(all="ignore"):
            return np.asarray(x).astype(self.o_type.dtype)[()]


class Bitcast(_OfBits, UnaryScalarOp):  # type: ignore[misc]
    """The bits of a number read as another dtype, which PyTensor has no operation for.

    JAX has a function for that, but under no name by which PyTensor could find it.
    """

    def __init__(self, dtype: str):
        self.dtype = dtype
        super().__init__(lambda x: (get_scalar_type(dtype),), name=f"bitcast_{dtype}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bitcast) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((Bitcast, self.dtype))

    def impl(self, x: Any) -> Any:
        """The value for a number; a number of Python's own doesn't tell its size."""
        width = np.dtype(self.dtype).itemsize
        if isinstance(x, float | np.floating):
            bits = np.asarray(x, f"float{8 * width}")
        else:
            bits = np.asarray(int(x) % 2 ** (8 * width), f"uint{8 * width}")
        return bits.view(self.dtype)[()]

    def c_code(self, node: Any, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        """The same in C."""
        (x,), (y,) = inputs, outputs
        return f"memcpy(&{y}, &{x}, sizeof({y}));"


class _OfSizes:
    """Arithmetic of PyTensor's that it doesn't fuse: where JAX traces a graph, it knows the sizes
    that single sums and products give, and not what comes out of several in one function.
    """

    def supports_c_code(self, inputs: Any, outputs: Any) -> bool:
        """What fusion asks; there's C code all the same."""
        return False


class AddSizes(_OfSizes, Add):  # type: ignore[misc]
    """a + b, of sizes."""


class SubSizes(_OfSizes, Sub):  # type: ignore[misc]
    """a - b, of sizes."""


class MulSizes(_OfSizes, Mul):  # type: ignore[misc]
    """a * b, of sizes."""


class DivSizes(_OfSizes, IntDiv):  # type: ignore[misc]
    """floor(a / b), of sizes."""


# By primitive.
OF_SIZES = {
    "add": Elemwise(AddSizes(first_type, name="add")),
    "sub": Elemwise(SubSizes(first_type, name="sub")),
    "mul": Elemwise(MulSizes(first_type, name="mul")),
    "floor_div": Elemwise(DivSizes(first_type, name="int_div")),
}

shift_left = Elemwise(ShiftLeft(first_type, name="shift_left"))
shift_right = Elemwise(ShiftRight(first_type, name="shift_right"))


def wrap(x: Any, dtype: str) -> Any:
    """A variable as integers, whatever doesn't fit wrapped around."""
    same = ("positive", 1, 1) if x.type.dtype == dtype else None  # to NumPy all of them fit
    return Elemwise(Wrap(get_scalar_type(dtype), name=f"wrap_to_{dtype}"), nfunc_spec=same)(x)


def bitcast(x: Any, dtype: str) -> Any:
    """The bits of a variable read as another dtype."""
    _teach_numba()
    return Elemwise(Bitcast(dtype))(x)


def _teach_numba() -> None:
    """Register `Bitcast` with Numba. That loads Numba, so it's done only when needed."""
    try:
        from pytensor.link.numba.dispatch import basic
    except ImportError:  # Numba isn't installed
        return

    @basic.numba_funcify.register(Bitcast)  # type: ignore[untyped-decorator]
    def numba_funcify_bitcast(op: Bitcast, node: Any, **options: Any) -> Any:
        source, target = (np.dtype(x.type.dtype) for x in (*node.inputs, *node.outputs))

        @basic.numba_njit  # type: ignore[untyped-decorator]
        def view(x: Any) -> Any:
            return np.array([x], source).view(target)[0]

        return view


# Decoding ------------------------------------------------------------------------------------


class Decoding(Op):  # type: ignore[misc]
    """Labels of sequences: their number and length depend on values, by a search over many paths.

    As a graph the search would be a loop over sets of beams, slower by far than it is in NumPy.
    Numba calls the NumPy code as it is; JAX has no sizes that depend on values.
    """

    __props__ = ("width", "paths")

    def __init__(self, width: int, paths: int):
        """The best `paths` of those found with beams of that width; 0: the best path alone."""
        self.width, self.paths = width, paths

    def make_node(self, scores: Any, lengths: Any) -> Apply[Any, Any]:
        """Apply the Op to PyTensor variables."""
        labels = [ArrayType("int64", (None, None))() for _ in range(self.paths)]
        total = ArrayType(scores.type.dtype, (scores.type.shape[0], self.paths))()
        return Apply(self, [scores, lengths], [*labels, total])

    def infer_shape(self, *given: Any) -> list[Any]:
        """Shapes by samples and paths; how long labels are is known once there are values.

        PyTensor before 3.3 gives a graph, too, as the first argument.
        """
        node, shapes = given[-2:]
        samples = shapes[0][0]
        return [*((samples, Shape_i(1)(y)) for y in node.outputs[:-1]), (samples, self.paths)]

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Run the search on the operands' values."""
        scores, lengths = inputs
        if self.width:
            labels, total = ctc.beam_search(scores, lengths, self.width, self.paths)
        else:
            *labels, total = ctc.greedy_decode(scores, lengths)
        for cell, value in zip(output_storage, [*labels, total], strict=True):
            cell[0] = np.asarray(value)


# The Ops of this module, for tests of what a graph is made of.
SCALAR = (ShiftLeft, ShiftRight, Wrap, Bitcast, _OfSizes)
OWN = (Decoding,)
