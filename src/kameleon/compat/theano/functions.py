"""`theano.function`, shared variables, gradients and loops."""

from __future__ import annotations

import functools
import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._bodies import traced_scan
from ...errors import ArgumentError, DTypeError
from ...graph.ir.node import Node, Variable, walk
from ...graph.ir.rewrite import substitute
from .tensors import arange, as_shape, called_by, dtype_of, size, tensor, truth


class UnusedInputError(ArgumentError):
    """An input of `theano.function` that neither its outputs nor its updates need."""


class In:
    """An input of `theano.function`: a tensor, with a name, or a value that it has by default.

    Args:
        variable: the tensor.
        name: what calls give it by.
        value: its value where a call gives none.
        allow_downcast: whether values of a larger dtype are taken.
    """

    def __init__(
        self, variable: Node, name: str | None = None, value: Any = None,
        allow_downcast: bool | None = None, **more: Any,
    ):  # fmt: skip
        self.variable, self.value, self.allow_downcast = variable, value, allow_downcast
        self.name = name or vars(variable).get("_argument")


def shared(value: Any, name: str | None = None, borrow: bool = False, **more: Any) -> Variable:
    """A variable of the value's dtype."""
    array = np.asarray(value)
    made: Variable = K.variable(array, dtype=str(array.dtype), name=name)
    called_by(made, name)
    return made


def _pairs(changes: Any) -> list[tuple[Any, Any]]:
    return list(changes.items() if isinstance(changes, Mapping) else changes or ())


class Function:
    """What `theano.function` returns: a call gives arrays, one for each output."""

    def __init__(
        self, inputs: Sequence[In], outputs: Any, updates: Any, givens: Any, name: str | None,
        allow_input_downcast: bool | None, on_unused_input: str,
    ):  # fmt: skip
        self.inputs, self.name, self.downcast = list(inputs), name, allow_input_downcast
        self.is_one = outputs is not None and not isinstance(outputs, list | tuple)
        results = [tensor(x) for x in ([outputs] if self.is_one else outputs or ())]
        changes = [(x, tensor(new)) for x, new in _pairs(updates)]
        changes += _default_updates([*results, *(new for _, new in changes)], changes)
        new = [value for _, value in changes]
        replaced = {x: _as_type(tensor(value), x) for x, value in _pairs(givens)}
        made = substitute([*results, *new], replaced) if replaced else [*results, *new]
        self._report_unused(made, on_unused_input)
        results, new = made[: len(results)], made[len(results) :]
        pairs = [(x, _as_type(value, x)) for (x, _), value in zip(changes, new, strict=True)]
        self.run = K.function([x.variable for x in self.inputs], results, pairs, name=name)

    def _report_unused(self, made: Sequence[Node], how: str) -> None:
        used = set(walk(made))
        for entry in self.inputs:
            if how != "ignore" and entry.variable not in used:
                said = (
                    f"theano.function was asked to create a function computing outputs given"
                    f" certain inputs, but the provided input {entry.variable!r} isn't needed;"
                    " on_unused_input='ignore' allows it"
                )
                if how == "raise":
                    raise UnusedInputError(said)
                warnings.warn(said, UserWarning, stacklevel=4)

    def __call__(self, *args: Any, **named: Any) -> Any:
        values = list(args)
        for entry in self.inputs[len(args) :]:
            found = named.pop(entry.name, entry.value) if entry.name else entry.value
            if found is None:
                raise TypeError(f"theano.function: there's no value for {entry.variable!r}")
            values.append(found)
        if named or len(values) > len(self.inputs):
            raise TypeError(
                f"theano.function takes {len(self.inputs)} values, not {len(args)} and {[*named]}"
            )
        taken = [
            self._as_input(value, entry) for value, entry in zip(values, self.inputs, strict=True)
        ]
        results = [np.asarray(x) for x in self.run(taken)]
        return results[0] if self.is_one else results

    def _as_input(self, value: Any, entry: In) -> np.ndarray[Any, Any]:
        """The value in the input's dtype, where that can hold it."""
        dtype = np.dtype(str(entry.variable.dtype))
        array = np.asarray(value)
        down = self.downcast if entry.allow_downcast is None else entry.allow_downcast
        fits = down or np.can_cast(array.dtype, dtype) or (down is None and type(value) is float)
        if not fits and not isinstance(value, np.ndarray):
            fits = bool(np.array_equal(array.astype(dtype), array))
        if not fits:
            raise DTypeError(
                f"theano.function: {entry.variable!r} can't hold values of {array.dtype} exactly;"
                f" cast them to {dtype}, or give theano.function(allow_input_downcast=True)"
            )
        return array.astype(dtype, copy=False)


def _as_type(value: Node, x: Node) -> Node:
    return value if value.dtype == x.dtype else K.cast(value, x.dtype)


