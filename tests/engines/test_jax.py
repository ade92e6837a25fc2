"""What is special to the JAX engine: shapes, state, 64 bits, calls that run ahead."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the JAX engine needs JAX")

import jax

from kameleon import backend as K
from kameleon.engines.jax import arrays, control, elementwise, windows
from kameleon.engines.jax import executable as executable_module
from kameleon.engines.jax.engine import engine
from kameleon.errors import EvaluationError, RecompilationWarning
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.control import run_scan
from kameleon.graph.primitives.movement import iota
from kameleon.graph.primitives.windows import Window
from kameleon.runtime import assisted, engines
from kameleon.runtime.compiler import compiled

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _on_jax() -> Iterator[None]:
    with engines.using("jax"):
        yield


def ones(*shape: int) -> Array:
    return np.ones(shape, "float32")


def value_of(variable: Any) -> Any:
    """The array that a variable holds now."""
    return variable.cell.value


# --- one compilation for each combination of sizes ----------------------------------------------


def test_each_shape_is_compiled_once() -> None:
    x = K.placeholder((None, 3))
    f = K.function([x], [K.sum(x, axis=0)])
    for rows, compilations in ((2, 1), (2, 1), (5, 2), (2, 2), (5, 2)):
        assert f([ones(rows, 3)])[0].tolist() == [rows] * 3
        assert f.compilations == compilations


def test_numbers_that_decide_shapes_are_part_of_the_key() -> None:
    n = K.placeholder((), dtype="int32")
    f = K.function([n], [K.arange(n)])
    assert [f([k])[0].tolist() for k in (2, 3, 2)] == [[0, 1], [0, 1, 2], [0, 1]]
    assert f.compilations == 2


def test_numbers_that_decide_no_shape_are_not() -> None:
    n, x = K.placeholder((), dtype="int32"), K.placeholder((None,))
    f = K.function([n, x], [x * K.cast(n, "float32")])
    assert [f([k, ones(2)])[0].tolist() for k in (2, 3)] == [[2, 2], [3, 3]]
    assert f.compilations == 1


def test_arrays_of_numpy_and_of_jax_share_code() -> None:
    """Also such that share the memory of another library."""
    found: list[str] = []

    def note(name: str, seconds: float, **more: Any) -> None:
        if "backend_compile" in name:
            found.append(name)

    forget = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    if forget is None:  # before 0.8
        forget = jax._src.monitoring._unregister_event_duration_listener_by_callback
    x = K.placeholder((None,))
    f = K.function([x], [K.exp(x)])
    values = [ones(4), engine.from_numpy(ones(4)), engine.adopt(ones(4)), f([ones(4)])[0]]
    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        for value in values:
            f([value])
    finally:
        forget(note)
    assert (f.compilations, found) == (1, [])


def test_many_compilations_are_warned_of_at_the_line_of_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executable_module, "OFTEN", 3)
    monkeypatch.setattr(assisted, "FEW", 9)
    x, n = K.placeholder((None, 2), name="rows"), K.placeholder((), dtype="int32", name="many")
    f = K.function([x, n], [K.sum(x), K.arange(n)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size in range(1, 8):
            f([ones(size, 2), min(size, 2)])
    assert [w.category for w in caught] == [RecompilationWarning] * 2  # at 3 and at 6
    first, second = map(str, (w.message for w in caught))
    assert caught[0].filename == __file__
    assert "3 combinations of sizes" in first
    assert "'rows:0' float32[?, 2] had 6 shapes, last (4, 2), (5, 2), (6, 2)" in second
    assert "'many:0' int32[] had 2 values" in second
    assert "pad inputs" in first


def test_calls_that_take_the_short_way_warn_at_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable_module, "OFTEN", 3)
    monkeypatch.setattr(assisted, "FEW", 9)
    x = K.placeholder((None,))
    f = K.function([x], [x * 2.0])
    for size in range(1, 6):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f([ones(size)])
        assert [w.filename for w in caught] == [__file__] * (size == 3)
    with pytest.raises(RecompilationWarning):
        f([ones(6)])


def test_a_warning_that_is_an_error_changes_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable_module, "OFTEN", 1)
    x, total = K.placeholder((None,)), K.variable(0.0)
    f = K.function([x], [], [K.update_add(total, K.sum(x))])
    with pytest.raises(RecompilationWarning):
        f([ones(2)])
    assert K.get_value(total) == 0
    f([ones(2)])
    assert K.get_value(total) == 2


def test_source_is_what_jax_has_traced() -> None:
    x = K.placeholder((None,))
    f = K.function([x], [K.tanh(x)])
    f([ones(3)])
    source = compiled(f.compiled.graph(None), engine).source
    assert "tanh" in source
    assert "f32[3]" in source


# --- sizes from data ----------------------------------------------------------------------------


def test_sizes_that_follow_from_data() -> None:
    x = K.placeholder((None,))
    f = K.function([x], [K.arange(K.cast(K.max(x), "int32")) * 2])
    for top in (3, 1):
        assert f([np.array([top], "float32")])[0].tolist() == list(range(0, 2 * top, 2))


def test_a_loop_whose_sizes_change_from_step_to_step() -> None:
    def scalar() -> Node:
        return input_node(TensorType((), as_dtype("int32")))

    n, step = scalar(), scalar()
    grown = ew.add(K.sum(iota([n])), step)
    xs = input_node(TensorType((None,), as_dtype("int32")))
    (last,), _ = run_scan(Graph([n, step], [grown]), [], [ew.constant(1, "int32")], [xs])
    code = compiled(Graph([xs], [ew.mul(last, last)]), engine)
    (found,) = code([engine.from_numpy(np.array([2, 3, 4], "int32"))])
    assert np.asarray(found) == 100  # 0 + 2, 1 + 3, 6 + 4 …, squared
    assert "# part 0, on NumPy" in code.source


# --- state --------------------------------------------------------------------------------------


def test_state_is_not_donated() -> None:
    """Whatever becomes of a call, the values from before it are there."""
    w = K.variable(ones(64, 64))
    f = K.function([], [K.sum(w)], [K.update(w, w * 0.5)])
    for before in (1, 0.5, 0.25):
        record = w.cell.record
        f([])
        assert w.cell.record is not record
        assert np.asarray(record[0])[0, 0] == before
    assert f.compilations == 1


def test_state_that_somebody_holds_is_left_alone() -> None:
    w = K.variable(ones(8))
    f = K.function([], [], [K.update_add(w, w)])
    f([])
    held = value_of(w)
    f([])
    assert (np.asarray(held).tolist(), K.get_value(w).tolist()) == ([2] * 8, [4] * 8)
    assert f.compilations == 1


def test_variables_exchange_their_values() -> None:
    a, b = K.variable(ones(4)), K.variable(2 * ones(4))
    swap = K.function([], [], [K.update(a, b), K.update(b, a)])
    for _ in range(3):
        swap([])
    assert (K.get_value(a)[0], K.get_value(b)[0]) == (2, 1)


def test_one_value_for_two_variables() -> None:
    """They don't share a buffer that a later call could take."""
    a, b, c = K.variable(ones(4)), K.variable(ones(4)), K.variable(3 * ones(4))
    both = K.function([], [], [K.update(a, c), K.update(b, c)])
    grow = K.function([], [], [K.update(a, a * 2)])
    for f in (both, grow, grow):
        f([])
    assert [K.get_value(v)[0] for v in (a, b, c)] == [12, 3, 3]


