"""Shapes of factors, inverses and functions of matrices."""

from __future__ import annotations

from .notation import table

table(
    """
    Cholesky BatchCholesky CholeskyGrad BatchCholeskyGrad MatrixInverse BatchMatrixInverse
        MatrixExponential MatrixLogarithm MatrixSquareRoot : (*b,n,n) -> (*b,n,n)
    MatrixDeterminant BatchMatrixDeterminant : (*b,n,n) -> (*b)
    LogMatrixDeterminant : (*b,n,n) -> (*b) (*b)
    MatrixSolve BatchMatrixSolve MatrixTriangularSolve BatchMatrixTriangularSolve :
        (*b,n,n) (*b,n,k) -> (*b,n,k)
    MatrixSolveLs BatchMatrixSolveLs : (*b,m,n) (*b,m,k) () -> (*b,n,k)
    TridiagonalSolve : (*b,3,n) x:(*b,n,?) -> x
    TridiagonalMatMul : (*b,1,n) (*b,1,n) (*b,1,n) x:(*b,n,?) -> x
    SelfAdjointEig BatchSelfAdjointEig : (*b,n,n) -> (*b,n+1,n)
    SelfAdjointEigV2 BatchSelfAdjointEigV2 :
        (*b,n,n) -> (*b,n) (*b,n,n) if compute_v else (*b,n) (0)
    Lu : (*b,n,n) -> (*b,n,n) (*b,n)
    Qr : (*b,m,n) -> (*b,m,m) (*b,m,n) if full_matrices
        else (*b,m,min(m,n)) (*b,min(m,n),n)
    Svd BatchSvd : (*b,m,n) -> (*b,min(m,n)) (0) (0) if not compute_uv
        else (*b,min(m,n)) (*b,m,m) (*b,n,n) if full_matrices
        else (*b,min(m,n)) (*b,m,min(m,n)) (*b,n,min(m,n))
    Cross : x:(*b,3) x:(*b,3) -> x
    """
)
