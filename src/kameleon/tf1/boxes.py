"""Boxes in images of TensorFlow 1: crops, the best of overlapping ones, drawn ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..backend.calling import call
from ..compat.tensorflow.arithmetic.boxes import COLOURS, best_of_classes, drawn, part_at_random
from ..compat.tensorflow.arithmetic.pictures import crops
from ..errors import ArgumentError
from ..prims import elementwise as ew
from ..prims.filling import full_like
from ..prims.indexing import argsort, nonzero
from ..prims.sizes import size_of
from .arrays import ints_in, known
from .calling import called
from .elementwise import chosen

Array = np.ndarray[Any, Any]

# Crops ----------------------------------------------------------------------------------------


def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str,
    extrapolation_value: float, what: str,
) -> Any:  # fmt: skip
    """(boxes, rows, columns, channels): parts of images, each resized.

    Args:
        image: (batch, rows, columns, channels).
        boxes: (boxes, 4): y1, x1, y2, x2 as parts of the image's size less 1.
        box_indices: (boxes,): which image.
        crop_size: two ints.
        method: 'bilinear' or 'nearest'.
        extrapolation_value: what pixels outside of the image are.

    Source: Girshick, "Fast R-CNN" (2015); He et al., "Mask R-CNN" (2017), use such crops.
    """
    if method not in ("bilinear", "nearest"):
        raise ArgumentError(f"{what}: method is {method!r}; there are 'bilinear' and 'nearest'")
    x, boxes = as_float(image, what), as_float(boxes, what)
    size = (int(crop_size[0]), int(crop_size[1]))
    which = K.cast(box_indices, "int32")
    return crops(x, boxes, which, size, method == "nearest", extrapolation_value)


# The best of overlapping boxes ----------------------------------------------------------------


def _shares(boxes: Any) -> Callable[[Any], Any]:
    """A function of a box's number: the intersections over unions of all boxes and that one."""
    low, high = K.minimum(boxes[:, :2], boxes[:, 2:]), K.maximum(boxes[:, :2], boxes[:, 2:])
    area = K.prod(high - low, axis=-1)

    def of(i: Any) -> Any:
        sides = K.minimum(high, high[i]) - K.maximum(low, low[i])
        shared = K.prod(K.maximum(sides, 0.0), axis=-1)
        union = area + area[i] - shared
        flat = K.less_equal(union, 0.0)
        share = shared / chosen(flat, full_like(union, 1), union)
        return chosen(K.less_equal(area * area[i], 0.0), full_like(share, 0), share)

    return of


def _one_more(x: Any, value: float) -> Any:
    """With a last row of one number: the best of no boxes would be an error."""
    row = K.zeros((1, *[size_of(x, i) for i in range(1, len(x.shape))]), K.dtype(x))
    return K.concatenate([x, row + value], axis=0)


def _chosen_boxes(
    scores: Any, share_of: Callable[[Any], Any], most: Any, threshold: Any, least: Any,
    sigma: float = 0.0,
) -> tuple[Any, Any]:  # fmt: skip
    """Numbers of boxes, best first, and the scores that they had when they were chosen.

    Args:
        scores: of the boxes and of one more, which is never chosen.
        share_of: by how much all boxes overlap with one.
        most: how many are chosen.
        threshold: boxes that overlap more with a chosen one are out.
        least: the scores that are chosen are larger.
        sigma: if positive, no box is out: what overlaps by s has its score times
            exp(-s**2 / (2 sigma)) instead.

    Source: Neubeck and Van Gool, "Efficient non-maximum suppression" (2006); Bodla et al.,
    "Soft-NMS: improving object detection with one line of code" (2017).
    """
    order = K.arange(size_of(scores, 0))
    nothing = full_like(scores, -np.inf)

    def goes_on(count: Any, rest: Any, rank: Any, gained: Any) -> Any:
        some = K.any(K.greater(rest, least))
        return ew.logical_and(K.less(count, most), some)

    def step(count: Any, rest: Any, rank: Any, gained: Any) -> list[Any]:
        i = K.cast(K.argmax(rest, axis=0), "int32")
        share, here = share_of(i), K.equal(order, i)
        if sigma:
            left = rest * ew.exp(-0.5 / sigma * K.square(share))
        else:
            left = chosen(K.greater(share, threshold), nothing, rest)
        return [
            count + 1, chosen(here, nothing, left), chosen(here, full_like(rank, 0) + count, rank),
            chosen(here, rest, gained),
        ]  # fmt: skip

    start = [K.constant(0, "int32"), scores, full_like(order, -1), full_like(scores, 0)]
    _, _, rank, gained = K.while_loop(goes_on, step, start)
    kept = nonzero(K.greater_equal(rank, 0))[:, 0]
    best = K.gather(kept, argsort(K.gather(rank, kept), axis=0))
    return K.cast(best, "int32"), K.gather(gained, best)


