"""Boxes in images, on the host: the best of overlapping ones, drawn ones, parts at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import boxes as B
from ..failures import failure
from .table import fold, host
from .values import result_type

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Store

Array = np.ndarray


def _chosen(operation: Operation, shares: B.Shares, scores: Array, *told: Any) -> list[Array]:
    """The best boxes and their scores, as an operation says by inputs, or else by attributes."""
    most, *limits = told
    threshold = limits[0] if limits else operation.attribute("iou_threshold")
    least = limits[1] if len(limits) > 1 else np.finfo(scores.dtype).min
    sigma = float(limits[2]) if len(limits) > 2 else 0.0
    if int(most) < 0 or not 0 <= float(threshold) <= 1 or sigma < 0:
        raise failure("INVALID_ARGUMENT", f"{most} boxes, overlaps {threshold}, sigma {sigma}")
    found, gained = B.best(shares, scores, int(most), float(threshold), float(least), sigma)
    count, size = len(found), len(found)
    if operation.attribute("pad_to_max_output_size"):
        size = int(most)
    places, marks = np.zeros(size, np.int32), np.zeros(size, scores.dtype)
    places[:count], marks[:count] = found, gained
    return [places, marks, np.array(count, np.int32)]


@fold("NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3")
def _best(operation: Operation, boxes: Array, scores: Array, *told: Any) -> Array:
    return _chosen(operation, B.shares_of(boxes), scores, *told)[0]


@fold("NonMaxSuppressionV4")
def _best_padded(operation: Operation, boxes: Array, scores: Array, *told: Any) -> list[Array]:
    places, _, count = _chosen(operation, B.shares_of(boxes), scores, *told)
    return [places, count]


@fold("NonMaxSuppressionV5")
def _best_scored(operation: Operation, boxes: Array, scores: Array, *told: Any) -> list[Array]:
    return _chosen(operation, B.shares_of(boxes), scores, *told)


@fold("NonMaxSuppressionWithOverlaps")
def _best_of_table(operation: Operation, table: Array, scores: Array, *told: Any) -> Array:
    return _chosen(operation, lambda one, others: table[one, others], scores, *told)[0]


@fold("CombinedNonMaxSuppression")
def _best_of_classes(operation: Operation, boxes: Array, scores: Array, *told: Any) -> list[Array]:
    each, total = int(told[0]), int(told[1])
    if operation.attribute("pad_per_class"):
        total = min(total, each * scores.shape[2])
    clipped = operation.attribute("clip_boxes")
    return list(B.best_of_classes(boxes, scores, each, total, told[2], told[3], clipped))


@fold("BipartiteMatch")
def _matched(operation: Operation, distances: Array, count: Array) -> list[Array]:
    rows, most = len(distances), operation.attribute("top_k")
    valid = int(count.ravel()[0])
    if valid > rows:
        message = (
            f"There should be at least {valid} rows in distance_mat, but only got {rows} rows."
        )
        raise failure("INVALID_ARGUMENT", message)
    valid = rows if valid < 0 else valid
    return B.matched(distances, valid, most if most > 0 else valid)


@fold("DrawBoundingBoxes DrawBoundingBoxesV2")
def _drawn(operation: Operation, images: Array, boxes: Array, colours: Any = None) -> Array:
    if colours is not None and colours.ndim != 2:
        raise ValueError(f"colors must be a 2-D matrix, not {colours.shape}")
    paint = B.COLOURS if colours is None or not len(colours) else colours
    paint = np.array(paint, np.float32)
    if images.shape[-1] == 1:
        paint[:, 0] = 1.0
    return B.drawn(images, boxes, paint).astype(images.dtype)


@host("SampleDistortedBoundingBox SampleDistortedBoundingBoxV2")
def _part(store: Store, operation: Operation, size: Any, boxes: Any, least: Any = None) -> Any:
    """A part of an image at random that covers some of a box."""
    covered = operation.attribute("min_object_covered") if least is None else float(least)
    told = (operation.attribute(name) for name in ("aspect_ratio_range", "area_range"))
    ratios, areas = (np.array(pair, float) for pair in told)
    given = np.asarray(boxes).reshape(-1, 4)
    if not len(given) and not operation.attribute("use_image_if_no_bounding_boxes"):
        raise failure("INVALID_ARGUMENT", "No bounding boxes provided as input.")
    drawn = generator_of(store, operation).random((operation.attribute("max_attempts"), 4))
    kind = result_type(operation)
    return list(B.part_at_random(np.asarray(size, kind), given, drawn, covered, ratios, areas))


def generator_of(store: Store, operation: Operation) -> Any:
    """An operation's own source of random numbers: by its seeds, or the system's."""
    key = ("generator", operation.name)
    if key not in store.resources:
        seeds = [operation.attribute(name) or 0 for name in ("seed", "seed2")]
        known = [seed % 2**32 for seed in seeds] if any(seeds) else None
        store.resources[key] = np.random.default_rng(known)
    return store.resources[key]
