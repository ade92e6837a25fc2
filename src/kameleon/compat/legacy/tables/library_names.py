"""What SciPy's images and windows, Pillow, PyYAML, h5py and IPython had and have no longer."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...keras2.hdf5 import Text
from ...keras2.shims import saving_in_16_bits
from ..functions import Function, around, bound
from ..members import Changed
from ..stand_in import Old, Table, constant, from_module, same, taken_from
from .numpy_names import GONE
from .scipy_names import _at_rate, central_diff_weights, cwt, derivative, ricker

# scipy.misc: images by Pillow -----------------------------------------------------------------


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError(
            "scipy.misc's functions of images need Pillow: pip install pillow", name="PIL"
        ) from None


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> Any:
    """Numbers as bytes: the least is `low`, the largest `high`; bytes stay as they are."""
    array = np.asarray(data)
    if array.dtype == np.uint8:
        return array
    if not 0 <= low <= high <= 255:
        raise ValueError("`low` and `high` must be between 0 and 255, and `high` not below `low`.")
    least, most = (array.min() if cmin is None else cmin, array.max() if cmax is None else cmax)
    if most < least:
        raise ValueError("`cmax` should be larger than `cmin`.")
    factor = float(high - low) / (float(most - least) or 1.0)
    return (np.clip((array - least) * factor + low, low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None, pal: Any = None,
    mode: str | None = None, channel_axis: int | None = None,
) -> Any:  # fmt: skip
    """An array as an image of Pillow's, scaled to bytes if it holds other numbers."""
    array = np.asarray(arr)
    if array.ndim == 2 and mode == "F":
        return _pillow().fromarray(array.astype(np.float32))
    if array.ndim == 3:
        axis = _channel_axis(array.shape) if channel_axis is None else channel_axis
        array = np.moveaxis(array, axis, -1)
    elif array.ndim != 2:
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    found = _pillow().fromarray(np.ascontiguousarray(bytescale(array, cmin, cmax, high, low)))
    return found if mode is None or mode == found.mode else found.convert(mode)


def _channel_axis(shape: tuple[int, ...]) -> int:
    for count in (3, 4):
        if count in shape:
            return shape.index(count) if shape[-1] != count else 2
    raise ValueError("Could not find channel dimension.")


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """An image of Pillow's as an array."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    """The image in a file as an array."""
    with _pillow().open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Write an array as an image to a file."""
    toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None).save(name, format)


FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """An image at another size: percent (an int), a fraction (a float), or (rows, columns)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)):
        size = (size / 100.0,) * 2
        wanted = tuple((np.array(image.size) * size).astype(int))
    elif isinstance(size, (float, np.floating)):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    return fromimage(image.resize(tuple(map(int, wanted)), resample=FILTERS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    """An image, turned counter-clockwise by degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=FILTERS[interp]))


def imshow(arr: Any) -> None:
    """Show an image."""
    toimage(arr).show()


DIFFERENCES = (derivative, central_diff_weights)
MISC = (imread, imsave, imresize, imrotate, imshow, toimage, fromimage, bytescale)
SPECIAL = "logsumexp comb factorial factorial2 factorialk"

# Windows, ndimage, aliases ----------------------------------------------------------------------

WINDOWS = (
    "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop"
    " gaussian general_gaussian hamming hann kaiser nuttall parzen triang tukey"
)
FORMER = {"slepian": "dpss", "hanning": "hann"}


def _of_numpy(name: str) -> Old | None:
    """SciPy's names for functions of NumPy."""
    if name in ("rand", "randn", "ifft"):
        return from_module("numpy.fft" if name == "ifft" else "numpy.random", name)
    if name.startswith("_"):
        return None
    return from_module("numpy", name) if hasattr(np, name) else GONE.get(name)


def _of_ndimage(name: str) -> Old | None:
    return None if name.startswith("_") else from_module("scipy.ndimage", name)


@around
def _load(load: Function, stream: Any, Loader: Any = None) -> Any:
    """`yaml.load`; without a Loader only plain data is read."""
    return load(stream, Loader or importlib.import_module("yaml").SafeLoader)


def _file(theirs: Any) -> type:
    class File(theirs):  # type: ignore[misc]
        """`h5py.File`; without a mode it makes a file where there's none, as h5py 2 did."""

        def __init__(self, name: Any, mode: str | None = None, *args: Any, **options: Any):
            super().__init__(name, mode or "a", *args, **options)

    return File


@around
def _read_attribute(getitem: Function, attributes: Any, name: Any) -> Any:
    """An attribute; texts have `decode`, as h5py 2 gave many of them as bytes."""
    value = getitem(attributes, name)
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        texts = [Text(x) if isinstance(x, str) else x for x in value.flat]
        value = np.fromiter(texts, object, len(texts)).reshape(value.shape)
    return value


