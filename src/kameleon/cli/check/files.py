"""Packages that are read, and never imported: what names their modules have, and from where."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kameleon.compat.tensorflow import importing, location, source

GENERATED = re.compile(r"gen_\w+\.py$")  # functions that make operations, a file for each kind
OPERATIONS = re.compile(r'^def (\w+)\(|_apply_op_helper\(\s*"(\w+)"', re.M)
# Modules whose files aren't what is loaded.
OURS = frozenset(name.replace(location.PACKAGE, "tensorflow") for name in importing.OURS)


class AbsentError(Exception):
    """A module hasn't got a name.

    Attributes:
        said: the full name, as it was asked for.
    """

    def __init__(self, module: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"{module}.{name}")
        self.module, self.name, self.known = module, name, known
        self.said = str(self)


@dataclass
class Module:
    """A module, as its file says.

    Attributes:
        name: its name in full.
        path: its file.
        names: by name that it has, the full name of what that is.
        exported: what its `__all__` lists, where it has one that's written out.
        is_own: whether its names are all in its file, and none come by `import *`.
        is_open: whether it may have others.
    """

    name: str
    path: Path
    names: dict[str, str] = field(default_factory=dict)
    exported: Container[object] | None = None
    is_own: bool = True
    is_open: bool = False

    @cached_property
    def text(self) -> str:
        """The file's text, as it's compiled."""
        text = self.path.read_text("utf-8", errors="replace")
        if not self.path.as_posix().endswith(tuple(source.IN_FILES)):
            return text
        return source.changed(text, str(self.path)).replace(location.PACKAGE, "tensorflow")

    @property
    def is_generated(self) -> bool:
        """Whether it's a file of functions that make operations."""
        return GENERATED.search(self.path.name) is not None

    @cached_property
    def operations(self) -> dict[str, str]:
        """By function of a generated file, the type of the operation that it makes."""
        found: dict[str, str] = {}
        function = ""
        for match in OPERATIONS.finditer(self.text):
            function = match[1] or function
            if match[2]:
                found.setdefault(function, match[2])
        return found

    def statement(self, name: str) -> ast.stmt | None:
        """The definition of a function or a class, which is all that is parsed."""
        begin = re.search(rf"^(?:def|class) {re.escape(name)}\b", self.text, re.M)
        if begin is None:
            return None
        rest = re.compile(r"^(?=[^\s)#])", re.M).search(self.text, begin.end())
        try:
            return ast.parse(self.text[begin.start() : rest.start() if rest else None]).body[0]
        except SyntaxError:
            return None


