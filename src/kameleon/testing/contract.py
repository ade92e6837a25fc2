"""Checks of the contract of `Engine` and `Executable`, each a function of an engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..engines._base import Engine, Executable
from ..errors import KameleonError
from ..graph.ir.leaves import LEAVES, input_node
from ..graph.ir.node import ITEM, REGISTRY, Node
from ..graph.ir.program import Graph
from ..graph.ir.types import DTYPES, TensorType, as_dtype
from ..graph.passes.pipeline import prepared
from ..graph.primitives import elementwise as ew
from ..graph.primitives.filling import full_like
from ..graph.primitives.indexing import gather, scatter_add
from ..graph.primitives.linalg import matmul
from ..graph.primitives.movement import reshape, transpose
from ..graph.primitives.reduce import reduce_sum
from ..runtime.stages import build
from .cases.case import ALL, Array, normal

# Core primitives that never reach an engine: simplifying takes them away.
FORWARDED = {"identity", "stop_gradient", "with_gradient"}
# Numbers of rows that one executable is called with.
SIZES = (4, 0, 1, 7)


def require(condition: bool, message: str) -> None:
    """AssertionError with `message`, unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def _float(engine: Engine) -> str:
    """A float dtype that the engine has."""
    return next(d for d in ("float32", "float64", "float16") if d not in engine.lacks)


def _input(engine: Engine, *shape: int | None, dtype: str = "") -> Node:
    return input_node(TensorType(shape, as_dtype(dtype or _float(engine))))


def _compiled(engine: Engine, inputs: Sequence[Node], outputs: Sequence[Node]) -> Executable:
    return build(prepared(Graph(inputs, outputs), engine), engine)


def _values(engine: Engine, results: Sequence[Any]) -> list[Array]:
    return [engine.to_numpy(x) for x in results]


def _numbers(engine: Engine, *shape: int, seed: int = 0) -> Array:
    return normal(*shape, seed=seed, dtype=_float(engine))


def _equal(got: Any, expected: Any, message: str) -> None:
    tolerance = 1e-2 if np.asarray(expected).dtype == "float16" else 1e-5
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=message)


# Patterns of what a message that refuses a call must name, whatever a library's words are.
INDEX, SIZES_DIFFER = r"\bind(ex|ic)|segment_ids", r"\bsizes?\b|shape|dim|broadcast"
# Errors with a cause in what was given; libraries have classes of their own, too.
REFUSALS = (KameleonError, ValueError, IndexError, ArithmeticError, RuntimeError)
# Errors that a mistake in code raises.
MISTAKES = (TypeError, NotImplementedError, RecursionError)


def _fails(executable: Callable[..., Any], arguments: Sequence[Any], what: str, says: str) -> None:
    """Require that a call is refused, by an error of `REFUSALS` or of a library's own class, whose
    message says what is wrong: it matches the pattern `says`."""
    try:
        executable(arguments)
    except Exception as error:
        kind, text = type(error), str(error)
        own = isinstance(error, REFUSALS) or kind.__module__ != "builtins"
        by_mistake = isinstance(error, MISTAKES) or not own
        require(not by_mistake, f"{what} is refused by accident: {kind.__name__}: {text}")
        named = re.search(says, text, re.IGNORECASE)
        require(bool(named), f"{what}: the error doesn't say what is wrong: {text!r}")
        return
    raise AssertionError(f"{what} is an error; the executable gave a result")


# Arrays --------------------------------------------------------------------------------------


def _arrays_make_the_round_trip(engine: Engine) -> None:
    """Every dtype and rank, NaN and extremes; what `to_numpy` gives may be written to."""
    for name in (d for d in ALL if d not in engine.lacks):
        for shape in ((), (1,), (0, 2), (2, 3)):
            array = np.resize(np.array([0, 1, 1, 0, 1], name), shape)
            if array.size > 3 and array.dtype.kind == "f":
                array.flat[:3] = [np.nan, np.inf, -0.0]
            elif array.size > 3 and array.dtype.kind in "iu":
                array.flat[:2] = [np.iinfo(name).min, np.iinfo(name).max]
            own = engine.from_numpy(array)
            want = TensorType(shape, as_dtype(name))
            require(engine.type_of(own) == want, f"type_of gives {engine.type_of(own)}, not {want}")
            back = engine.to_numpy(own)
            require(isinstance(back, np.ndarray), f"to_numpy gives {type(back)}")
            require(back.dtype == array.dtype, f"{array.dtype} comes back as {back.dtype}")
            np.testing.assert_array_equal(back, array)
            require(back.flags.writeable, "what to_numpy gives must be writable")


