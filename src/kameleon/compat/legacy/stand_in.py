"""Stand-ins for libraries: the library as it is, with the names that it had when old code was new.

A table says for each module which names are gone, and what is given for them. A name that the
library still has is the library's own. Whoever isn't old code, and gets hold of a stand-in,
sees no old names in it; libraries that merely look whether there is such a name don't, either.
"""

from __future__ import annotations

import dis
import importlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from operator import attrgetter
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from ...errors import OldNameWarning
from .importers import ORIGINALS, Importer, asking, importer


class Old(NamedTuple):
    """A name that a module or a class has lost: what is written today, and what gives its value.

    Args:
        today: in words for the warning.
        value: is called with the library, or the object; for a name that is asked of its class,
            with the class. It may raise AttributeError where the library, in the version that is
            there, can't give the value.
    """

    today: str
    value: Callable[[Any], Any]


class Table(NamedTuple):
    """What old code sees of a module.

    Args:
        gone: by name, what has left.
        changed: by name of what is still there and behaves otherwise than it did, what gives the
            old one for today's.
        missing: what is asked for names that are in neither, and not in the library.
        made: whether there's a module even where the library has it no longer.
        members: by path of a class, by name, what its objects have lost.
        called: the same for a class that is called on the spot, as in `numpy.uint8(x)`. Whatever
            else code does with the name, it gets the class.
        instead: what to do where the module is gone and isn't made.
    """

    gone: Mapping[str, Old] = {}
    changed: Mapping[str, Callable[[Any], Any]] = {}
    missing: Callable[[str], Old | None] | None = None
    made: bool = False
    members: Mapping[str, Mapping[str, Any]] = {}
    called: Mapping[str, Callable[[Any], Any]] = {}
    instead: str = ""

    def old(self, name: str) -> Old | None:
        """What is given for a name that the library has no longer; None if nothing is."""
        if name.startswith("__"):
            return None
        return self.gone.get(name) or (self.missing(name) if self.missing else None)


def same(today: str) -> Old:
    """A name that the library has under another name, which begins with the library's.

    >>> import math
    >>> same("math.inf").today, same("math.inf").value(math)
    ('math.inf', inf)
    """

    return Old(today, lambda x: attrgetter(today.removeprefix(f"{x.__name__}."))(x))


def from_module(module: str, name: str) -> Old:
    """A name that another module has, which is loaded when the name is asked for.

    >>> from_module("collections.abc", "Iterable").today
    'collections.abc.Iterable'
    """
    return Old(f"{module}.{name}", lambda _: getattr(importlib.import_module(module), name))


def module(name: str) -> Old:
    """A name for a module, which is loaded when it's asked for."""
    return Old(name, lambda _: _loaded(name))


def _loaded(name: str) -> ModuleType:
    """The library itself, whoever unpickles a stand-in."""
    return importlib.import_module(name)


def constant(today: str, value: Any) -> Old:
    """A name for a value, or a function, that needs no library."""
    return Old(today, lambda _: value)


def taken_from(module: str, names: str) -> dict[str, Old]:
    """Names, with spaces between, that another module has.

    >>> taken_from("math", "sin cos")["cos"].today
    'math.cos'
    """
    return {name: from_module(module, name) for name in names.split()}


def moved(module: str) -> Table:
    """A module whose names are all in another one today."""
    return Table(missing=lambda name: from_module(module, name), made=True)