def test_a_failing_call_leaves_state_alive() -> None:
    x, y, w = K.placeholder((None,)), K.placeholder((None,)), K.variable(ones(4))
    f = K.function([x, y], [], [K.update_add(w, 0 * w + K.sum(x * y))])
    f([ones(2), ones(2)])
    with pytest.raises(EvaluationError, match=r"taken as equal differ(.|\n)*test_jax\.py"):
        f([ones(2), ones(3)])
    assert K.get_value(w)[0] == 3
    f([ones(2), ones(2)])
    assert K.get_value(w)[0] == 5


def test_a_failing_check_changes_no_variable() -> None:
    table, index = K.variable(ones(3, 2)), K.placeholder((None,), dtype="int32")
    f = K.function([index], [K.gather(table, index)], [K.update(table, table * 2)])
    f([[0, 2]])
    with pytest.raises(EvaluationError, match=r"index 3 is out of range(.|\n)*test_jax\.py"):
        f([[0, 3]])
    assert K.get_value(table)[0, 0] == 2


def test_threads_take_turns_with_state() -> None:
    w, x = K.variable(np.zeros(16)), K.placeholder((16,))
    add = K.function([x], [K.sum(w)], [K.update_add(w, x)])
    read = K.function([], [w])
    with ThreadPoolExecutor(4) as threads:
        added = [threads.submit(add, [ones(16)]) for _ in range(40)]
        seen = [threads.submit(read, []) for _ in range(40)]
    assert sorted(f.result()[0] for f in added) == [16 * i for i in range(40)]
    assert all(len(set(f.result()[0].tolist())) == 1 for f in seen)
    assert K.get_value(w).tolist() == [40] * 16


