"""Choices and loops of TensorFlow 1: nests of tensors, arrays of tensors, updates in branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._bodies import traced_collecting, traced_cond, traced_scan
from ..backend._tensors import as_tensor
from ..errors import ArgumentError, ShapeError
from ..ir.node import Node, Update
from ..prims.control import stop_gradient
from ..prims.indexing import gather
from ..prims.movement import concatenate, reshape, slice_axis
from ..prims.sizes import as_node, dims_of, size_of
from .graph import effect
from .nests import flatten, flatten_up_to, pack
from .operations import Operation
from .shapes import TensorShape
from .tensors import constant
from .variables import watched

# Choices ------------------------------------------------------------------------------------


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False,
    name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """What one of two functions gives, a nest; updates that they make happen if they're chosen."""
    condition = K.cast(as_tensor(pred, "tf.cond"), "bool")
    functions = (fn1 if true_fn is None else true_fn, fn2 if false_fn is None else false_fn)
    if not all(map(callable, functions)):
        raise TypeError("true_fn must be callable." if not callable(functions[0])
                        else "false_fn must be callable.")  # fmt: skip
    heard: list[tuple[Any, list[Update]]] = []
    changed: dict[Any, None] = {}

    def branch(function: Callable[[], Any]) -> Callable[[], list[Node]]:
        def run() -> list[Node]:
            result, updates = watched(function)
            heard.append((result, updates))
            return [_read(x) for x in flatten(result) if _is_value(x)]

        return run

    # The branches are traced once to hear what they update, and their results are kept.
    made = [branch(function) for function in functions]
    outputs = _with_updates(condition, made, heard, changed)
    (result, _), values = heard[0], outputs[len(changed) :]
    updates = [K.update(v, new) for v, new in zip(changed, outputs, strict=False)]
    return _of_branches(result, values, updates, strict)


def _with_updates(
    condition: Node, branches: Sequence[Callable[[], list[Node]]], heard: list[Any],
    changed: dict[Any, None],
) -> list[Node]:  # fmt: skip
    """The results of a choice, behind the new values of all variables that a branch updates."""
    lists: list[list[Node]] = []

    def then() -> list[Node]:
        # Both are traced here, so that each knows what the other one updates; what belongs to the
        # other branch is told apart by what its results need.
        lists.extend(run() for run in branches)
        changed.update((u.variable, None) for _, updates in heard for u in updates)
        return [*_news(heard[0][1], changed), *lists[0]]

    return traced_cond(
        "tf.cond", condition, then, lambda: [*_news(heard[1][1], changed), *lists[1]]
    )


def _news(updates: Sequence[Update], changed: dict[Any, None]) -> list[Node]:
    last = {u.variable: u.value for u in updates}
    return [last.get(variable, K.identity(variable)) for variable in changed]


def _is_value(x: Any) -> bool:
    return x is not None and not isinstance(x, Operation)


def _read(x: Any) -> Node:
    found = x.value if isinstance(x, Update) else as_tensor(x, "tf.cond")
    return K.identity(found)


def _of_branches(result: Any, values: Sequence[Node], updates: list[Update], strict: bool) -> Any:
    """The results in the nest of the first branch, which carry the updates of both."""
    leaves = flatten(result)
    if not any(map(_is_value, leaves)):
        return effect("cond", updates)
    if updates:
        with K.control_dependencies(updates):
            values = [K.identity(x) for x in values]
    rest = iter(values)
    found = pack(result, [next(rest) if _is_value(x) else x for x in leaves])
    single = isinstance(found, (list, tuple)) and len(found) == 1 and not strict
    return found[0] if single else found


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
    name: str = "case",
) -> Any:  # fmt: skip
    """What the function of the first condition that holds gives; else what `default` gives."""
    pairs = list(pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs)
    if default is None:
        *pairs, (_, default) = pairs
    chosen = default
    for pred, function in reversed(pairs):
        chosen = _either(pred, function, chosen)
    return chosen()


def _either(pred: Any, function: Any, otherwise: Any) -> Callable[[], Any]:
    return lambda: cond(pred, function, otherwise)


