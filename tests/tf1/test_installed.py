"""Functions of the installed TensorFlow on K tensors: values, gradients and shapes are its own."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kameleon import backend as K
from kameleon.calls import libraries
from kameleon.config import installed
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, DTypeError, MissingLibraryError, MissingNameError
from kameleon.ir.program import Graph
from kameleon.tf1.advice import HINTS, OTHERWISE
from kameleon.tf1.installed import names as own
from kameleon.tf1.installed.table import FUNCTIONS, THINGS
from kameleon.tf1.modules import advice, module
from kameleon.tf1.names import NAMES
from kameleon.tf1.public import public as public_names
from kameleon.tf1.refusals import REFUSED
from kameleon.tf1.steps import function_at

from . import recorded

needs_tensorflow = pytest.mark.skipif(
    not installed("tensorflow"), reason="these are functions of TensorFlow's"
)

# Over the arrays of `recorded`; each with tensors, whose first size is unknown here.
CASES = """
tf.abs(tf.signal.rfft(m))
tf.math.real(tf.signal.rfft(t, [8]))
tf.abs(tf.fft2d(tf.cast(m, tf.complex64)))
tf.signal.irfft(tf.signal.rfft(m) * 2)
tf.abs(tf.signal.stft(v, 4, 2, window_fn=tf.signal.hamming_window))
tf.abs(tf.signal.stft(tf.tile(v, [4]), frame_length=8, frame_step=4))
tf.signal.inverse_stft(tf.signal.stft(tf.tile(v, [4]), 8, 4), 8, 4)
tf.signal.dct(m, norm='ortho')
tf.signal.idct(m, type=2)
tf.signal.frame(m, 2, 1, axis=1)
tf.signal.overlap_and_add(t, 2)
tf.signal.fftshift(m, axes=1)
tf.signal.mfccs_from_log_mel_spectrograms(p)
tf.matmul(p, tf.signal.linear_to_mel_weight_matrix(3, 4, 8000., 80., 3000.))
tf.real(tf.complex(m, q) * tf.conj(tf.complex(q, m)))
tf.qr(tf.transpose(t, [0, 2, 1]))
tf.svd(t, compute_uv=False)
tf.linalg.slogdet(definite)
tf.linalg.expm(square / 4.)
tf.linalg.pinv(t)
tf.linalg.lu(definite)
tf.linalg.normalize(m, axis=1)
tf.self_adjoint_eigvals(definite)
tf.matrix_triangular_solve(definite, right)
tf.cholesky_solve(tf.cholesky(definite), right)
tf.matrix_solve_ls(t, tf.ones([2, 3, 2]))
tf.matrix_square_root(definite)
tf.linalg.matrix_rank(definite)
tf.searchsorted(tf.sort(m), q)
tf.dynamic_stitch([[0, 2], [1, 3]], [n[:2], n[2:]])
tf.space_to_batch_nd(g, [2, 2], [[0, 0], [0, 0]])
tf.tensor_scatter_nd_update(m, [[0], [2]], q[:2])
tf.tensor_scatter_add(m, [[1], [1]], q[:2])
tf.unsorted_segment_mean(v, six, 3)
tf.unravel_index(counts, [2, 3])
tf.histogram_fixed_width(v, [-1., 1.], 4)
tf.is_non_decreasing(v)
tf.math.cumulative_logsumexp(m, 1)
tf.math.reduce_euclidean_norm(m, 1)
tf.math.zero_fraction(whole)
tf.image.adjust_hue(colours, 0.1)
tf.image.adjust_gamma(colours, 0.5)
tf.image.rgb_to_hsv(colours)
tf.image.hsv_to_rgb(colours)
tf.image.central_crop(image, 0.5)
tf.image.convert_image_dtype(picture, tf.float32)
tf.image.rot90(image, 3)
tf.image.ssim(colours, colours * 0.5, 1., filter_size=3)
tf.image.psnr(colours, colours * 0.5, 1.)
tf.image.total_variation(x)
tf.image.sobel_edges(x)
tf.image.image_gradients(x)
tf.image.resize_bicubic(x, [7, 9])
tf.image.resize_area(x, tf.shape(x)[1:3] + 1)
tf.image.resize_image_with_crop_or_pad(x, 4, 9)
tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')
tf.image.decode_png(tf.image.encode_png(picture), channels=3)
tf.image.draw_bounding_boxes(x, tf.reshape(boxes, [2, 2, 4]))
tf.nn.conv3d(volume, volume[0, :2, :2, :2, :, None], [1, 1, 1, 1, 1], 'SAME')
tf.nn.conv2d_transpose(g, tf.reshape(k, [3, 2, 3, 4]), [2, 12, 16, 3], [1, 2, 2, 1], 'SAME')
tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')[0]
tf.nn.depthwise_conv2d(x, tf.reshape(k, [3, 2, 3, 4]), [1, 1, 1, 1], 'SAME')
tf.nn.crelu(m)
tf.nn.dilation2d(x, tf.reshape(k[..., 0], [3, 2, 3]), [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.weighted_cross_entropy_with_logits(p, m, 2.)
tf.nn.log_poisson_loss(p, m)
tf.nn.sufficient_statistics(m, [0])
tf.nn.weighted_moments(m, [0], p)
tf.nn.pool(x, [2, 2], 'AVG', 'SAME')
tf.nn.batch_norm_with_global_normalization(g, g[0, 0, 0], p[0], p[1], p[2], 1e-3, True)
tf.nn.ctc_greedy_decoder(t, [2, 2, 2])[1]
tf.sparse.to_dense(tf.nn.ctc_greedy_decoder(t, [2, 2, 1], merge_repeated=False)[0][0], -1)
tf.fake_quant_with_min_max_args(m)
tf.quantization.quantize_and_dequantize(m, -2., 2., range_given=True)
tf.random.stateless_uniform([3], [1, 2]) * v[:3]
tf.sparse.to_dense(tf.sparse.softmax(tf.sparse.from_dense(p)))
tf.sparse_tensor_dense_matmul(tf.sparse.from_dense(m), n)
tf.strings.length(tf.as_string(whole))
tf.string_to_number(tf.as_string(whole))
tf.ragged.constant([[1., 2.], [3.]]).to_tensor() * m[:2, :2]
tf.string_to_hash_bucket_fast(tf.as_string(six), 10)
tf.strings.unicode_decode(['a', 'bc'], 'UTF-8').to_tensor() * whole[:, :2]
""".strip().splitlines()
# Where a result isn't settled by what it means: bases and signs of vectors, places among equals.
ANY = {"tf.qr(tf.transpose(t, [0, 2, 1]))"}
# Where less is known of sizes than TensorFlow knows: the size of a sparse tensor that one call
# gives another is a tensor.
UNKNOWN = {"tf.sparse.to_dense(tf.sparse.softmax(tf.sparse.from_dense(p)))"}


def _flat(nest: Any) -> list[Any]:
    if isinstance(nest, (list, tuple)):
        return [y for part in nest for y in _flat(part)]
    return [] if nest is None else [nest]


@functools.cache
def theirs(case: str) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """What TensorFlow says of a case: static shapes, values, gradients by array."""
    import tensorflow as tf

    given = {n: x for n, x in recorded.GIVEN.items() if n in compile(case, case, "eval").co_names}
    specs = [tf.TensorSpec((None, *x.shape[1:]), x.dtype, name=n) for n, x in given.items()]

    def run(*tensors: Any) -> list[Any]:
        names = dict(zip(given, tensors, strict=True))
        return [tf.convert_to_tensor(y) for y in _flat(eval(case, {**names, "tf": tf.compat.v1}))]

    traced = tf.function(run, input_signature=specs, autograph=False).get_concrete_function()
    shapes = [y.shape for y in traced.structured_outputs]
    xs = [tf.constant(x) for x in given.values()]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        ys = run(*xs)
        total = sum(tf.reduce_sum(tf.cast(tf.sin(y), "float64")) for y in ys if y.dtype.is_floating)
    floats = {n: x for n, x in zip(given, xs, strict=True) if x.dtype.is_floating}
    try:
        slopes = tape.gradient(total, list(floats.values())) if tf.is_tensor(total) else []
    except LookupError:  # TensorFlow has none
        slopes = []
    found = zip(floats, slopes, strict=False)
    return shapes, [y.numpy() for y in ys], {n: g.numpy() for n, g in found if g is not None}


@pytest.fixture(scope="module")
def ours() -> Any:
    """What there is for all cases: the tensors given, results, and gradients by array."""
    pytest.importorskip("tensorflow")
    tensors = recorded.placeholders()
    built = []
    for case in CASES:
        ys = [K.tf.convert_to_tensor(y) for y in _flat(eval(case, {**tensors, "tf": K.tf}))]
        total = sum(K.sum(K.sin(K.cast(y, "float64"))) for y in ys if y.dtype.is_float)
        wanted = list(theirs(case)[2])
        slopes = K.gradients(total, [tensors[n] for n in wanted]) if wanted else []
        built.append((ys, dict(zip(wanted, slopes, strict=True))))
    return tensors, built


@needs_tensorflow
def test_values_and_gradients_are_tensorflows(engine: Engine, ours: Any) -> None:
    tensors, built = ours
    wanted = [y for ys, slopes in built for y in (*ys, *slopes.values())]
    values = iter(K.function(list(tensors.values()), wanted)(list(recorded.GIVEN.values())))
    wrong = []
    for case, (ys, slopes) in zip(CASES, built, strict=True):
        _, results, gradients = theirs(case)
        pairs = [(next(values), want) for _, want in zip(ys, results, strict=True)]
        pairs += [(next(values), gradients[n]) for n in slopes]
        for got, want in pairs:
            if got.dtype != want.dtype or got.shape != want.shape:
                wrong.append(f"{case}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
            elif case not in ANY and not np.allclose(got, want, rtol=1e-4, atol=1e-4):
                wrong.append(f"{case}: {got.ravel()[:4]}, not {want.ravel()[:4]}")
    assert not wrong, "\n".join(wrong)


@needs_tensorflow
def test_sizes_that_tensorflow_knows_are_known(ours: Any) -> None:
    for case, (ys, _) in zip(CASES, ours[1], strict=True):
        for y, shape in zip(ys, theirs(case)[0], strict=True):
            pairs = zip(K.int_shape(y), shape, strict=True)
            known = all(mine == size or size is None for mine, size in pairs)
            assert known or case in UNKNOWN, case


# The tables ----------------------------------------------------------------------------------


def test_functions_and_things_are_two_kinds() -> None:
    functions = public_names().functions
    assert functions.keys() >= FUNCTIONS
    assert not FUNCTIONS & THINGS
    assert all(n in functions or n in public_names().others for n in THINGS)


def test_what_is_over_k_goes_before() -> None:
    assert not own.names() & NAMES.keys()


@needs_tensorflow
def test_they_have_the_parameters_of_tensorflow_1() -> None:
    """What is passed on by name is there today, too."""
    for name in sorted(FUNCTIONS):
        parameters = inspect.signature(function_at(name)).parameters
        for parameter, *_ in public_names().functions[name].parameters:
            assert parameter in parameters, f"{name}: {parameter}"


@needs_tensorflow
def test_things_are_tensorflows_own() -> None:
    for name in sorted(THINGS & own.names()):
        assert own.found(name) is function_at(name)


def test_without_tensorflow_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "installed", lambda name: False)
    signal = module("tensorflow.signal")
    vars(signal).pop("rfft", None)
    with pytest.raises(
        MissingNameError, match=r"tf\.signal\.rfft works where TensorFlow is installed"
    ):
        signal.rfft  # noqa: B018
    assert not hasattr(signal, "rfft")
    with pytest.raises(MissingNameError, match=r"without it, use numpy\.linalg"):
        own.found("linalg.logm")


def test_of_every_public_name_it_is_said_what_to_use() -> None:
    public = public_names()
    every = {n for first, entry in public.functions.items() for n in (first, *entry.also)}
    lacking = (every | set(public.others)) - NAMES.keys() - own.names()
    assert not [name for name in sorted(lacking) if OTHERWISE in advice(name)]


def test_advice_is_of_names_that_tensorflow_has_and_that_arent_there() -> None:
    public = public_names()
    every = {n for first, entry in public.functions.items() for n in (first, *entry.also)}
    spaces = {name.rpartition(".")[0] for name in every | set(public.others)}
    outside = {
        "estimator",
        "contrib.tpu",
        "python_io",
        "contrib.distribute",
        "contrib.opt.ScipyOptimizerInterface",
    }
    assert set(HINTS) <= every | set(public.others) | spaces | outside
    assert HINTS.keys() & NAMES.keys() == set(REFUSED)


def test_constants_dtypes_and_enumerations_are_the_recorded_ones() -> None:
    tf = K.tf
    assert tf.saved_model.tag_constants.SERVING == "serve" and tf.data.experimental.AUTOTUNE == -1
    assert tf.VariableAggregation.MEAN.value == 2 and tf.dtypes.float32 is tf.float32
    assert tf.string.name == "string" and tf.complex64.is_complex and not tf.qint8.is_integer
    assert tf.complex128.real_dtype == tf.float64 and tf.string.real_dtype == tf.string
    assert tf.complex64.as_numpy_dtype is np.complex64
    with pytest.raises(DTypeError, match="NumPy has no resource"):
        tf.resource.as_numpy_dtype  # noqa: B018


# What no tensor holds ------------------------------------------------------------------------


@needs_tensorflow
def test_complex_numbers_and_strings_are_held_back() -> None:
    tf, x = K.tf, K.placeholder((None, 4))
    z = tf.signal.rfft(x)
    assert (z.shape.as_list(), z.dtype.is_complex) == ([None, 3], True)
    given = np.arange(8.0, dtype="float32").reshape(2, 4)
    with tf.Session() as session:
        found, words = session.run([z, tf.as_string(x)], {x: given})
    assert_allclose(found, np.fft.rfft(given), atol=1e-5)
    assert words[1, 0] == b"4.000000"
    for use in (lambda: K.sum(z), lambda: K.function([x], [z]), lambda: np.asarray(z)):
        with pytest.raises(TypeError, match=r"no tensor of Kameleon's.*tf.Session\(\).run"):
            use()


@needs_tensorflow
def test_constants_may_be_words() -> None:
    tf = K.tf
    with tf.Session() as session:
        assert session.run(tf.constant("Hello, TensorFlow!")) == b"Hello, TensorFlow!"
    assert K.eval(tf.strings.length(tf.constant(["one", "seven"]))).tolist() == [3, 5]


def test_without_tensorflow_words_and_complex_numbers_are_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libraries, "installed", lambda name: False)
    with pytest.raises(MissingLibraryError, match="tensorflow isn't installed"):
        K.tf.constant("a word")
    with pytest.raises(MissingLibraryError, match="pip install"):
        K.tf.cast(K.placeholder((2,)), K.tf.complex64)


@needs_tensorflow
def test_operators_of_what_is_held_back() -> None:
    tf, x = K.tf, K.placeholder((3,))
    z = tf.cast(x, tf.complex64)
    y = tf.real(tf.complex(x, x) * z - z / 2.0 + (-z)[0])
    value = np.array([1.0, -2.0, 0.5], "float32")
    want = value * value - value / 2 - value[0]
    assert_allclose(K.function([x], [y])([value])[0], want, rtol=1e-6)


@needs_tensorflow
def test_equal_calls_are_one() -> None:
    tf, x = K.tf, K.placeholder((3,))
    built = [tf.abs(tf.fft(tf.cast(x, tf.complex64))) for _ in range(2)]
    assert Graph([x], [built[0]]).key == Graph([x], [built[1]]).key
    assert Graph([x], [built[0]]).key != Graph([x], [tf.abs(tf.cast(x, tf.complex64))]).key


@needs_tensorflow
def test_functions_that_take_functions_and_functions_of_no_tensors() -> None:
    tf, x = K.tf, K.placeholder((None, 12))
    window = lambda n, dtype: tf.sqrt(tf.signal.hann_window(n, dtype=dtype))  # noqa: E731
    assert K.int_shape(tf.abs(tf.signal.stft(x, 4, 2, window_fn=window))) == (None, 5, 3)
    assert_allclose(K.eval(tf.signal.hann_window(4)), [0, 0.5, 1, 0.5], atol=1e-6)


@needs_tensorflow
def test_a_call_that_tensorflow_refuses_is_an_error_where_it_is_made() -> None:
    with pytest.raises(ArgumentError, match=r"tf\.signal\.rfft: ValueError: Dimension"):
        K.tf.signal.rfft(K.placeholder((3,)), [4, 5, 6])
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        K.tf.signal.rfft(K.placeholder((3,)), axis=1)


@needs_tensorflow
def test_results_bear_names() -> None:
    tf, x = K.tf, K.placeholder((3, 3))
    assert tf.linalg.expm(x, name="exponential").name.startswith("exponential")