# --- memory -------------------------------------------------------------------------------------


def aligned(count: int) -> Array:
    """Memory that JAX could use as it is."""
    room = np.zeros(count + 16, "float32")
    first = -room.ctypes.data % 64 // 4
    return room[first : first + count]


def test_a_call_has_read_its_arguments_when_it_ends() -> None:
    """JAX runs ahead of its caller, who may write to the array that was fed."""
    x, total = K.placeholder((None,)), K.variable(0.0)
    body: Any = x
    for _ in range(30):
        body = K.sin(body) + x
    f = K.function([x], [], [K.update(total, K.sum(body))])
    given = aligned(300_000)
    given[:] = 1
    f([given])
    expected = K.get_value(total)
    for _ in range(3):
        given[:] = 1
        f([given])
        given[:] = 7
        assert K.get_value(total) == expected


def test_what_is_handed_through_is_a_copy() -> None:
    x, w = K.placeholder((None,)), K.variable(np.zeros(64))
    f = K.function([x], [x], [K.update(w, x)])
    given = aligned(64)
    (got,) = f([given])
    given[:] = 7
    assert (got.max(), K.get_value(w).max()) == (0, 0)
    assert got.flags.writeable


def test_nothing_is_handed_through() -> None:
    x = input_node(TensorType((None,), as_dtype("float32")))
    own = engine.from_numpy(ones(4))
    (got,) = engine.compile(Graph([x], [x]))([own])
    assert got.unsafe_buffer_pointer() != own.unsafe_buffer_pointer()


def test_large_results_are_not_copied() -> None:
    """They belong to the caller alone: two outputs of one value have memory of their own."""
    x, w = K.placeholder((None,)), K.variable(np.zeros(50_000))
    y = x + 1
    f = K.function([x], [y, y], [K.update(w, y)])
    a, b = f([np.zeros(50_000, "float32")])
    assert not a.flags.owndata
    a[:], b[:] = 7, 8
    assert (a.min(), b.min(), K.get_value(w).max()) == (7, 8, 1)
    f([a])
    assert (a.max(), K.get_value(w).max()) == (7, 8)


def test_adopted_memory_is_shared() -> None:
    given = aligned(64)
    adopted = engine.adopt(given)
    assert adopted.unsafe_buffer_pointer() == given.ctypes.data
    assert engine.adopt(object()) is None


def test_state_from_another_engine_is_not_written_to() -> None:
    w = K.variable(aligned(64))
    given = value_of(w)
    f = K.function([], [], [K.update_add(w, 1 + 0 * w)])
    f([])
    f([])
    assert (given.max(), K.get_value(w).max()) == (0, 2)


# --- 64 bits ------------------------------------------------------------------------------------


def test_64_bits_are_kept_and_the_users_setting_too() -> None:
    x, n = K.placeholder((None,), dtype="float64"), K.placeholder((None,), dtype="int64")
    f = K.function([x, n], [x + 1e-12, n + 2**40, K.argmax(x), K.sum(n)])
    before = jax.config.jax_enable_x64
    a, b, c, d = f([np.ones(2), np.array([1, 2])])
    assert (a[0], b[0]) == (1 + 1e-12, 1 + 2**40)
    assert [v.dtype.name for v in (a, b, c, d)] == ["float64", "int64", "int64", "int64"]
    assert jax.config.jax_enable_x64 is before
    assert jax.numpy.arange(3).dtype == ("int64" if before else "int32")


@pytest.mark.parametrize("users", [True, False])
def test_calls_switch_64_bits_on_and_back(users: bool) -> None:
    switch = arrays.X64
    x, y = (K.placeholder((None,), dtype="float64") for _ in range(2))
    f = K.function([x, y], [x / y])
    one, three = np.ones(3), np.full(3, 3.0)
    with switch(users):
        for _ in range(3):
            np.testing.assert_array_equal(f([one, three])[0], one / three)
            with pytest.raises(EvaluationError):
                f([one, three[:2]])
            assert jax.config.jax_enable_x64 is users
            assert jax.numpy.arange(3.0).dtype == ("float64" if users else "float32")


