"""Dtypes of TensorFlow 1 that no tensor of Kameleon's has: they are arguments of functions of an
installed TensorFlow, and the dtypes of what these hold back (`pending`).
"""

from __future__ import annotations

from typing import Any

from ..errors import DTypeError
from ..ir.types import as_dtype

NAMES_OF_TYPES = "complex64 complex128 string resource variant qint8 qint16 qint32 quint8 quint16"
PARTS = {"complex64": "float32", "complex128": "float64"}


class OtherType(str):
    """The name of a dtype that no tensor has, with the properties of a dtype.

    >>> OtherType("complex64").is_complex, OtherType("string").name
    (True, 'string')
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The plain string."""
        return str(self)

    @property
    def base_dtype(self) -> OtherType:
        """The dtype itself."""
        return self

    @property
    def real_dtype(self) -> Any:
        """That of the parts of its numbers: for complex64 float32."""
        return as_dtype(PARTS[self]) if self in PARTS else self

    @property
    def is_complex(self) -> bool:
        """Whether it's of complex numbers."""
        return self.startswith("complex")

    @property
    def is_floating(self) -> bool:
        """Whether it's of floats: no."""
        return False

    @property
    def is_integer(self) -> bool:
        """Whether it's of integers: no, as quantized numbers aren't."""
        return False

    @property
    def is_quantized(self) -> bool:
        """Whether it's of quantized numbers."""
        return self.startswith(("qint", "quint"))

    @property
    def as_numpy_dtype(self) -> type:
        """NumPy's type for it.

        Raises:
            DTypeError: NumPy has none.
        """
        known = {"complex64": "complex64", "complex128": "complex128", "string": "object"}
        if self not in known:
            raise DTypeError(f"NumPy has no {self}")
        import numpy as np

        return np.dtype(known[self]).type

    def __repr__(self) -> str:
        return f"tf.{self!s}"


TYPES = {name: OtherType(name) for name in NAMES_OF_TYPES.split()}
PLAIN = {f"{space}{name}": kind for name, kind in TYPES.items() for space in ("", "dtypes.")}
NAMES: dict[str, object] = {}
