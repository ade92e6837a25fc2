"""The import statement of old code: it finds stand-ins, by one `__import__` that knows who asks.

Python calls `builtins.__import__` with the globals of the module that imports. This one answers
as Python does, but where old code asks for a library that a table knows, or for a package that
is provided. `sys.modules` holds the libraries themselves; nobody else sees a stand-in.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import io
import operator
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from importlib.util import resolve_name, spec_from_loader
from types import FrameType, FunctionType, ModuleType
from typing import Any

from . import members
from .functions import Function, around
from .importers import MARK, is_old, is_pythons, place_of
from .stand_in import StandIn, Table
from .tables import TABLES

SWITCH = "KAMELEON_OLD_NAMES"  # 0 turns the tables of old names off

# Gives old code the module of that full name, in a package that isn't looked for; raises
# ModuleNotFoundError where the package hasn't got it.
Provider = Callable[[str], ModuleType]

python_import = builtins.__import__
python_import_module = importlib.import_module
_providers: dict[str, Provider] = {}
_also: dict[str, frozenset[str]] = {}  # by package that's provided, who else gets it
_provided: dict[str, ModuleType | None] = {}  # by full name, what old code has of these packages
_tables: dict[str, Table] = {}  # by full name, those in force
_tops: set[str] = set()  # the first parts of all names above
_parents: set[str] = set()  # the names of all tables, and of the packages around them
_stand_ins: dict[str, StandIn] = {}


def begin() -> None:
    """From now on, old code gets what the tables and providers give. A second call does nothing."""
    global python_import
    if builtins.__import__ is old_import:
        return
    vars(importlib)["import_module"] = _imported
    tables = dict(TABLES) if are_names_given() else {}
    for name, own in OF_IMPORTS.items():
        table = tables.get(name, own)
        tables[name] = table._replace(changed={**table.changed, **own.changed})
    _put_in_force(tables)
    python_import = builtins.__import__
    builtins.__import__ = old_import


def provide(package: str, provider: Provider, also: Iterable[str] = ()) -> None:
    """From now on, old code's imports of the package and what is in it go to the provider.

    Args:
        package: its name.
        provider: gives its modules.
        also: other packages whose imports go there, though they aren't old code.
    """
    _providers[package] = provider
    _also[package] = frozenset(also)
    _tops.add(package)


def withdraw(package: str) -> None:
    """From now on, old code's imports of a package that was provided are everybody's."""
    _providers.pop(package, None)


def are_names_given() -> bool:
    """Whether the tables of old names are in force, as `KAMELEON_OLD_NAMES` says.

    >>> are_names_given()
    True
    """
    return os.environ.get(SWITCH, "").strip().lower() not in ("0", "false", "no", "off")


def _put_in_force(tables: Mapping[str, Table]) -> None:
    _tables.update(tables)
    for name in tables:
        _tops.add(name.partition(".")[0])
        while name:
            _parents.add(name)
            name = name.rpartition(".")[0]


# --- the import statement -----------------------------------------------------------------------


def _as_importlibs(function: Any) -> Any:
    """The function, told to be a part of Python's import system: tracebacks leave it out between
    two imports, and warnings about the line that imports go past it.
    """
    bootstrap: Any = importlib.import_module("importlib._bootstrap")
    model = bootstrap._call_with_frames_removed.__code__
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(
        co_filename=model.co_filename, co_name=model.co_name
    )
    return function


@_as_importlibs
def old_import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Python's `__import__`; old code gets stand-ins."""
    top = name.partition(".")[0]
    if level or top not in _tops:
        return python_import(name, globals, locals, fromlist, level)
    frame = sys._getframe(1)
    space = _asker(frame, top, globals)
    if not is_old(space) and not _gets(space, top):
        return python_import(name, globals, locals, fromlist, level)
    if top in _providers:
        return _from_provider(name, fromlist or (), _is_statement(frame))
    try:
        python_import(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as error:
        if not _is_made(error.name):
            _advise(error)
            raise
    found = load(name if fromlist else top)
    is_all = tuple(fromlist or ()) == ("*",) and isinstance(found, StandIn)
    return found.everything() if is_all else found


setattr(old_import, MARK, True)


def _asker(
    frame: FrameType, package: str, space: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """The globals of the module that asks for a package.

    Code in a dictionary of its own (`exec(code, {})`) asks for whoever runs it. So do functions of
    Python's own library (`pydoc.locate`, `timeit`, `mock.patch`), where the package is provided.

    Args:
        frame: where it's asked for.
        package: its name.
        space: globals that were told.
    """
    outer: FrameType | None = frame
    found: Mapping[str, Any] = frame.f_globals if space is None else space
    while outer is not None and _speaks_for_others(found, package):
        found, outer = outer.f_globals, outer.f_back
    return found


def _speaks_for_others(space: Mapping[str, Any], package: str) -> bool:
    if "__name__" not in space:
        return True
    return package in _providers and is_pythons(place_of(space.get("__file__") or "<>"))


def _is_statement(frame: FrameType) -> bool:
    """Whether the frame is at an import statement; else it calls `__import__`."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_NAME"


def _gets(space: Mapping[str, Any], package: str) -> bool:
    """Whether the module with these globals gets a package that's provided like old code."""
    importer = str(space.get("__name__")).partition(".")[0]
    return importer in _also.get(package, ())


def load(name: str) -> ModuleType:
    """The module of that full name, as old code sees it."""
    if name.partition(".")[0] in _providers:
        return _load_provided(name)
    return _stand_in(name) or importlib.import_module(name)


def _advise(error: ModuleNotFoundError) -> None:
    table = _tables.get(error.name or "")
    if table is not None and table.instead:
        error.add_note(table.instead)


def _is_made(name: str | None) -> bool:
    return name in _tables and _tables[name].made


def _stand_in(name: str) -> StandIn | None:
    """What old code sees of a module; None where that's the library's own."""
    if name not in _parents:
        return None
    found = _stand_ins.get(name)
    library = sys.modules.get(name) or _library(name)
    if found is None or found._library is not library:
        table = _tables.get(name, Table())
        members.give(library, table.members)
        found = _stand_ins[name] = StandIn(library, table, _child)
    return found


def _library(name: str) -> ModuleType:
    """The library's own module; where it's gone, an empty one, which a table will fill."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not _is_made(error.name):
            raise
    made = _stand_ins.get(name)
    return made._library if made else ModuleType(name)


def _child(name: str) -> ModuleType | None:
    """What old code sees of a submodule, as an attribute of its package."""
    try:
        return _stand_in(name)
    except ModuleNotFoundError:
        return None


# --- packages that are provided -----------------------------------------------------------------


def _from_provider(name: str, names: Sequence[str], has_to: bool) -> ModuleType:
    """As `__import__`: the module, where names are taken from it; else the outermost package.

    Args:
        name: the module's.
        names: the names.
        has_to: whether the module has to have them. Calls of `__import__` often say just any.
    """
    module = _load_provided(name)
    for child in names:
        try:
            child == "*" or getattr(module, child)
        except AttributeError as error:
            try:
                _load_provided(f"{name}.{child}")
            except ModuleNotFoundError:
                if has_to:  # this says more than Python's own error
                    raise ImportError(str(error), name=name) from None
    return module if names else _load_provided(name.partition(".")[0])


def _load_provided(name: str) -> ModuleType:
    """The provider's module, which becomes an attribute of its package, as with Python's own: where
    the package has something else by that name since it was loaded, that stays.
    """
    if name not in _provided:
        package, _, last = name.rpartition(".")
        parent = _load_provided(package) if package else None
        _provided[name] = _providers[name.partition(".")[0]](name)
        if parent is not None:
            vars(parent).setdefault(last, _provided[name])
    found = _provided[name]
    if found is None:  # set by old code, which doesn't want it to be there
        raise ModuleNotFoundError(f"import of {name} halted; None in sys.modules", name=name)
    return found


class _Modules(MutableMapping[str, Any]):
    """`sys.modules`, as old code sees it: with what it has of the packages that are provided."""

    def _place(self, name: object) -> MutableMapping[str, Any]:
        is_provided = isinstance(name, str) and name.partition(".")[0] in _providers
        return _provided if is_provided else sys.modules

    def __getitem__(self, name: str) -> Any:
        return self._place(name)[name]

    def __setitem__(self, name: str, module: Any) -> None:
        self._place(name)[name] = module

    def __delitem__(self, name: str) -> None:
        del self._place(name)[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*sys.modules, *_provided])
        return (name for name in names if name in self._place(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def copy(self) -> dict[str, Any]:
        """A dictionary of its own, as that of a dictionary."""
        return dict(self)


def _imported(name: str, package: str | None = None) -> ModuleType:
    """`importlib.import_module`, as the import statement; Python's own library, where it speaks for
    old code, gets what that gets of the packages that are provided.
    """
    full = resolve_name(name, package) if package and name.startswith(".") else name
    top = full.partition(".")[0]
    if top in _tops and is_old(_asker(sys._getframe(1), top)):
        return load(full)
    return python_import_module(name, package)


@around
def _find_spec(find_spec: Function, name: str, package: str | None = None) -> Any:
    """`importlib.util.find_spec`, which finds the packages that are provided."""
    full = resolve_name(name, package)
    if full.partition(".")[0] not in _providers:
        return find_spec(full)
    try:
        return load(full).__spec__ or spec_from_loader(full, None)
    except ModuleNotFoundError:
        return None


@cache
def _unpickler(theirs: Any) -> Any:
    class Unpickler(theirs):  # type: ignore[misc]
        """Python's, which finds what is in the packages that are provided."""

        def find_class(self, module: str, name: str) -> Any:
            if module.partition(".")[0] not in _providers:
                return super().find_class(module, name)
            return operator.attrgetter(name)(load(module))

    return Unpickler


@around
def _pickle_load(_: Function, file: Any, **keywords: Any) -> Any:
    return _unpickler(pickle.Unpickler)(file, **keywords).load()


@around
def _pickle_loads(_: Function, data: Any, **keywords: Any) -> Any:
    return _unpickler(pickle.Unpickler)(io.BytesIO(data), **keywords).load()


# What is there whether old names are given or not.
OF_IMPORTS = {
    "pickle": Table(
        changed={"Unpickler": _unpickler, "load": _pickle_load, "loads": _pickle_loads}
    ),
    "importlib.util": Table(changed={"find_spec": _find_spec}),
    "sys": Table(changed={"modules": lambda modules: _Modules()}),
}