def test_a_trace_that_is_interrupted_is_not_in_force_any_longer() -> None:
    if not arrays.TRACES.holds:
        pytest.skip("this JAX keeps that elsewhere")
    kept: list[Any] = []

    def traced(x: Any) -> Any:
        kept.extend(state.get_local() for state in arrays._TRACES)
        return x

    def interrupted() -> None:
        jax.jit(traced)(ones(1))
        for state, value in zip(arrays._TRACES, kept, strict=True):
            state.set_local(value)  # as an exception between two bytecodes leaves it
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        arrays.in_64_bits(interrupted)
    x = K.placeholder((2,))
    assert K.function([x], [x + 1])([ones(2)])[0].tolist() == [2, 2]


# --- the table ----------------------------------------------------------------------------------


def test_large_constants_are_arguments() -> None:
    """Inside of the code they would be folded, and copied into its text."""
    table = np.random.default_rng(0).normal(size=(64, 64)).astype("float32")
    x = K.placeholder((None, 64))
    f = K.function([x], [K.dot(x, K.constant(table))])
    np.testing.assert_allclose(f([ones(2, 64)])[0][0], table.sum(0), rtol=1e-4, atol=1e-5)
    code = compiled(f.compiled.graph(None), engine)
    assert "f32[64,64]" in code.source.splitlines()[0]


def test_large_constants_of_bodies_too() -> None:
    table = np.arange(64 * 64, dtype="float32").reshape(64, 64)
    x = K.placeholder((None, 3, 64))
    _, outputs, _ = K.rnn(
        lambda now, states: (now * K.constant(table)[0], []), x, [], input_length=3
    )
    f = K.function([x], [outputs])
    assert f([ones(2, 3, 64)])[0][1, 2].tolist() == table[0].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convolutions_are_xlas_own(dtype: str) -> None:
    """But the transposed one in float64, for which XLA has no fast code."""
    kind = as_dtype(dtype)
    x = input_node(TensorType((None, 8, 8, 3), kind))
    k = input_node(TensorType((3, 3, 3, 4), kind))
    y = K.conv2d(x, k)
    graph = Graph([x, k], [y, *K.gradients(K.sum(K.square(y)), [x, k])])
    code = engine.compile(simplify(graph, engine.native))
    code([np.ones((2, 8, 8, 3), dtype), np.ones((3, 3, 3, 4), dtype)])
    assert code.source.count("conv_general_dilated[") == {"float32": 3, "float64": 2}[dtype]


def test_padding_is_never_the_largest() -> None:
    """Nor its place, where all that a window sees is -inf."""
    from kameleon.graph.primitives.pool import max_pool

    x = input_node(TensorType((1, 2, 1), as_dtype("float32")))
    window = Window((2,), (1,), ((1, 1),), (1,))
    top, place = max_pool(x, window=window).results
    code = engine.compile(simplify(Graph([x], [top, place]), engine.native))
    for value, places in (([-np.inf, -np.inf], [1, 0, 0]), ([np.nan, 1], [1, 0, 0])):
        _, got = code([np.array(value, "float32").reshape(1, 2, 1)])
        assert np.asarray(got).ravel().tolist() == places


def test_devices() -> None:
    found = engine.devices()
    assert found[0].partition(":")[0] == jax.devices()[0].platform
    assert "cpu:0" in found


@pytest.mark.parametrize(("steps", "unrolled"), [(3, True), (control.LONGEST_UNROLLED + 1, False)])
def test_short_loops_over_convolutions_are_unrolled(steps: int, unrolled: bool) -> None:
    x, w = K.placeholder((1, steps, 3, 3, 1)), K.variable(np.full((3, 3, 2, 1), 0.1))

    def step(inputs: Any, states: Any) -> Any:
        seen = K.concatenate([inputs, states[0]])
        new = K.tanh(K.conv2d(seen, w, padding="same"))
        return new, [new]

    last, _, _ = K.rnn(step, x, [K.zeros((1, 3, 3, 1))])
    outputs = [last, *K.gradients(K.sum(last), [w])]
    values = np.random.default_rng(0).normal(size=(1, steps, 3, 3, 1))
    function = K.function([x], outputs, engine="jax")
    got, want = function([values]), K.function([x], outputs, engine="numpy")([values])
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert (f"unroll={steps}\n" in function.source) is unrolled