def _of_boxes(
    boxes: Any, scores: Any, most: Any, threshold: Any, least: Any, sigma: float, what: str
) -> tuple[Any, Any]:
    rows = _one_more(as_float(boxes, what), 0.0)
    marks = _one_more(as_float(scores, what), -np.inf)
    return _chosen_boxes(marks, _shares(rows), most, threshold, least, sigma)


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any,
    what: str,
) -> Any:  # fmt: skip
    """Indices of boxes, best first, none of which overlaps a better one by more than a share.

    Args:
        boxes: (boxes, 4): two opposite corners y1, x1, y2, x2.
        scores: (boxes,).
        max_output_size: an int, or an integer scalar.
        iou_threshold: the largest intersection over union of two boxes that are both kept.
        score_threshold: the scores that are kept are larger.

    Returns:
        int32 tensor of unknown size.
    """
    return _of_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold, 0.0, what)[0]


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any,
    soft_nms_sigma: float, what: str,
) -> Any:  # fmt: skip
    """As `non_max_suppression`, with the scores; a sigma lowers scores where boxes overlap."""
    return _of_boxes(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, what
    )


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any,
    pad_to_max_output_size: bool, what: str,
) -> Any:  # fmt: skip
    """As `non_max_suppression`, and how many there are; perhaps with zeros up to the most."""
    found, _ = _of_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold, 0.0, what)
    count = K.shape(found)[0]
    if not pad_to_max_output_size:
        return found, count
    most = K.cast(as_tensor(max_output_size, what), "int32")
    places = K.arange(max_output_size if isinstance(max_output_size, int) else most)
    there = K.less(places, count)
    padded = K.concatenate([found, K.zeros((1,), "int32")], axis=0)
    index = chosen(there, places, full_like(places, 0) + count)
    return K.gather(padded, index), count


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any, score_threshold: Any,
    what: str,
) -> Any:  # fmt: skip
    """As `non_max_suppression`, of a square matrix of how much boxes overlap."""
    rows = _one_more(as_float(overlaps, what), 0.0)
    table = K.concatenate([rows, K.zeros_like(rows[:, :1])], axis=1)
    marks = _one_more(as_float(scores, what), -np.inf)
    return _chosen_boxes(
        marks, lambda i: table[i], max_output_size, overlap_threshold, score_threshold
    )[0]


# By NumPy -------------------------------------------------------------------------------------


class Detections(NamedTuple):
    """The best boxes of all classes; zeros behind the last of them."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


def combined_non_max_suppression(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: float, score_threshold: float, pad_per_class: bool, clip_boxes: bool, what: str,
) -> Detections:  # fmt: skip
    """The best boxes of each class, then the best of all, for each image.

    Args:
        boxes: (batch, boxes, 1 or classes, 4).
        scores: (batch, boxes, classes).
        pad_per_class: there are no more places than all classes may fill.
        clip_boxes: coordinates are clipped to [0, 1].
    """
    b, s = as_float(boxes, what), as_float(scores, what)
    (most,) = ints_in(max_output_size_per_class, what)
    (total,) = ints_in(max_total_size, what)
    if pad_per_class:
        total = min(total, most * known(s, 2, what))
    limits = float(iou_threshold), float(score_threshold), clip_boxes
    batch = b.shape[0] if s.shape[0] is None else s.shape[0]
    results = call(
        lambda b, s: best_of_classes(b, s, most, total, *limits), [b, s], "numpy",
        shapes=[(batch, total, 4), (batch, total), (batch, total), (batch,)],
        dtypes=[b.dtype, b.dtype, b.dtype, "int32"], gradient=lambda b, s, *gs: [None, None],
    )  # fmt: skip
    return Detections(*results)


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, what: str) -> Any:
    """Images (batch, rows, columns, channels) with the edges of boxes (batch, boxes, 4)."""
    x, b = as_float(images, what), as_float(boxes, what)
    table = COLOURS if colors is None else colors
    if not K.is_tensor(table):
        table = np.array(table, "float32").reshape(-1, np.shape(table)[-1])
        if x.shape[-1] == 1:
            table[:, 0] = 1.0
    paint = K.cast(as_tensor(table, what), "float32")
    return call(drawn, [x, b, paint], "numpy", like=x, gradient=lambda x, b, paint, g: [None] * 3)


class Part(NamedTuple):
    """Where a part of an image begins, its size, and the part as a box."""

    begin: Any
    size: Any
    bboxes: Any


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: Any, min_object_covered: float,
    aspect_ratio_range: Any, area_range: Any, max_attempts: Any,
    use_image_if_no_bounding_boxes: Any, what: str,
) -> Part:  # fmt: skip
    """A part of an image at random, drawn anew at each run, that covers some of a box.

    Args:
        image_size: rows, columns, channels.
        bounding_boxes: (batch, boxes, 4), coordinates from 0 to 1.
        min_object_covered: the least share of one of the boxes.
        aspect_ratio_range: the least and largest width over height; 0.75 and 1.33 by default.
        area_range: the least and largest share of the image; 0.05 and 1 by default.
        max_attempts: after so many (100 by default) it's the whole image.
    """
    size, boxes = as_tensor(image_size, what), as_float(bounding_boxes, what)
    ratios = np.array(aspect_ratio_range or [0.75, 1.33], float)
    areas = np.array(area_range or [0.05, 1.0], float)
    draws = K.random_uniform((int(max_attempts or 100), 4), seed=seed)
    results = call(
        lambda size, boxes, u: part_at_random(size, boxes, u, min_object_covered, ratios, areas),
        [size, boxes, draws], "numpy", shapes=[(3,), (3,), (1, 1, 4)],
        dtypes=[size.dtype, size.dtype, "float32"],
        gradient=lambda size, boxes, u, *gs: [None] * 3,
    )  # fmt: skip
    return Part(*results)


PLAIN = called({
    "image.crop_and_resize": crop_and_resize,
    "image.non_max_suppression": non_max_suppression,
    "image.non_max_suppression_with_scores": non_max_suppression_with_scores,
    "image.non_max_suppression_padded": non_max_suppression_padded,
    "image.non_max_suppression_overlaps": non_max_suppression_overlaps,
    "image.combined_non_max_suppression": combined_non_max_suppression,
    "image.draw_bounding_boxes": draw_bounding_boxes,
    "image.sample_distorted_bounding_box": sample_distorted_bounding_box,
})  # fmt: skip
