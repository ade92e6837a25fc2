"""Names that the objects of a library had, and that its classes have lost: for old code alone.

A stand-in has what a module has lost. What an object has lost (`frame.append`, `dataset.value`) is
put into its class, as a descriptor that knows who asks: whoever isn't old code finds what the
class has without it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType, GetSetDescriptorType, ModuleType
from typing import Any, NamedTuple

from ..._utils.around import Around
from . import closed
from .importers import gives_old_names, is_old, is_pythons
from .stand_in import Old, asks_by_name, warn_old


class Changed(NamedTuple):
    """A method that behaves otherwise than it did.

    Args:
        method: gives, for the method, what old code calls in its place.
        is_implied: whether Python calls the method, for `float(x)` or `print([x])`, say; then
            Python's own library may stand between (`logging`), and no name in the code says so.
    """

    method: Around
    is_implied: bool = False


# By path of a class within a module, by name.
Members = Mapping[str, Mapping[str, Old | Changed]]


class _Member:
    """The descriptor: not one that takes assignments, so objects may have the name themselves."""

    def __init__(self, owner: type, name: str, before: Any, is_for: Callable[[FrameType], bool]):
        self.owner, self.name, self.before, self.is_for = owner, name, before, is_for

    def __get__(self, instance: Any, kind: type) -> Any:
        if gives_old_names() and self.is_for(sys._getframe(1)):
            return self.found_by_old(instance, kind)
        return self.found_by_others(instance, kind)

    def found_by_old(self, instance: Any, kind: type) -> Any:
        """What old code finds."""
        raise NotImplementedError

    def found_by_others(self, instance: Any, kind: type) -> Any:
        """What whoever isn't old code finds."""
        if hasattr(type(self.before), "__get__"):
            return self.before.__get__(instance, kind)
        if self.before is not None:
            return self.before
        asked = f"{kind.__name__!r} object" if instance is not None else f"type object {kind!r}"
        raise AttributeError(
            f"{asked} has no attribute {self.name!r}",
            name=self.name,
            obj=kind if instance is None else instance,
        )


class _LostMember(_Member):
    def __init__(self, owner: type, name: str, before: Any, lost: Old):
        super().__init__(owner, name, before, asks_by_name)
        self.lost = lost

    def found_by_old(self, instance: Any, kind: type) -> Any:
        if self.before is not None and instance is not None:
            with suppress(AttributeError):
                return self.found_by_others(instance, kind)
        warn_old(f"{self.owner.__name__}.{self.name}", self.lost.today)
        return self.lost.value(kind if instance is None else instance)


class _ChangedMember(_Member):
    def __init__(self, owner: type, name: str, before: Any, changed: Changed):
        is_for = _is_implied if changed.is_implied else asks_by_name
        super().__init__(owner, name, before, is_for)
        self.method: Any = changed.method(before)

    def found_by_old(self, instance: Any, kind: type) -> Any:
        return self.method.__get__(instance, kind)


def _is_implied(frame: FrameType | None) -> bool:
    """Whether the code in this frame is old, or that which called Python's own library."""
    while frame is not None and is_pythons(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and is_old(frame.f_globals)


def give(library: ModuleType, members: Members) -> None:
    """Put into the classes of a library what they have lost. Names that they have stay theirs."""
    for path, names in members.items():
        owner = _class(library, path)
        for name, member in names.items():
            before = owner and inspect.getattr_static(owner, name, None)
            if owner is None or isinstance(before, _Member):
                continue
            if isinstance(member, Changed):
                if callable(before):
                    closed.put(owner, name, _ChangedMember(owner, name, before, member))
            # A library may leave a name behind that only says that it's gone.
            elif before is None or isinstance(before, GetSetDescriptorType):
                closed.put(owner, name, _LostMember(owner, name, before, member))


def _class(library: ModuleType, path: str) -> type | None:
    """The class at a path in the library, whose modules are loaded; None if it has none there."""
    found: Any = library
    for part in path.split("."):
        if not hasattr(found, part):
            try:
                importlib.import_module(f"{found.__name__}.{part}")
            except ImportError:
                return None
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None
