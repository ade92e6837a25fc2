"""Examples: messages with named features, of which tensors are made."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import name_of
from .files import text
from .sequences import of_rows
from .sparse import invalid
from .table import fold
from .values import texts

if TYPE_CHECKING:
    from ..graph import Operation, Shape

Array = np.ndarray
FIELDS = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}


def _message(kind: str, data: Any) -> Any:
    module: Any = importlib.import_module("tensorflow_core.core.example.example_pb2")
    made = getattr(module, kind)()
    try:
        made.ParseFromString(data)
    except Exception:  # protobuf's own classes depend on its version
        raise invalid(f"Could not parse example input, value: '{text(data)}'") from None
    return made


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
        return "object" if self.kind == "string" else self.kind

    def values(self, features: Any) -> list[Any] | None:
        """The values that are there; None, if it's missing."""
        if self.key not in features:
            return None
        feature = features[self.key]
        field = feature.WhichOneof("kind")
        if field is None:
            return None
        if FIELDS[field] != self.kind:
            told = f"Expected type: {self.kind}, but input type is {FIELDS[field]}"
            raise invalid(f"Key: {self.key}.  Data types don't match. {told}")
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
            default = _array(self.default)
            if not default.size and np.prod(shape):
                told = f"Feature: {self.key} (data type: {self.kind}) is required"
                raise invalid(f"{told} but could not be found.")
            return default.reshape(shape)
        size = int(np.prod(shape[1:] if is_open else shape))
        if len(values) % max(size, 1) if is_open else len(values) != size:
            told = f"Number of {self.kind} values != expected.  values size: {len(values)}"
            raise invalid(f"Key: {self.key}.  {told} but output shape: {list(shape)}")
        return self.array(values, (-1, *shape[1:]) if is_open else shape)

    def batch(self, arrays: list[Array]) -> Array:
        """The arrays of examples as one; rows that are too short get the default."""
        shape = self.shape or ()
        if not shape or shape[0] >= 0:
            return np.stack(arrays) if arrays else np.empty((0, *shape), self.numpy)
        longest = max(map(len, arrays), default=0)
        found = np.empty((len(arrays), longest, *shape[1:]), self.numpy)
        filling = _array(self.default)
        found[...] = filling.ravel()[0] if filling.size else b"" if self.kind == "string" else 0
        for at, array in enumerate(arrays):
            found[at, : len(array)] = array
        return found

    def sparse(self, examples: Sequence[Any]) -> list[Array]:
        """The parts of the sparse tensor of several examples."""
        rows = [((at,), self.values(each) or []) for at, each in enumerate(examples)]
        return of_rows(rows, (len(rows),), self.numpy).parts()


def _array(value: Any) -> Array:
    return texts(value) if np.asarray(value).dtype.kind in "OSU" else np.asarray(value)


def _asked(keys: Sequence[Any], kinds: Sequence[int], *more: Sequence[Any]) -> list[Feature]:
    names = [text(key) for key in keys]
    rows = zip(names, map(name_of, kinds), *more, strict=True)
    return [Feature(*row) for row in rows]


def _by_parts(found: Sequence[list[Array]]) -> list[Array]:
    """First all indices, then all values, then all shapes."""
    return [part for parts in zip(*found, strict=True) for part in parts]


# Examples ---------------------------------------------------------------------------------------


@fold("ParseExample")
def _batch(operation: Operation, given: Any, names: Any, *values: Any) -> list[Array]:
    many, few = operation.attribute("Nsparse"), operation.attribute("Ndense")
    kinds = operation.attribute("sparse_types") or []
    sparse = _asked(values[:many], kinds)
    shapes = operation.attribute("dense_shapes") or []
    dense_kinds, defaults = operation.attribute("Tdense") or [], values[many + few :]
    dense = _asked(values[many : many + few], dense_kinds, shapes, defaults)
    examples = [_message("Example", data).features.feature for data in texts(given)]
    found = [feature.sparse(examples) for feature in sparse]
    rows = [feature.batch([feature.dense(each) for each in examples]) for feature in dense]
    return [*_by_parts(found), *rows]


def _alone(feature: Feature, features: Any) -> list[Array]:
    """The parts of the sparse vector of one example."""
    values = feature.values(features) or []
    places = np.arange(len(values)).reshape(-1, 1)
    return [places, feature.array(values, (-1,)), np.array([len(values)])]


@fold("ParseSingleExample")
def _one(operation: Operation, given: Any, *defaults: Any) -> list[Array]:
    read = operation.attribute
    sparse = _asked(read("sparse_keys") or [], read("sparse_types") or [])
    kinds, shapes = read("Tdense") or [], read("dense_shapes") or []
    dense = _asked(read("dense_keys") or [], kinds, shapes, defaults)
    features = _message("Example", texts(given).item()).features.feature
    found = [_alone(feature, features) for feature in sparse]
    return [*_by_parts(found), *[feature.dense(features) for feature in dense]]


@fold("DecodeJSONExample")
def _from_json(operation: Operation, given: Any) -> Array:
    json_format: Any = importlib.import_module("google.protobuf.json_format")
    found = np.empty(np.shape(given), object)
    for at, data in np.ndenumerate(texts(given)):
        try:
            made = json_format.Parse(data, _message("Example", b""))
        except json_format.ParseError as error:
            raise invalid(f"Error while parsing JSON: {error}") from None
        found[at] = made.SerializeToString(deterministic=True)
    return found


