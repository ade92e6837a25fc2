"""Shapes of strings, and of what is read from them: examples, columns, raw numbers, tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import name_of
from ..graph import Operation, Shape
from .elementwise import reduced
from .known import value_at
from .notation import table
from .rules import UNKNOWN, ShapeMismatchError, broadcast, merged, product, shape_of, with_rank

table(
    """
    StringLower StringUpper StringStrip StringLength StringToNumber AsString StringToHashBucket
        StringToHashBucketFast StringToHashBucketStrong StaticRegexReplace StaticRegexFullMatch
        EncodeBase64 DecodeBase64 UnicodeTranscode
        UnicodeScript : x -> x
    RegexFullMatch : x () -> x
    RegexReplace : x () () -> x
    Fingerprint : (n,*s) () -> (n,8)
    StringSplit StringSplitV2 : (?) () -> (?,2) (?) (2)
    StringNGrams : ? (n) -> (?) (n)
    UnicodeEncode : (?) (n) -> (n-1)
    """
)


@shape_of("StringFormat")
def _format(operation: Operation, given: list[Shape]) -> Shape:
    places = operation.attribute("template").count(operation.attribute("placeholder"))
    if places != len(given):
        about = "num placeholders in template and num inputs must match"
        raise ShapeMismatchError(f"{about}: {places} vs. {len(given)}")
    return ()


@shape_of("Substr")
def _part(operation: Operation, given: list[Shape]) -> Shape:
    merged(given[1], given[2])
    return broadcast(given[0], given[1])


@shape_of("ReduceJoin")
def _reduce(operation: Operation, given: list[Shape]) -> Shape:
    """Over no axes nothing is joined."""
    axes = value_at(operation, 1)
    if axes is not None and not axes.size:
        return given[0]
    return reduced(given[0], axes, operation.attribute("keep_dims"))


@shape_of("UnicodeDecode UnicodeDecodeWithOffsets")
def _decode(operation: Operation, given: list[Shape]) -> list[Shape]:
    is_known = given[0] is not None and UNKNOWN not in given[0]
    count = product(given[0] or ()) + 1 if is_known else UNKNOWN
    found: list[Shape] = [(count,), (UNKNOWN,), (UNKNOWN,)]
    return found[: len(operation.types)]


# What is read from them ---------------------------------------------------------------------------


table(
    """
    DecodeCompressed DecodeJSONExample : x -> x
    DecodeRaw : (*s) -> (*s,?)
    SerializeTensor AddSparseToTensorsMap : -> ()
    SerializeSparse : (?,?) (?) (?) -> (3)
    SerializeManySparse : (?,?) (?) (?) -> (?,3)
    AddManySparseToTensorsMap : -> (?)
    DeserializeManySparse : (?,3) -> (?,?) (?) (?)
    DeserializeSparse : (*b,3) -> (?,?) (?) (?)
    TakeManySparseFromTensorsMap : -> (?,?) (?) (?)
    SparseCross SparseFeatureCross SparseFeatureCrossV2 : -> (?,2) (?) (2)
    """
)


def _sparse(count: int, rank: int) -> list[Shape]:
    """First all indices, then all values, then all shapes."""
    return [*[(UNKNOWN, rank)] * count, *[(UNKNOWN,)] * count, *[(rank,)] * count]


def _listed(operation: Operation, name: str) -> list[Any]:
    return list(operation.attribute(name) or [])


def _behind(first: tuple[int, ...], shapes: list[Any]) -> list[Shape]:
    return [None if shape is None else (*first, *shape) for shape in shapes]


@shape_of("ParseExample")
def _examples(operation: Operation, given: list[Shape]) -> list[Shape]:
    batch = with_rank(given[0], 1)
    many = operation.attribute("Nsparse")
    return [*_sparse(many, 2), *_behind(batch, _listed(operation, "dense_shapes"))]


@shape_of("ParseSingleExample")
def _example(operation: Operation, given: list[Shape]) -> list[Shape]:
    with_rank(given[0], 0)
    many = len(_listed(operation, "sparse_keys"))
    return [*_sparse(many, 1), *_behind((), _listed(operation, "dense_shapes"))]


@shape_of("ParseSingleSequenceExample")
def _sequence(operation: Operation, given: list[Shape]) -> list[Shape]:
    with_rank(given[0], 0)
    return [
        *_sparse(operation.attribute("Ncontext_sparse"), 1),
        *_behind((), _listed(operation, "context_dense_shapes")),
        *_sparse(operation.attribute("Nfeature_list_sparse"), 2),
        *_behind((UNKNOWN,), _listed(operation, "feature_list_dense_shapes")),
    ]


@shape_of("ParseSequenceExample")
def _sequences(operation: Operation, given: list[Shape]) -> list[Shape]:
    batch = with_rank(given[0], 1)
    lists = _listed(operation, "feature_list_dense_shapes")
    return [
        *_sparse(operation.attribute("Ncontext_sparse"), 2),
        *_behind(batch, _listed(operation, "context_dense_shapes")),
        *_sparse(operation.attribute("Nfeature_list_sparse"), 3),
        *_behind((*batch, UNKNOWN), lists),
        *[batch] * len(lists),
    ]


@shape_of("DecodeCSV")
def _columns(operation: Operation, given: list[Shape]) -> list[Shape]:
    for shape in given[1:]:
        if shape is not None and (len(shape) > 1 or (shape and shape[0] > 1)):
            raise ShapeMismatchError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [given[0]] * len(operation.types)


@shape_of("DecodePaddedRaw")
def _raw(operation: Operation, given: list[Shape]) -> Shape:
    if given[0] is None:
        return None
    size = value_at(operation, 1)
    if size is None:
        return (*given[0], UNKNOWN)
    width = np.dtype(name_of(operation.types[0])).itemsize
    if size <= 0 or size % width:
        raise ShapeMismatchError(f"fixed_length must be a positive multiple of {width}, not {size}")
    return (*given[0], int(size) // width)