def _default_updates(outputs: Sequence[Node], changes: Sequence[Any]) -> list[tuple[Any, Node]]:
    """The new values that variables get without being asked for."""
    changed = {x for x, _ in changes}
    found = [x for x in walk(outputs) if isinstance(x, Variable) and x not in changed]
    return [
        (x, tensor(vars(x)["default_update"]))
        for x in found
        if vars(x).get("default_update") is not None
    ]


def function(
    inputs: Iterable[Any], outputs: Any = None, mode: Any = None, updates: Any = None,
    givens: Any = None, no_default_updates: Any = False, accept_inplace: bool = False,
    name: str | None = None, rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None, profile: Any = None,
    on_unused_input: str | None = None,
) -> Function:  # fmt: skip
    """A function of the inputs: it computes the outputs, and gives variables their new values.

    Args:
        inputs: tensors, or `In(tensor, value=…)`.
        outputs: a tensor, or a list of tensors.
        updates: pairs of a variable and its new value.
        givens: pairs of a tensor and what takes its place.
        allow_input_downcast: whether values of a larger dtype are taken; None: of Python's floats.
        on_unused_input: 'raise', 'warn' or 'ignore'.
    """
    entries = [x if isinstance(x, In) else In(x) for x in inputs]
    return Function(
        entries, outputs, updates, givens, name, allow_input_downcast, on_unused_input or "raise"
    )


def grad(
    cost: Node, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise",
    **more: Any,
) -> Any:  # fmt: skip
    """The gradients of a scalar: one, or a list of them."""
    if cost.ndim:
        raise TypeError("cost must be a scalar.")
    if consider_constant:
        kept = {x: K.stop_gradient(x) for x in consider_constant}
        (cost,) = substitute([cost], kept)
    wanted = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    found = K.gradients(cost, wanted)
    for x, slope in zip(wanted, found, strict=True):
        if slope is None and disconnected_inputs == "raise":
            raise ArgumentError(
                f"theano.grad: the cost doesn't depend on {x!r}; disconnected_inputs='ignore' gives"
                " zeros"
            )
    slopes = [K.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]
    return type(wrt)(slopes) if isinstance(wrt, list | tuple) else slopes[0]


def jacobian(expression: Node, wrt: Any, **more: Any) -> Any:
    """The gradients of each element of a vector, as rows."""
    several = isinstance(wrt, list | tuple)
    wanted = list(wrt) if several else [wrt]

    def row(i: Node) -> list[Node]:
        return list(grad(K.gather(expression, i), wanted, disconnected_inputs="ignore"))

    rows = K.map_fn(row, K.arange(size(expression, 0)))
    return list(rows) if several else rows[0]


def hessian(cost: Node, wrt: Any, **more: Any) -> Any:
    """The second derivatives of a scalar by a vector."""
    return jacobian(grad(cost, wrt), wrt)


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """One of two tensors; the other isn't computed."""
    return K.switch(truth(condition), lambda: tensor(then_branch), lambda: tensor(else_branch))


# --- scan ---------------------------------------------------------------------------------------


def _listed(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, list | tuple) else [x]


def _sequences(given: Any, count: Any, backwards: bool) -> list[Node]:
    """The sequences that steps take slices of: one for each tap."""
    found: list[tuple[Node, int, int]] = []
    for item in _listed(given):
        options = item if isinstance(item, dict) else {"input": item}
        x, taps = tensor(options["input"]), _listed(options.get("taps", [0]))
        found += [(x[::-1] if backwards else x, tap - min(0, *taps), max(0, *taps) - min(0, *taps))
                  for tap in taps]  # fmt: skip
    lengths = [count if count is not None else size(x, 0) - apart for x, _, apart in found]
    shortest = functools.reduce(_smaller, lengths) if lengths else count
    return [
        x if first == 0 and size(x, 0) is shortest else x[first : first + shortest]
        for x, first, _ in found
    ]


def _smaller(a: Any, b: Any) -> Any:
    """The smaller of two lengths."""
    if not isinstance(a, Node) and not isinstance(b, Node):
        return min(a, b)
    return a if a is b else K.minimum(tensor(a), K.cast(tensor(b), "int64"))


class _State:
    """What a step takes of what steps before it gave, at some distances."""

    def __init__(self, given: Any):
        options = given if isinstance(given, dict) else {"initial": given}
        self.is_kept = options.get("initial") is not None
        self.taps = [int(tap) for tap in _listed(options.get("taps", [-1]))] if self.is_kept else []
        self.depth = -min(self.taps, default=0)
        self.before: list[Node] = []
        if self.is_kept:
            initial = tensor(options["initial"])
            plain = self.taps == [-1]
            self.before = [initial] if plain else [initial[i] for i in range(self.depth)]


def _results(found: Any) -> list[Node]:
    """What a step gives: tensors, perhaps with updates, which must be empty."""
    outputs: Any = found
    if isinstance(found, tuple) and len(found) == 2:
        for one, other in (found, found[::-1]):
            if isinstance(other, dict):
                if other:
                    raise ArgumentError(
                        "theano.scan: a step can't update variables; give their values as outputs"
                    )
                outputs = one
    if type(outputs).__name__ == "until":
        raise ArgumentError("theano.scan: there's no `until`; use K.while_loop")
    return [tensor(x) for x in _listed(outputs)]


