"""Images of TensorFlow 1 cut, framed, mirrored and turned, also at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor, size_or_node
from ..errors import ArgumentError, ShapeError
from ..ir.node import Node
from ..prims.control import check
from ..prims.movement import transpose
from ..prims.sizes import Size, dims_of, size_of
from .arrays import pad as padded
from .arrays import sizes_in
from .calling import called
from .elementwise import chosen


def image_of(image: Any, what: str) -> Any:
    """An image (rows, columns, channels), or a batch of them."""
    x = as_tensor(image, what)
    if len(x.shape) not in (3, 4):
        raise ShapeError(f"{what}: an image, or a batch of images, was expected, not {x!r}")
    return x


def axes_of(x: Any) -> tuple[int, int]:
    """The axes of rows and of columns."""
    return len(x.shape) - 3, len(x.shape) - 2


# Cutting and framing --------------------------------------------------------------------------


def _require(x: Any, holds: Any, message: str) -> Any:
    """`x`, for which something must hold that may be known only at run time."""
    if isinstance(holds, Node):
        return check(x, holds, message=message)
    if not holds:
        raise ArgumentError(message)
    return x


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any,
    what: str,
) -> Any:  # fmt: skip
    """The part of an image that begins at some row and column and has some size."""
    x = image_of(image, what)
    starts = [size_or_node(n, what) for n in (offset_height, offset_width)]
    wanted = [size_or_node(n, what) for n in (target_height, target_width)]
    begins: list[Any] = [Ellipsis]
    sizes = []
    for axis, start, size in zip(axes_of(x), starts, wanted, strict=True):
        whole = size_of(x, axis)
        words = f"{what}: the box doesn't lie in axis {axis} of {x!r}"
        x = _require(x, _at_least(start, 0), words)
        x = _require(x, _at_least(size, 1), words)
        x = _require(x, _at_least(whole, start + size), words)
        begins.append(slice(start, start + size))
        sizes.append(size)
    return _of_sizes(x[(*begins, slice(None))], sizes)


def _at_least(size: Size, least: Any) -> Any:
    known = isinstance(size, int) and isinstance(least, int)
    return size >= least if known else K.greater_equal(size, least)


def _of_sizes(x: Any, sizes: Any) -> Any:
    """With rows and columns of sizes that are known to be right."""
    dims = dims_of(x)
    if all(
        x.shape[a] is not None or not isinstance(n, int)
        for a, n in zip(axes_of(x), sizes, strict=True)
    ):
        return x
    for axis, size in zip(axes_of(x), sizes, strict=True):
        dims[axis] = size
    return K.reshape(x, dims)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any,
    what: str,
) -> Any:  # fmt: skip
    """An image of some size, in which the given one begins at some row and column; zeros around."""
    x = image_of(image, what)
    starts = [size_or_node(n, what) for n in (offset_height, offset_width)]
    wanted = [size_or_node(n, what) for n in (target_height, target_width)]
    margins: list[Any] = [(0, 0)] * len(x.shape)
    for axis, start, size in zip(axes_of(x), starts, wanted, strict=True):
        words = f"{what}: axis {axis} of {x!r} doesn't lie in the box"
        after = size - start - size_of(x, axis)
        x = _require(_require(x, _at_least(start, 0), words), _at_least(after, 0), words)
        margins[axis] = (start, after)
    return _of_sizes(padded(x, margins, "CONSTANT", 0, what), wanted)


def resize_image_with_crop_or_pad(
    image: Any, target_height: Any, target_width: Any, what: str
) -> Any:
    """The middle of an image; or the image in the middle, with zeros around."""
    x = image_of(image, what)
    wanted = [size_or_node(n, what) for n in (target_height, target_width)]
    if any(isinstance(n, int) and n <= 0 for n in wanted):
        raise ArgumentError(f"{what}: the size must be positive, not {wanted}")
    missing = [w - size_of(x, axis) for w, axis in zip(wanted, axes_of(x), strict=True)]
    cut = [_not_negative(-n // 2) for n in missing]
    frame = [_not_negative(n // 2) for n in missing]
    within = [_smaller(w, size_of(x, axis)) for w, axis in zip(wanted, axes_of(x), strict=True)]
    middle = crop_to_bounding_box(x, cut[0], cut[1], within[0], within[1], what)
    return pad_to_bounding_box(middle, frame[0], frame[1], wanted[0], wanted[1], what)


def _not_negative(n: Any) -> Any:
    return max(n, 0) if isinstance(n, int) else K.maximum(n, 0)


def _smaller(a: Size, b: Size) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else K.minimum(a, b)


def central_crop(image: Any, central_fraction: Any, what: str) -> Any:
    """The middle of an image: a share of its rows and of its columns."""
    x, share = image_of(image, what), float(central_fraction)
    if not 0.0 < share <= 1.0:
        raise ArgumentError(f"{what}: central_fraction must be within (0, 1], not {share}")
    if share == 1.0:
        return K.identity(x)
    starts = [_before(size_of(x, axis), share) for axis in axes_of(x)]
    sizes = [size_of(x, axis) - 2 * s for axis, s in zip(axes_of(x), starts, strict=True)]
    return crop_to_bounding_box(x, starts[0], starts[1], sizes[0], sizes[1], what)


def _before(size: Size, share: float) -> Any:
    """How many pixels are cut off at each end."""
    if isinstance(size, int):
        return int((size - size * share) / 2)
    whole = K.cast(size, "float64")
    return K.cast((whole - whole * share) / 2.0, "int32")


def random_crop(value: Any, size: Any, seed: Any, what: str) -> Any:
    """A part of some size, from a place drawn anew at each run."""
    x, wanted = as_tensor(value, what), sizes_in(size, what)
    if len(wanted) != len(x.shape):
        raise ShapeError(f"{what}: {len(wanted)} sizes for {x!r}")
    wanted = [size_of(x, i) if w == -1 else w for i, w in enumerate(wanted)]
    left = [size_of(x, i) - w for i, w in enumerate(wanted)]
    for i, n in enumerate(left):
        x = _require(x, _at_least(n, 0), f"{what}: axis {i} of {x!r} is smaller than {wanted[i]}")
    drawn = K.random_uniform((len(wanted),), dtype="float64", seed=seed)
    starts = [K.cast(drawn[i] * (K.cast(n, "float64") + 1.0), "int32") for i, n in enumerate(left)]
    return K.slice(x, K.stack(starts), wanted)


# Mirroring and turning ------------------------------------------------------------------------


def _flip(side: int) -> Callable[..., Any]:
    """Mirrors rows (0) or columns (1)."""

    def call(image: Any, what: str) -> Any:
        x = image_of(image, what)
        return K.reverse(x, axes_of(x)[side])

    return call


def _random_flip(side: int) -> Callable[..., Any]:
    """Mirrors one image in two, each by a number of its own."""

    def call(image: Any, seed: Any, what: str) -> Any:
        x = image_of(image, what)
        shape = (size_of(x, 0), 1, 1, 1) if len(x.shape) == 4 else (1, 1, 1)
        half = K.less(K.random_uniform(shape, seed=seed), 0.5)
        return chosen(half, K.reverse(x, axes_of(x)[side]), x)

    return call


def transpose_image(image: Any, what: str) -> Any:
    x = image_of(image, what)
    rows, columns = axes_of(x)
    order = [*range(rows), columns, rows, columns + 1]
    return transpose(x, order)


def rot90(image: Any, k: Any, what: str) -> Any:
    """Turned by `k` right angles, against the clock."""
    x = image_of(image, what)
    if isinstance(k, Node):
        raise ArgumentError(f"{what}: k must be an int; tf.case chooses among several")
    rows, columns = axes_of(x)
    turns: dict[int, Callable[[], Any]] = {
        0: lambda: K.identity(x),
        1: lambda: transpose_image(K.reverse(x, columns), what),
        2: lambda: K.reverse(x, [rows, columns]),
        3: lambda: K.reverse(transpose_image(x, what), columns),
    }
    return turns[int(k) % 4]()


PLAIN = called({
    "image.crop_to_bounding_box": crop_to_bounding_box,
    "image.pad_to_bounding_box": pad_to_bounding_box,
    "image.resize_image_with_crop_or_pad": resize_image_with_crop_or_pad,
    "image.central_crop": central_crop, "random_crop": random_crop,
    "image.flip_up_down": _flip(0), "image.flip_left_right": _flip(1),
    "image.random_flip_up_down": _random_flip(0), "image.random_flip_left_right": _random_flip(1),
    "image.transpose_image": transpose_image, "image.rot90": rot90,
})  # fmt: skip
