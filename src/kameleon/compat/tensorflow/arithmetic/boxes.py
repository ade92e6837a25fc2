"""Boxes: the best of overlapping ones, drawn ones, parts of images at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from ..resources.philox import Philox
from .drawing import uniform

Array = np.ndarray[Any, Any]


# Pairs of boxes -------------------------------------------------------------------------------


def matched(distances: Array, valid: int, most: int) -> list[Array]:
    """For each row its column, for each column its row, or -1: pairs, the nearest ones first.

    Args:
        distances: (rows, columns).
        valid: how many of the first rows take part.
        most: how many pairs at most.
    """
    rows, columns = (np.full(size, -1, np.int32) for size in distances.shape)
    waiting: list[Waiting] = []
    for at in np.ndindex(valid, len(columns)):
        heappush(waiting, Waiting(distances[at], at))
    while waiting and most:
        row, column = heappop(waiting).box
        if rows[row] < 0 and columns[column] < 0:
            rows[row], columns[column], most = column, row, most - 1
    return [rows, columns]


# The best of overlapping boxes ------------------------------------------------------------------

Shares = Callable[[int, Any], Array]  # how much of a box others overlap with, by their numbers
EVERY = slice(None)


def shares_of(boxes: Array) -> Shares:
    """The intersections over unions of boxes (boxes, 4), of two opposite corners each."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]).T, np.maximum(boxes[:, :2], boxes[:, 2:]).T
    height, width = high - low
    area = height * width

    def shares(one: int, others: Any) -> Array:
        height, width = (
            np.maximum(np.minimum(end[one], end[others]) - np.maximum(begin[one], begin[others]), 0)
            for begin, end in zip(low, high, strict=True)
        )
        shared = height * width
        is_flat = (area[one] <= 0) | (area[others] <= 0)
        union = np.where(is_flat, 1, area[one] + area[others] - shared)
        return np.asarray(np.where(is_flat, 0, shared / union))

    return shares


class Waiting(float):
    """A box that waits, or a pair, as a number: the least comes first.

    Of equal ones comes first what comes first of heaps, of Python's as of C++'s, which TensorFlow
    has.
    """

    box: Any
    seen: int  # how many better ones it was held against

    def __new__(cls, loss: Any, box: Any, seen: int = 0) -> Waiting:
        made = super().__new__(cls, loss)
        made.box, made.seen = box, seen
        return made


def best(
    shares: Shares, scores: Array, most: int, threshold: float, least: float, sigma: float = 0.0
) -> tuple[list[int], list[Any]]:
    """Numbers of boxes, best first, and the scores that they had when they were chosen.

    A chosen box waits again, as in TensorFlow: it overlaps with itself, unless it's flat.

    Args:
        shares: how much boxes overlap with one; where `sigma` is positive, one with boxes.
        scores: of the boxes.
        most: how many are chosen.
        threshold: boxes that overlap as much with a better one are out.
        least: the scores that are chosen are larger.
        sigma: if positive, what overlaps by s has its score times exp(-s**2 / (2 sigma)).

    Source: Neubeck and Van Gool, "Efficient non-maximum suppression" (2006); Bodla et al.,
    "Soft-NMS: improving object detection with one line of code" (2017).
    """
    waiting, kind = list[Waiting](), scores.dtype.type
    for box, score in enumerate(scores):
        if score > least:
            heappush(waiting, Waiting(-score, box))
    found: list[int] = []
    gained: list[Any] = []
    is_out = np.zeros(len(scores), bool)
    while waiting and len(found) < most:
        first = heappop(waiting)
        score, box = kind(-first), first.box
        left, count = score, len(found)
        if sigma > 0:
            parts = shares(box, found[first.seen :])
            if (parts >= threshold).any():
                continue
            left = score * kind(np.prod(np.exp(-0.5 / sigma * parts * parts)))
        elif is_out[box]:
            continue
        if left == score:
            found.append(box)
            gained.append(score)
            if sigma <= 0:
                is_out |= shares(box, EVERY) >= threshold
        if left > least:
            heappush(waiting, Waiting(-left, box, count))
    return found, gained


def best_of_one(
    boxes: Array, scores: Array, most: int, threshold: float, least: float
) -> list[int]:
    """Numbers of boxes, best first, that overlap with no better one by more than a share."""
    shares, found = shares_of(boxes), list[int]()
    is_out = ~(scores > least)
    for i in np.argsort(-scores, kind="stable").tolist():
        if len(found) == most:
            break
        if not is_out[i]:
            found.append(i)
            is_out |= shares(i, EVERY) > threshold
    return found


# Several classes --------------------------------------------------------------------------------


