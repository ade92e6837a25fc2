"""TensorFlow's data types: their numbers, and what they are called here."""

from __future__ import annotations

from typing import Any

import numpy as np

# In the order of their numbers, from 1 on; a reference to a variable has 100 more.
NAMES = (
    "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32"
    " bfloat16 qint16 quint16 uint16 complex128 float16 resource variant uint32 uint64"
).split()
REFERENCE = 100
NUMBERS = {name: number for number, name in enumerate(NAMES, 1)}

# Types whose values K computes with; the others' stay on the host.
OF_K = frozenset(
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    " bool".split()
)
OF_HANDLES = frozenset({"resource", "variant"})
HANDLES = frozenset(NUMBERS[name] for name in OF_HANDLES)


_ENUMERATED = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
_SHOWN = {"float32": "float", "float64": "double", "float16": "half"}


def shown(number: int) -> str:
    """The name of a data type in messages.

    >>> shown(1), shown(103)
    ('float', 'int32_ref')
    """
    return _SHOWN.get(name_of(number), name_of(number)) + "_ref" * (number > REFERENCE)


def enumerated(number: int) -> str:
    """The name of a data type in messages of protocol buffers, and of the C library.

    >>> enumerated(1), enumerated(103)
    ('DT_FLOAT', 'DT_INT32_REF')
    """
    name = name_of(number)
    return f"DT_{_ENUMERATED.get(name, name.upper())}" + "_REF" * (number > REFERENCE)


def held(name: str) -> str:
    """NumPy's type for a type's numbers; of those that it lacks, for their bits.

    >>> held("quint8"), held("bfloat16"), held("float32")
    ('uint8', 'uint16', 'float32')
    """
    return {"bfloat16": "uint16"}.get(name, name.removeprefix("q"))


def limits(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest finite number of a dtype.

    >>> limits("int8"), limits("float16") == (-65504.0, 65504.0)
    ((-128, 127), True)
    """
    name = str(dtype)
    if name == "bfloat16":
        import ml_dtypes

        info: Any = ml_dtypes.finfo
    else:
        info = np.finfo if name.startswith("float") else np.iinfo
    found = info(name)
    return found.min, found.max


def in_numpy(name: str) -> str:
    """NumPy's type for a type's values: objects for those that it has no numbers for.

    >>> in_numpy("string"), in_numpy("qint8"), in_numpy("float32")
    ('object', 'int8', 'float32')
    """
    return "object" if name == "string" or name in OF_HANDLES else name.removeprefix("q")


def name_of(number: int) -> str:
    """The name of a data type, of references the same.

    >>> name_of(1), name_of(103)
    ('float32', 'int32')
    """
    return NAMES[number % REFERENCE - 1]