# Arrays of tensors --------------------------------------------------------------------------


class TensorArray:
    """An array of tensors, which loops write one element a step, and others read.

    Args:
        dtype: of its elements.
        size: how many there are, if that's known.
        element_shape: of each.

    >>> from kameleon import backend as K
    >>> array = TensorArray("float32", size=2).unstack(K.constant([[1., 2.], [3., 4.]]))
    >>> K.eval(array.read(1))
    array([3., 4.], dtype=float32)
    """

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
        clear_after_read: bool | None = None, tensor_array_name: str | None = None,
        handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):  # fmt: skip
        self.dtype, self._size, self._shape = dtype, size, element_shape
        self._rows: dict[int, Node] = {}
        self._whole: Node | None = None
        self._at: tuple[Node, Node] | None = None  # what a loop writes: the index, the element

    def _copy(self, **changes: Any) -> TensorArray:
        found = TensorArray(self.dtype, self._size, element_shape=self._shape)
        found._rows, found._whole, found._at = dict(self._rows), self._whole, self._at
        found.__dict__.update(changes)
        return found

    @property
    def flow(self) -> TensorArray:
        """The array itself, for code that passes its flow on."""
        return self

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def grad(self, *args: Any, **options: Any) -> TensorArray:
        raise ArgumentError("TensorArray.grad isn't there; tf.gradients goes through arrays")

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array of the slices of a tensor."""
        return self._copy(_whole=as_tensor(value, "TensorArray", self.dtype), _rows={})

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        raise ArgumentError("TensorArray.split: its elements would differ in size; use tf.split")

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with another element."""
        row = as_tensor(value, "TensorArray", self.dtype)
        place = (
            K.eval(index)
            if isinstance(index, Node)
            and not index.operands
            and (index.primitive.name == "constant")
            else index
        )
        if isinstance(place, (int, np.integer, np.ndarray)) and self._whole is None:
            return self._copy(_rows=self._rows | {int(place): row})
        at = K.cast(as_tensor(index, "TensorArray"), "int32")
        if self._whole is None:
            return self._copy(_at=(at, row))
        here = K.equal(K.arange(size_of(self._whole, 0)), at)
        wide = reshape(here, [size_of(self._whole, 0), *[1] * len(row.shape)])
        chosen = K.switch(wide, K.expand_dims(row, 0) + K.zeros_like(self._whole), self._whole)
        return self._copy(_whole=chosen)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with other elements, at known places."""
        rows = as_tensor(value, "TensorArray", self.dtype)
        found = self
        for i, place in enumerate(np.asarray(indices).tolist()):
            found = found.write(place, rows[i])
        return found

    def stack(self, name: str | None = None) -> Node:
        """The elements along a new first axis."""
        if self._whole is not None:
            return self._whole
        count = len(self._rows)
        if sorted(self._rows) != list(range(count)) or not count:
            raise ArgumentError(
                f"TensorArray: the elements {sorted(self._rows)} are written; to stack them, all"
                " from 0 on must be"
            )
        return K.stack([self._rows[i] for i in range(count)])

    def concat(self, name: str | None = None) -> Node:
        """The elements one behind the other."""
        whole = self.stack()
        rest = [size_of(whole, axis) for axis in range(2, len(whole.shape))]
        return K.reshape(whole, [-1, *rest])

    def gather(self, indices: Any, name: str | None = None) -> Node:
        """Some elements along a new first axis."""
        return K.gather(self.stack(), indices)

    def read(self, index: Any, name: str | None = None) -> Node:
        """One element."""
        if isinstance(index, int) and index in self._rows:
            return self._rows[index]
        return gather(self.stack(), K.cast(as_tensor(index, "TensorArray"), "int32"), 0)

    def size(self, name: str | None = None) -> Node:
        """The number of elements."""
        if self._whole is None and not self._rows:
            return K.cast(as_tensor(self._size or 0, "TensorArray"), "int32")
        return K.shape(self.stack())[0]

    def close(self, name: str | None = None) -> Operation:
        """There's nothing to close."""
        return effect("TensorArrayClose", [])