def _arrays_are_private(engine: Engine) -> None:
    """What is written to the source or to a copy changes nothing."""
    source = np.ones((2, 3), _float(engine))
    own = engine.from_numpy(source)
    source[...] = 7
    engine.to_numpy(own)[...] = 9
    np.testing.assert_array_equal(engine.to_numpy(own), np.ones((2, 3)))


def _other_values_are_no_arrays(engine: Engine) -> None:
    """`type_of` gives None for values that are no arrays, and raises nothing."""
    for value in (None, 1, 2.5, True, "x", [1.0], (1.0,), {}, object(), np.float32):
        require(engine.type_of(value) is None, f"type_of({value!r}) must be None")


def _adopted_arrays_have_the_values(engine: Engine) -> None:
    """`adopt` gives an own array of the same values, or None."""
    for array in (_numbers(engine, 2, 3), np.arange(4, dtype="int32"), _numbers(engine)):
        own = engine.adopt(array)
        if own is not None:
            require(engine.type_of(own) is not None, "adopt gave something that is no own array")
            np.testing.assert_array_equal(engine.to_numpy(own), array)
    require(engine.adopt(object()) is None, "adopt(object()) must be None")


def _discarded_values_may_be_held(engine: Engine) -> None:
    """`discard` empties the list; values that somebody holds stay what they are."""
    x = _input(engine, 64, 64)
    executable = _compiled(engine, [x], [ew.add(x, x), ew.mul(x, x)])
    given = _numbers(engine, 64, 64)
    held, *rest = list(executable([given]))
    values = [held, *rest]
    del rest
    engine.discard(values)
    require(values == [], "discard must empty the list")
    for seed in (1, 2):
        dead = list(executable([_numbers(engine, 64, 64, seed=seed)]))
        engine.discard(dead)
    _equal(engine.to_numpy(held), given + given, "a value that was held has changed")
    engine.release()
    _equal(engine.to_numpy(held), given + given, "a value has changed when all was released")
    _equal(_values(engine, executable([given]))[1], given * given, "after a release")


# Calls ---------------------------------------------------------------------------------------


def _arguments_of_any_layout(engine: Engine) -> None:
    """Arguments may be NumPy arrays with strides, or read-only ones, and own arrays among them."""
    x, y = _input(engine, None, 3), _input(engine, None, 3)
    executable = _compiled(engine, [x, y], [ew.sub(x, ew.mul(y, y))])
    base = _numbers(engine, 4, 6)
    frozen = _numbers(engine, 4, 3)
    frozen.flags.writeable = False
    row = np.broadcast_to(_numbers(engine, 3), (4, 3))
    forms = [base[:, ::2], base[::-1, :3], np.asfortranarray(base[:, 3:]), frozen, row]
    for a in forms:
        for b in (base[:, :3], engine.from_numpy(base[:, :3])):
            (got,) = _values(engine, executable([a, b]))
            _equal(got, a - base[:, :3] ** 2, "a NumPy argument of another layout")


def _arguments_are_left_alone(engine: Engine) -> None:
    """No argument is written to, and none is kept."""
    x, y = _input(engine, 3, 4), _input(engine, 3, 4)
    outputs = [ew.exp(ew.neg(x)), ew.add(ew.mul(x, y), y)]
    executable = _compiled(engine, [x, y], outputs)
    a, b = _numbers(engine, 3, 4), _numbers(engine, 3, 4, seed=1)
    own = engine.from_numpy(b)
    given = a.copy()
    results = executable([given, own])
    np.testing.assert_array_equal(given, a, err_msg="an argument was written to")
    np.testing.assert_array_equal(engine.to_numpy(own), b, err_msg="an argument was written to")
    given[...] = 100
    for got, want in zip(_values(engine, results), [np.exp(-a), a * b + b], strict=True):
        _equal(got, want, "a result changed when an argument was written to after the call")


def _results_are_fresh(engine: Engine) -> None:
    """Results that are inputs, views of them, constants or equal to each other are copies."""
    x, v = _input(engine, 2, 3), _input(engine, 2, 3)
    fixed = ew.constant(np.full((2, 3), 5.0), _float(engine))
    # A result that is computed, and results that may be views of it.
    made = ew.neg(x)
    views = [made, made, reshape(made, (6,)), transpose(made, (1, 0))]
    outputs = [x, v, x, reshape(v, (6,)), transpose(x, (1, 0)), fixed, fixed, *views]
    executable = _compiled(engine, [x, v], outputs)
    a, b = _numbers(engine, 2, 3), _numbers(engine, 2, 3, seed=1)
    five = np.full((2, 3), 5.0)
    want = [a, b, a, b.reshape(6), a.T, five, five, -a, -a, -a.reshape(6), -a.T]
    own = engine.from_numpy(b)
    for _ in range(2):
        given = a.copy()
        # Without `copy` memory is handed over: whoever gets the memory may write to it.
        results = [engine.to_numpy(r, copy=False) for r in executable([given, own])]
        for result, expected in zip(results, want, strict=True):
            np.testing.assert_array_equal(result, expected, err_msg="written to through another")
            require(result.flags.writeable, "what to_numpy gives must be writable")
            result[...] = 77
        np.testing.assert_array_equal(given, a, err_msg="a result shares memory with an argument")
        np.testing.assert_array_equal(
            engine.to_numpy(own), b, err_msg="a result shares memory with one of the own arrays"
        )