# --- values that XLA must not compute twice ------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_element_is_the_maximum_whatever_it_was_computed_from(axis: int) -> None:
    """Fused twice, a normalized tensor was rounded in two ways: none of its elements was its
    maximum, and the gradient NaN."""
    r = np.random.default_rng(axis)
    x = K.placeholder((7, 3, 17))
    scale, shift = (K.variable(r.normal(size=17)) for _ in range(2))
    center, spread = K.mean(x, axis=0, keepdims=True), K.var(x, axis=0, keepdims=True)
    y = (x - center) / K.sqrt(spread + 1e-3) * scale + shift
    top = K.max(y, axis=axis, keepdims=True)
    hits = K.sum(K.cast(K.equal(y, top), "float32"), axis=axis)
    slopes = K.gradients(K.sum(top), [x, scale, shift])
    feeds = [r.normal(size=(7, 3, 17)).astype("float32")]
    found, *got = K.function([x], [hits, *slopes])(feeds)
    np.testing.assert_array_equal(found, 1)
    want = K.function([x], slopes, engine="numpy")(feeds)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_and_infinity_times_a_bool_as_a_number_are_nan(dtype: str) -> None:
    """XLA makes a choice of such a product, which gives 0 where the bool is false."""
    x, mask = K.placeholder((None,), dtype=dtype), K.placeholder((None,), dtype="bool")
    number = K.cast(mask, dtype)
    f = K.function([x, mask], [x * number, -number * x, x * K.cast(x > 0, dtype)])
    values = np.array([np.nan, np.inf, -np.inf, -3, 3, np.inf], dtype)
    given = np.array([0, 0, 0, 0, 1, 1], bool)
    with np.errstate(invalid="ignore"):
        factor = given.astype(dtype)
        expected = [values * factor, -factor * values, values * (values > 0).astype(dtype)]
    for got, want in zip(f([values, given]), expected, strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[3:]), np.signbit(want[3:]))


def test_large_planes_and_volumes_take_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planes get a further place, volumes are taken plane by plane: the numbers stay the same."""
    monkeypatch.setattr(windows, "MANY_BYTES", 0)
    rng = np.random.default_rng(0)
    moves: list[dict[str, Any]] = [{}, {"strides": (2, 3)}, {"dilation_rate": (2, 1)}]
    for function, space, further in ((K.conv2d, (9, 11), ()), (K.conv3d, (5, 9, 11), (2,))):
        for each in moves:
            x, k = K.placeholder((2, *space, 3)), K.placeholder((2,) * len(space) + (3, 4))
            options = {name: (*further, *numbers) for name, numbers in each.items()}
            if function is K.conv3d and "dilation_rate" in each:
                options = {"dilation_rate": (2, 2, 2)}
            y = function(x, k, data_format="channels_last", **options)
            outputs = [y, *K.gradients(K.sum(K.square(y)), [x, k])]
            given = [rng.normal(size=K.int_shape(t)) for t in (x, k)]
            expected = K.function([x, k], outputs, engine="numpy")(given)
            for got, wanted in zip(K.function([x, k], outputs)(given), expected, strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


# --- away from the processor --------------------------------------------------------------------


def test_what_graphics_processors_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotients of float32 to the last bit, and convolutions of integers."""
    for module in (elementwise, windows):
        monkeypatch.setattr(module, "on_processor", lambda: False)
    line = np.array(
        [-9999999.0, 9999999, 1, -7.5, 1e38, np.inf, -np.inf, np.nan, 0, -0.0], "float32"
    )
    a, b = (v.ravel() for v in np.meshgrid(line, line))
    x, y = (K.placeholder(a.shape) for _ in range(2))
    signal, kernel = (K.placeholder(s, dtype="int32") for s in ((1, 6, 2), (3, 2, 2)))
    outputs = [x // y, K.conv1d(signal, kernel, padding="same", data_format="channels_last")]
    large = np.arange(12, dtype="int32").reshape(1, 6, 2) * 2**28
    given = [a, b, large, np.arange(12, dtype="int32").reshape(3, 2, 2)]
    found = K.function([x, y, signal, kernel], outputs)(given)
    for got, expected in zip(
        found, K.function([x, y, signal, kernel], outputs, engine="numpy")(given), strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    assert "convolution" not in str(K.function([signal, kernel], outputs[1:]).source)


def test_options_that_a_version_of_xla_does_not_know_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = arrays.compiler_options.__wrapped__
    assert asked() == arrays._PIECES, "this version doesn't know the option: is there another one?"
    monkeypatch.setattr(arrays, "_PIECES", {"xla_no_such_option": 1})
    assert asked() is None
    monkeypatch.setattr(arrays, "on_processor", lambda: False)
    assert asked() is None
