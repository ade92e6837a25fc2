"""Linear operators of TensorFlow 1: matrices known by their parts (`tf.linalg.LinearOperator…`).

`LinearOperator` computes all from the matrix itself, `to_dense`; kinds whose parts say more say it:
a diagonal is multiplied and divided by, a triangle solved as one. Leading axes of an operator and
of what it's applied to are stretched to each other's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor, dims_from
from ..errors import ArgumentError
from ..ir.types import broadcast_shapes
from ..prims.movement import broadcast_to
from ..prims.sizes import Size, dims_of
from ..prims.stretching import stretched_together
from . import factors, linear
from .algebra import diag_part
from .arrays import unit_matrix
from .graph import group
from .networks import matmul, turned
from .shapes import TensorShape


class LinearOperator:
    """A matrix, or a batch of them, by which vectors are multiplied.

    Args:
        dtype: of its elements.
        graph_parents: the tensors that it's made of.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the program knows;
            nothing checks it.
        name: its name.

    Raises:
        ArgumentError: (a ValueError) what the program knows contradicts itself.
    """

    def __init__(
        self, dtype: Any, graph_parents: Sequence[Any] | None = None,
        is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str | None = None,
    ):  # fmt: skip
        if is_positive_definite and is_non_singular is False:
            raise ArgumentError("A positive definite matrix is always non-singular.")
        if (is_positive_definite or is_non_singular) and is_square is False:
            raise ArgumentError("A non-singular or positive definite matrix is always square.")
        self.dtype, self.graph_parents = dtype, list(graph_parents or ())
        self.is_non_singular = True if is_positive_definite else is_non_singular
        self.is_self_adjoint, self.is_positive_definite = is_self_adjoint, is_positive_definite
        self.is_square = True if is_positive_definite or is_non_singular else is_square
        self.name = name or type(self).__name__

    # What a kind says of itself ---------------------------------------------------------------

    def _sizes(self) -> list[Size]:
        """The sizes of the matrix, numbers where they're known."""
        return dims_of(self.to_dense())

    def to_dense(self) -> Any:
        """The matrix."""
        raise NotImplementedError(f"{type(self).__name__} must say its matrix: to_dense")

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False,
               name: str = "matmul") -> Any:  # fmt: skip
        """The product with matrices, or with another operator, each of them turned if asked for."""
        if isinstance(x, LinearOperator):
            left, right = self.H if adjoint else self, x.H if adjoint_arg else x
            return LinearOperatorComposition([left, right])
        return self._product(_argument(x, adjoint_arg), adjoint)

    def _product(self, x: Any, adjoint: bool) -> Any:
        return matmul(self.to_dense(), x, adjoint_a=adjoint)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False,
              name: str = "solve") -> Any:  # fmt: skip
        """X with A X = B."""
        if self.is_non_singular is False or self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular."
            )
        return self._solution(_argument(rhs, adjoint_arg), adjoint)

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        a, b = _alike(self.to_dense(), rhs)
        return linear.PLAIN["matrix_solve"](a, b, adjoint=adjoint)

    def determinant(self, name: str = "det") -> Any:
        """The determinant."""
        return linear.PLAIN["matrix_determinant"](self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithm of the determinant's absolute value."""
        return factors.PLAIN["linalg.slogdet"](self.to_dense()).log_abs_determinant

    def diag_part(self, name: str = "diag_part") -> Any:
        """The diagonal."""
        return diag_part(self.to_dense())

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse operator."""
        return LinearOperatorInversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the lower triangle L with L L' = A."""
        return LinearOperatorLowerTriangular(
            linear.PLAIN["cholesky"](self.to_dense()), is_non_singular=True
        )

    # What follows from it ---------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The sizes, as far as they're known."""
        return TensorShape([d if isinstance(d, int) else None for d in self._sizes()])

    @property
    def batch_shape(self) -> TensorShape:
        """The sizes of the leading axes."""
        return TensorShape(self.shape.as_list()[:-2])

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """The length of vectors that it takes."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The length of vectors that it gives."""
        return self.shape[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """The sizes, as a tensor."""
        return _vector(self._sizes())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The sizes of the leading axes, as a tensor."""
        return _vector(self._sizes()[:-2])

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """The length of vectors that it takes, as a tensor."""
        return as_tensor(self._sizes()[-1], "LinearOperator")

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """The length of vectors that it gives, as a tensor."""
        return as_tensor(self._sizes()[-2], "LinearOperator")

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """The number of axes, as a tensor."""
        return as_tensor(len(self._sizes()), "LinearOperator")

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors."""
        column = K.expand_dims(as_tensor(x, "LinearOperator.matvec"), -1)
        return K.squeeze(self.matmul(column, adjoint), -1)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """x with A x = b."""
        column = K.expand_dims(as_tensor(rhs, "LinearOperator.solvevec"), -1)
        return K.squeeze(self.solve(column, adjoint), -1)

    def trace(self, name: str = "trace") -> Any:
        """The sum of the diagonal."""
        return K.sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The sum with matrices."""
        return as_tensor(x, "LinearOperator.add_to_tensor") + self.to_dense()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the turned matrix: itself, where that's the same."""
        return self if self.is_self_adjoint else LinearOperatorAdjoint(self)

    H = property(adjoint)
    __matmul__ = matmul

    def _unchecked(self, name: str = "assert") -> Any:
        """An operation that checks nothing."""
        return group()

    assert_non_singular = assert_positive_definite = assert_self_adjoint = _unchecked


def _argument(x: Any, turn: bool) -> Any:
    found = as_tensor(x, "LinearOperator")
    return turned(found) if turn else found


def _vector(sizes: Sequence[Size]) -> Any:
    if all(isinstance(d, int) for d in sizes):
        return K.constant(list(sizes), "int32")
    return K.stack([K.cast(as_tensor(d, "LinearOperator"), "int32") for d in sizes])


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two matrices, their leading axes stretched to each other's."""
    first, second = stretched_together((a, b), "LinearOperator", own=2)
    return first, second


def _lead(*shapes: Any) -> list[Size] | None:
    """The common sizes of leading axes; None where some aren't known."""
    found = broadcast_shapes("LinearOperator", *(tuple(s) for s in shapes))
    sizes: list[Size] = [n for n in found if n is not None]
    return sizes if len(sizes) == len(found) else None


def _given(x: Any) -> Any:
    return as_tensor(x, "LinearOperator")


# Kinds ------------------------------------------------------------------------------------------


class LinearOperatorFullMatrix(LinearOperator):
    """Any matrix."""

    def __init__(self, matrix: Any, *known: Any, name: str = "LinearOperatorFullMatrix",
                 **options: Any):  # fmt: skip
        self._matrix = _given(matrix)
        super().__init__(
            self._matrix.dtype, [self._matrix], **_known(known, self._matrix, options), name=name
        )

    def to_dense(self) -> Any:
        """The matrix."""
        return self._matrix


# In this order kinds take what the program knows, by position.
_KNOWN = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _known(known: Sequence[Any], matrix: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What the program knows of a matrix, and whether its sizes say that it's square."""
    found = dict(zip(_KNOWN, known, strict=False)) | options
    rows, columns = matrix.type.shape[-2:]
    if found.get("is_square") is None and None not in (rows, columns):
        found["is_square"] = rows == columns
    return found


class LinearOperatorLowerTriangular(LinearOperatorFullMatrix):
    """A lower triangle; what lies above is no part of it."""

    def __init__(self, tril: Any, *known: Any, name: str = "LinearOperatorLowerTriangular",
                 **options: Any):  # fmt: skip
        x = _given(tril)
        super().__init__(linear.band(x, -1, 0) * x, *known, name=name, **options)
        self._tril = self._matrix

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        a, b = _alike(self._matrix, rhs)
        return factors.PLAIN["matrix_triangular_solve"](a, b, lower=True, adjoint=adjoint)

    def determinant(self, name: str = "det") -> Any:
        """The product of the diagonal."""
        return K.prod(self.diag_part(), axis=-1)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The sum of logarithms over the diagonal."""
        return K.sum(K.log(K.abs(self.diag_part())), axis=-1)


class LinearOperatorDiag(LinearOperator):
    """A diagonal."""

    def __init__(
        self, diag: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ):  # fmt: skip
        self._diag = self.diag = _given(diag)
        if is_self_adjoint is False or is_square is False:
            raise ArgumentError("A real diagonal operator is always self adjoint and square.")
        super().__init__(
            self._diag.dtype, [self._diag], is_non_singular, True, is_positive_definite, True, name
        )

    def _sizes(self) -> list[Size]:
        return [*dims_of(self._diag), dims_of(self._diag)[-1]]

    def to_dense(self) -> Any:
        """The matrix."""
        size = dims_of(self._diag)[-1]
        return K.expand_dims(self._diag, -1) * unit_matrix(size, size, self.dtype)

    def _product(self, x: Any, adjoint: bool) -> Any:
        return K.expand_dims(self._diag, -1) * x

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        return rhs / K.expand_dims(self._diag, -1)

    def determinant(self, name: str = "det") -> Any:
        """The product of the diagonal."""
        return K.prod(self._diag, axis=-1)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The sum of logarithms over the diagonal."""
        return K.sum(K.log(K.abs(self._diag)), axis=-1)

    def diag_part(self, name: str = "diag_part") -> Any:
        """The diagonal."""
        return self._diag

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the numbers' inverses."""
        return LinearOperatorDiag(1.0 / self._diag, self.is_non_singular)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the numbers' roots."""
        return LinearOperatorDiag(K.sqrt(self._diag), is_non_singular=True)


class LinearOperatorScaledIdentity(LinearOperatorDiag):
    """One number along a diagonal."""

    def __init__(
        self, num_rows: Any, multiplier: Any, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = True, assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ):  # fmt: skip
        self.multiplier = _given(multiplier)
        rows: Size = num_rows if K.is_tensor(num_rows) else int(num_rows)
        whole = [*dims_of(self.multiplier), rows]
        stretched = broadcast_to(K.expand_dims(self.multiplier, -1), whole)
        super().__init__(stretched, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)  # fmt: skip


class LinearOperatorIdentity(LinearOperatorDiag):
    """The matrix that changes nothing."""

    def __init__(
        self, num_rows: Any, batch_shape: Any = None, dtype: Any = None,
        is_non_singular: bool | None = True, is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True, is_square: bool | None = True,
        assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity",
    ):  # fmt: skip
        rows: Size = num_rows if K.is_tensor(num_rows) else int(num_rows)
        lead: list[Size] = [] if batch_shape is None else dims_from(batch_shape, name)
        one = K.constant(1.0, dtype or "float32")
        super().__init__(broadcast_to(one, [*lead, rows]), is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)  # fmt: skip


class _Made(LinearOperator):
    """An operator made of others.

    Args:
        operators: these.
        known: what is known of it, where the program doesn't say it.
    """

    def __init__(self, operators: Sequence[LinearOperator], known: dict[str, Any],
                 options: dict[str, Any], name: str | None):  # fmt: skip
        self.operators = list(operators)
        told = {key: value for key, value in options.items() if value is not None}
        parents = [x for each in operators for x in each.graph_parents]
        super().__init__(operators[0].dtype, parents, **(known | told), name=name)


class LinearOperatorComposition(_Made):
    """The product of operators."""

    def __init__(self, operators: Sequence[LinearOperator], *known: Any, name: str | None = None,
                 **options: Any):  # fmt: skip
        regular = all(each.is_non_singular for each in operators) or None
        square = all(each.is_square for each in operators) or None
        given = dict(zip(_KNOWN, known, strict=False)) | options
        told = {"is_non_singular": regular, "is_square": square}
        super().__init__(operators, told, given,
                         name or "_o_".join(each.name for each in operators))  # fmt: skip

    def _sizes(self) -> list[Size]:
        lead = _lead(*(each.batch_shape.as_list() for each in self.operators))
        if lead is None:
            return super()._sizes()
        return [*lead, self.operators[0]._sizes()[-2], self.operators[-1]._sizes()[-1]]

    def to_dense(self) -> Any:
        """The product of the matrices."""
        *left, last = self.operators
        found = last.to_dense()
        for each in reversed(left):
            found = each.matmul(found)
        return found

    def _product(self, x: Any, adjoint: bool) -> Any:
        for each in self.operators if adjoint else reversed(self.operators):
            x = each.matmul(x, adjoint)
        return x

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        for each in reversed(self.operators) if adjoint else self.operators:
            rhs = each.solve(rhs, adjoint)
        return rhs

    def determinant(self, name: str = "det") -> Any:
        """The product of the determinants."""
        found, *others = (each.determinant() for each in self.operators)
        for other in others:
            found = found * other
        return found

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The sum of their logarithms."""
        found, *others = (each.log_abs_determinant() for each in self.operators)
        for other in others:
            found = found + other
        return found


class LinearOperatorAdjoint(_Made):
    """An operator's turned matrix."""

    def __init__(self, operator: LinearOperator, *known: Any, name: str | None = None,
                 **options: Any):  # fmt: skip
        told = {key: getattr(operator, key) for key in _KNOWN}
        self.operator = operator
        super().__init__([operator], told, dict(zip(_KNOWN, known, strict=False)) | options,
                         name or f"{operator.name}_adjoint")  # fmt: skip

    def _sizes(self) -> list[Size]:
        *lead, rows, columns = self.operator._sizes()
        return [*lead, columns, rows]

    def to_dense(self) -> Any:
        """The turned matrix."""
        return turned(self.operator.to_dense())

    def _product(self, x: Any, adjoint: bool) -> Any:
        return self.operator.matmul(x, not adjoint)

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        return self.operator.solve(rhs, not adjoint)

    def determinant(self, name: str = "det") -> Any:
        """The operator's."""
        return self.operator.determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The operator's."""
        return self.operator.log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator itself."""
        return self.operator

    H = property(adjoint)


class LinearOperatorInversion(_Made):
    """An operator's inverse."""

    def __init__(self, operator: LinearOperator, *known: Any, name: str | None = None,
                 **options: Any):  # fmt: skip
        told = {key: getattr(operator, key) for key in _KNOWN}
        self.operator = operator
        super().__init__([operator], told, dict(zip(_KNOWN, known, strict=False)) | options,
                         name or f"{operator.name}_inv")  # fmt: skip

    def _sizes(self) -> list[Size]:
        return self.operator._sizes()

    def to_dense(self) -> Any:
        """The inverse matrix."""
        size = self._sizes()[-1]
        return self.operator.solve(unit_matrix(size, size, self.dtype))

    def _product(self, x: Any, adjoint: bool) -> Any:
        return self.operator.solve(x, adjoint)

    def _solution(self, rhs: Any, adjoint: bool) -> Any:
        return self.operator.matmul(rhs, adjoint)

    def determinant(self, name: str = "det") -> Any:
        """1 by the operator's."""
        return 1.0 / self.operator.determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The operator's, negated."""
        return -self.operator.log_abs_determinant()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator itself."""
        return self.operator


class LinearOperatorLowRankUpdate(_Made):
    """L + U D V': an operator, and a product of few columns.

    Args:
        base_operator: L.
        u, v: U and V; V is U by default.
        diag_update: the diagonal of D; of ones by default.
    """

    def __init__(
        self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
        is_diag_update_positive: bool | None = None, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
        is_square: bool | None = None, name: str = "LinearOperatorLowRankUpdate",
    ):  # fmt: skip
        self.base_operator, self.u = base_operator, _given(u)
        self.v = self.u if v is None else _given(v)
        self.diag_update = None if diag_update is None else _given(diag_update)
        self.is_diag_update_positive = diag_update is None or is_diag_update_positive
        same = base_operator.is_self_adjoint and v is None
        positive = same and base_operator.is_positive_definite and self.is_diag_update_positive
        told = {"is_self_adjoint": same or None, "is_positive_definite": positive or None,
                "is_square": base_operator.is_square}  # fmt: skip
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__([base_operator], told, dict(zip(_KNOWN, given, strict=True)), name)

    def _sizes(self) -> list[Size]:
        parts = [x.type.shape[:-2] for x in (self.u, self.v)]
        lead = _lead(self.base_operator.batch_shape.as_list(), *parts)
        if lead is None:
            return super()._sizes()
        return [*lead, *self.base_operator._sizes()[-2:]]

    @property
    def _scaled(self) -> Any:
        """U D."""
        return self.u if self.diag_update is None else self.u * K.expand_dims(self.diag_update, -2)

    def to_dense(self) -> Any:
        """The matrix."""
        return self.base_operator.to_dense() + matmul(self._scaled, self.v, adjoint_b=True)

    def _product(self, x: Any, adjoint: bool) -> Any:
        left, right = (self.v, self._scaled) if adjoint else (self._scaled, self.v)
        return self.base_operator.matmul(x, adjoint) + matmul(
            left, matmul(right, x, adjoint_a=True)
        )


KINDS = (
    LinearOperator, LinearOperatorAdjoint, LinearOperatorComposition, LinearOperatorDiag,
    LinearOperatorFullMatrix, LinearOperatorIdentity, LinearOperatorInversion,
    LinearOperatorLowRankUpdate, LinearOperatorLowerTriangular, LinearOperatorScaledIdentity,
)  # fmt: skip
PLAIN: dict[str, Any] = {f"linalg.{kind.__name__}": kind for kind in KINDS}
NAMES: dict[str, Any] = {}