def scan(
    fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None,
    non_sequences: Any = None, n_steps: Any = None, truncate_gradient: int = -1,
    go_backwards: bool = False, mode: Any = None, name: str | None = None, profile: Any = False,
    allow_gc: Any = None, strict: bool = False, return_list: bool = False,
) -> Any:  # fmt: skip
    """A loop: `fn` of the sequences' slices, what earlier steps gave, and further tensors.

    Returns:
        The outputs of all steps, along a new first axis, and updates, of which there are none.
    """
    if truncate_gradient != -1:
        raise ArgumentError("theano.scan: gradients through all steps only (truncate_gradient=-1)")
    slices = _sequences(sequences, n_steps, go_backwards)
    states = [_State(given) for given in _listed(outputs_info)]
    more, counted = _listed(non_sequences), slices or [arange(n_steps)]

    def step(carry: list[Node], taken: list[Node]) -> tuple[list[Node], list[Node]]:
        held, at = [], 0
        for state in states:
            held.append(carry[at : at + len(state.before)])
            at += len(state.before)
        known = [
            past[state.depth + tap]
            for state, past in zip(states, held, strict=True)
            for tap in state.taps
        ]
        results = _results(fn(*(taken if slices else ()), *known, *more))
        new: list[Node] = []
        for state, past, result in zip(states, held, results, strict=False):
            if state.is_kept:
                new += [*past[1:], _as_type(result, past[0])]
        return new, results

    begin = [x for state in states for x in state.before]
    _, outputs = traced_scan("theano.scan", step, begin, counted)
    is_one = len(outputs) == 1 and not return_list
    return (outputs[0] if is_one else outputs), OrderedDict()


def scan_map(fn: Any, sequences: Any, non_sequences: Any = None, **more: Any) -> Any:
    """`theano.map`: a function of each slice."""
    return scan(fn, sequences, None, non_sequences, **more)


def reduce(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, **more: Any
) -> Any:
    """`theano.reduce`: what the last step gives."""
    outputs, updates = scan(fn, sequences, outputs_info, non_sequences, **more)
    last = [x[-1] for x in outputs] if isinstance(outputs, list) else outputs[-1]
    return last, updates


def clone(output: Any, replace: Any = None, **more: Any) -> Any:
    """The tensors, with some of those that they're made of replaced."""
    several = isinstance(output, list | tuple)
    replaced = {x: tensor(new) for x, new in _pairs(replace)}
    found = substitute(_listed(output), replaced)
    return found if several else found[0]


# --- random numbers -----------------------------------------------------------------------------


class RandomStreams:
    """Random numbers: each tensor draws anew at every call of a function.

    Args:
        seed: what the first numbers follow from.
    """

    def __init__(self, seed: int | None = None, **more: Any):
        self._seeds = np.random.RandomState(seed)

    def seed(self, seed: int | None = None) -> None:
        """Tensors that are made from now on begin with other numbers."""
        self._seeds.seed(seed)

    def _next(self) -> int:
        return int(self._seeds.randint(1, 2**31 - 1))

    def uniform(
        self, size: Any = (), low: Any = 0.0, high: Any = 1.0, ndim: Any = None, dtype: Any = None,
        **more: Any,
    ) -> Node:  # fmt: skip
        """Equally distributed between two bounds."""
        drawn = K.random_uniform(as_shape(size), 0.0, 1.0, dtype_of(dtype), self._next())
        found: Node = drawn * (tensor(high) - low) + low
        return found

    def normal(
        self, size: Any = (), avg: Any = 0.0, std: Any = 1.0, ndim: Any = None, dtype: Any = None,
        **more: Any,
    ) -> Node:  # fmt: skip
        """Normally distributed."""
        drawn = K.random_normal(as_shape(size), 0.0, 1.0, dtype_of(dtype), self._next())
        found: Node = drawn * std + avg
        return found

    def binomial(
        self, size: Any = (), n: int = 1, p: Any = 0.5, ndim: Any = None, dtype: Any = "int64",
        prob: Any = None, **more: Any,
    ) -> Node:  # fmt: skip
        """How many of n tries succeed."""
        shape = as_shape(size)
        tries = [
            K.random_uniform(shape, 0.0, 1.0, seed=self._next()) < (prob or p) for _ in range(n)
        ]
        return functools.reduce(operator.add, (K.cast(x, dtype_of(dtype)) for x in tries))

    def random_integers(
        self, size: Any = (), low: int = 0, high: int = 1, ndim: Any = None, dtype: str = "int64"
    ) -> Node:
        """Whole numbers from `low` to `high`, both included."""
        return K.cast(self.uniform(size, low, high + 1 - 1e-6), dtype)