class StandIn(ModuleType):
    """A library as old code sees it.

    What old code sets in it, it sets in the library. Names that are looked up in it are the
    library's own at that moment; only what the table says is added.

    Args:
        library: the module; one that was made where it's gone.
        table: what is added.
        child: gives, for the full name of a submodule, what old code sees of it; None where
            that's the library's own.
    """

    __slots__ = ("_child", "_library", "_table", "_values")
    _child: Callable[[str], ModuleType | None]
    _library: ModuleType
    _table: Table
    _values: dict[str, Any]  # of changed and called names that have been asked for

    def __init__(
        self,
        library: ModuleType,
        table: Table,
        child: Callable[[str], ModuleType | None] = lambda name: None,
    ) -> None:
        super().__init__(library.__name__)
        _own_dict(self).clear()
        keep = partial(object.__setattr__, self)  # not in the library
        keep("_child", child)
        keep("_library", library)
        keep("_table", table)
        keep("_values", {})

    def __getattr__(self, name: str) -> Any:
        library, values, table = self._library, self._values, self._table
        is_called = name in table.called and calls_on_the_spot(sys._getframe(1))
        ways = table.called if is_called else table.changed
        if name in ways and (name in values or hasattr(library, name)):
            if name not in values:
                values[name] = ways[name](getattr(library, name))
            return values[name]
        child = self._child(f"{library.__name__}.{name}")
        if child is not None:
            return child
        try:
            found = getattr(library, name)
            # A module that the library took from elsewhere (`pyplot.cm`).
            return (isinstance(found, ModuleType) and self._child(found.__name__)) or found
        except AttributeError:
            old = self._table.old(name)
            if old is None or not asks_by_name(sys._getframe(1)):
                raise
            found = old.value(library)
        warn_old(f"{library.__name__}.{name}", old.today)
        return found

    def everything(self) -> ModuleType:
        """A module for `from library import *`: the library's names and the old ones. Nobody is
        warned, as nobody knows which of them will be used.
        """
        library, found = self._library, ModuleType(self._library.__name__)
        listed = getattr(library, "__all__", None) or [n for n in vars(library) if n[0] != "_"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the library's, too
            for name in listed:
                setattr(found, name, getattr(self, name))
            for name, old in self._table.gone.items():
                with suppress(AttributeError):
                    vars(found).setdefault(name, old.value(library))
        vars(found)["__all__"] = [name for name in vars(found) if not name.startswith("__")]
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._values.pop(name, None)
        if name in self._table.changed:
            self._values[name] = value
        setattr(self._library, name, value)

    def __delattr__(self, name: str) -> None:
        self._values.pop(name, None)
        delattr(self._library, name)

    def __dir__(self) -> Iterable[str]:
        return {*dir(self._library), *self._table.gone}

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return vars(self._library)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self._library.__name__,)


def _own_dict(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(module)
    return found


# --- who gets an old name, and what they're told ------------------------------------------------

# What the instructions are called by which code takes an attribute of a module that it names.
NAMED_IN_CODE = frozenset({"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"})


def asks_by_name(frame: FrameType) -> bool:
    """Whether an old name is for the code in this frame: for the program always; for a library
    where the name stands in its source, and not where it looks by `hasattr` or `getattr`.
    """
    kind = importer(frame.f_globals)
    if kind is not Importer.LIBRARY:
        return kind is Importer.PROGRAM
    instruction = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return instruction in NAMED_IN_CODE


def calls_on_the_spot(frame: FrameType) -> bool:
    """Whether the code in this frame is old, and takes an attribute only to call it."""
    is_other = importer(frame.f_globals) is Importer.OTHER
    return not is_other and _is_called(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=16)  # most names are asked for by a few modules while they're imported
def _instructions(code: CodeType) -> tuple[list[dis.Instruction], dict[int, int]]:
    """The instructions of code, and the number of each by its place."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    return steps, {step.offset: number for number, step in enumerate(steps)}


@lru_cache(maxsize=4096)
def _is_called(code: CodeType, at: int) -> bool:
    """Whether the attribute that the instruction at this place takes is called with what follows.

    Python marks that in the instruction itself, or by a NULL beside the callable: behind the
    attribute, and before 3.13 in front of the name whose attribute it is.
    """
    steps, places = _instructions(code)
    index = places.get(at)
    if index is None:
        return False
    taking, following = steps[index], steps[index + 1].opname
    if taking.opname != "LOAD_ATTR":
        return taking.opname == "LOAD_METHOD"
    if sys.version_info >= (3, 12) and (taking.arg or 0) & 1:
        return True
    if sys.version_info >= (3, 13):
        return following == "PUSH_NULL"
    if index < 2 or following in ("LOAD_ATTR", "LOAD_METHOD", "BINARY_SUBSCR"):
        return False
    named = steps[index - 1]
    is_marked = named.opname == "LOAD_GLOBAL" and bool((named.arg or 0) & 1)
    return is_marked or steps[index - 2].opname == "PUSH_NULL"


_warned: set[tuple[str, str]] = set()  # the old name, and the module that has been told


def warn_old(name: str, today: str) -> None:
    """Warn the line of old code that asks for a name: once for each name and module. Nobody is
    to change the originals.

    Args:
        name: the old name, in full.
        today: what is written today.
    """
    frame = asking(sys._getframe(1))
    if frame is None:
        return
    module = frame.f_globals.get("__name__") or "<unknown>"
    if (name, module) in _warned or module.partition(".")[0] in ORIGINALS:
        return
    _warned.add((name, module))
    warnings.warn_explicit(
        f"{name} is gone; this program gets it from Kameleon. Today: {today}",
        OldNameWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=module,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
