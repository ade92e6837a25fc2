"""Nodes that CNTK computes together, as one function of CNTK for each combination of sizes.

This module runs in the worker. A segment comes as data: a graph in the form of files. Beside it
comes a function that computes the same by NumPy, for calls in which CNTK's result can't be trusted.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import cntk as C
import numpy as np

from ...errors import KameleonError
from .._kernels.arrays import check_index, mismatch
from . import functions, windows
from .functions import Index, Stretched, UnfitError, full, shape_of

FUNCTIONS = {**functions.FUNCTIONS, **windows.FUNCTIONS}
# Functions for so many combinations of sizes are kept.
KEPT = 64
# Bytes of arrays that are copied in less time than CNTK takes to make a value of their memory; and
# of those that are worth less than their value, so that both are kept.
COPIED, KEPT_ARRAY = 2**16, 2**20
DEVICE = C.cpu()
NOTHING_KEPT: set[Any] = set()


class OddOperandsError(Exception):
    """Some nodes were given operands for which CNTK's functions aren't what they should be."""

    def __init__(self, rows: Any):
        super().__init__("operands that CNTK errs for")
        self.rows = rows  # the nodes, as rows of the graph


def borrowed(array: Any) -> Any:
    """A value of CNTK over the memory of an array."""
    return C.cntk_py.Value(C.cntk_py.NDArrayView(array, DEVICE, False, True))


class Node(NamedTuple):
    """A node, as rules see it: `known` is the shape of its first operand, with None where a size
    was unknown when the graph was built.
    """

    attrs: Any
    dtype: str
    known: Any


class Segment:
    """Computes a graph.

    Args:
        graph: its data.
        constants: the arrays that it names.
        plain: a function that gives the same by NumPy.
        tell: is told why NumPy computes it in a call, and for which nodes, if they are known.
    """

    def __init__(self, graph: Any, constants: Any, plain: Any, tell: Any):
        self.graph, self.constants, self.plain, self.tell = graph, constants, plain, tell
        self.sizes = _size_inputs(graph)
        self.made: dict[Any, Any] = {}

    def __call__(self, given: Any) -> Any:
        arrays = [np.asarray(x) for x in given]
        key = tuple([int(a) if i in self.sizes else a.shape for i, a in enumerate(arrays)])
        made = self.made.get(key)
        if made is None:
            if len(self.made) >= KEPT:
                self.made.clear()
            made = self.made[key] = self._make(key)
        if type(made) is str:
            return self._by_numpy(given, made)
        try:
            return made(arrays)
        except KameleonError:
            raise
        except OddOperandsError as error:
            return self._by_numpy(given, str(error), error.rows)
        except Exception as error:  # its kernels refuse what its shapes allowed
            made = self.made[key] = str(error).partition("\n")[0]
            return self._by_numpy(given, made)

    def _by_numpy(self, given: Any, why: str, rows: Any = ()) -> Any:
        self.tell(why, rows)
        return self.plain(*given)

    def _make(self, key: Any) -> Any:
        """The function for these sizes; or why CNTK has none."""
        if any(0 in sizes for sizes in key if type(sizes) is tuple):
            return "tensors without elements"
        try:
            return _Builder(self.graph, self.constants, key).finish()
        except KameleonError:
            raise
        except Exception as error:  # CNTK takes no tensors of so many axes, say
            return str(error).partition("\n")[0]


def _size_inputs(graph: Any) -> set[int]:
    """The inputs that are nothing but sizes."""
    count = len(graph["inputs"])
    sizes: set[int] = set()
    others: set[int] = set()
    for node in graph["nodes"]:
        first = _first_size(node)
        others.update(i for i in node["operands"][:first] if i < count)
        sizes.update(i for i in node["operands"][first:] if i < count)
    return sizes - others


def _first_size(row: Any) -> int:
    """From which operand of a node on they are sizes."""
    return len(row["operands"]) if row["first_size"] is None else row["first_size"]


def _is_double(graph: Any) -> bool:
    types = [type for node in graph["nodes"] for type in node["types"]]
    return any(dtype == "float64" for _, dtype in (*graph["inputs"], *types))


class _Builder:
    """Gives the nodes of a graph their values in CNTK."""

    def __init__(self, graph: Any, constants: Any, key: Any):
        self.graph, self.constants, self.key = graph, constants, key
        self.kind = np.float64 if _is_double(graph) else np.float32
        self.row = 0  # the node that is being given its value
        self.guards: list[tuple[int, Any]] = []  # of which node, and what must be 0
        self.zeros: list[Any] = []
        self.checks: list[tuple[int, int]] = []
        self.variables: list[Any] = []
        self.values: list[Any] = []
        self.types = [*graph["inputs"], *(row["types"][0] for row in graph["nodes"])]
        for i, (_, dtype) in enumerate(graph["inputs"]):
            self.values.append(self._input(i, dtype))

    def _input(self, i: int, dtype: str) -> Any:
        if type(self.key[i]) is int:
            self.variables.append(None)
            return self.key[i]
        variable = C.input_variable(self.key[i], dtype=self.kind, dynamic_axes=[])
        self.variables.append(variable)
        return variable if dtype in ("float32", "float64", "bool") else Index(i, variable)

    # What rules ask for ---------------------------------------------------------------------------

    def guard(self, condition: Any) -> None:
        """Let NumPy compute the segment, wherever the condition isn't 0."""
        self.guards.append((self.row, _total(condition)))

    def guard_nan(self, x: Any) -> None:
        """Let NumPy compute the segment, wherever a value is NaN: then the sum is, too."""
        total = _total(x)
        self.guards.append((self.row, C.not_equal(total, total)))

    def is_zero(self, x: Any) -> bool:
        """Whether a value is a constant 0."""
        return any(x is zero for zero in self.zeros)

    def check_index(self, index: Any, size: int) -> None:
        """Let indices out of range be an error."""
        self.checks.append((index.number, size))

    def same(self, *sizes: Any) -> None:
        """Let it be an error if sizes differ."""
        if any(list(s) != list(sizes[0]) for s in sizes):
            mismatch(*sizes)

    mismatch = staticmethod(mismatch)

    # The walk -------------------------------------------------------------------------------------

    def finish(self) -> Any:
        """The function of arrays."""
        for i, row in enumerate(self.graph["nodes"]):
            self.row = i
            self.values.append(self._value(row))
        outputs = [full(self.values[i]) for i in self.graph["outputs"]]
        bools = [self.types[i][1] == "bool" for i in self.graph["outputs"]]
        return _Function(self, outputs, bools)

    def _value(self, row: Any) -> Any:
        name, attrs = row["primitive"], self._attrs(row["attrs"])
        if name == "constant":
            return self._constant(attrs["value"])
        operands = [self.values[i] for i in row["operands"]]
        if name == "item":
            return operands[0][attrs["index"]]
        first = _first_size(row)
        operands[first:] = [_size(x) for x in operands[first:]]
        if name in functions.ELEMENTWISE:
            operands = self._stretched(operands)
        elif name != "broadcast_to":
            operands = [x if type(x) is int else full(x) for x in operands]
        known = self.types[row["operands"][0]][0] if operands else ()
        found = FUNCTIONS[name](self, Node(attrs, row["types"][0][1], known), *operands)
        if type(found) is not tuple and 0 in found.shape:
            raise UnfitError("a tensor without elements")
        return found

    def _constant(self, array: Any) -> Any:
        if array.dtype.kind in "iu":
            if array.ndim == 0:
                return int(array)
            raise UnfitError("integers")
        if array.size == 0:
            raise UnfitError("a tensor without elements")
        found = C.constant(array.astype(self.kind) if array.dtype == bool else array)
        if not array.any():
            self.zeros.append(found)
        return found

    def _stretched(self, operands: list[Any]) -> list[Any]:
        """The operands of an elementwise node without broadcasts that CNTK does by itself."""
        self.same(*map(shape_of, operands))
        bases = [x.base if isinstance(x, Stretched) else x for x in operands]
        if _joined(map(shape_of, bases)) != shape_of(operands[0]):
            bases[0] = full(operands[0])
        return bases

    def _attrs(self, attrs: Any) -> dict[str, Any]:
        return {name: self._attr(value) for name, value in attrs.items()}

    def _attr(self, data: Any) -> Any:
        if type(data) is not dict:
            return data
        ((tag, value),) = [(k, v) for k, v in data.items() if k != "record"]
        if tag in ("tuple", "items"):
            return tuple(map(self._attr, value))
        if tag == "array":
            return self.constants[value]
        return float.fromhex(value) if tag == "float" else value


