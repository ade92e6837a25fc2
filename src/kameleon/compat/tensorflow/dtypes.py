"""TensorFlow's data types: their numbers, and what they are called here."""

from __future__ import annotations

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


_SHOWN = {"float32": "float", "float64": "double", "float16": "half"}


def shown(number: int) -> str:
    """The name of a data type in messages.

    >>> shown(1), shown(3)
    ('float', 'int32')
    """
    return _SHOWN.get(name_of(number), name_of(number))


def enumerator(number: int) -> str:
    """The name of a data type in the C headers and in messages of the C library.

    >>> enumerator(1), enumerator(3)
    ('FLOAT', 'INT32')
    """
    return shown(number).upper()


def held(name: str) -> str:
    """NumPy's type for a type's numbers; of those that it lacks, for their bits.

    >>> held("quint8"), held("bfloat16"), held("float32")
    ('uint8', 'uint16', 'float32')
    """
    return {"bfloat16": "uint16"}.get(name, name.removeprefix("q"))


def name_of(number: int) -> str:
    """The name of a data type, of references the same.

    >>> name_of(1), name_of(103)
    ('float32', 'int32')
    """
    return NAMES[number % REFERENCE - 1]
