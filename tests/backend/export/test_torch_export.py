"""`.pt2` files: what is computed from them with PyTorch alone, against NumPy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

if "torch" not in engines_under_test():
    pytest.skip("needs the package torch", allow_module_level=True)

import kameleon
from kameleon import backend as K
from kameleon.backend.export import torch_export
from kameleon.backend.interop.pure import Stateless
from kameleon.errors import UnsupportedError

Array = np.ndarray[Any, Any]
TOLERANCE = {"float16": 4e-3, "float32": 5e-6, "float64": 1e-12}


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype("float32")


def reloaded(function: Any, path: Path) -> Callable[[Sequence[Any]], list[Array]]:
    """What the file of a function computes."""
    torch_export.write(Stateless(function, "export"), str(path))
    space: dict[str, Any] = {}
    exec(torch_export.RELOAD, space)
    return space["load"](str(path))  # type: ignore[no-any-return]


def assert_close(found: Any, expected: Any, rtol: float = 2e-6) -> None:
    expected = np.asarray(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    finite = expected[np.isfinite(expected)] if expected.dtype.kind == "f" else expected
    scale = float(np.max(np.abs(finite), initial=0)) if rtol else 0
    np.testing.assert_allclose(found, expected, rtol, rtol * scale)


# Programs ----------------------------------------------------------------------------------------

Made = tuple[Any, list[list[Array]]]


def _step(loss: Any, variables: list[Any]) -> list[tuple[Any, Any]]:
    return [(v, v - 0.1 * g) for v, g in zip(variables, K.gradients(loss, variables), strict=True)]


def _mlp() -> Made:
    x, t = K.placeholder((None, 5)), K.placeholder((None,), dtype="int32")
    w, b, u = (K.variable(normal(*s)) for s in ((5, 7), (7,), (7, 3)))
    y = K.dot(K.relu(K.bias_add(K.dot(x, w), b)), u)
    loss = K.mean(K.sparse_categorical_crossentropy(t, y, from_logits=True))
    data = [[normal(n, 5), np.arange(n, dtype="int32") % 3] for n in (6, 1, 9)]
    return K.function([x, t], [loss, K.softmax(y)], _step(loss, [w, b, u])), data


def _images() -> Made:
    x = K.placeholder((None, None, None, 2))
    k = K.variable(normal(3, 3, 2, 4))
    y = K.pool2d(K.relu(K.conv2d(x, k, padding="same")), (2, 2), (2, 2))
    loss = K.sum(K.square(y))
    data = [[normal(*shape, 2)] for shape in ((2, 8, 6), (3, 9, 7), (1, 4, 5))]
    return K.function([x], [loss], _step(loss, [k])), data


def _sequences() -> Made:
    x = K.placeholder((None, None, 3))
    w, u = K.variable(normal(3, 4) / 2), K.variable(normal(4, 4) / 2)

    def step(x: Any, states: Any) -> Any:
        h = K.tanh(K.dot(x, w) + K.dot(states[0], u))
        return h, [h]

    last, steps, _ = K.rnn(step, x, [K.zeros_like(K.dot(x[:, 0], w))])
    loss = K.mean(K.square(steps))
    return K.function([x], [last, loss], _step(loss, [w, u])), [
        [normal(*shape, 3)] for shape in ((2, 5), (4, 9), (3, 1))
    ]


def _sizes_in_loops() -> Made:
    """A step reads a size of what is outside of the loop."""
    x = K.placeholder((None, None, 4))
    u, rows = K.variable(normal(4, 4) / 2), K.shape(x)[0]

    def step(row: Any, states: Any) -> Any:
        most = K.tile(K.max(states[0], 0, keepdims=True), [rows, 1])
        h = K.tanh(row + K.dot(states[0], u) + most)
        return h, [h]

    last, _, _ = K.rnn(step, x, [K.zeros_like(x[:, 0])])
    return K.function([x], [last]), [[normal(*shape, 4)] for shape in ((2, 5), (4, 9))]


def _pairs() -> Made:
    x, y = K.placeholder((None, 3)), K.placeholder((None, 3))
    return K.function([x, y], [x + y]), [[normal(n, 3), normal(n, 3, seed=1)] for n in (4, 2, 30)]


def _branches() -> Made:
    x, phase = K.placeholder((None, 3)), K.learning_phase()
    y = K.switch(K.sum(x) > 0, lambda: x * 2, lambda: x - 1)
    y = K.in_train_phase(lambda: K.dropout(y, 0.5), lambda: y)
    return K.function([x, phase], [y]), [
        [sign * np.abs(normal(n, 3)), np.int32(p)]
        for n, sign, p in ((4, 1, 0), (2, -1, 1), (3, 1, 1))
    ]


def _statistics() -> Made:
    x = K.placeholder((None, 3))
    mean, count = K.variable(np.zeros(3)), K.variable(0, "int64")
    updates = [K.moving_average_update(mean, K.mean(x, 0), 0.9), K.update_add(count, 1)]
    return K.function([x], [x - mean], updates), [[normal(n, 3)] for n in (4, 2)]


def _count() -> Made:
    count = K.variable(0.0)
    return K.function([], [count * 2.0], [K.update_add(count, 1.0)]), [[], []]


PROGRAMS = {
    "mlp": _mlp,
    "images": _images,
    "sequences": _sequences,
    "sizes in loops": _sizes_in_loops,
    "pairs": _pairs,
    "branches": _branches,
    "statistics": _statistics,
    "without inputs": _count,
}


def test_open_sizes_that_meet_stay_open(tmp_path: Path) -> None:
    """Neither is taken for a number, nor does the file hold arrays of such sizes."""
    x, y = K.placeholder((None, None)), K.placeholder((None, None))
    run = reloaded(K.function([x, y], [x + y]), tmp_path / "a.pt2")
    for shape in ((4, 3), (2, 7)):
        assert_close(run([normal(*shape), normal(*shape)])[0], 2 * normal(*shape))
    assert (tmp_path / "a.pt2").stat().st_size < 20_000


def test_sizes_that_would_be_stretched_are_refused(tmp_path: Path) -> None:
    """Also where nothing but the size of another input is asked for."""
    x, y = K.placeholder((None, 3)), K.placeholder((None, 3))
    run = reloaded(K.function([x, y], [x + K.zeros_like(y)]), tmp_path / "a.pt2")
    assert_close(run([normal(4, 3), normal(4, 3)])[0], normal(4, 3))
    with pytest.raises(RuntimeError, match=r"to be equal to|Guard failed"):
        run([normal(1, 3), normal(4, 3)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, tmp_path: Path) -> None:
    """Each call is made with the first values of variables; random streams go on."""
    function, data = PROGRAMS[name]()
    variables = [v for v, _ in function.compiled.program.updates]
    start = [K.get_value(v) for v in variables]
    run = reloaded(function, tmp_path / "a.pt2")
    for given in data:
        expected = [*function(given), *map(K.get_value, variables)]
        for found, want in zip(run(given), expected, strict=True):
            assert_close(found, want)
        K.batch_set_value(list(zip(variables, start, strict=True)))


def test_files_need_pytorch_alone(tmp_path: Path) -> None:
    function, data = _mlp()
    reloaded(function, tmp_path / "a.pt2")
    np.savez(tmp_path / "a.npz", *data[0])
    code = f"""if True:
        import sys, numpy as np
        {torch_export.RELOAD.replace(chr(10), chr(10) + " " * 8)}
        given = np.load(r"{tmp_path / "a.npz"}")
        found = load(r"{tmp_path / "a.pt2"}")([given[k] for k in given])
        assert not any(name.startswith("kameleon") for name in sys.modules)
        np.savez(r"{tmp_path / "b.npz"}", *found)
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env={"PATH": ""})
    with np.load(tmp_path / "b.npz") as found:
        for name, want in zip(found, function(data[0]), strict=False):
            assert_close(found[name], want)


def test_what_cant_be_followed_is_refused(tmp_path: Path) -> None:
    x = K.placeholder((None, 4))
    doubled = kameleon.call(lambda a: np.asarray(a) * 2, x, "numpy", shapes=(None, 4))
    decoded = K.ctc_decode(K.placeholder((2, 5, 4)), np.array([5, 5]))
    for function, message in (
        (
            K.function([x], doubled),
            r"can't hold call: it isn't made of PyTorch's(.|\n)*test_torch_export.py",
        ),
        (K.function([_placeholder_of(decoded)], decoded[0]), "ctc_greedy"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            reloaded(function, tmp_path / "a.pt2")
    assert not list(tmp_path.iterdir())


def _placeholder_of(decoded: Any) -> Any:
    from kameleon.graph.ir.node import walk

    return next(n for n in walk([decoded[0][0]], set()) if n.primitive.name == "input")