# Loops --------------------------------------------------------------------------------------


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Repeat `body` of a nest of tensors and arrays as long as `cond` of it holds."""
    given = _as_list(loop_vars)
    if maximum_iterations is not None:
        limits = (
            None if shape_invariants is None else [TensorShape([]), *_as_list(shape_invariants)]
        )
        return _bounded(cond, body, given, limits, maximum_iterations, return_same_structure)
    leaves = flatten(given)
    growing = [x for x in leaves if isinstance(x, TensorArray) and x._whole is None]
    carried = _begun(given, shape_invariants, growing)

    def nest(states: Sequence[Node]) -> Any:
        rest = iter(states)
        return pack(given, [_held(x, rest) if x not in growing else x._copy() for x in leaves])

    def test(states: Sequence[Node]) -> Node:
        return K.cast(reshape(as_tensor(cond(*nest(states)), "tf.while_loop"), ()), "bool")

    def step(states: Sequence[Node], t: Node | None = None) -> tuple[list[Node], list[Node]]:
        new = body(*nest(states))
        new = new if isinstance(new, (list, tuple)) and len(given) != 1 else _single(new)
        found = flatten(new)
        if len(found) != len(leaves):
            raise ArgumentError(
                f"tf.while_loop: body takes {len(leaves)} tensors and returns {len(found)}"
            )
        pairs = list(zip(leaves, found, strict=True))
        written = [_written(y) for x, y in pairs if x in growing]
        return [
            as_tensor(_carried(y), "tf.while_loop", s.dtype)
            for s, y in zip(states, (y for x, y in pairs if x not in growing), strict=True)
        ], written

    if growing:
        last, outputs = traced_collecting("tf.while_loop", test, step, carried)
    else:
        last = K.while_loop(
            lambda *states: test(states), lambda *states: step(states)[0], carried
        )  # fmt: skip
        outputs = []
    ends, stacks = iter(last), iter(outputs)
    found = pack(given, [
        _grown(x, next(stacks)) if x in growing else _held(x, ends) for x in leaves
    ])  # fmt: skip
    return found[0] if len(leaves) == 1 and not return_same_structure else found


def _begun(given: list[Any], shape_invariants: Any, growing: list[TensorArray]) -> list[Node]:
    """The states to begin with: all leaves but the arrays that grow, as loose as is said."""
    leaves = flatten(given)
    limits: list[Any] = [None] * len(leaves)
    if shape_invariants is not None:
        limits = flatten_up_to(given, shape_invariants)
    pairs = zip(leaves, limits, strict=True)
    return [_loosened(_carried(x), limit) for x, limit in pairs if x not in growing]


def _single(new: Any) -> Any:
    return new if isinstance(new, list) and len(new) == 1 else [new]


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _carried(x: Any) -> Node:
    return x.stack() if isinstance(x, TensorArray) else as_tensor(_plain(x), "tf.while_loop")


def _loosened(x: Node, limit: Any) -> Node:
    """The state, of whose sizes no more is known than `limit` says: steps may change others."""
    shape = None if limit is None else TensorShape(limit)
    if shape is None or shape.dims is None:
        return x
    known = shape.as_list()
    if known == list(x.type.shape):
        return x
    # What has passed `stop_gradient` isn't taken for a known size.
    own = dims_of(x)
    return reshape(x, [
        stop_gradient(as_node(d)) if size is None and isinstance(d, int) else d
        for d, size in zip(own, known, strict=True)
    ])  # fmt: skip


def _held(x: Any, rest: Any) -> Any:
    """The tensor of a state, or the array of which it's the elements."""
    return x._copy(_whole=next(rest)) if isinstance(x, TensorArray) else next(rest)


def _written(array: Any) -> Node:
    """The element that a step writes."""
    if not isinstance(array, TensorArray) or array._at is None:
        raise ArgumentError(
            "tf.while_loop: a step must write one element of each TensorArray, at the next place"
        )
    return array._at[1]