def _graphs_at_the_edge(engine: Engine) -> None:
    """No inputs, no outputs, inputs that nothing uses."""
    x = _input(engine, 2)
    one = ew.constant(np.ones(2), _float(engine))
    require(list(_compiled(engine, [x], [])([np.ones(2, _float(engine))])) == [], "no outputs")
    (got,) = _values(engine, _compiled(engine, [], [ew.add(one, one)])([]))
    np.testing.assert_array_equal(got, [2, 2])
    unused = _compiled(engine, [x, _input(engine, None)], [ew.exp(one)])
    arguments = [np.ones(2, _float(engine)), np.ones(5, _float(engine))]
    _equal(_values(engine, unused(arguments))[0], np.exp(np.ones(2)), "with unused inputs")


def _one_code_for_all_sizes(engine: Engine) -> None:
    """Unknown sizes don't make an engine compile again; with static shapes, each size does once."""
    x, w = _input(engine, None, 3), _input(engine, 3, 2)
    outputs = [ew.tanh(matmul(x, w)), reduce_sum(x, (0,))]
    executable = _compiled(engine, [x, w], outputs)
    weights = _numbers(engine, 3, 2)
    counts = []
    for n in (*SIZES, *SIZES):
        given = _numbers(engine, n, 3)
        got = _values(engine, executable([given, weights]))
        _equal(got[0], np.tanh(given @ weights), f"with {n} rows")
        _equal(got[1], given.sum(axis=0), f"with {n} rows")
        counts.append(executable.compilations)
    if engine.static_shapes:
        require(counts[-1] <= len(SIZES), f"{counts[-1]} compilations of {len(SIZES)} shapes")
        require(counts[len(SIZES) - 1] == counts[-1], "compiled again for shapes that were known")
    else:
        require(counts[0] == counts[-1], f"compilations grow with sizes: {counts}")


def _calls_from_several_threads(engine: Engine) -> None:
    """One executable, called at the same time with different arguments."""
    x = _input(engine, 32, 16)
    hidden = ew.tanh(x)
    executable = _compiled(engine, [x], [reduce_sum(ew.mul(hidden, ew.exp(hidden)), (1,)), hidden])

    def call(seed: int) -> None:
        given = _numbers(engine, 32, 16, seed=seed)
        t = np.tanh(given.astype("float64"))
        for _ in range(5):
            got = _values(engine, executable([given]))
            _equal(got[0], (t * np.exp(t)).sum(axis=1).astype(given.dtype), "called by a thread")
            _equal(got[1], t.astype(given.dtype), "called by a thread")

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(call, seed) for seed in range(8)]:
            done.result()


def _the_short_way(engine: Engine) -> None:
    """From NumPy arrays to NumPy arrays: `short`, where there is one, gives what a call gives, and
    fails where a call does."""
    x, y = _input(engine, None, 3), _input(engine, None, 3)
    executable = _compiled(engine, [x, y], [ew.add(x, y), x, y, y])
    a, b = _numbers(engine, 4, 3), _numbers(engine, 4, 3, seed=1)
    for _ in range(3):  # `short` may come with a later call
        want = _values(engine, executable([a, b]))
    short = executable.fast_path
    if short is None:
        return
    for given in ([a.copy(), b.copy()], [a.copy(), b.copy()], [np.flip(np.flip(a).copy()), b]):
        results = short(*given)
        if results is None:  # `short` needn't take arrays of another layout
            require(given[0].strides[0] < 0, "it doesn't take plain arrays")
            continue
        require(type(results) is list, f"it gives a {type(results).__name__}, not a list")
        for result, expected in zip(results, want, strict=True):
            require(type(result) is np.ndarray, f"it gives {type(result)}, not an array")
            np.testing.assert_array_equal(result, expected, err_msg="unlike a call")
            result[...] = 77
        for argument, before in zip(given, (a, b), strict=True):
            np.testing.assert_array_equal(argument, before, err_msg="written to an argument")
    # Nor arrays of other sizes: then the usual call is made.
    call = lambda given: short(*given) or executable(given)  # noqa: E731
    _fails(call, [a, b[:1]], "the sum of sizes 4 and 1", SIZES_DIFFER)


# Errors --------------------------------------------------------------------------------------


