"""Examples: messages with named features, of which tensors are made."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import sparse as A
from ..dtypes import NUMBERS, in_numpy, name_of, shown
from ..failures import invalid
from ..graph import Operation, Shape, shape_text
from .sequences import of_batch, of_rows
from .strings import each
from .table import fold
from .values import Texts, plain, text

Array = np.ndarray
FIELDS = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}


def message_of(kind: str, data: Any) -> Any:
    """An example, or a sequence of them, as a message."""
    module: Any = importlib.import_module("tensorflow_core.core.example.example_pb2")
    made = getattr(module, kind)()
    try:
        made.ParseFromString(data)
    except Exception:  # protobuf's own classes depend on its version
        raise invalid(f"Could not parse example input, value: '{text(data)}'") from None
    return made


# What is said of a feature that isn't as it's asked for: of one of several examples; of one that
# is alone; of a sequence; of a step of a sequence.
_AT = "Name: {name}, Key: {key}, Index: {at}.  "
_COUNT = "Number of {kind} values != expected.  %s size: {size} but output shape: {shape}"
_TYPES = "Data types don't match. Data type: {found} but expected type: {kind}"
_SPARSE = "Data types don't match. Expected type: {kind}, Actual type: {found}"
_MISSING = "Feature: {key} (data type: {kind}) is required but could not be found."
WORDS = {
    "ParseExample": {
        "type": _AT + _TYPES,
        "sparse": _AT + _SPARSE,
        "missing": f"Name: {{name}}, {_MISSING}",
        "count": _AT + _COUNT % "Values",
        "stride": f"{_AT}Number of {{kind}} values is not a multiple of stride length. Saw {{size}}"
        " values but output shape is: {shape}",
    },
    "ParseSingleExample": {
        "type": f"Key: {{key}}.  {_TYPES}",
        "sparse": f"Key: {{key}}.  {_SPARSE}",
        "missing": _MISSING,
        **dict.fromkeys(("count", "stride"), "Key: {key}.  Can't parse serialized Example."),
    },
    "ParseSequenceExample": {
        "type": f"Key: {{key}}.  {_TYPES}",
        "sparse": f"Key: {{key}}.  {_SPARSE}",
        "missing": "Name: {name}, Context feature '{key}' is required but could not be found.",
        **dict.fromkeys(("count", "stride"), _AT + _COUNT % "values"),
        "list": "Name: {name}, Feature list '{key}' is required but could not be found.  Did you"
        " mean to include it in feature_list_dense_missing_assumed_empty or"
        " feature_list_dense_defaults?",
    },
}


class UnfitError(Exception):
    """A feature isn't as it's asked for: how, and what is told of it."""

    def __init__(self, how: str, **values: Any) -> None:
        super().__init__(how, values)


@dataclass
class Feature:
    """A feature that is asked for.

    Attributes:
        key: its name.
        kind: the data type of its values.
        shape: of them, if it's dense; its first size may be unknown.
        default: what stands for it where it's missing.
    """

    key: str
    kind: str
    shape: Shape = None
    default: Any = None

    @property
    def numpy(self) -> str:
        """The data type, as NumPy has it."""
        return in_numpy(self.kind)

    def values(self, features: Any) -> list[Any] | None:
        """The values that are there; None, if it's missing."""
        if self.key not in features:
            return None
        feature = features[self.key]
        field = feature.WhichOneof("kind")
        if field is None:
            return None
        if FIELDS[field] != self.kind:
            how = "sparse" if self.shape is None else "type"
            raise UnfitError(how, found=shown(NUMBERS[FIELDS[field]]))
        return list(getattr(feature, field).value)

    def array(self, values: Sequence[Any], shape: Sequence[int]) -> Array:
        """Values as an array."""
        found = np.empty(len(values), self.numpy)
        found[:] = values
        return found.reshape(shape)

    def dense(self, features: Any) -> Array:
        """The array of an example, or what stands for it."""
        values, shape = self.values(features), self.shape or ()
        is_open = bool(shape) and shape[0] < 0
        if values is None and is_open:
            return self.array([], (0, *shape[1:]))
        if values is None:
            default = plain(self.default)
            if not default.size:
                raise UnfitError("missing")
            return default.reshape(shape)
        size = math.prod(shape[1:] if is_open else shape)
        if len(values) % max(size, 1) if is_open else len(values) != size:
            how = "stride" if is_open else "count"
            raise UnfitError(how, size=len(values), shape=shape_text(shape))
        return self.array(values, (-1, *shape[1:]) if is_open else shape)

    def batch(self, arrays: list[Array]) -> Array:
        """The arrays of examples as one; rows that are too short get the default."""
        shape = self.shape or ()
        if not shape or shape[0] >= 0:
            return np.stack(arrays) if arrays else np.empty((0, *shape), self.numpy)
        longest = max(map(len, arrays), default=0)
        found = np.empty((len(arrays), longest, *shape[1:]), self.numpy)
        filling = plain(self.default)
        found[...] = filling.ravel()[0] if filling.size else b"" if self.kind == "string" else 0
        for at, array in enumerate(arrays):
            found[at, : len(array)] = array
        return found

    def in_steps(self) -> Feature:
        """The feature of each of any number of steps."""
        return Feature(self.key, self.kind, (-1, *(self.shape or ())), ())


