"""What is special to the PyTorch engine: memory, kept dtypes, fusions, politeness, speed paths."""

from __future__ import annotations

import importlib.util
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE, build, run_python
from _support.threefry import reference_words

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch isn't installed", allow_module_level=True)

import torch

from kameleon import backend as K
from kameleon.engines._codegen import code as code_module
from kameleon.engines.torch import pool, products, tensors, windows
from kameleon.engines.torch.engine import engine
from kameleon.engines.torch.kernels import upright
from kameleon.errors import EvaluationError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import DTYPES, TensorType
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.movement import reshape
from kameleon.graph.primitives.pool import max_pool, pool_pick, unpool
from kameleon.graph.primitives.random import KEY, random_bits
from kameleon.graph.primitives.windows import Window
from kameleon.runtime import engines

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _on_torch() -> Iterator[None]:
    with engines.using("torch"):
        yield


def source_of(function: Any) -> str:
    """The code of a function."""
    return str(function.source)


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_rows_are_made_dense_where_threads_share_them(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    x = K.placeholder((None, 6))
    f = K.function([x], [K.tanh(x[:, 2:5]), K.tanh(x[1:]), K.sigmoid(x[:, 2:5])])
    array = RNG.normal(size=(4, 6)).astype("float32")
    for _ in range(3):
        part, below, other = f([array])
        np.testing.assert_allclose(part, np.tanh(array[:, 2:5]), rtol=1e-6)
        np.testing.assert_allclose(below, np.tanh(array[1:]), rtol=1e-6)
        np.testing.assert_allclose(other, 1 / (1 + np.exp(-array[:, 2:5])), rtol=1e-6)
    assert source_of(f).count("contiguous") == threads - 1


# --- between NumPy and PyTorch -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
def test_arrays_go_in_and_come_out_as_they_are(dtype: str) -> None:
    array = np.array([[0, 1], [1, 100]]).astype(dtype)
    own = engine.from_numpy(array)
    assert engine.type_of(own) == TensorType((2, 2), DTYPES[dtype])
    array[0, 0] = 1
    back = engine.to_numpy(own)
    assert back.dtype == dtype
    assert back.tolist() == np.array([[0, 1], [1, 100]]).astype(dtype).tolist()
    back[0, 0] = 1
    assert engine.to_numpy(own)[0, 0] == 0


def test_bfloat16_goes_in_and_comes_out() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2.0, 3e38]).astype(ml_dtypes.bfloat16)
    own = engine.from_numpy(array)
    assert own.dtype is torch.bfloat16
    assert engine.to_numpy(own).dtype == array.dtype
    assert engine.to_numpy(own).tobytes() == array.tobytes()


@pytest.mark.parametrize("value", [None, 1.0, [1.0], np.ones(2), torch.ones(2).to_sparse()])
def test_other_values_have_no_type(value: Any) -> None:
    assert engine.type_of(value) is None