def _wrong_indices_are_errors(engine: Engine) -> None:
    """An index below zero or too large is an error; and the next call works."""
    x, index = _input(engine, None, 2), _input(engine, None, dtype="int32")
    picked = _compiled(engine, [x, index], [gather(x, index, 0)])
    added = _compiled(engine, [x, index], [scatter_add(x, index, 3, 0)])
    rows = _numbers(engine, 3, 2)
    right = np.array([2, 0, 1], "int32")
    for wrong in ([0, 1, 3], [-1, 0, 1], [2**31 - 1, 0, 0]):
        at = np.array(wrong, "int32")
        _fails(picked, [rows, at], f"gather at {wrong} of 3", INDEX)
        _fails(added, [rows, at], f"scatter_add at {wrong} of 3", INDEX)
        _equal(_values(engine, picked([rows, right]))[0], rows[right], "after an error")
        _equal(_values(engine, added([rows, right]))[0], rows[[1, 2, 0]], "after an error")


def _sizes_that_differ_are_errors(engine: Engine) -> None:
    """Two unknown sizes are taken as equal; where they aren't, nothing is stretched."""
    x, y = _input(engine, None), _input(engine, None)
    executable = _compiled(engine, [x, y], [ew.mul(ew.add(x, y), x)])
    for m, n in ((3, 4), (1, 4), (4, 1), (0, 4), (0, 1)):
        given = [_numbers(engine, m), _numbers(engine, n)]
        _fails(executable, given, f"the sum of sizes {m} and {n}", SIZES_DIFFER)
    a = _numbers(engine, 4)
    _equal(_values(engine, executable([a, a]))[0], 2 * a * a, "after an error")
    left, right = _input(engine, 2, None), _input(engine, None, 2)
    product = _compiled(engine, [left, right], [matmul(left, right)])
    given = [_numbers(engine, 2, 3), _numbers(engine, 4, 2)]
    _fails(product, given, "a product over 3 and 4", SIZES_DIFFER)


def _checks_are_errors(engine: Engine) -> None:
    """A `check` that doesn't hold is an error; and the next call works."""
    x = _input(engine, None)
    holds = ew.gt(x, full_like(x, 0))
    executable = _compiled(engine, [x], [REGISTRY["check"](x, holds, message="not positive")])
    good = np.array([1.0, 2.0], _float(engine))
    _fails(executable, [-good], "a check that doesn't hold", "not positive")
    np.testing.assert_array_equal(_values(engine, executable([good]))[0], good)


# What the engine says of itself --------------------------------------------------------------


def _the_table_is_complete(engine: Engine) -> None:
    """Every core primitive has a rule, or a reason why there's none; all names are primitives."""
    unknown = {*engine.rules, *engine.declined} - set(REGISTRY)
    require(not unknown, f"there are no primitives {sorted(unknown)}")
    for primitive in REGISTRY.values():
        name = primitive.name
        if primitive.tier == "core" and primitive not in LEAVES and primitive is not ITEM:
            found = name in engine.rules or bool(engine.declined.get(name))
            require(
                found or name in FORWARDED, f"core primitive {name} has neither rule nor reason"
            )
        else:
            require(name not in engine.declined, f"{name} is no core primitive to decline")
    wrong = set(engine.lacks) - set(DTYPES)
    require(not wrong, f"`lacks` names what is no dtype: {sorted(wrong)}")
    require(all(engine.lacks.values()), "`lacks` must say why")


def _it_says_what_it_is(engine: Engine) -> None:
    """Name, title, version, devices; and what an executable runs."""
    for what in (engine.name, engine.title, engine.version()):
        require(isinstance(what, str), f"{what!r} is no string")
    require(bool(engine.name and engine.title), "an engine needs a name and a title")
    devices = list(engine.devices())
    require(bool(devices) and all(isinstance(d, str) for d in devices), f"devices: {devices}")
    x = _input(engine, 2)
    require(isinstance(_compiled(engine, [x], [ew.exp(x)]).source, str), "source must be text")


_ALL: tuple[Callable[[Engine], None], ...] = (
    _arrays_make_the_round_trip,
    _arrays_are_private,
    _other_values_are_no_arrays,
    _adopted_arrays_have_the_values,
    _discarded_values_may_be_held,
    _arguments_of_any_layout,
    _arguments_are_left_alone,
    _results_are_fresh,
    _graphs_at_the_edge,
    _one_code_for_all_sizes,
    _calls_from_several_threads,
    _the_short_way,
    _wrong_indices_are_errors,
    _sizes_that_differ_are_errors,
    _checks_are_errors,
    _the_table_is_complete,
    _it_says_what_it_is,
)
CONTRACT = {check.__name__.strip("_").replace("_", "-"): check for check in _ALL}
