"""Shapes of what is made of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .known import value_at
from .notation import table
from .rules import UNKNOWN, ShapeMismatchError, broadcast, merged, shape_of, unknown

if TYPE_CHECKING:
    from ..graph import Operation, Shape


table(
    """
    StringLower StringUpper StringStrip StringLength StringToNumber AsString StringToHashBucket
        StringToHashBucketFast StringToHashBucketStrong RegexReplace StaticRegexReplace
        RegexFullMatch StaticRegexFullMatch EncodeBase64 DecodeBase64 UnicodeTranscode
        UnicodeScript : x -> x
    Fingerprint : (n,*s) -> (n,8)
    StringFormat : -> ()
    StringSplit StringSplitV2 : (?) -> (?,2) (?) (2)
    StringNGrams : ? (n) -> (?) (n)
    UnicodeEncode : ? (n) -> (n-1)
    """
)


@shape_of("Substr")
def _part(operation: Operation, given: list[Shape]) -> Shape:
    merged(given[1], given[2])
    return broadcast(given[0], given[1])


@shape_of("StringJoin")
def _join(operation: Operation, given: list[Shape]) -> Shape:
    if all(shape == () for shape in given):
        return ()
    found: Shape = None
    for shape in given:
        if shape is None:
            return None
        found = merged(found, shape) if shape else found
    return found


@shape_of("ReduceJoin")
def _reduce(operation: Operation, given: list[Shape]) -> Shape:
    shape, axes, keep = given[0], value_at(operation, 1), operation.attribute("keep_dims")
    if shape is None:
        return None
    if axes is None:
        return unknown(len(shape)) if keep else None
    for axis in np.ravel(axes):
        if not -len(shape) <= axis < len(shape):
            raise ShapeMismatchError(f"Invalid reduction dimension {axis} for {len(shape)} axes")
    over = {int(axis) % max(len(shape), 1) for axis in np.ravel(axes)} or set(range(len(shape)))
    pairs = enumerate(shape)
    return tuple(1 if at in over else size for at, size in pairs if keep or at not in over)


@shape_of("UnicodeDecode UnicodeDecodeWithOffsets")
def _decode(operation: Operation, given: list[Shape]) -> list[Shape]:
    count = UNKNOWN
    if given[0] is not None and UNKNOWN not in given[0]:
        count = int(np.prod(given[0])) + 1
    found: list[Shape] = [(count,), (UNKNOWN,), (UNKNOWN,)]
    return found[: len(operation.types)]
