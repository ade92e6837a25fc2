"""What operations demand of places: they lie within what they're places of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...failures import failure
from ...graph import Operation, shape_text
from ...shapes.state import SCATTERING
from .table import demand_numbers, known_array, known_numbers, on, pair, refuse

# Places -----------------------------------------------------------------------------------------


def demand_places(at: Any, size: int) -> None:
    """Refuse places outside of an axis of that size, where they're known."""
    known = known_array(at)
    if known is None or not known.size or 0 <= known.min() <= known.max() < size:
        return
    place = tuple(np.argwhere((known < 0) | (known >= size))[0])
    refuse(f"indices{shape_text(place) if place else ''} = {known[place]} is not in [0, {size})")


@on("Gather GatherV2 ResourceGather")
def _gathered(operation: Operation, x: Any, at: Any, axis: Any = None) -> None:
    axes = [operation.attribute("batch_dims") or 0] if axis is None else known_numbers(axis)
    about = "Expected axis in the range [-{rank}, {rank}), but got {number}"
    demand_numbers(axes, len(x.shape), about)
    for along in axes:
        demand_places(at, x.shape[along])


on(SCATTERING)(lambda operation, x, at, rows: demand_places(at, x.shape[0]))


@on("GatherNd ResourceGatherNd")
def _gathered_at(operation: Operation, x: Any, at: Any) -> None:
    if at.shape[-1] > len(x.shape):
        sizes = f"{at.shape[-1]} vs. {len(x.shape)}"
        refuse(f"index innermost dimension length must be <= params rank; saw: {sizes}")
    _demand_coordinates(at, x.shape, "param shape")


@on(
    "TensorScatterUpdate TensorScatterAdd TensorScatterSub ScatterNdNonAliasingAdd",
    *(f"{by}ScatterNd{way}" for by in ("", "Resource") for way in ("Update", "Add", "Sub")),
)
def _changed_at(operation: Operation, x: Any, at: Any, values: Any) -> None:
    _demand_room(at, values, x.shape, " shape")
    _demand_coordinates(at, x.shape, "shape")


@on("ScatterNd")
def _scattered_at(operation: Operation, at: Any, values: Any, sizes: Any) -> None:
    if known_array(sizes) is not None:
        shape = tuple(known_numbers(sizes))
        rows = f".  indices shape: {shape_text(at.shape)}"
        _demand_room(at, values, shape, " shape" if 0 not in shape[:1] else rows)
        _demand_coordinates(at, shape, "shape")


def _demand_room(at: Any, values: Any, sizes: tuple[int | None, ...], about: str) -> None:
    """Check that nothing is to be put where there's no room."""
    if 0 in sizes and any(None not in x.shape and 0 not in x.shape for x in (at, values)):
        refuse(f"Indices and updates specified for empty output{about}")


def _demand_coordinates(at: Any, sizes: tuple[int, ...], what: str) -> None:
    known = known_array(at)
    if known is not None and known.size:
        outside = ((known < 0) | (known >= np.array(sizes[: known.shape[-1]]))).any(-1)
        for place in np.argwhere(outside)[:1]:
            coordinates = ", ".join(map(str, known[tuple(place)]))
            about = f"indices[{','.join(map(str, place))}] = [{coordinates}] does not index into"
            refuse(f"{about} {what} {shape_text(sizes)}")


@on("UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd")
def _segments(operation: Operation, x: Any, at: Any, count: Any) -> None:
    if x.shape[: len(at.shape)] != at.shape:
        shapes = pair(x, at, " does not start with segment_ids.shape = ")
        refuse(f"data.shape = {shapes}")
    known = known_array(at)
    if known is None:
        return
    for size in known_numbers(count):
        for place in np.argwhere(known >= size)[:1]:
            about = f"segment_ids{shape_text(place)} = {known[tuple(place)]}"
            refuse(f"{about} is out of range [0, {size})")


@on("ReverseSequence")
def _reversed(operation: Operation, x: Any, lengths: Any) -> None:
    axis, batch = operation.attribute("seq_dim"), operation.attribute("batch_dim")
    if lengths.shape != (size := x.shape[batch],):
        refuse(f"len(seq_lens) != input.dims({batch}), ({lengths.shape[0]} vs. {size})")
    for place, length in enumerate(known_numbers(lengths)):
        if length < 0:
            refuse(f"seq_lens({place}) < 0")
        if length > x.shape[axis]:
            refuse(f"seq_lens({place}) > input.dims({axis})")


@on("AssignAddVariableOp AssignSubVariableOp")
def _changed(operation: Operation, x: Any, value: Any) -> None:
    if x.shape != value.shape:
        shapes = pair(x, value, " using a Tensor with shape ")
        refuse(f"Cannot update variable with shape {shapes}, shapes must be equal.")


@on("SpaceToDepth")
def _blocked(operation: Operation, x: Any) -> None:
    side, (height, width) = operation.attribute("block_size"), x.shape[1:3]
    if operation.attribute("data_format") == b"NHWC" and (height % side or width % side):
        sizes = f"Image width {width} and height {height}"
        refuse(f"{sizes} should be divisible by block_size: {side}")


@on("Unpack")
def _unpacked(operation: Operation, x: Any) -> None:
    axis, count = operation.attribute("axis") or 0, operation.attribute("num")
    if x.shape and x.shape[axis] != count:
        axis %= len(x.shape)
        refuse(f"Input shape axis {axis} must equal {count}, got shape {shape_text(x.shape)}")


@on("CropAndResize")
def _cropped(operation: Operation, x: Any, boxes: Any, which: Any, sizes: Any) -> None:
    if any(not 0 <= number < x.shape[0] for number in known_numbers(which)):
        raise failure("OUT_OF_RANGE", "box_index has values outside [0, batch_size)")
    if which.shape != boxes.shape[:1]:
        refuse("box_index has incompatible shape")
    if any(size <= 0 for size in known_numbers(sizes)):
        refuse("crop dimensions must be positive")


# Numbers ----------------------------------------------------------------------------------------


@on("InvertPermutation")
def _permuted(operation: Operation, order: Any) -> None:
    met, places = set[int](), known_numbers(order)
    for place in places:
        if not 0 <= place < len(places):
            refuse(f"{place} is not between 0 and {len(places)}")
        if place in met:
            refuse(f"{place} is duplicated in the input.")
        met.add(place)


@on("TopK TopKV2")
def _top(operation: Operation, x: Any, count: Any = None) -> None:
    for k in [operation.attribute("k")] if count is None else known_numbers(count):
        if k < 0:
            refuse(f"Need k >= 0, got {k}")
        if x.shape and k > x.shape[-1]:
            refuse(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")


@on("Range")
def _range(operation: Operation, *values: Any) -> None:
    known = [value.item() for value in values if isinstance(value, np.ndarray)]
    if len(known) < 3:
        return
    first, last, by = known
    if by == 0:
        refuse(f"Requires delta != 0: {by}")
    if (last - first) * by < 0:
        relation = "start <= limit when delta > 0" if by > 0 else "start >= limit when delta < 0"
        refuse(f"Requires {relation}: {first}/{last}")
