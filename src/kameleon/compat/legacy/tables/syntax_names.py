"""Classes of literals that gast had until 0.3, and ast until 3.13: all are `Constant` since."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ..stand_in import Old, Table

# By name of a class, the types of the values in it.
LITERALS: Mapping[str, tuple[type, ...]] = {
    "Num": (int, float, complex),
    "Str": (str,),
    "Bytes": (bytes,),
    "NameConstant": (bool, type(None)),
    "Ellipsis": (type(...),),
}


class _OfConstants(type):
    """A class whose instances are the constants of some types."""

    library: ModuleType
    kinds: tuple[type, ...]

    def __instancecheck__(cls, node: Any) -> bool:
        # True and False are of a class of their own, not whole numbers.
        of_bool = isinstance(getattr(node, "value", None), bool) and bool not in cls.kinds
        constant = isinstance(node, cls.library.Constant)
        return constant and isinstance(node.value, cls.kinds) and not of_bool

    def __call__(cls, value: Any = ...) -> Any:
        return cls.library.Constant(value, None)


def _literal(module: str, name: str) -> Old:
    def value(library: ModuleType) -> Any:
        return _OfConstants(name, (), {"library": library, "kinds": LITERALS[name]})

    return Old(f"{module}.Constant", value)


TABLES: Mapping[str, Table] = {
    module: Table({name: _literal(module, name) for name in LITERALS}) for module in ("gast", "ast")
}