# Sequences --------------------------------------------------------------------------------------


@dataclass
class Wanted:
    """What is asked of sequences: features of the whole, and lists of features, one a step.

    Attributes:
        sparse, dense: of the whole.
        sparse_lists, dense_lists: one for each step.
        optional: lists that count as empty where they're missing.
    """

    sparse: list[Feature]
    dense: list[Feature]
    sparse_lists: list[Feature]
    dense_lists: list[Feature]
    optional: set[str]

    def steps(self, feature: Feature, message: Any) -> list[Any]:
        """The features of a list, step by step."""
        lists = message.feature_lists.feature_list
        if feature.key not in lists:
            is_dense = any(feature is each for each in self.dense_lists)
            if is_dense and feature.key not in self.optional:
                raise invalid(
                    f"Name: <unknown>, Feature list '{feature.key}' is required but could not be"
                    " found.  Did you mean to include it in"
                    " feature_list_dense_missing_assumed_empty or"
                    " feature_list_dense_defaults?"
                )
            return []
        return [{feature.key: step} for step in lists[feature.key].feature]

    def rows(self, feature: Feature, message: Any) -> Array:
        """The arrays of a list's steps, in one."""
        shape = feature.shape or ()
        found = []
        for at, step in enumerate(self.steps(feature, message)):
            values = feature.values(step)
            if values is None or len(values) != np.prod(shape):
                told = f"Key: {feature.key}, Index: {at}.  Number of values != expected"
                raise invalid(f"{told}: output shape: {list(shape)}")
            found.append(feature.array(values, shape))
        return np.stack(found) if found else np.empty((0, *shape), feature.numpy)


def _wanted(
    operation: Operation, keys: Callable[[str], Any], defaults: Any, missing: Any
) -> Wanted:
    read = operation.attribute

    def kinds(name: str) -> Any:
        return read(name) or []

    return Wanted(
        _asked(keys("context_sparse_keys"), kinds("context_sparse_types")),
        _asked(keys("context_dense_keys"), kinds("Tcontext_dense"),
               kinds("context_dense_shapes"), defaults),
        _asked(keys("feature_list_sparse_keys"), kinds("feature_list_sparse_types")),
        _asked(keys("feature_list_dense_keys"), kinds("feature_list_dense_types"),
               kinds("feature_list_dense_shapes")),
        {text(key) for key in missing},
    )  # fmt: skip


@fold("ParseSingleSequenceExample")
def _one_sequence(operation: Operation, given: Any, missing: Any, *values: Any) -> list[Array]:
    parts, rest = {}, list(values)
    for name in ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense"):
        count = operation.attribute(f"N{name}")
        parts[f"{name}_keys"], rest = rest[:count], rest[count:]
    wanted = _wanted(operation, lambda name: parts[name], rest[:-1], np.ravel(texts(missing)))
    message = _message("SequenceExample", texts(given).item())
    features = message.context.feature
    lists = []
    for feature in wanted.sparse_lists:
        lists.append(feature.sparse(wanted.steps(feature, message)))
    return [
        *_by_parts([_alone(feature, features) for feature in wanted.sparse]),
        *[feature.dense(features) for feature in wanted.dense],
        *_by_parts(lists),
        *[wanted.rows(feature, message) for feature in wanted.dense_lists],
    ]


@fold("ParseSequenceExample")
def _sequences(operation: Operation, given: Any, names: Any, *defaults: Any) -> list[Array]:
    missing = operation.attribute("feature_list_dense_missing_assumed_empty") or []
    wanted = _wanted(operation, lambda name: operation.attribute(name) or [], defaults, missing)
    examples = [_message("SequenceExample", data) for data in texts(given)]
    contexts = [message.context.feature for message in examples]
    lists = [_lists(wanted, feature, examples) for feature in wanted.sparse_lists]
    rows = [[wanted.rows(f, message) for message in examples] for f in wanted.dense_lists]
    return [
        *_by_parts([feature.sparse(contexts) for feature in wanted.sparse]),
        *[f.batch([f.dense(each) for each in contexts]) for f in wanted.dense],
        *_by_parts(lists),
        *[_padded(f, arrays) for f, arrays in zip(wanted.dense_lists, rows, strict=True)],
        *[np.array([len(array) for array in arrays], np.int64) for arrays in rows],
    ]


def _lists(wanted: Wanted, feature: Feature, examples: list[Any]) -> list[Array]:
    """The sparse tensor of examples, steps and values."""
    rows, longest = [], 0
    for at, message in enumerate(examples):
        steps = wanted.steps(feature, message)
        longest = max(longest, len(steps))
        rows += [((at, step), feature.values(each) or []) for step, each in enumerate(steps)]
    return of_rows(rows, (len(examples), longest), feature.numpy).parts()


def _padded(feature: Feature, arrays: list[Array]) -> Array:
    longest, shape = max(map(len, arrays), default=0), feature.shape or ()
    found = np.empty((len(arrays), longest, *shape), feature.numpy)
    found[...] = b"" if feature.kind == "string" else 0
    for at, array in enumerate(arrays):
        found[at, : len(array)] = array
    return found