class Files:
    """Packages, by their folders.

    Args:
        folders: by name of a package.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = folders
        self._modules: dict[str, Module | None] = {}
        self._busy: set[str] = set()

    def path(self, name: str) -> Path | None:
        """The file of a module; None if there's none."""
        top, *parts = name.split(".")
        if top not in self.folders:
            return None
        place = self.folders[top].joinpath(*parts)
        files = place / "__init__.py", place.with_name(f"{place.name}.py")
        return next((file for file in files if file.is_file()), None)

    def module(self, name: str) -> Module | None:
        """A module; None if there's none of that name."""
        if name not in self._modules:
            path = self.path(name)
            self._modules[name] = None if path is None else self._read(Module(name, path))
        return self._modules[name]

    def definition(self, name: str) -> str | None:
        """The full name under which something is defined; None if that can't be seen.

        Raises:
            AbsentError: there's no such name.
        """
        here, *parts = name.split(".")
        said = here
        for part in parts:
            module = self.module(here) or self._module_meant(here)
            if module is None:
                return here  # what is inside of an object isn't looked at
            said = f"{said}.{part}"
            try:
                found = self._child(module, part)
            except AbsentError as error:
                error.said = said
                if self.path(said) is None:
                    raise
                found = said
            if found is None:
                return None
            here = found
        return here

    def _module_meant(self, name: str) -> Module | None:
        """The module that another one has by a name."""
        if name in self._busy or name.rpartition(".")[0] == "":
            return None
        self._busy.add(name)
        try:
            found = self.definition(name)
        except AbsentError:
            found = None
        self._busy.remove(name)
        return self.module(found) if found and found != name else None

    def _child(self, module: Module, name: str) -> str | None:
        full = f"{module.name}.{name}"
        if name in module.names:
            return module.names[name] or None
        if self.path(full) is not None:
            return full
        if module.is_open or name.startswith("__" if module.is_own else "_"):
            return None
        raise AbsentError(module.name, name, tuple(module.names))

    # Reading ------------------------------------------------------------------------------------

    def _read(self, module: Module) -> Module:
        self._modules[module.name] = module  # it may be asked for meanwhile
        if module.is_generated or module.name in OURS:
            module.is_open = True
            return module
        try:
            tree = ast.parse(module.text)
        except SyntaxError:
            module.is_open = True
            return module
        for statement in _statements(tree.body):
            self._bind(module, statement)
        return module

    def _bind(self, module: Module, node: ast.stmt) -> None:
        own = module.name
        match node:
            case ast.Import():
                for each in node.names:
                    top = each.name.partition(".")[0]
                    module.names[each.asname or top] = each.name if each.asname else top
            case ast.ImportFrom():
                self._bind_from(module, node)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                module.names[name] = f"{own}.{name}"
                module.is_open |= name == "__getattr__"
            case ast.Assign(value=ast.Call(func=ast.Name(id="globals"))):
                module.is_open = True
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=listed)):
                module.exported = {each.value for each in listed if isinstance(each, ast.Constant)}
            case ast.AugAssign(target=ast.Name(id="__all__")):
                module.exported = None
            case ast.Assign(targets=targets, value=value):
                for target in (each for top in targets for each in ast.walk(top)):
                    if isinstance(target, ast.Name):
                        module.names[target.id] = self._assigned(module, target.id, value)
                self._bind_in_child(module, targets[0], value)

    def _bind_in_child(self, module: Module, target: ast.expr, value: ast.expr) -> None:
        """`_current_module.app.flags = flags` is a name of the module `app`."""
        match target, value:
            case ast.Attribute(value=ast.Attribute(attr=child), attr=name), ast.Name(id=meant):
                other = self.module(module.names.get(child, f"{module.name}.{child}"))
                if other is not None and meant in module.names:
                    other.names[name] = module.names[meant]

    @staticmethod
    def _assigned(module: Module, name: str, value: ast.expr) -> str:
        match value:
            case ast.Name(id=other) if other in module.names:
                return module.names[other]
            case (
                ast.Call(
                    func=ast.Name(id="LazyLoader"), args=[_, _, ast.Constant(value=str(late)), *_]
                )
                | ast.Call(func=ast.Attribute(attr="package"), args=[ast.Constant(value=str(late))])
            ):
                return late
            case ast.Attribute(value=ast.Name(id=other), attr=attr) if module.names.get(other):
                return f"{module.names[other]}.{attr}"
        return f"{module.name}.{name}"

    def _bind_from(self, module: Module, node: ast.ImportFrom) -> None:
        package = module.name.split(".")
        up = node.level - (module.path.name == "__init__.py")
        parts = [*package[: len(package) - up], *(node.module or "").split(".")]
        origin = ".".join(filter(None, parts if node.level else [node.module or ""]))
        for each in node.names:
            if each.name == "*":
                self._bind_all(module, origin)
            elif each.asname or f"{origin}.{each.name}" != f"{module.name}.{each.name}":
                module.names[each.asname or each.name] = f"{origin}.{each.name}"
            else:  # a module in this package
                module.names.pop(each.name, None)

    def _bind_all(self, module: Module, origin: str) -> None:
        other = self.module(origin)
        module.is_own = False
        if other is None:
            module.is_open = True
            return
        module.is_open |= other.is_open
        # Modules in a package become names of it when somebody imports them.
        package = other.path.parent.iterdir() if other.path.name == "__init__.py" else ()
        children = {each.stem: f"{origin}.{each.stem}" for each in package}
        for name, meaning in {**children, **other.names}.items():
            if not name.startswith("_") if other.exported is None else name in other.exported:
                module.names.setdefault(name, meaning)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, of whichever branch."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(node, name, None)
            if inner and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield from _statements(inner)
