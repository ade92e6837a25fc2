"""Which types of TensorFlow's operations a function makes whenever it's called."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from .files import Files, Module

DEEP = 4  # calls from function to function that are followed
# The methods of a class that are called wherever the class is used.
FIRST = ("__init__", "build", "call", "__call__")
Methods = Mapping[str, ast.FunctionDef]


class Operations:
    """Looks for operations that don't run, in TensorFlow's files.

    Args:
        files: holds them.
        part: gives modules of Kameleon's.
    """

    def __init__(self, files: Files, part: Callable[[str], Any]) -> None:
        self.files, self.part = files, part
        self._known: dict[str, str | None] = {}

    @cached_property
    def running(self) -> frozenset[str]:
        """The types that run."""
        package = "kameleon.compat.tensorflow"
        table = self.part(f"{package}.operations").table
        expansion = self.part(f"{package}.running.expansion")
        needed = self.part(f"{package}.running.needed")
        tables = (table.PURE, table.EFFECTS, table.HOST, table.FOLDS)
        return frozenset().union(*tables, expansion.EXPANDED, needed.DIRECTING)

    def unserved(self, defined: str, depth: int = DEEP) -> str | None:
        """A type that doesn't run, and that is made whenever this is called; None if there's none.

        Args:
            defined: the full name of a definition.
            depth: how many calls in it are followed, one from the other.
        """
        if defined not in self._known:
            self._known[defined] = None  # while it's looked for
            self._known[defined] = self._of(defined, depth)
        return self._known[defined]

    def _of(self, defined: str, depth: int) -> str | None:
        path, _, name = defined.rpartition(".")
        module = self.files.module(path) if depth else None
        if module is None:
            return None
        if module.is_generated and name in module.operations:
            kind = module.operations[name]
            return None if kind in self.running else kind
        statement = module.statement(name)
        if isinstance(statement, ast.FunctionDef):
            return self._in(module, statement.body, depth, {})
        methods = dict(_methods(module, statement))
        first = (methods[name].body for name in FIRST if name in methods)
        return next(filter(None, (self._in(module, body, depth, methods) for body in first)), None)

    def _in(self, module: Module, body: list[ast.stmt], depth: int, methods: Methods) -> str | None:
        for node in body:
            if isinstance(node, ast.If):
                ways = [self._in(module, way, depth, methods) for way in (node.body, node.orelse)]
                found = ways[0] if all(ways) else None
            elif isinstance(node, ast.With):
                found = self._in(module, node.body, depth, methods)
            elif isinstance(node, ast.Expr | ast.Assign | ast.Return):
                calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
                types = (self._called(module, each, depth, methods) for each in calls)
                found = next(filter(None, types), None)
            else:
                found = None
            if found:
                return found
        return None

    def _called(self, module: Module, called: ast.expr, depth: int, methods: Methods) -> str | None:
        match called:
            case ast.Name(id=name):
                return self.unserved(f"{module.name}.{name}", depth - 1)
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in methods and depth:
                return self._in(module, methods[name].body, depth - 1, methods)
            case ast.Attribute(value=ast.Name(id=other), attr=name):
                origin = _origin(module, other)
                return self.unserved(f"{origin}.{name}", depth - 1) if origin else None
        return None


def _origin(module: Module, name: str) -> str | None:
    """The module that another one imports by a name; only that line of it is read."""
    line = rf"^from ([\w.]+) import (?:(\w+) as )?({re.escape(name)})$"
    found = re.search(line, module.text, re.M)
    return f"{found[1]}.{found[2] or found[3]}" if found else None


def _methods(module: Module, node: ast.stmt | None) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The methods of a class; those of classes in its file that it's made of come first."""
    if not isinstance(node, ast.ClassDef):
        return
    for base in node.bases:
        if isinstance(base, ast.Name):
            yield from _methods(module, module.statement(base.id))
    yield from ((each.name, each) for each in node.body if isinstance(each, ast.FunctionDef))