def _grown(array: TensorArray, outputs: Node) -> TensorArray:
    """The array with the elements that were there, and behind them those that a loop wrote."""
    before = [K.expand_dims(array._rows[i], 0) for i in sorted(array._rows)]
    whole = concatenate([*before, outputs], 0) if before else outputs
    return array._copy(_whole=whole, _rows={}, _at=None)


def _bounded(
    cond: Any, body: Any, given: list[Any], limits: list[Any] | None, most: Any, same: bool
) -> Any:
    """A loop that counts its steps, too."""
    limit = K.cast(as_tensor(most, "tf.while_loop"), "int32")

    def test(count: Any, *rest: Any) -> Any:
        holds = K.cast(reshape(as_tensor(cond(*rest), "tf.while_loop"), ()), "bool")
        return K.all(K.stack([K.less(count, limit), holds]))

    def step(count: Any, *rest: Any) -> Any:
        new = body(*rest)
        return [count + 1, *(new if len(given) != 1 and isinstance(new, (list, tuple))
                             else _single(new))]  # fmt: skip

    _, *last = while_loop(test, step, [K.constant(0, "int32"), *given], limits)
    return last[0] if len(flatten(given)) == 1 and not same else last


def scan(
    fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The results of `fn(accumulated, slice)` for all slices along the first axis, stacked."""
    sequences = [as_tensor(x, "tf.scan") for x in flatten(elems)]
    first: list[Node] = []
    if initializer is None:
        edge = slice(-1, None) if reverse else slice(None, 1)
        first = [x[edge] for x in sequences]
        states, structure = [x[0] for x in first], elems
        sequences = [
            slice_axis(x, 0, None, -1) if reverse else slice_axis(x, 0, 1, None) for x in sequences
        ]
    else:
        states, structure = (
            [as_tensor(_plain(x), "tf.scan") for x in flatten(initializer)],
            initializer,
        )

    def body(carry: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        new = fn(pack(structure, carry), pack(elems, slices))
        found = [as_tensor(x, "tf.scan", s.dtype) for x, s in zip(flatten(new), carry, strict=True)]
        return found, found

    _, outputs = traced_scan("tf.scan", body, states, sequences, reverse)
    if first:
        parts = [(y, x) if reverse else (x, y) for x, y in zip(first, outputs, strict=True)]
        outputs = [concatenate(list(pair), 0) for pair in parts]
    return pack(structure, outputs)


def _plain(x: Any) -> Any:
    if isinstance(x, bool):
        return constant(x, "bool")
    return constant(x) if isinstance(x, (int, float)) else x


def _fold(what: str, backwards: bool) -> Callable[..., Any]:
    def fold(
        fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10,
        back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
    ) -> Any:  # fmt: skip
        found = scan(fn, elems, initializer, reverse=backwards)
        structure = elems if initializer is None else initializer
        last = 0 if backwards else -1
        return pack(structure, [x[last] for x in flatten(found)])

    return fold


def map_fn(
    fn: Any, elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`fn` of each slice along the first axis, the results stacked, in their nest."""
    sequences = [as_tensor(_plain(x), "tf.map_fn") for x in flatten(elems)]
    if not sequences or not all(x.shape for x in sequences):
        raise ShapeError("tf.map_fn: elems must have an axis to run along")
    made: list[Any] = []

    def body(_: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        made.append(fn(pack(elems, slices)))
        found = flatten(made[-1])
        kinds = flatten(dtype) if dtype is not None else [None] * len(found)
        return [], [as_tensor(_plain(x), "tf.map_fn", k) for x, k in zip(found, kinds, strict=True)]

    _, outputs = traced_scan("tf.map_fn", body, [], sequences)
    return pack(made[-1], outputs)


PLAIN: dict[str, Any] = {"TensorArray": TensorArray}
NAMES: dict[str, Any] = {
    "cond": cond,
    "case": case,
    "while_loop": while_loop,
    "scan": scan,
    "foldl": _fold("tf.foldl", False),
    "foldr": _fold("tf.foldr", True),
    "map_fn": map_fn,
}