ODD = {
    "read only": lambda: np.broadcast_to(np.float32(2), (3,)),
    "backwards": lambda: np.arange(3, dtype="float32")[::-1],
    "strided": lambda: np.arange(6, dtype="float32")[::2],
    "no elements": lambda: np.ones((0,), "float32")[::-1],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_arrays_may_be_fed(name: str) -> None:
    array = ODD[name]()
    x = K.placeholder((None,))
    np.testing.assert_array_equal(K.function([x], [x * 2.0])([array])[0], array * 2)


def test_what_is_fed_is_neither_copied_nor_changed() -> None:
    array = np.ones((4,), "float32")
    given = tensors.as_tensor(array, torch.device("cpu"))
    assert given.data_ptr() == array.ctypes.data
    x = K.placeholder((4,))
    run = K.function([x], [x, x + 1.0])
    for _ in range(3):
        same, more = run([array])
        same += 5
        more += 5
    assert array.tolist() == [1, 1, 1, 1]


def test_tensors_may_be_fed_and_returned() -> None:
    x = K.placeholder((None, 3))
    run = K.function([x], [x * x], as_numpy=False)
    leaf = torch.ones(2, 3, requires_grad=True)
    for given in (torch.full((2, 3), 3.0), leaf.detach(), (leaf * 2).detach()):
        (result,) = run([given])
        assert isinstance(result, torch.Tensor)
        assert not result.requires_grad
        assert not result.is_inference()
        torch.testing.assert_close(result, given * given)
    # What comes out may take part in PyTorch's own differentiation.
    weight = torch.ones(3, requires_grad=True)
    (run([torch.ones(2, 3)])[0] @ weight).sum().backward()
    assert weight.grad is not None


def test_other_arrays_are_adopted_without_a_copy() -> None:
    array = np.ones(5, "float32")
    own = engine.adopt(array)
    assert own.data_ptr() == array.ctypes.data
    assert engine.adopt(object()) is None


def test_variables_move_between_engines() -> None:
    counter = K.variable(np.arange(3.0))
    step = K.function([], [], [K.update_add(counter, 1.0)])
    for name in ("torch", "numpy", "torch"):
        with engines.using(name):
            step([])
    assert K.get_value(counter).tolist() == [3, 4, 5]


# --- unsigned integers -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_numbers_above_the_sign_bit(dtype: str) -> None:
    top = int(np.iinfo(dtype).max)
    pairs = [(top, 1), (1, top), (top // 2 + 1, 3), (7, top // 2 + 1), (top, top - 1), (0, 5)]
    a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    x, y = (input_node(TensorType((None,), DTYPES[dtype])) for _ in range(2))
    names = ("add", "mul", "floor_div", "mod", "maximum", "lt", "ge")
    compiled = build(Graph([x, y], [REGISTRY[n](x, y) for n in names]), engine)
    found = [engine.to_numpy(r) for r in compiled([a, b])]
    functions = (np.add, np.multiply, np.floor_divide, np.remainder, np.maximum, np.less)
    for got, f in zip(found, (*functions, np.greater_equal), strict=True):
        np.testing.assert_array_equal(got, f(a, b))


# --- random numbers --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7, 70_001])
def test_random_words_are_those_of_the_cipher(count: int) -> None:
    key = (3, 0xF0000001)
    stream = input_node(KEY)
    graph = Graph([stream], [random_bits(stream, (count,))])
    # The second is what accelerators compute; it's the same on any device.
    for native in (engine.native, lambda n: "random" not in n.primitive.name):
        run = build(simplify(graph, native), engine)
        (words,) = run([np.array(key, np.uint32)])
        assert engine.to_numpy(words).tolist() == reference_words(key, count)


# --- code ------------------------------------------------------------------------------------


def test_sizes_are_python_numbers_and_one_code_serves_all() -> None:
    x = K.placeholder((None, 3))
    run = K.function([x], [K.mean(x, axis=0), K.reshape(x, (-1,)), K.batch_flatten(x)])
    for rows in (1, 2, 5, 64):
        array = RNG.normal(size=(rows, 3)).astype("float32")
        mean, flat, _ = run([array])
        np.testing.assert_allclose(mean, array.mean(0), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(flat, array.ravel())
    assert run.compilations == 1


SQUARE = RNG.normal(size=(5, 5)).astype("float32")
FUSED = {
    "sigmoid_backward": lambda x: K.gradients(K.sum(K.sigmoid(x) * K.exp(x)), [x])[0],
    "tanh_backward": lambda x: K.gradients(K.sum(K.tanh(x) * K.exp(x)), [x])[0],
    "keep_where_positive": lambda x: K.gradients(K.sum(K.relu(x) * K.exp(x)), [x])[0],
    "alpha=": lambda x: K.exp(x) - 0.25 * K.sin(x),
    "addcmul": lambda x: K.exp(x) - K.cos(x) * K.sin(x),
    "addmm(": lambda x: K.exp(x) + K.dot(K.sin(x), K.constant(SQUARE)),
    "addmm(c": lambda x: K.bias_add(
        K.dot(K.expand_dims(K.sin(x), 0), K.constant(SQUARE)), K.constant(SQUARE[0])
    ),
    " = addmm(c": lambda x: K.bias_add(  # of rows that lie along two axes
        K.dot(K.reshape(K.sin(x), (-1, 2, 5)), K.constant(SQUARE)), K.constant(SQUARE[0])
    ),
    "split_with_sizes": lambda x: K.concatenate([K.tanh(x[:, :2]), K.sin(x[:, 2:])]),
}


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("rows", [4, None])
def test_patterns_become_one_function(name: str, rows: int | None) -> None:
    x = K.placeholder((rows, 5))
    y = FUSED[name](x)
    run = K.function([x], [y])
    array = RNG.normal(size=(4, 5)).astype("float32")
    (expected,) = K.function([x], [y], engine="numpy")([array])
    for _ in range(3):
        np.testing.assert_allclose(run([array])[0], expected, rtol=2e-6, atol=1e-6)
    # On some processors, large products have a kernel of their own.
    assert name in source_of(run).replace("large_addmm", "addmm")


def test_one_whole_may_be_cut_in_two_ways() -> None:
    x = K.placeholder((4, 6))
    y = K.sin(x)
    run = K.function([x], [y[:2] * K.exp(y[2:]), y[:, :3] * K.exp(y[:, 3:])])
    array = np.linspace(-2, 2, 24, dtype="float32").reshape(4, 6)
    sine = np.sin(array)
    expected = [sine[:2] * np.exp(sine[2:]), sine[:, :3] * np.exp(sine[:, 3:])]
    for found, want in zip(run([array]), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    assert source_of(run).count("split_with_sizes") == 2


def test_a_product_is_rounded_before_its_sum_is_compared() -> None:
    """0.2 * 2.5 + 0.5 is 1, where nothing grows any more."""
    x = K.placeholder((3,))
    y = K.hard_sigmoid(x)
    at = np.array([-2.5, 0.0, 2.5], "float32")
    parts = [
        K.function([x], [y, *K.gradients(K.sum(y), [x])], engine=e)([at]) for e in (None, "numpy")
    ]
    np.testing.assert_array_equal(parts[0][0], parts[1][0])
    np.testing.assert_array_equal(parts[0][1], parts[1][1])


def test_a_value_that_others_need_is_not_fused_away() -> None:
    x = K.placeholder((4,))
    product = K.sin(x) * K.cos(x)
    run = K.function([x], [K.exp(x) + product, product])
    assert "addcmul" not in source_of(run)


def test_sizes_that_may_differ_are_still_compared() -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    run = K.function([x, y], [x - 0.5 * y])
    for _ in range(3):
        with pytest.raises(EvaluationError, match="differ at run time"):
            run([np.ones(2, "float32"), np.ones(3, "float32")])
    assert run([np.ones(1, "float32"), np.ones(3, "float32")])[0].shape == (3,)


@pytest.mark.parametrize("large", [True, False])
def test_a_buffer_is_never_read_after_it_was_written_over(
    monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """A tensor and its transpose share memory: the result must not be written over both."""
    if large:
        monkeypatch.setattr(code_module, "SMALLEST", 1)
    x = K.placeholder((3, 3))
    y = K.exp(x)
    run = K.function([x], [y + K.transpose(y), K.sum(y)])
    array = RNG.normal(size=(3, 3)).astype("float32")
    for _ in range(3):
        found = run([array])[0]
        np.testing.assert_allclose(found, np.exp(array) + np.exp(array).T, rtol=1e-5)


def test_stacked_outputs_and_the_last_state_are_apart() -> None:
    x = K.placeholder((2, 6, 3))
    last, outputs, states = K.rnn(
        lambda inputs, s: (K.tanh(inputs + s[0]), [K.tanh(inputs + s[0])]), x, [K.zeros((2, 3))]
    )
    run = K.function([x], [last, outputs, *states])
    array = RNG.normal(size=(2, 6, 3)).astype("float32")
    state = np.zeros((2, 3), "float32")
    expected = [state := np.tanh(array[:, t] + state) for t in range(6)]
    for _ in range(3):
        found = run([array])
        np.testing.assert_allclose(found[1], np.stack(expected, 1), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[0], expected[-1], rtol=1e-5, atol=1e-6)
        for a in found:
            for b in found:
                assert a is b or not np.shares_memory(a, b)


# --- memory ----------------------------------------------------------------------------------


def test_memory_is_taken_back_only_when_nobody_else_has_it() -> None:
    pool.POOL.clear()
    shape, size = (512, 512), 512 * 512 * 4

    def holders(x: torch.Tensor) -> Iterator[Any]:
        yield x[1:]
        yield x.view(-1)
        yield np.from_dlpack(x)
        yield [x]

    first = pool.empty(shape, "float32")
    for other in holders(first):
        pool.give(first)
        assert pool.POOL.held == 0, type(other)
        del other
    address = first.data_ptr()
    pool.give(first)
    assert pool.POOL.held == size
    del first
    again = pool.empty(shape, "float32")
    assert (again.data_ptr(), pool.POOL.held) == (address, 0)
    seen = again.numpy()
    del seen
    pool.give(again)  # NumPy has seen it: it may come from there
    pool.give(torch.from_numpy(np.ones(shape, "float32")))
    assert pool.POOL.held == 0


def test_results_stay_as_they_are_when_memory_is_used_again() -> None:
    x = K.placeholder((300, 400))
    weight = K.variable(np.ones((300, 400)))
    step = K.function([x], [weight * 2.0], [K.update(weight, weight + x * 0.5 + K.sin(x) * x)])
    array = np.ones((300, 400), "float32")
    kept = [step([array])[0] for _ in range(5)]
    each = 0.5 + np.sin(np.float32(1))
    for number, value in enumerate(kept):
        np.testing.assert_allclose(value, 2 * (1 + number * each), rtol=1e-5)


def test_a_failing_call_changes_no_variable() -> None:
    x, index = K.placeholder((4,)), K.placeholder((1,), dtype="int32")
    total = K.variable(np.zeros(4))
    picked = K.gather(x, index)
    step = K.function([x, index], [picked], [K.update_add(total, x)])
    array = np.ones(4, "float32")
    step([array, [0]])
    for bad in ([4], [-1]):
        with pytest.raises(EvaluationError, match=r"index -?\d is out of range(.|\n)*test_torch"):
            step([array, bad])
    assert K.get_value(total).tolist() == [1, 1, 1, 1]


def test_calls_from_several_threads() -> None:
    x = K.placeholder((64, 64))
    run = K.function([x], [K.dot(K.tanh(x), x) + x * 0.5], engine="torch")
    arrays = [RNG.normal(size=(64, 64)).astype("float32") for _ in range(4)]
    expected = [run([a])[0] for a in arrays]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(30):
            if not np.array_equal(run([arrays[number]])[0], expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- windows ---------------------------------------------------------------------------------

POOLS = [
    # size of the tensor, window, stride, padding, whether PyTorch has it
    (7, 2, 2, (0, 0), True),
    (7, 3, 2, (1, 1), True),
    (6, 3, 2, (0, 1), True),
    (6, 2, 1, (0, 1), True),
    (7, 5, 3, (2, 1), True),
    (5, 3, 1, (0, 2), False),
    (5, 3, 1, (2, 0), False),
    (6, 2, 2, (-1, 0), False),
]


@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize(("size", "window", "stride", "padding", "own"), POOLS)
def test_maxima_over_windows_of_all_sorts(
    size: int, window: int, stride: int, padding: tuple[int, int], own: bool, with_index: bool
) -> None:
    """PyTorch's own say where they were in space: that is for their gradients alone."""
    from kameleon.engines._kernels import windows as reference

    rng = np.random.default_rng(7)
    moves = Window((window,), (stride,), (padding,), (1,))
    assert windows.is_regular(moves) == own
    x = rng.integers(0, 3, (2, size, 2)).astype("float32")
    x[0, 2:4] = np.nan
    y, cells = reference.max_pool(x, moves, True)
    assert cells is not None
    g = rng.normal(size=y.shape).astype("float32")
    back = reference.unpool(g, cells, (size,), moves)
    image, slope = (input_node(TensorType(array.shape, DTYPES["float32"])) for array in (x, y))
    pooled = max_pool(image, window=moves)
    values, index = pooled.results
    found = [values, unpool(slope, index, (size,), moves), pool_pick(image, index, window=moves)]
    executable = build(Graph([image, slope], [*found, *([index] if with_index else [])]), engine)
    assert ("flat_max_pool" in executable.source) == (own and not with_index)
    results = [engine.to_numpy(array) for array in executable([x, g])]
    expected = [y, back, reference.pool_pick(x, cells, moves), cells]
    for result, want in zip(results, expected, strict=False):
        np.testing.assert_allclose(result, want, rtol=1e-6, atol=1e-6)


def test_cells_of_another_window_are_numbers() -> None:
    """The third cell of a row of four is another place than the third one of two rows of two."""
    image = input_node(TensorType((1, 4, 4, 1), DTYPES["float32"]))
    square, row = (Window(w, w, ((0, 0),) * 2, (1, 1)) for w in ((2, 2), (1, 4)))
    index = max_pool(image, window=square).results[1]
    index = reshape(index, (1, 4, 1, 1))
    picked = pool_pick(image, index, window=row)
    run = build(Graph([image], [picked]), engine)
    x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    np.testing.assert_array_equal(engine.to_numpy(run([x])[0]).ravel(), [3, 7, 11, 15])


def test_a_convolution_copies_no_images() -> None:
    """Channels lie last on both sides."""
    x, k = torch.ones(2, 9, 8, 4), torch.ones(3, 3, 4, 5)
    window = Window((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1))
    y = windows.conv(x, k, window)
    assert y.shape == (2, 9, 8, 5)
    assert y.is_contiguous()
    back = windows.conv_input(y, k, (9, 8), window)
    assert back.shape == x.shape
    assert back.is_contiguous()


# --- politeness --------------------------------------------------------------------------------

SETTINGS = """
import torch
def settings():
    return (torch.get_num_threads(), torch.get_num_interop_threads(), torch.get_default_dtype(),
            torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_rng_state().sum(),
            torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision())
before = settings()
from kameleon import backend as K
x = K.placeholder((None, 2))
w = K.variable([[1., 2.], [3., 4.]])
loss = K.mean(K.square(K.dropout(K.dot(x, w), 0.5)))
step = K.function([x], [loss], [K.update(w, w - 0.1 * K.gradients(loss, [w])[0])])
for _ in range(3):
    step([[[1., 2.]]])
assert step.engine.name == 'torch' if hasattr(step, 'engine') else True
assert settings() == before, (settings(), before)
assert 'jax' not in __import__('sys').modules
print('polite')
"""


def test_no_setting_of_the_library_changes(tmp_path: Path) -> None:
    done = run_python(SETTINGS, tmp_path, {"KERAS_BACKEND": "torch"})
    assert done.stdout.endswith("polite\n"), done.stderr


@pytest.mark.parametrize("enabled", [True, False])
def test_the_mode_of_differentiation_stays(enabled: bool) -> None:
    x, index = K.placeholder((2,)), K.placeholder((1,), dtype="int32")
    run = K.function([x, index], [K.gather(x, index)])
    with torch.set_grad_enabled(enabled):
        run([np.ones(2, "float32"), [0]])
        assert torch.is_grad_enabled() == enabled
        with pytest.raises(EvaluationError):
            run([np.ones(2, "float32"), [7]])
        assert torch.is_grad_enabled() == enabled


def test_a_default_device_does_not_matter() -> None:
    x = K.placeholder((None, 3))
    run = K.function([x], [K.zeros_like(x) + K.sum(x), K.dropout(x, 0.5, seed=1)])
    with torch.device("meta"):
        assert run([np.ones((2, 3), "float32")])[0].tolist() == [[6, 6, 6], [6, 6, 6]]


def test_devices_begin_with_the_one_in_use() -> None:
    first, *rest = engine.devices()
    assert engine.from_numpy(np.ones(1)).device == torch.device(first)
    assert rest == ([] if first == "cpu" else ["cpu"])


# --- torch.compile -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # what the compiler itself uses
@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "cl"))), reason="there is no C++ compiler"
)
def test_graphs_through_the_compiler() -> None:
    x = K.placeholder((None, 4))
    w = K.variable(RNG.normal(size=(4, 4)))
    loss = K.mean(K.square(K.relu(K.dot(x, w)) - K.sigmoid(x)))
    parts = [loss, *K.gradients(loss, [w])]
    run = K.function([x], parts, engine="torch.compile")
    plain = K.function([x], parts)
    for rows in (3, 5, 7):
        array = RNG.normal(size=(rows, 4)).astype("float32")
        for got, expected in zip(run([array]), plain([array]), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_the_compiler_is_refused_where_it_would_end_the_process(tmp_path: Path) -> None:
    """Triton behind TensorFlow: both are stood in for."""
    (tmp_path / "triton").mkdir()
    code = """
import sys
sys.modules["tensorflow"] = object()
import numpy as np
from kameleon import backend as K
from kameleon.errors import EngineError
x = K.variable(np.ones(3))
try:
    K.function([], [x + 1], engine="torch.compile")([])
except EngineError as error:
    print(error)
"""
    paths = f"{SOURCE}{os.pathsep}{tmp_path}"
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "numpy", "PYTHONPATH": paths})
    assert "import triton" in done.stdout, done.stderr


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_matrices_of_loops_lie_with_their_longer_axis_outside(
    shape: tuple[int, int], turned: bool
) -> None:
    x = torch.arange(float(shape[0] * shape[1])).view(shape[::-1] if turned else shape)
    x = x.T if turned else x
    found = upright(x)
    assert torch.equal(found, x)
    longer = int(shape[1] > shape[0])
    assert shape[0] == shape[1] or found.stride(longer) == min(shape)
    assert shape[0] != shape[1] or found is x


@pytest.mark.parametrize(("family", "rows"), [(26, 1), (26, 90), (26, None), (25, 90)])
def test_large_products_by_onednn(
    family: int, rows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on machines where they're faster; small ones stay PyTorch's."""
    if not products.LINEAR.holds:
        pytest.skip("PyTorch has no oneDNN here")
    monkeypatch.setattr(products, "amd_family", lambda: family)
    large = []
    linear = products._linear
    monkeypatch.setattr(products, "_linear", lambda *given: large.append(1) or linear(*given))
    x, w = K.placeholder((rows, 130)), K.variable(np.linspace(-1, 1, 130 * 120).reshape(130, 120))
    row, number = K.variable(np.arange(120.0)), K.variable(3.0)
    y = K.dot(x, w)
    outputs = [y, y * 2 + row, K.exp(y * 0.01) + K.dot(x, w + 1), K.dot(x, w - 1) + number]
    outputs += K.gradients(K.sum(K.square(y)), [w, x])
    array = np.linspace(0, 1, (rows or 90) * 130, dtype="float32").reshape(-1, 130)
    run = K.function([x], outputs, [(w, w * 0.5 + outputs[4] * 0.0)])
    found = [z for _ in range(2) for z in run([array])]
    assert bool(large) == (family == 26 and rows != 1)
    K.set_value(w, np.linspace(-1, 1, 130 * 120).reshape(130, 120))
    given = K.function([x], outputs, [(w, w * 0.5 + outputs[4] * 0.0)], engine="numpy")
    wanted = [z for _ in range(2) for z in given([array])]
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-4)