def _total(x: Any) -> Any:
    """The sum of all elements, as one element."""
    axes = list(range(len(x.shape)))
    return C.reshape(C.reduce_sum(x, axis=axes) if axes else x, (1,))


def _joined(shapes: Any) -> tuple[int, ...]:
    """The sizes to which arrays of these stretch each other."""
    backwards = itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    return tuple(map(max, backwards))[::-1]


def _size(x: Any) -> int:
    if type(x) is not int:
        raise UnfitError("a size that isn't known")
    return x


class _Function:
    """A function of CNTK, called with arrays.

    What is small is copied into arrays of its own, of which CNTK has made values once: steps of a
    loop spend more time on making them than on computing.
    """

    def __init__(self, made: _Builder, outputs: list[Any], bools: list[bool]):
        self.checks = made.checks
        self.kept: dict[Any, Any] = {}
        ends = [C.alias(x if x.shape else C.reshape(x, (1,))) for x in outputs]
        self.guarded, guards = [row for row, _ in made.guards], [x for _, x in made.guards]
        if guards:
            ends.append(C.splice(*guards, axis=0) if guards[1:] else guards[0])
        self.function = C.combine(ends)
        used = set(self.function.arguments)
        inputs = [(i, v) for i, v in enumerate(made.variables) if v in used]
        self.own = {v: _own(v) for v in (*(v for _, v in inputs), *(x.output for x in ends))}
        self.values = {v: borrowed(a) for v, a in self.own.items() if a is not None}
        self.inputs = [(i, v, self.own[v]) for i, v in inputs]
        self.results = [(x.output, self.own[x.output]) for x in ends]
        self.forms = [(shape_of(x), is_bool) for x, is_bool in zip(outputs, bools, strict=True)]

    def __call__(self, arrays: Any) -> Any:
        """The results.

        Raises:
            OddOperandsError: a guard says that they can't be trusted.
        """
        for i, size in self.checks:
            check_index(arrays[i], size)
        copies: list[Any] = []  # what borrows their memory doesn't keep them
        given = {v: self._given(v, own, arrays[i], copies) for i, v, own in self.inputs}
        found = [np.empty(v.shape, v.dtype) if own is None else own for v, own in self.results]
        self.function._forward(
            given,
            {
                v: borrowed(a) if own is None else self.values[v]
                for (v, own), a in zip(self.results, found, strict=True)
            },
            DEVICE,
            NOTHING_KEPT,
            NOTHING_KEPT,
        )
        if self.guarded:
            odd = np.flatnonzero(found.pop())  # they come behind the outputs
            if odd.size:
                raise OddOperandsError([self.guarded[i] for i in odd])
        copied = [
            a if own is None else a.copy() for a, (_, own) in zip(found, self.results, strict=False)
        ]
        return tuple([_formed(a, *form) for a, form in zip(copied, self.forms, strict=True)])

    def _given(self, variable: Any, own: Any, array: Any, copies: list[Any]) -> Any:
        """An array as CNTK takes it: contiguous, with an axis at least. Steps of a loop give some
        time and again: what was made for one that isn't large is kept."""
        if own is not None:
            np.copyto(own, array, "unsafe")
            return self.values[variable]
        known = self.kept.get(variable)
        if known is not None and known[0] is array:
            return known[1]
        if array.dtype != variable.dtype or not array.flags.c_contiguous:
            copies.append(np.ascontiguousarray(array, variable.dtype))
            return borrowed(copies[-1])
        value = borrowed(array)
        if array.nbytes <= KEPT_ARRAY:
            self.kept[variable] = array, value
        return value


def _own(variable: Any) -> Any:
    """An array for what is copied to or from a variable, if that's small."""
    array = np.empty(variable.shape or (1,), variable.dtype)
    return array if array.nbytes <= COPIED else None


def _formed(array: Any, shape: Any, is_bool: bool) -> Any:
    """What CNTK gives, as NumPy has it: numbers are no arrays."""
    return (array != 0 if is_bool else array).reshape(shape)[()]
