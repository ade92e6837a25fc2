"""Lookup tables: what a session keeps by keys, on the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from ..arithmetic.hashes import WORD, combined, murmur
from ..checkpoints import reported
from ..dtypes import in_numpy, name_of
from ..failures import failure, invalid
from ..graph import Operation, shape_text
from ..resources.base import Resource
from ..variables import Store
from .keeping import kept
from .strings import number_of
from .table import host
from .values import dtype_of, texts

Array = np.ndarray
WHOLE_LINE, LINE_NUMBER = -2, -1  # what a column of a text file may stand for, too


class Table(Resource):
    """Values by keys.

    Attributes:
        entries: the values, by keys as Python has them.
        kinds: the data types of keys and values.
        shape: of each value.
        key_shape: of each key.
        is_constant: whether it gets its entries once.
        is_ready: whether it may be read: one that is constant must have got its entries.
        forbidden: keys that can't be used.
    """

    def __init__(self, operation: Operation) -> None:
        self.entries: dict[Any, Any] = {}
        self.kinds = dtype_of(operation, "key_dtype"), dtype_of(operation, "value_dtype")
        self.shape: tuple[int, ...] = tuple(operation.attribute("value_shape") or ())
        self.key_shape: tuple[int, ...] = ()
        self.is_constant = operation.type.startswith("HashTable")
        self.is_ready = not self.is_constant
        self.forbidden: tuple[Any, ...] = ()

    def keys_of(self, given: Any) -> list[Any]:
        """Keys as Python has them."""
        keys = _typed(given, self.kinds[0])
        if not self.key_shape:
            return list(keys.ravel().tolist())
        return [tuple(row) for row in keys.reshape(-1, *self.key_shape).tolist()]

    def check(self, keys: Iterable[Any]) -> None:
        """Refuse keys that can't be used."""
        found = self.forbidden and [key for key in keys if key in self.forbidden]
        if found:
            which = "empty_key" if found[0] == self.forbidden[0] else "deleted_key"
            raise invalid(f"Using the {which} as a table key is not allowed")

    def put(self, keys: Any, values: Any) -> None:
        """Set values."""
        names = self.keys_of(keys)
        self.check(names)
        rows = _typed(values, self.kinds[1]).reshape(len(names), *self.shape)
        for key, row in zip(names, rows, strict=True):
            self.entries[key] = row

    def remove(self, key: Any) -> None:
        """Take away a value."""
        self.entries.pop(key, None)

    def replace(self, keys: Any, values: Any) -> None:
        """Have these entries alone."""
        self.entries = {}
        self.put(keys, values)

    def lists(self) -> list[Array]:
        """All keys, and all values."""
        count = len(self.entries)
        keys = np.empty((count, *self.key_shape), in_numpy(self.kinds[0]))
        values = np.empty((count, *self.shape), in_numpy(self.kinds[1]))
        for at, (key, value) in enumerate(self.entries.items()):
            keys[at], values[at] = key, value
        return [keys, values]


