"""The functions of the documentation that read and change settings."""

from __future__ import annotations

from ..errors import ArgumentError
from .table import RULES, settings

DIM_ORDERINGS = {"tf": "channels_last", "th": "channels_first"}


def epsilon() -> float:
    """Return the fuzz factor: the small number that keeps logarithms and quotients finite.

    >>> epsilon()
    1e-07
    """
    return settings.epsilon


def set_epsilon(e: float) -> None:
    """Set the fuzz factor.

    Args:
        e: a positive, finite number.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_epsilon(1e-05)
    >>> epsilon()
    1e-05
    >>> set_epsilon(1e-07)
    """
    settings.epsilon = RULES["epsilon"].check("set_epsilon: e", e)


def floatx() -> str:
    """Return the default float type: 'float16', 'float32', 'float64' or 'bfloat16'.

    >>> floatx()
    'float32'
    """
    return settings.floatx


def set_floatx(floatx: str) -> None:
    """Set the float type of tensors that are made without naming one.

    Tensors that exist already keep their float type.

    Args:
        floatx: 'float16', 'float32', 'float64', or 'bfloat16', which needs the package ml_dtypes.

    Raises:
        ArgumentError: (a ValueError) for any other name.

    >>> set_floatx('float64')
    >>> settings.floatx
    'float64'
    >>> set_floatx('float32')
    """
    settings.floatx = RULES["floatx"].check("set_floatx: floatx", floatx)


def image_data_format() -> str:
    """Return where images keep their channels: 'channels_last' or 'channels_first'.

    >>> image_data_format()
    'channels_last'
    """
    return settings.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set where images keep their channels, for functions whose `data_format` is None.

    Args:
        data_format: 'channels_last' (rows, columns, channels) or 'channels_first'
            (channels, rows, columns).

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_image_data_format('channels_first')
    >>> image_data_format()
    'channels_first'
    >>> set_image_data_format('channels_last')
    """
    checked = RULES["image_data_format"].check("set_image_data_format: data_format", data_format)
    settings.image_data_format = checked


def normalize_data_format(value: str | None, function: str = "normalize_data_format") -> str:
    """Return `value` as 'channels_last' or 'channels_first'; None is the default layout.

    Args:
        value: a layout in any case of letters, or None.
        function: the function that the error names, where another one passes its argument on.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> normalize_data_format('Channels_First'), normalize_data_format(None)
    ('channels_first', 'channels_last')
    """
    if value is None:
        return settings.image_data_format
    lowered = value.lower() if isinstance(value, str) else value
    try:
        checked: str = RULES["image_data_format"].check("", lowered)
    except ArgumentError:
        expected = RULES["image_data_format"].expected
        message = f"{function}: data_format is {value!r}; expected {expected}, or None"
        raise ArgumentError(message) from None
    return checked


def image_dim_ordering() -> str:
    """Return the default image layout by its name of old: 'tf' or 'th'.

    'tf' is 'channels_last', 'th' is 'channels_first'.

    >>> image_dim_ordering()
    'tf'
    """
    return next(name for name, layout in DIM_ORDERINGS.items() if layout == image_data_format())


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the default image layout by its name of old.

    Args:
        dim_ordering: 'tf' for 'channels_last', 'th' for 'channels_first'.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_image_dim_ordering('th')
    >>> image_data_format()
    'channels_first'
    >>> set_image_dim_ordering('tf')
    """
    if str(dim_ordering) not in DIM_ORDERINGS:
        raise ArgumentError(
            f"set_image_dim_ordering: dim_ordering is {dim_ordering!r}; expected 'tf' "
            "(channels_last) or 'th' (channels_first)"
        )
    set_image_data_format(DIM_ORDERINGS[str(dim_ordering)])