@around
def _read_dataset(getitem: Function, dataset: Any, *args: Any, **options: Any) -> Any:
    """Parts of a dataset; texts of any length are texts, as h5py 2 gave them, not bytes."""
    value = getitem(dataset, *args, **options)
    info = importlib.import_module("h5py").check_string_dtype(dataset.dtype)
    if info is None or info.length is not None or info.encoding != "utf-8":
        return value
    if isinstance(value, bytes):
        return value.decode()
    texts = [x.decode() if isinstance(x, bytes) else x for x in value.flat]
    return np.fromiter(texts, object, len(texts)).reshape(value.shape)


@around
def _get_attribute(_: Function, attributes: Any, name: Any, default: Any = None) -> Any:
    """An attribute, or what stands for it where there's none."""
    if name not in attributes:
        return default
    return _read_attribute(type(attributes).__getitem__)(attributes, name)


SHOWING = "display clear_output publish_display_data update_display DisplayHandle"

# Pillow: sizes of texts -------------------------------------------------------------------------


def _corner(corner: slice) -> Old:
    """Where a text of a font begins, or how far it reaches to the right and down, in pixels."""

    @bound
    def get(font: Any, text: str, *args: Any, **options: Any) -> tuple[int, ...]:
        return tuple(map(int, font.getbbox(text, *args, **options)[corner]))

    return Old(".getbbox", get)


def _size_of_drawn(box: str) -> Old:
    @bound
    def textsize(
        draw: Any, text: str, font: Any = None, *args: Any, **options: Any
    ) -> tuple[int, ...]:
        """How far a text reaches to the right and down when it's drawn."""
        found = getattr(draw, box)((0, 0), text, font, None, *args, **options)
        return tuple(map(int, found[2:]))

    return Old(f".{box}", textsize)


OF_FONTS = {"getsize": _corner(slice(2, None)), "getoffset": _corner(slice(2))}
OF_DRAWINGS = {
    "textsize": _size_of_drawn("textbbox"),
    "multiline_textsize": _size_of_drawn("multiline_textbbox"),
}
VERSION = same("PIL.__version__")


TABLES: Mapping[str, Table] = {
    "scipy": Table(missing=_of_numpy),
    "scipy.misc": Table(
        {
            **{f.__name__: constant(f"Pillow, or imageio ({f.__name__})", f) for f in MISC},
            "pade": from_module("scipy.interpolate", "pade"),
            **taken_from("scipy.special", SPECIAL),
            **taken_from("scipy.datasets", "ascent electrocardiogram face"),
            **{f.__name__: constant("numdifftools, say", f) for f in DIFFERENCES},
        },
        made=True,
    ),
    "scipy.signal": Table(
        {
            **taken_from("scipy.signal.windows", WINDOWS),
            **{old: from_module("scipy.signal.windows", new) for old, new in FORMER.items()},
            **{f.__name__: constant("PyWavelets", f) for f in (ricker, cwt)},
        },
        dict.fromkeys(("firls", "firwin", "firwin2", "remez"), _at_rate),
    ),
    "scipy.ndimage": Table({"imread": constant("imageio.imread", imread)}),
    **{
        f"scipy.ndimage.{part}": Table(missing=_of_ndimage, made=True)
        for part in ("interpolation", "filters", "morphology", "measurements", "fourier")
    },
    "PIL": Table({"PILLOW_VERSION": VERSION}),
    "PIL.ImageDraw": Table(members={"ImageDraw": OF_DRAWINGS}),
    "PIL.ImageFont": Table(
        members={"FreeTypeFont": OF_FONTS, "ImageFont": OF_FONTS, "TransposedFont": OF_FONTS}
    ),
    "PIL.Image": Table(
        {
            "PILLOW_VERSION": from_module("PIL", "__version__"),
            "isImageType": constant("isinstance", lambda t: hasattr(t, "im")),
            "isStringType": constant("isinstance", lambda t: isinstance(t, str)),
            "ANTIALIAS": same("PIL.Image.LANCZOS"),
            "LINEAR": same("PIL.Image.BILINEAR"),
            "CUBIC": same("PIL.Image.BICUBIC"),
            "fromstring": same("PIL.Image.frombytes"),
        },
        members={"Image": {"save": Changed(saving_in_16_bits)}},
    ),
    "theano": Table(
        instead="kameleon run --as theano program.py gives old programs Theano's names over K"
    ),
    "IPython.core.display": Table(taken_from("IPython.display", SHOWING)),
    "tifffile": Table({"imsave": same("tifffile.imwrite")}),
    "yaml": Table(changed={"load": _load}),
    "h5py": Table(
        changed={"File": _file},
        members={
            "Dataset": {
                "value": Old(
                    "dataset[()]",
                    lambda dataset: _read_dataset(type(dataset).__getitem__)(dataset, ()),
                ),
                "__getitem__": Changed(_read_dataset, is_implied=True),
            },
            "AttributeManager": {
                "__getitem__": Changed(_read_attribute),
                "get": Changed(_get_attribute),
            },
        },
    ),
}