def best_of_classes(
    boxes: Array, scores: Array, per_class: int, total: int, threshold: float, least: float,
    *, pad_per_class: bool, clip_boxes: bool,
) -> list[Array]:  # fmt: skip
    """Boxes, scores, classes and their number, for each image; zeros behind the last.

    Args:
        boxes: (batch, boxes, 1 or classes, 4).
        scores: (batch, boxes, classes).
    """
    batch, _, classes = scores.shape
    if pad_per_class:
        total = min(total, per_class * classes)
    found = np.zeros((batch, total, 6), boxes.dtype)
    counts = np.zeros(batch, "int32")
    for image in range(batch):
        rows = []
        for c in range(classes):
            own = boxes[image, :, c % boxes.shape[2]]
            marks = scores[image, :, c]
            chosen = best_of_one(own, marks, per_class, threshold, least)
            rows += [(*own[i], marks[i], c) for i in chosen]
        rows = sorted(rows, key=lambda row: -row[4])[:total]
        counts[image] = len(rows)
        found[image, : len(rows)] = np.reshape(np.asarray(rows, boxes.dtype), (-1, 6))
    places = np.clip(found[..., :4], 0, 1) if clip_boxes else found[..., :4]
    return [places, found[..., 4], found[..., 5], counts]


# Drawing --------------------------------------------------------------------------------------

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
COLOURS = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
    [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
])  # fmt: skip


def drawn(images: Array, boxes: Array, colours: Array) -> Array:
    """The images with the edges of boxes (batch, boxes, 4), a pixel wide, a colour each in turn."""
    result = np.array(images)
    height, width, channels = images.shape[1:]
    scale = np.array([height - 1, width - 1, height - 1, width - 1], "float32")
    for image, own in zip(result, boxes, strict=True):
        for number, box in enumerate(own):
            top, left, bottom, right = (int(v) for v in box * scale)
            if top > bottom or left > right or bottom < 0 or right < 0:
                continue
            if top >= height or left >= width:
                continue
            colour = colours[number % len(colours), :channels]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in (r for r in (top, bottom) if 0 <= r < height):
                image[row, columns] = colour
            for column in (c for c in (left, right) if 0 <= c < width):
                image[rows, column] = colour
    return result


# Parts at random ------------------------------------------------------------------------------


def part_at_random(
    size: Array, boxes: Array, numbers: Philox, attempts: int, covered: float,
    ratios: Sequence[float], areas: Sequence[float],
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Begin and size of a part of an image, and the part as a box.

    Args:
        size: rows, columns, channels.
        boxes: (boxes, 4), one of which it must cover by some share.
        numbers: what it's drawn by.
        attempts: so many; the first one that fits counts, the whole image, where none does.
        ratios: the least and the largest width over height.
        areas: the least and the largest share of the image.
    """
    rows, columns = int(size[0]), int(size[1])
    scale = np.array([rows, columns, rows, columns], float)
    pixels = (boxes.reshape(-1, 4) * scale.astype("float32")).astype(int)
    least, most = (np.float32(share) * np.float32(rows * columns) for share in areas)
    low, high = map(np.float32, ratios)
    found = (0, 0, rows, columns)
    for _ in range(attempts):
        ratio = uniform(np.array([numbers.next()], np.uint32), "float32")[0] * (high - low) + low
        height, tallest = (round(float(np.sqrt(area / ratio))) for area in (least, most))
        if round(float(tallest * ratio)) > columns:
            tallest = int((columns + 0.5) / ratio)
        tallest = min(tallest, rows)
        height = min(height, tallest)
        if height < tallest:
            height += numbers.next() % (tallest - height + 1)
        height += bool(height * round(float(height * ratio)) < least)
        height -= bool(height * round(float(height * ratio)) > most)
        width = round(float(height * ratio))
        if not (0 < height <= rows and 0 < width <= columns and least <= height * width <= most):
            continue
        top, left = (
            numbers.next() % (all_of - part) if part < all_of else 0
            for all_of, part in ((rows, height), (columns, width))
        )
        part = (top, left, top + height, left + width)
        if _covers(part, pixels, covered):
            found = part
            break
    top, left, bottom, right = found
    begin = np.array([top, left, 0], size.dtype)
    extent = np.array([bottom - top, right - left, -1], size.dtype)
    box = np.array(found) / scale
    return begin, extent, box.astype("float32").reshape(1, 1, 4)


def _covers(part: tuple[int, ...], boxes: Array, share: float) -> bool:
    """Whether a part covers as much as that of one of the boxes."""
    low = np.maximum(boxes[:, :2], part[:2])
    high = np.minimum(boxes[:, 2:], part[2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    own = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return not len(boxes) or bool(np.any((own > 0) & (shared >= share * own)))
