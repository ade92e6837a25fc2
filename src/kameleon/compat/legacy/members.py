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
from functools import wraps
from types import FrameType, GetSetDescriptorType, ModuleType
from typing import Any, NamedTuple

from . import closed
from .importers import gives_old_names, is_old, is_pythons
from .stand_in import asks_by_name, warn_old


class Lost(NamedTuple):
    """What a class has lost.

    Args:
        today: what is written today, in words for the warning.
        value: gives the value, for an object; for the class, where the name is asked of the class.
    """

    today: str
    value: Callable[[Any], Any]


class Changed(NamedTuple):
    """A method that behaves otherwise than it did.

    Args:
        method: gives what old code calls in the place of the method.
        is_implied: whether Python calls the method, for `float(x)` or `print([x])`, say; then
            Python's own library may stand between (`logging`), and no name in the code says so.
    """

    method: Callable[[Callable[..., Any]], Callable[..., Any]]
    is_implied: bool = False


# By path of a class within a module, by name.
Members = Mapping[str, Mapping[str, Lost | Changed]]


class _Member:
    """The descriptor: not one that takes assignments, so objects may have the name themselves."""

    def __init__(self, owner: type, name: str, before: Any):
        self.owner, self.name, self.before = owner, name, before

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
    def __init__(self, owner: type, name: str, before: Any, lost: Lost):
        super().__init__(owner, name, before)
        self.lost = lost

    def __get__(self, instance: Any, kind: type) -> Any:
        if not gives_old_names() or not asks_by_name(sys._getframe(1)):
            return self.found_by_others(instance, kind)
        if self.before is not None and instance is not None:
            with suppress(AttributeError):
                return self.found_by_others(instance, kind)
        warn_old(f"{self.owner.__name__}.{self.name}", self.lost.today)
        return self.lost.value(kind if instance is None else instance)


class _ChangedMember(_Member):
    def __init__(self, owner: type, name: str, before: Any, changed: Changed):
        super().__init__(owner, name, before)
        self.method = wraps(before)(changed.method(before))
        self.is_for = _is_implied if changed.is_implied else asks_by_name

    def __get__(self, instance: Any, kind: type) -> Any:
        if not gives_old_names() or not self.is_for(sys._getframe(1)):
            return self.found_by_others(instance, kind)
        return self.method.__get__(instance, kind)  # type: ignore[attr-defined]


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
