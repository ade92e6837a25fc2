"""Images at random, of unknown sizes, and what TensorFlow 1 refuses: on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
IMAGES = np.random.RandomState(0).rand(6, 5, 7, 3).astype("float32")


def _run(*tensors: Any) -> list[np.ndarray]:
    return K.function([], list(tensors))([])


def test_random_flips_mirror_each_image_or_not(engine: Engine) -> None:
    x = K.constant(IMAGES)
    ways = {"left_right": 2, "up_down": 1}
    for way, axis in ways.items():
        found = _run(getattr(tf.image, f"random_flip_{way}")(x, seed=3))[0]
        turned = np.flip(IMAGES, axis)
        kinds = [
            (np.array_equal(a, b), np.array_equal(a, c))
            for a, b, c in zip(found, IMAGES, turned, strict=True)
        ]
        assert all(same or other for same, other in kinds)
        assert 0 < sum(same for same, _ in kinds) < len(kinds)


def test_numbers_of_random_changes_lie_within_their_range(engine: Engine) -> None:
    flat = K.constant(np.full((2, 3, 3), 0.5))
    f = K.function([], [
        tf.image.random_brightness(flat, 0.2, seed=1),
        tf.image.random_contrast(K.constant(IMAGES[0]), 0.5, 1.5, seed=1),
        tf.image.random_saturation(K.constant(IMAGES[0]), 0.0, 0.5, seed=1),
        tf.image.random_hue(K.constant(IMAGES[0]), 0.1, seed=1),
    ])  # fmt: skip
    bright = np.array([f([])[0] - 0.5 for _ in range(8)])
    assert np.abs(bright).max() <= 0.2 and np.ptp(bright[:, 0, 0, 0]) > 0.01
    _, contrast, pale, hue = f([])
    mean = IMAGES[0].mean((0, 1))
    ratios = (contrast - mean) / (IMAGES[0] - mean)
    assert ratios.min() >= 0.5 and ratios.max() <= 1.5 and np.ptp(ratios) < 1e-2
    np.testing.assert_allclose(pale.max(-1), IMAGES[0].max(-1), rtol=1e-5)
    np.testing.assert_allclose(hue.max(-1), IMAGES[0].max(-1), rtol=1e-5)
    assert np.abs(hue - IMAGES[0]).max() > 0


def test_a_random_crop_is_a_part(engine: Engine) -> None:
    f = K.function([], [tf.random_crop(K.constant(IMAGES), [6, 3, 4, 3], seed=1)])
    windows = np.lib.stride_tricks.sliding_window_view(IMAGES, (3, 4), (1, 2))
    parts = np.moveaxis(windows, 3, -1).reshape(6, -1, 3, 4, 3)
    places = set()
    for _ in range(6):
        found = f([])[0]
        (place,) = np.flatnonzero((parts == found[:, None]).all((0, 2, 3, 4)))
        places.add(place)
    assert len(places) > 1


def test_parts_that_cover_a_box(engine: Engine) -> None:
    box = np.array([[[0.2, 0.3, 0.6, 0.8]]], "float32")
    size = K.constant([40, 60, 3], "int32")
    begin, extent, part = tf.image.sample_distorted_bounding_box(
        size, K.constant(box), seed=1, min_object_covered=0.9, area_range=[0.3, 0.9]
    )
    f = K.function([], [begin, extent, part])
    for _ in range(5):
        b, e, p = f([])
        np.testing.assert_allclose(
            p[0, 0] * [40, 60, 40, 60], [b[0], b[1], *(b + e)[:2]], rtol=1e-5
        )
        low, high = np.maximum(p[0, 0, :2], box[0, 0, :2]), np.minimum(p[0, 0, 2:], box[0, 0, 2:])
        assert np.prod(high - low) >= 0.89 * 0.4 * 0.5
        assert 0.3 <= e[0] * e[1] / 2400 <= 0.9
    assert tuple(e[2:]) == (-1,)


def test_sizes_that_are_known_only_when_it_runs(engine: Engine) -> None:
    """What's computed is what's computed where they are known."""
    x, rows = K.placeholder((None, None, None, 3)), K.placeholder((), dtype="int32")

    def results(images: Any, r: Any) -> list[Any]:
        return [
            *(tf.image.resize_images(images, [r, 9], method) for method in range(4)),
            tf.image.resize_bilinear(images, [r, 9], align_corners=True),
            tf.image.resize_bicubic(images, [r, 9], half_pixel_centers=True),
            tf.image.resize_image_with_crop_or_pad(images, r, 4),
            tf.image.central_crop(images, 0.5), tf.image.crop_to_bounding_box(images, 0, 1, 4, 3),
            tf.image.pad_to_bounding_box(images, 1, 0, 9, 9), tf.image.rot90(images),
            tf.image.total_variation(images), tf.image.sobel_edges(images),
        ]  # fmt: skip

    found = K.function([x, rows], results(x, rows))([IMAGES, 8])
    wanted = _run(*results(K.constant(IMAGES), 8))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_box_outside_of_an_image_of_unknown_size_is_an_error(engine: Engine) -> None:
    x = K.placeholder((None, None, None, 3))
    f = K.function([x], [tf.image.crop_to_bounding_box(x, 3, 0, 4, 4)])
    with pytest.raises(ValueError, match="doesn't lie in axis 1"):
        f([IMAGES])


def test_measures_of_what_a_model_is_compared_with(engine: Engine) -> None:
    """Targets of Keras have no known size."""
    rng = np.random.default_rng(5)
    a, b = (rng.random((2, 16, 16, 3), "float32") for _ in range(2))
    target, x = K.placeholder(ndim=4), K.placeholder((None, 16, 16, 3))
    known = K.placeholder((2, 16, 16, 3))
    for measure in (tf.image.psnr, tf.image.ssim):
        got = K.function([target, x], [measure(target, x, 1.0)])([a, b])[0]
        want = K.function([known, x], [measure(known, x, 1.0)])([a, b])[0]
        np.testing.assert_allclose(got, want, rtol=1e-5)
    error = np.square(a.astype("float64") - b).mean((1, 2, 3))
    got = K.function([target, x], [tf.image.psnr(target, x, 1.0)])([a, b])[0]
    np.testing.assert_allclose(got, -10 * np.log10(error), rtol=1e-5)