class DenseTable(Table):
    """A table that tells its keys as they lie in buckets, where hashes put them.

    Attributes:
        buckets: a key each; the empty key where there's none, the deleted key where one was.
        places: by key, which bucket it's in.
        load: which part of the buckets may be taken.
    """

    def __init__(self, operation: Operation, empty: Any, deleted: Sequence[Any]) -> None:
        super().__init__(operation)
        self.key_shape = np.shape(empty)
        self.forbidden = tuple(key for each in (empty, *deleted) for key in self.keys_of(each))
        buckets = operation.attribute("initial_num_buckets")
        if len(set(self.forbidden)) < len(self.forbidden):
            raise invalid("Empty and deleted keys cannot be equal")
        if buckets < 4 or buckets & (buckets - 1):
            message = f"must be at least 4 and a power of 2, got: {buckets}"
            raise invalid(f"Number of buckets {message}")
        self.load = operation.attribute("max_load_factor")
        self._lay(buckets, ())

    def _lay(self, buckets: int, keys: Iterable[Any]) -> None:
        """Put keys into so many buckets."""
        self.buckets: list[Any] = [self.forbidden[0]] * buckets
        self.places: dict[Any, int] = {}
        for key in keys:
            self._place(key)

    def _place(self, key: Any) -> None:
        mask, begun = len(self.buckets) - 1, hash_of(key)
        probed = (begun + turn * (turn + 1) // 2 & mask for turn in range(len(self.buckets)))
        at = next((each for each in probed if self.buckets[each] in self.forbidden), None)
        if at is None:
            raise failure("INTERNAL", "Internal error in MutableDenseHashTable insert")
        self.buckets[at], self.places[key] = key, at

    def put(self, keys: Any, values: Any) -> None:
        """Set values."""
        super().put(keys, values)
        names, buckets = self.keys_of(keys), len(self.buckets) or 1
        while len(self.places) + len(names) > buckets * self.load:
            buckets *= 2
        if buckets > len(self.buckets):
            self._lay(buckets, [key for key in self.buckets if key not in self.forbidden])
        for key in names:
            if key not in self.places:
                self._place(key)

    def remove(self, key: Any) -> None:
        """Take away a value."""
        super().remove(key)
        if key in self.places:
            self.buckets[self.places.pop(key)] = self.forbidden[-1]

    def replace(self, keys: Any, values: Any) -> None:
        """Have other buckets."""
        self.buckets, rows = self.keys_of(keys), _typed(values, self.kinds[1])
        taken = {at: key for at, key in enumerate(self.buckets) if key not in self.forbidden}
        self.places = {key: at for at, key in taken.items()}
        self.entries = {key: rows[at].reshape(self.shape)[()] for at, key in taken.items()}

    def lists(self) -> list[Array]:
        """The key and the value in each bucket, as rows; zeros where there's no value."""
        count = len(self.buckets)
        keys = _typed(self.buckets, self.kinds[0]).reshape(count, -1)
        values = np.zeros((count, *self.shape), in_numpy(self.kinds[1]))
        for key, at in self.places.items():
            values[at] = self.entries[key]
        return [keys, values.reshape(count, -1)]


def hash_of(key: Any) -> int:
    """What says in which bucket a key is looked for first.

    >>> hash_of(7), hash_of((1, 2)) % 8
    (7, 3)
    """
    if isinstance(key, bytes):
        return murmur(key)
    return reduce(combined, map(hash_of, key), 0) if isinstance(key, tuple) else key & WORD


def _typed(value: Any, kind: str) -> Array:
    return texts(value) if kind == "string" else np.asarray(value, in_numpy(kind))


# Making -----------------------------------------------------------------------------------------


@host(
    "HashTable HashTableV2 MutableHashTable MutableHashTableV2 MutableHashTableOfTensors"
    " MutableHashTableOfTensorsV2"
)
def _table(store: Store, operation: Operation) -> Table:
    """The session's table of an operation."""
    return _checked(operation, kept(store, operation, "table", lambda: Table(operation)))


def _checked(operation: Operation, found: Table) -> Table:
    kinds = dtype_of(operation, "key_dtype"), dtype_of(operation, "value_dtype")
    if found.kinds != kinds:
        raise invalid(f"Conflicting key/value dtypes {kinds} with {found.kinds}")
    return found


@host("MutableDenseHashTable MutableDenseHashTableV2")
def _dense_table(store: Store, operation: Operation, empty: Any, *deleted: Any) -> Table:
    made = kept(store, operation, "table", lambda: DenseTable(operation, empty, deleted))
    return _checked(operation, made)


@host("InitializeTable InitializeTableV2")
def _initialize(table: Table, keys: Any, values: Any) -> None:
    names, rows = table.keys_of(keys), _typed(values, table.kinds[1]).ravel()
    if len(names) != len(rows):
        raise invalid("Keys and values must have the same size")
    if not names:
        raise invalid("keys and values cannot be empty tensors.")
    _begin(table, zip(names, rows, strict=True))


def _begin(table: Table, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Give a table that never changes its entries: once, or the same ones again."""
    entries: dict[Any, Any] = {}
    for key, row in pairs:
        if entries.setdefault(key, row) != row:
            message = f"HashTable has different value for same key. Key {key!r}"
            raise failure("FAILED_PRECONDITION", message)
    if table.is_ready and table.entries != entries:
        raise failure("FAILED_PRECONDITION", "Table already initialized.")
    table.entries, table.is_ready = entries, True


@host("InitializeTableFromTextFile InitializeTableFromTextFileV2")
def _initialize_from_file(
    operation: Operation, table: Table, path: str, *, vocab_size: int
) -> None:
    if table.is_ready:
        return  # the same file, as far as anybody looks
    size = vocab_size if vocab_size >= 0 else None
    kinds, lines = table.kinds, list(islice(lines_of(path), size))
    if vocab_size > len(lines):
        raise invalid(f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}")
    _begin(table, (
        (_parsed(_column(operation, "key", number, line, path), kinds[0]),
         _parsed(_column(operation, "value", number, line, path), kinds[1]))
        for number, line in enumerate(lines)
    ))  # fmt: skip


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file of a vocabulary."""
    with reported(path), open(path, "rb") as file:
        for line in file:
            yield line.rstrip(b"\r\n")


def _column(operation: Operation, part: str, number: int, line: bytes, path: str) -> Any:
    """What of a line is the key, or the value: its number, all of it, or a column."""
    at = operation.attribute(f"{part}_index")
    if at == LINE_NUMBER:
        return number
    if at == WHOLE_LINE:
        return line
    columns = line.split(operation.attribute("delimiter"))
    if at >= len(columns):
        most = max(operation.attribute(f"{each}_index") for each in ("key", "value"))
        about = f"Invalid number of columns in {path} line {number} ({line.decode()})"
        raise invalid(f"{about} : expected {most} got {len(columns)}")
    return columns[at]


def _parsed(value: Any, kind: str) -> Any:
    if kind == "string" or not isinstance(value, bytes):
        return value
    return np.dtype(kind).type(number_of(value, np.dtype(kind))).item()


# Reading and changing ---------------------------------------------------------------------------


@host("LookupTableFind LookupTableFindV2")
def _find(table: Table, keys: Any, default: Any) -> Array:
    if not table.is_ready:
        raise failure("FAILED_PRECONDITION", "Table not initialized.")
    names, other = table.keys_of(keys), _typed(default, table.kinds[1])
    table.check(names)
    if other.shape not in {(), table.shape}:
        raise invalid(f"Expected shape {table.shape} for default value, got {other.shape}")
    found = np.empty((len(names), *table.shape), in_numpy(table.kinds[1]))
    if names:
        otherwise = other[()]
        found[:] = [table.entries.get(key, otherwise) for key in names]
    outer = np.shape(keys)[: np.ndim(keys) - len(table.key_shape)]
    return found.reshape((*outer, *table.shape))[()]


@host("LookupTableInsert LookupTableInsertV2")
def _insert(table: Table, keys: Any, values: Any) -> None:
    outer = np.shape(keys)[: np.ndim(keys) - len(table.key_shape)]
    shape = () if isinstance(values, Resource) else np.shape(values)
    if shape != (*outer, *table.shape):
        wanted = shape_text((*outer, *table.shape))
        raise invalid(f"Expected shape {wanted} for value, got {shape_text(shape)}")
    table.put(keys, values)


@host("LookupTableImport LookupTableImportV2")
def _import(table: Table, keys: Any, values: Any) -> None:
    if table.is_constant:
        _initialize(table, keys, values)
    else:
        table.replace(keys, values)


@host("LookupTableRemoveV2")
def _remove(table: Table, keys: Any) -> None:
    names = table.keys_of(keys)
    table.check(names)
    for key in names:
        table.remove(key)


@host("LookupTableExport LookupTableExportV2")
def _export(operation: Operation, table: Table) -> list[Array]:
    kinds = tuple(name_of(number) for number in operation.types)
    if kinds != table.kinds:
        raise invalid(f"Conflicting key/value dtypes {kinds} with {table.kinds}")
    return table.lists()


host("LookupTableSize LookupTableSizeV2")(lambda table: np.int64(len(table.entries)))
