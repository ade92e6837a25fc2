"""Random tensors: the exact definition of a draw, streams, distributions, arguments.

Statistical tests use fixed seeds, so they give the same verdict every time; their thresholds
would fail a right generator less than once in ten thousand seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.expansion import expanded_numpy
from _support.threefry import reference_block, reference_words
from scipy import special, stats

from kameleon import backend as K
from kameleon.errors import ArgumentError, DTypeError, EvaluationError, ShapeError
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.types import as_dtype
from kameleon.graph.primitives import random as draws
from kameleon.runtime.engines import embedded
from kameleon.runtime.function import Function

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]
Draw = Callable[..., Any]

EXPANDED = expanded_numpy("random_bits", "random_fold")
ENGINES = [pytest.param(None, id="native"), pytest.param(EXPANDED, id="expanded")]
RARE = 1e-4


def values(x: Any, calls: int = 1, engine: Any = None) -> Array:
    """What a tensor gives in the last of some calls."""
    f = Function([], [x], engine=engine)
    return np.asarray([f([])[0] for _ in range(calls)][-1])


# --- the definition -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", [0, 1, 0xDEADBEEF, 2**32 - 1])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (7,), (3, 4), (0,), (2, 0), (5, 1, 3)])
def test_words(shape: tuple[int, ...], seed: int, engine: Any) -> None:
    words = draws.random_bits(draws.open_source(seed), shape)
    for call in (1, 2, 3):
        found = values(words, call, engine)
        assert found.dtype == "uint32" and found.shape == shape
        words = draws.random_bits(draws.open_source(seed), shape)  # a stream of its own
        expected = reference_words((seed, call - 1), int(np.prod(shape)))
        assert found.ravel().tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_published_words(engine: Any) -> None:
    """The published answer for key 0 and counter 0 is what seed 0 draws first."""
    words = draws.random_bits(draws.open_source(0), (2,))
    assert [f"{w:08x}" for w in values(words, engine=engine)] == ["6b200159", "99ba4efe"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sizes", [(5,), (2, 3), (0, 4)])
def test_words_of_sizes_known_at_run_time(sizes: tuple[int, ...], engine: Any) -> None:
    x = K.placeholder((None,) * len(sizes))
    words = draws.random_bits(draws.open_source(3), [K.shape(x)[i] for i in range(len(sizes))])
    found = Function([x], [words], engine=engine)([np.zeros(sizes, "float32")])[0]
    assert found.ravel().tolist() == reference_words((3, 0), int(np.prod(sizes)))


def test_uniforms_are_the_upper_bits_of_words() -> None:
    for dtype, bits in (("float32", 24), ("float16", 11)):
        expected = np.array(reference_words((9, 0), 50)) >> (32 - bits)
        found = K.eval(K.random_uniform((50,), dtype=dtype, seed=9))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, (expected * 2.0**-bits).astype(dtype))
    high, low = np.array(reference_words((9, 0), 100)).reshape(2, 50)
    expected = ((high >> 5) * 2.0**26 + (low >> 6)) * 2.0**-53
    np.testing.assert_array_equal(
        K.eval(K.random_uniform((50,), dtype="float64", seed=9)), expected
    )


def test_integers_are_pairs_of_words_modulo_the_span() -> None:
    high, low = np.array(reference_words((9, 0), 100)).reshape(2, 50)
    pairs = [(int(a) >> 1) * 2**32 + int(b) for a, b in zip(high, low, strict=True)]
    for minval, maxval, dtype in [
        (0, 10, "int32"),
        (-5, 1000, "int64"),
        (-(2**62), 2**62 - 1, "int64"),
    ]:
        found = K.eval(K.random_uniform((50,), minval, maxval, dtype=dtype, seed=9))
        assert found.dtype == dtype
        assert found.tolist() == [minval + pair % (maxval - minval) for pair in pairs]


def test_events_compare_words_with_a_threshold() -> None:
    words = np.array(reference_words((9, 0), 200))
    for p in (0.0, 2.0**-32, 0.25, 0.7, 1 - 2.0**-32, 1 - 2.0**-40, 1.0):
        found = K.eval(K.random_binomial((200,), p=p, dtype="int32", seed=9))
        assert found.tolist() == (words < round(p * 2**32)).astype(int).tolist()


@pytest.mark.parametrize("draw", [K.random_normal, K.truncated_normal])
@pytest.mark.parametrize("dtype, ulps", [("float32", 3), ("float64", 8)])
def test_normals_are_quantiles_of_midpoints(draw: Draw, dtype: str, ulps: int) -> None:
    n = 20_000
    u = K.eval(K.random_uniform((n,), dtype=dtype, seed=11)).astype("float64")
    step = 2.0**-24 if dtype == "float32" else 2.0**-53
    x = 2 * u - (1 - step)
    if draw is K.truncated_normal:
        x = (x.astype(dtype) * np.dtype(dtype).type(special.erf(2**0.5))).astype("float64")
    exact = np.where(np.abs(x) < 0.5, special.erfinv(x) * 2**0.5,
                     -np.sign(x) * special.ndtri((1 - np.abs(x)) / 2))  # fmt: skip
    found = K.eval(draw((n,), dtype=dtype, seed=11))
    assert found.dtype == dtype
    error = np.abs(found - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert error.max() < ulps


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "make",
    [
        lambda d: K.random_normal((1001,), dtype=d, seed=4),
        lambda d: K.truncated_normal((1001,), mean=3.0, dtype=d, seed=4),
        lambda d: K.random_uniform((1001,), -3.0, 7.0, dtype=d, seed=4),
        lambda d: K.random_binomial((1001,), p=0.3, dtype=d, seed=4),
        lambda d: K.dropout(K.ones((1001,), dtype=d), 0.3, seed=4),
    ],
    ids=["normal", "truncated", "uniform", "binomial", "dropout"],
)
def test_expansions_give_the_same_bits(make: Draw, dtype: str) -> None:
    native, expanded = values(make(dtype), engine=embedded()), values(make(dtype), engine=EXPANDED)
    assert native.dtype == dtype
    assert native.tobytes() == expanded.tobytes()


def test_extreme_midpoints() -> None:
    """The ends of the range: finite, symmetric, and two deviations at most where truncated."""
    from kameleon.graph.primitives.quantile import normal_quantile

    for dtype, step, most in (("float32", 2.0**-24, 5.42), ("float64", 2.0**-53, 8.3)):
        x = K.placeholder((None,), dtype=dtype)
        ends = np.array([-1 + step, -step, step, 1 - step], dtype)
        low, below, above, high = K.function([x], [normal_quantile(x)])([ends])[0]
        assert low == -high and below == -above and 0 < above < 1e-6
        assert most - 0.1 < high < most
        truncated = np.asarray(ends * np.dtype(dtype).type(draws.ERF_ROOT_TWO))
        assert K.function([x], [normal_quantile(x)])([truncated])[0].max() <= 2


def test_quantile_has_a_gradient() -> None:
    from kameleon.graph.primitives.quantile import normal_quantile

    x = K.variable([-0.9999, -0.7, 0.0, 0.3, 0.999], dtype="float64")
    z = normal_quantile(x)
    slope = K.eval(K.gradients(K.sum(z), [x])[0])
    np.testing.assert_allclose(slope, 0.5 / stats.norm.pdf(K.eval(z)), rtol=1e-12)


# --- streams ------------------------------------------------------------------------------------

DRAWS: dict[str, Draw] = {
    "random_normal": lambda seed=None: K.random_normal((20,), seed=seed),
    "random_uniform": lambda seed=None: K.random_uniform((20,), seed=seed),
    "random_uniform of integers": lambda seed=None: K.random_uniform(
        (20,), 0, 10**6, dtype="int32", seed=seed
    ),
    "random_binomial": lambda seed=None: K.random_binomial((64,), p=0.5, seed=seed),
    "truncated_normal": lambda seed=None: K.truncated_normal((20,), seed=seed),
    "dropout": lambda seed=None: K.dropout(K.ones((64,)), 0.5, seed=seed),
    "random_normal_variable": lambda seed=None: K.random_normal_variable((20,), 0, 1, seed=seed),
    "random_uniform_variable": lambda seed=None: K.random_uniform_variable((20,), 0, 1, seed=seed),
}
EACH = pytest.mark.parametrize("make", DRAWS.values(), ids=list(DRAWS))


@EACH
def test_equal_seeds_give_equal_numbers(make: Draw) -> None:
    np.testing.assert_array_equal(K.eval(make(5)), K.eval(make(5)))
    assert (K.eval(make(5)) != K.eval(make(6))).any()


@EACH
def test_without_a_seed_numpys_generator_decides(make: Draw) -> None:
    np.random.seed(123)
    first, second = K.eval(make()), K.eval(make())
    assert (first != second).any()
    np.random.seed(123)
    np.testing.assert_array_equal(K.eval(make()), first)
    np.testing.assert_array_equal(K.eval(make()), second)


@EACH
def test_seeds_count_modulo_two_to_the_32(make: Draw) -> None:
    np.testing.assert_array_equal(K.eval(make(7)), K.eval(make(7 + 2**32)))
    np.testing.assert_array_equal(K.eval(make(-1)), K.eval(make(2**32 - 1)))
    np.testing.assert_array_equal(K.eval(make(np.int64(7))), K.eval(make(7)))


@pytest.mark.parametrize("name", [name for name in DRAWS if "variable" not in name])
def test_each_evaluation_draws_anew(name: str) -> None:
    x = DRAWS[name](5)
    assert (K.eval(x) != K.eval(x)).any()
    f, g = K.function([], [x]), K.function([], [x * 1])
    drawn = [f([])[0], g([])[0], f([])[0]]  # one stream, whoever calls
    again = DRAWS[name](5)
    h = K.function([], [again])
    np.testing.assert_array_equal([h([])[0] for _ in range(5)][2:], drawn)


def test_one_tensor_has_one_value_in_a_call() -> None:
    x = K.random_normal((10,), seed=1)
    a, b, difference = K.function([], [x, x * 1, x - x])([])
    np.testing.assert_array_equal(a, b)
    assert not difference.any()


def test_two_tensors_without_seeds_differ_in_a_call() -> None:
    a, b = K.function([], [K.random_normal((10,)), K.random_normal((10,))])([])
    assert (a != b).all()


def test_a_call_that_fails_draws_nothing() -> None:
    x = K.placeholder((None,), dtype="int32")
    r = K.random_uniform((3,), seed=8)
    f = K.function([x], [r, K.gather(K.constant([1.0, 2.0]), x)])
    first = f([[0, 1]])[0]
    with pytest.raises(EvaluationError):
        f([[7]])
    second = f([[1]])[0]
    again = K.random_uniform((3,), seed=8)
    np.testing.assert_array_equal([K.eval(again), K.eval(again)], [first, second])


def test_random_variables_keep_their_value() -> None:
    v = K.random_normal_variable((3, 2), 1.0, 2.0, dtype="float64", name="start", seed=3)
    assert K.is_variable(v) and K.dtype(v) == "float64" and v.name.startswith("start")
    np.testing.assert_array_equal(K.eval(v), K.eval(v))
    drawn = K.eval(K.random_normal((3, 2), 1.0, 2.0, dtype="float64", seed=3))
    np.testing.assert_array_equal(K.eval(v), drawn)
    w = K.random_uniform_variable((4,), -2, 5, seed=3)
    np.testing.assert_array_equal(K.eval(w), K.eval(K.random_uniform((4,), -2, 5, seed=3)))


# --- loops --------------------------------------------------------------------------------------


def test_steps_of_a_recurrence_draw_different_numbers() -> None:
    x = K.zeros((2, 6, 3))

    def step(now: Node, states: list[Node]) -> tuple[Node, list[Node]]:
        noisy = now + K.random_uniform((2, 3), seed=1)
        return noisy, [noisy]

    _, outputs, _ = K.rnn(step, x, [K.zeros((2, 3))])
    f = K.function([], [outputs])
    first, second = f([])[0], f([])[0]
    assert len(np.unique(np.concatenate([first, second]))) == 2 * 36
    for t in range(6):
        key = reference_block((1, 0), t, 2**32 - 1)
        expected = (np.array(reference_words(key, 6)) >> 8) * 2.0**-24
        np.testing.assert_array_equal(first[:, t].ravel(), expected.astype("float32"))


def test_loops_run_alike_without_native_rules() -> None:
    x = K.zeros((4, 3))
    noisy = [K.map_fn(lambda row: row + K.random_normal((3,), seed=2), x) for _ in range(2)]
    native = values(noisy[0], engine=embedded())
    expanded = values(noisy[1], engine=EXPANDED)
    np.testing.assert_array_equal(native, expanded)
    assert len(np.unique(native)) == 12


def test_dropout_masks_differ_from_step_to_step() -> None:
    x = K.ones((1, 8, 50))

    def step(now: Node, states: list[Node]) -> tuple[Node, list[Node]]:
        return K.dropout(now, 0.5, seed=3), states

    _, outputs, _ = K.rnn(step, x, [K.zeros((1, 50))])
    masks = values(outputs)[0]
    assert len({mask.tobytes() for mask in masks}) == 8


# --- distributions ------------------------------------------------------------------------------

N = 200_000
LAWS: dict[str, tuple[Draw, Any]] = {
    "uniform": (lambda **k: K.random_uniform((N,), -3.0, 5.0, **k), stats.uniform(-3, 8)),
    "normal": (lambda **k: K.random_normal((N,), 2.0, 0.5, **k), stats.norm(2, 0.5)),
    "truncated": (
        lambda **k: K.truncated_normal((N,), -1.0, 3.0, **k),
        stats.truncnorm(-2, 2, -1, 3),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 1, 2**31])
@pytest.mark.parametrize("draw, law", LAWS.values(), ids=list(LAWS))
def test_distributions(draw: Draw, law: Any, seed: int, dtype: str) -> None:
    x = K.eval(draw(dtype=dtype, seed=seed)).astype("float64")
    assert stats.kstest(x, law.cdf).pvalue > RARE
    mean, variance = law.mean(), law.var()
    fourth = float(law.moment(4)) - 4 * mean * float(law.moment(3))
    fourth += 6 * mean**2 * float(law.moment(2)) - 3 * mean**4
    assert abs(x.mean() - mean) < 4 * (variance / N) ** 0.5
    assert abs(x.var() - variance) < 4 * ((fourth - variance**2) / N) ** 0.5


def test_float16_follows_the_law_as_far_as_it_can() -> None:
    x = K.eval(K.random_normal((N,), dtype="float16", seed=1)).astype("float64")
    assert abs(x.mean()) < 0.01 and abs(x.std() - 1) < 0.01
    assert 4 < np.abs(x).max() < 5.5  # drawn in float32: the tails are there


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_binomial_counts(p: float, seed: int) -> None:
    count = int(K.eval(K.random_binomial((N,), p=p, dtype="int64", seed=seed)).sum())
    assert stats.binomtest(count, N, p).pvalue > RARE


@pytest.mark.parametrize("span", [2, 3, 7, 100, 1000])
def test_integers_are_uniform(span: int) -> None:
    x = K.eval(K.random_uniform((N,), -5, span - 5, dtype="int32", seed=span))
    counts = np.bincount(x + 5, minlength=span)
    assert len(counts) == span
    assert stats.chisquare(counts).pvalue > RARE


def test_neighbours_seeds_and_calls_are_unrelated() -> None:
    streams = [K.random_normal((N,), seed=seed) for seed in (0, 1, 2, 2**31, 2**32 - 1)]
    drawn = [K.eval(s) for s in streams] + [K.eval(s) for s in streams]
    rows = np.stack(drawn)
    correlations = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(correlations).max() < 5 / N**0.5
    for lag in (1, 2, 1000, N // 2):  # N // 2: the second words lie there
        for row in rows:
            assert abs(np.corrcoef(row[:-lag], row[lag:])[0, 1]) < 5 / (N - lag) ** 0.5


def test_pairs_fill_the_square() -> None:
    x = K.eval(K.random_uniform((N, 2), seed=4))
    counts, *_ = np.histogram2d(*x.T, bins=20, range=[[0, 1], [0, 1]])
    assert stats.chisquare(counts.ravel()).pvalue > RARE


# --- arguments ----------------------------------------------------------------------------------

NORMALS = pytest.mark.parametrize("draw", [K.random_normal, K.truncated_normal])
FUNCTIONS = [K.random_normal, K.truncated_normal, K.random_uniform, K.random_binomial]


@pytest.mark.parametrize("draw", FUNCTIONS)
def test_shapes(draw: Draw) -> None:
    x = K.placeholder((None, 4))
    assert K.int_shape(draw((2, 3))) == K.int_shape(draw([2, np.int64(3)])) == (2, 3)
    assert K.int_shape(draw(())) == () and K.eval(draw(())).shape == ()
    assert K.eval(draw((0, 3))).shape == (0, 3)
    assert K.int_shape(draw(K.shape(x))) == K.int_shape(draw((K.shape(x)[0], 4))) == (None, 4)
    f = K.function([x], [draw(K.shape(x)), draw((K.shape(x)[0], 2))])
    assert [v.shape for v in f([np.zeros((5, 4))])] == [(5, 4), (5, 2)]


@pytest.mark.parametrize("draw", FUNCTIONS)
def test_wrong_shapes_are_refused(draw: Draw) -> None:
    name = draw.__name__
    with pytest.raises(ShapeError, match=f"{name}: sizes must not be negative"):
        draw((-1, 2))
    with pytest.raises(ShapeError, match=f"{name}: shape .* has a None"):
        draw((None, 2))
    with pytest.raises(ShapeError, match=name):
        draw((2.5, 2))
    n = K.placeholder((), dtype="int32")
    with pytest.raises(EvaluationError, match=r"must not be negative, got \(2, -3\)"):
        K.function([n], [draw((2, n))])([-3])


@pytest.mark.parametrize("draw", FUNCTIONS)
def test_wrong_seeds_are_refused(draw: Draw) -> None:
    with pytest.raises(ArgumentError, match=f"{draw.__name__}: seed"):
        draw((2,), seed=1.5)


@pytest.mark.parametrize("draw", FUNCTIONS)
def test_default_dtype_is_floatx(draw: Draw) -> None:
    assert K.dtype(draw((2,))) == "float32"
    K.set_floatx("float64")
    assert K.dtype(draw((2,))) == "float64"


@NORMALS
def test_normals_of_integers_are_refused(draw: Draw) -> None:
    with pytest.raises(DTypeError, match=f"{draw.__name__} draws floats, not int32"):
        draw((2,), dtype="int32")
    with pytest.raises(ArgumentError, match="stddev must be a number"):
        draw((2,), stddev="wide")


@NORMALS
def test_parameters_may_be_tensors(draw: Draw) -> None:
    mean, deviation = K.variable([[10.0], [20.0]]), K.variable([1.0, 2.0, 3.0])
    x = draw((2, 3), mean, deviation, seed=6)
    z = K.eval(draw((2, 3), seed=6))
    found, *slopes = K.function([], [x, *K.gradients(K.sum(x), [mean, deviation])])([])
    np.testing.assert_allclose(found, [[10], [20]] + np.array([1, 2, 3]) * z, rtol=1e-6)
    np.testing.assert_array_equal(slopes[0], [[3], [3]])
    again = draw((2, 3), seed=6)
    K.eval(again)
    assert slopes[1].shape == (3,)
    np.testing.assert_allclose(slopes[1], z.sum(axis=0), rtol=1e-6)


def test_uniform_bounds_may_be_tensors() -> None:
    low = K.placeholder((None, 1))
    x = K.random_uniform((K.shape(low)[0], 500), low, low + 1.0, seed=1)
    found = K.function([low], [x])([[[0], [10], [-5]]])[0]
    assert np.floor(found).tolist() == [[0] * 500, [10] * 500, [-5] * 500]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("low, high", [(1, 2), (-2, -1), (1000, 1001), (-1, 1e-3), (0.1, 0.3),
                                       (1, 1 + 2e-3), (2, 1)])  # fmt: skip
def test_the_upper_bound_does_not_occur(low: float, high: float, dtype: str) -> None:
    x = K.eval(K.random_uniform((2**18,), low, high, dtype=dtype, seed=2))
    a, b = (np.dtype(dtype).type(v) for v in (low, high))
    assert (x != b).all()
    assert min(a, b) <= x.min() and x.max() <= max(a, b)


def test_rounding_up_to_the_bound_gives_the_lower_one() -> None:
    from kameleon.backend.random import _uniform_between

    u = K.constant([0.0, 0.5, 1 - 2.0**-24])
    found = K.eval(_uniform_between(u, 1.0, 2.0, as_dtype("float32")))
    assert found.tolist() == [1.0, 1.5, 1.0]
    assert K.eval(_uniform_between(u, 3.0, 3.0, as_dtype("float32"))).tolist() == [3.0] * 3


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_integer_bounds_up_to_the_limits(dtype: str) -> None:
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max) + 1
    if dtype == "int64":
        low, high = 0, 2**63 - 1
    x = K.eval(K.random_uniform((100_000,), low, high, dtype=dtype, seed=1))
    assert x.dtype == dtype
    share = (high - low) // 50
    assert x.min() < low + share and x.max() >= high - share
    assert (x == K.eval(K.random_uniform((100_000,), low, high, dtype=dtype, seed=1))).all()


@pytest.mark.parametrize(
    "low, high", [(0, 0), (3, 1), (0, 257), (-1, 5), (0, 2**70)],
)  # fmt: skip
def test_integer_bounds_that_make_no_sense(low: int, high: int) -> None:
    with pytest.raises(ArgumentError, match="random_uniform: bounds"):
        K.random_uniform((2,), low, high, dtype="uint8")


@pytest.mark.parametrize("low, high", [(0, np.inf), (-np.inf, 0), (np.nan, 1)])
def test_bounds_that_are_not_finite_are_refused(low: float, high: float) -> None:
    with pytest.raises(ArgumentError, match=r"m..val is .*; expected a finite number"):
        K.random_uniform((2,), low, high)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("low, high, drawn", [(0, np.inf, np.inf), (0, -np.inf, -np.inf)])
def test_bounds_of_tensors_may_be_infinite(
    low: float, high: float, drawn: float, engine: Any
) -> None:
    x = K.random_uniform((4,), low, K.constant(high), seed=1)
    np.testing.assert_array_equal(values(x, engine=engine), np.full(4, drawn))


def test_wide_integer_ranges_are_refused() -> None:
    with pytest.raises(ArgumentError, match="apart"):
        K.random_uniform((2,), -(2**63), 2**63, dtype="int64")
    with pytest.raises(ArgumentError, match="int64"):
        K.random_uniform((2,), 2**63, 2**64, dtype="uint64")


def test_float_bounds_of_integers_are_refused() -> None:
    with pytest.raises(TypeError, match=r"maxval must be an int for dtype int32, not 1\.0"):
        K.random_uniform((2,), 0, dtype="int32")
    with pytest.raises(DTypeError, match="bool"):
        K.random_uniform((2,), dtype="bool")


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), "half"])
def test_wrong_probabilities_are_refused(p: Any) -> None:
    with pytest.raises(ArgumentError, match="random_binomial: p"):
        K.random_binomial((2,), p=p)


def test_probability_as_a_tensor() -> None:
    p = K.placeholder(())
    f = K.function([p], [K.random_binomial((10_000,), p=p, seed=1)])
    assert [round(float(f([v])[0].mean()), 1) for v in (0.0, 0.2, 0.9, 1.0)] == [0, 0.2, 0.9, 1]


def test_steps_of_a_while_loop_draw_different_numbers() -> None:
    """In the body as in the condition, and anew in each call."""

    def step(i: Any, x: Any) -> list[Any]:
        return [i + 1, K.concatenate([x[1:], K.random_uniform((1,), seed=3)], axis=0)]

    start = [K.constant(0, "int32"), K.zeros((3,))]
    _, x = K.while_loop(lambda i, x: i < 3, step, start)
    f = K.function([], [x])
    drawn = np.concatenate([f([])[0], f([])[0]])
    assert len(set(drawn.tolist())) == 6
    (steps,) = K.while_loop(
        lambda i: K.random_uniform((), seed=5) < 0.9, lambda i: [i + 1], [K.constant(0, "int32")]
    )
    counts = {int(K.eval(steps)) for _ in range(20)}
    assert len(counts) > 3