def asked(keys: Sequence[Any], kinds: Sequence[int], *more: Sequence[Any]) -> list[Feature]:
    """Features by their names, data types, and maybe shapes and defaults; attributes that hold
    nothing may be missing.
    """
    parts = (part or () for part in more)
    rows = zip(map(text, keys or ()), map(name_of, kinds or ()), *parts, strict=True)
    return [Feature(*row) for row in rows]


@dataclass
class Wanted:
    """What is asked: features of the whole, and of sequences lists of features, one a step.

    Attributes:
        sparse, dense: of the whole.
        sparse_lists, dense_lists: one for each step.
        optional: lists that count as empty where they're missing.
        words: what is said of features that aren't so.
        names: of examples, for messages; by default they have none.
    """

    words: Mapping[str, str]
    names: Sequence[str] | None
    sparse: list[Feature]
    dense: list[Feature]
    sparse_lists: Sequence[Feature] = ()
    dense_lists: Sequence[Feature] = ()
    optional: Set[str] = frozenset()

    def each(self, feature: Feature, read: Callable[[Any], Any], given: Iterable[Any]) -> list[Any]:
        """What a feature is in each of what is given."""
        found = []
        for at, one in enumerate(given):
            try:
                found.append(read(one))
            except UnfitError as error:
                how, facts = error.args
                name = "" if self.names is None else self.names[at] if self.names else "<unknown>"
                kind = shown(NUMBERS[feature.kind])
                text = self.words[how].format(key=feature.key, kind=kind, at=at, name=name, **facts)
                raise invalid(text) from None
        return found

    def steps(self, feature: Feature, message: Any) -> list[Any]:
        """The features of a list, step by step."""
        lists = message.feature_lists.feature_list
        if feature.key not in lists:
            is_dense = any(feature is each for each in self.dense_lists)
            if is_dense and feature.key not in self.optional:
                raise UnfitError("list")
            return []
        return [{feature.key: step} for step in lists[feature.key].feature]

    def rows(self, feature: Feature, message: Any) -> Array:
        """The arrays of a list's steps, in one."""
        shape = feature.shape or ()

        def row(step: Any) -> Array:
            values = feature.values(step) or []
            if len(values) != math.prod(shape):
                raise UnfitError("count", size=len(values), shape=shape_text(shape))
            return feature.array(values, shape)

        [steps] = self.each(feature, lambda each: self.steps(feature, each), [message])
        found = self.each(feature, row, steps)
        return np.stack(found) if found else np.empty((0, *shape), feature.numpy)

    def lists(self, feature: Feature, messages: Sequence[Any]) -> A.Sparse:
        """The sparse tensor of messages, steps and values."""
        rows, longest = [], 0
        for at, message in enumerate(messages):
            steps = self.each(feature, feature.values, self.steps(feature, message))
            longest = max(longest, len(steps))
            rows += [((at, step), values or []) for step, values in enumerate(steps)]
        return of_rows(rows, (len(messages), longest), feature.numpy)

    def parsed(self, messages: Sequence[Any], alone: bool = False) -> list[Array]:
        """What operations give of messages; of one that is alone, without the batch's axis."""
        contexts = [_context(each) for each in messages]
        found = [(f, self.each(f, f.values, contexts)) for f in self.sparse]
        sparse = [of_batch([x or [] for x in values], f.numpy) for f, values in found]
        lists = [self.lists(each, messages) for each in self.sparse_lists]
        dense = [f.batch(self.each(f, f.dense, contexts)) for f in self.dense]
        rows = [[self.rows(each, x) for x in messages] for each in self.dense_lists]
        if alone:
            firsts = [_by_parts([_first(each) for each in part]) for part in (sparse, lists)]
            return [*firsts[0], *(x[0, ...] for x in dense), *firsts[1], *(x[0] for x in rows)]
        return [
            *_by_parts(sparse),
            *dense,
            *_by_parts(lists),
            *(f.in_steps().batch(arrays) for f, arrays in zip(self.dense_lists, rows, strict=True)),
            *(np.array([len(array) for array in arrays], np.int64) for arrays in rows),
        ]


