"""Boxes in images, on the host: the best of overlapping ones, drawn ones, parts at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import boxes as B
from ..failures import invalid
from ..graph import Operation
from ..variables import Store
from .drawing import reserved
from .table import fold, host
from .values import result_type

Array = np.ndarray


@fold(
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4"
    " NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps"
)
def _best(operation: Operation, boxes: Array, scores: Array, most: int, *limits: Any) -> Any:
    """The best boxes, for some types their scores and number, as inputs or else attributes say."""
    threshold = limits[0] if limits else operation.attribute("iou_threshold")
    least = limits[1] if len(limits) > 1 else np.finfo(scores.dtype).min
    sigma = float(limits[2]) if len(limits) > 2 else 0.0
    if most < 0 or not 0 <= float(threshold) <= 1 or sigma < 0:
        raise invalid(f"{most} boxes, overlaps {threshold}, sigma {sigma}")
    is_table = operation.type.endswith("Overlaps")
    shares = (lambda one, others: boxes[others, one]) if is_table else B.shares_of(boxes)
    found, gained = B.best(shares, scores, most, float(threshold), float(least), sigma)
    size = most if operation.attribute("pad_to_max_output_size") else len(found)
    places, marks = np.zeros(size, np.int32), np.zeros(size, scores.dtype)
    places[: len(found)], marks[: len(found)] = found, gained
    count = np.array(len(found), np.int32)
    return {"4": [places, count], "5": [places, marks, count]}.get(operation.type[-1], places)


fold("CombinedNonMaxSuppression")(B.best_of_classes)


@fold("BipartiteMatch")
def _matched(distances: Array, counts: list[int], *, top_k: int) -> list[Array]:
    rows, valid = len(distances), counts[0]
    if valid > rows:
        raise invalid(
            f"There should be at least {valid} rows in distance_mat, but only got {rows} rows."
        )
    valid = rows if valid < 0 else valid
    return B.matched(distances, valid, top_k if top_k > 0 else valid)


@fold("DrawBoundingBoxes DrawBoundingBoxesV2")
def _drawn(images: Array, boxes: Array, colours: Any = None) -> Array:
    if colours is not None and colours.ndim != 2:
        raise ValueError(f"colors must be a 2-D matrix, not {colours.shape}")
    paint = B.COLOURS if colours is None or not len(colours) else colours
    paint = np.array(paint, np.float32)
    if images.shape[-1] == 1:
        paint[:, 0] = 1.0
    return B.drawn(images, boxes, paint).astype(images.dtype)


@host("SampleDistortedBoundingBox SampleDistortedBoundingBoxV2")
def _part(
    store: Store, operation: Operation, size: Array, boxes: Array, least: Any = None,
    *, aspect_ratio_range: list[float], area_range: list[float], max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> list[Array]:  # fmt: skip
    """A part of an image at random that covers some of a box."""
    covered = operation.attribute("min_object_covered") if least is None else float(least)
    if not boxes.size and not use_image_if_no_bounding_boxes:
        raise invalid("No bounding boxes provided as input.")
    for beyond in boxes[(boxes < 0) | (boxes > 1)][:1]:
        raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {beyond:g}")
    if max(area_range) > 1:
        about = "Area range must be less then or equal to 1.0"
        raise invalid(f"{about}: [{', '.join(f'{area:g}' for area in area_range)}]")
    numbers = reserved(store, operation, 4 * max_attempts)
    whole, kinds = size.astype(result_type(operation)), (covered, aspect_ratio_range, area_range)
    return list(B.part_at_random(whole, boxes.reshape(-1, 4), numbers, max_attempts, *kinds))
