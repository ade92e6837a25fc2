"""Shapes of element-wise functions, reductions and products."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..graph import Operation, Shape
from .known import value_at
from .notation import table
from .rules import axis_of, broadcast, merged, shape_of, unknown, with_rank

table(
    """
    Identity StopGradient PreventGradient CheckNumerics Snapshot RefIdentity Exit RefExit
        NextIteration RefNextIteration Print PrintV2 Cast ZerosLike OnesLike
        RandomShuffle GuaranteeConst DeepCopy DebugGradientIdentity CumulativeLogsumexp BesselI0e
        BesselI1e PopulationCount Bucketize Real Imag ComplexAbs Angle Cumsum Cumprod ClipByValue
        Neg Abs Sign Exp Log Log1p Expm1 Sqrt Rsqrt Square Reciprocal Inv Floor Ceil Round Rint
        Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Tanh Sigmoid Erf Erfc Lgamma
        Digamma Relu Relu6 Elu Selu LeakyRelu Softplus Softsign IsNan IsInf IsFinite LogicalNot
        Invert Conj XlaClusterOutput : x -> x
    TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad : x -> x
    SoftplusGrad SoftsignGrad ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad
        ApproximateEqual : x x -> x
    Add AddV2 Sub Mul Div RealDiv FloorDiv TruncateDiv FloorMod TruncateMod Mod Pow Maximum Minimum
        SquaredDifference DivNoNan MulNoNan Atan2 Xdivy Xlogy Igamma Igammac Zeta Polygamma
        IgammaGradA RandomGammaGrad NextAfter Less LessEqual Greater GreaterEqual LogicalAnd
        LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift
        Complex : x y -> x|y
    SelectV2 : x y z -> x|y|z
    LoopCond : () -> ()
    L2Loss Rank Size IsVariableInitialized VarIsInitializedOp TensorArraySizeV3 : -> ()
    FFT IFFT : x:(*b,?) -> x
    FFT2D IFFT2D : x:(*b,?,?) -> x
    FFT3D IFFT3D : x:(*b,?,?,?) -> x
    RFFT : (*b,?) =[n] -> (*b,min(n,n//2+1))
    RFFT2D : (*b,?,?) =[m,n] -> (*b,m,min(n,n//2+1))
    RFFT3D : (*b,?,?,?) =[l,m,n] -> (*b,l,m,min(n,n//2+1))
    IRFFT : (*b,?) =[n] -> (*b,n)
    IRFFT2D : (*b,?,?) =[m,n] -> (*b,m,n)
    IRFFT3D : (*b,?,?,?) =[l,m,n] -> (*b,l,m,n)
    MatMul SparseMatMul : (m,k)^transpose_a (k,n)^transpose_b -> (m,n)
    BatchMatMul : (*b,m,k)^adj_x (*b,k,n)^adj_y -> (*b,m,n)
    BatchMatMulV2 : (*b,m,k)^adj_x (*c,k,n)^adj_y -> (*b|c,m,n)
    """
)


@shape_of("Select RefSelect")
def _select(operation: Operation, given: list[Shape]) -> Shape:
    """The condition is a scalar, a vector over the first axis, or like the others."""
    condition, found = given[0], merged(given[1], given[2])
    if condition is None or found is None or not condition:
        return found
    if len(condition) == 1 and found:
        merged(condition, found[:1])  # it must fit, but tells nothing
        return found
    return merged(condition, found)


@shape_of("Equal NotEqual")
def _equal(operation: Operation, given: list[Shape]) -> Shape:
    """Where shapes that don't go together aren't refused, but unequal, that must be known."""
    one, other = given
    if operation.attribute("incompatible_shape_error") is not False or one is None or other is None:
        return broadcast(one, other)
    pairs = zip(reversed(one), reversed(other), strict=False)
    goes = all(a == b >= 0 or 1 in (a, b) for a, b in pairs)
    return broadcast(one, other) if goes else None


@shape_of("Betainc")
def _betainc(operation: Operation, given: list[Shape]) -> Shape:
    """Scalars go with all shapes; what isn't known may be one."""
    known: list[Shape] = [shape for shape in given if shape]
    return reduce(merged, known) if known else None if None in given else ()


@shape_of("StringJoin")
def _joined(operation: Operation, given: list[Shape]) -> Shape:
    """Scalars go with all shapes, and so do unknown ones where others are known."""
    wide = [shape for shape in given if shape != ()]
    return reduce(merged, wide) if wide else ()


# Reductions -------------------------------------------------------------------------------------


@shape_of("Sum Mean Prod Max Min Any All EuclideanNorm")
def _reduce(operation: Operation, given: list[Shape]) -> Shape:
    return reduced(given[0], value_at(operation, 1), operation.attribute("keep_dims"))


def reduced(shape: Shape, axes: np.ndarray | None, keep: bool) -> Shape:
    """A shape without some axes, or with sizes of 1 there."""
    if shape is None or axes is None:
        return unknown(len(shape)) if shape is not None and keep else None
    about = "Invalid reduction dimension {axis} for input with {rank} dimensions."
    reduced = {axis_of(int(axis), len(shape), about) for axis in np.ravel(axes)}
    pairs = enumerate(shape)
    return tuple(1 if at in reduced else size for at, size in pairs if keep or at not in reduced)


@shape_of("ArgMax ArgMin")
def _arg(operation: Operation, given: list[Shape]) -> Shape:
    axis, shape = value_at(operation, 1), given[0]
    with_rank(given[1], 0)
    if shape is None or len(shape) <= 1:  # of those the axis isn't looked at
        return shape and ()
    if axis is None:
        return unknown(len(shape) - 1)
    about = "Dimension ({axis}) must be in the range [-{rank}, {rank}), where {rank} is"
    at = axis_of(int(axis), len(shape), f"{about} the number of dimensions in the input.")
    return shape[:at] + shape[at + 1 :]