def _context(message: Any) -> Any:
    """The features of a whole."""
    found = message.context if hasattr(message, "context") else message.features
    return found.feature


def _first(x: A.Sparse) -> A.Sparse:
    """The one row of a sparse tensor."""
    return A.Sparse(x.indices[:, 1:], x.values, x.shape[1:])


def _by_parts(found: Sequence[A.Sparse]) -> list[Array]:
    """First all indices, then all values, then all shapes."""
    return [part for parts in zip(*found, strict=True) for part in parts]


# Examples ---------------------------------------------------------------------------------------


@fold("ParseExample")
def _batch(
    given: Texts, names: Any, *values: Any, Nsparse: int, Ndense: int, sparse_types: list[int],
    Tdense: list[int], dense_shapes: list[Any],
) -> list[Array]:  # fmt: skip
    dense, defaults = values[Nsparse : Nsparse + Ndense], values[Nsparse + Ndense :]
    wanted = Wanted(
        WORDS["ParseExample"], [text(name) for name in np.ravel(names)],
        asked(values[:Nsparse], sparse_types), asked(dense, Tdense, dense_shapes, defaults),
    )  # fmt: skip
    return wanted.parsed([message_of("Example", data) for data in given])


@fold("ParseSingleExample")
def _one(
    given: Texts, *defaults: Any, sparse_keys: list[bytes], sparse_types: list[int],
    dense_keys: list[bytes], Tdense: list[int], dense_shapes: list[Any],
) -> list[Array]:  # fmt: skip
    sparse, dense = asked(sparse_keys, sparse_types), (dense_keys, Tdense, dense_shapes, defaults)
    wanted = Wanted(WORDS["ParseSingleExample"], None, sparse, asked(*dense))
    return wanted.parsed([message_of("Example", given.item())], alone=True)


@fold("DecodeJSONExample")
def _from_json(given: Texts) -> Array:
    json_format: Any = importlib.import_module("google.protobuf.json_format")

    def serialized(data: bytes) -> Any:
        try:
            made = json_format.Parse(data, message_of("Example", b""))
        except json_format.ParseError as error:
            raise invalid(f"Error while parsing JSON: {error}") from None
        return made.SerializeToString(deterministic=True)

    return each(serialized, given)


# Sequences --------------------------------------------------------------------------------------


def _wanted(
    operation: Operation, keys: Callable[[str], Any], defaults: Any, missing: Any
) -> Wanted:
    attribute = operation.attribute
    return Wanted(
        WORDS["ParseSequenceExample"],
        None,
        asked(keys("context_sparse_keys"), attribute("context_sparse_types")),
        asked(keys("context_dense_keys"), attribute("Tcontext_dense"),
              attribute("context_dense_shapes"), defaults),
        asked(keys("feature_list_sparse_keys"), attribute("feature_list_sparse_types")),
        asked(keys("feature_list_dense_keys"), attribute("feature_list_dense_types"),
              attribute("feature_list_dense_shapes")),
        {text(key) for key in missing},
    )  # fmt: skip


@fold("ParseSingleSequenceExample")
def _one_sequence(operation: Operation, given: Texts, missing: Texts, *values: Any) -> list[Array]:
    parts, rest = {}, list(values)
    for name in ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense"):
        count = operation.attribute(f"N{name}")
        parts[f"{name}_keys"], rest = rest[:count], rest[count:]
    wanted = _wanted(operation, lambda name: parts[name], rest[:-1], missing.ravel())
    return wanted.parsed([message_of("SequenceExample", given.item())], alone=True)


@fold("ParseSequenceExample")
def _sequences(operation: Operation, given: Texts, names: Any, *defaults: Any) -> list[Array]:
    missing = operation.attribute("feature_list_dense_missing_assumed_empty") or []
    wanted = _wanted(operation, operation.attribute, defaults, missing)
    return wanted.parsed([message_of("SequenceExample", data) for data in given])
