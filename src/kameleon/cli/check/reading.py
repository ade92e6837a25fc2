"""What the names in a program stand for, as far as its text tells.

A meaning is a full name: `keras.backend.dot`. What a call of it gives is `keras.backend.dot()`, and
a literal is what a call of its class gives. What isn't known is the empty text.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator
from typing import NamedTuple

from .alive import CATCH_NAMES, catches

IMPORTERS = frozenset({"importlib.import_module", "builtins.__import__"})
LITERALS = {ast.Dict: "dict", ast.List: "list", ast.JoinedStr: "str"}
EXECUTE = frozenset({"builtins.exec", "builtins.eval", "builtins.execfile"})
# What can't be seen in the text of a program.
STARS, COMPUTED, EXECUTED, TWOFOLD = (
    "imports of *", "names that are computed", "code that is made and run",
    "names bound in two ways",
)  # fmt: skip

Meaning = str | ast.expr


class Use(NamedTuple):
    """A place where a program asks for a name.

    Args:
        name: in full.
        said: as it's written there.
        line, column: where, from 1.
        known: what it begins with, where another place in the program has asked for that.
        is_import: whether it's an import.
    """

    name: str
    said: str
    line: int
    column: int
    known: str = ""
    is_import: bool = False

    def is_news(self, name: str) -> bool:
        """Whether what is wrong with a part of the name is said nowhere else."""
        return not f"{self.known.replace('()', '')}.".startswith(f"{name}.")


class Scope:
    """The names that a part of a program binds, each with what it's bound to."""

    def __init__(self, parent: Scope | None, is_class: bool = False) -> None:
        self.parent, self.is_class = parent, is_class
        self.bound: dict[str, list[Meaning]] = {}
        self.outer: set[str] = set()  # names that aren't its own

    def bind(self, name: str, meaning: Meaning = "") -> None:
        """A name stands for this, too."""
        scope = self
        while name in scope.outer and scope.parent is not None:
            scope = scope.parent
        scope.bound.setdefault(name, []).append(meaning)

    def holder(self, name: str) -> Scope | None:
        """The scope that a name is looked up in; None where it's Python's own."""
        scope: Scope | None = self
        while scope is not None and (name not in scope.bound or (scope.is_class and scope != self)):
            scope = scope.parent
        return scope


INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef,
         ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # fmt: skip


class _Walk(ast.NodeVisitor):
    """Knows the scope that a node is in."""

    def __init__(self, scopes: dict[ast.AST, Scope], scope: Scope) -> None:
        self.scopes, self.scope = scopes, scope

    def visit(self, node: ast.AST) -> None:
        """Visit a node, in its scope: what stands before a body belongs to what is around."""
        if not isinstance(node, INNER):
            super().visit(node)
            return
        self.begin(node)
        inner = self.scopes.setdefault(node, Scope(self.scope, isinstance(node, ast.ClassDef)))
        for field, value in ast.iter_fields(node):
            outer = self.scope
            is_inside = field in ("body", "args", "generators", "elt", "key", "value")
            self.scope = inner if is_inside else outer
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    self.visit(each)
            self.scope = outer

    def begin(self, node: ast.AST) -> None:
        """A scope begins."""


class _Binding(_Walk):
    """Finds what is bound in each scope."""

    def begin(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.scope.bind(node.name)

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            top = each.name.partition(".")[0]
            self.scope.bind(each.asname or top, each.name if each.asname else top)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            meaning = "" if node.level else f"{node.module}.{each.name}"
            self.scope.bind(each.asname or each.name, meaning)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and (
            len(target.elts) == len(value.elts)
        ):  # fmt: skip
            for each, its in zip(target.elts, value.elts, strict=True):
                self._assign(each, its)
        else:
            self.visit(target)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.scope.bind(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        self.scope.bind(node.arg)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.scope.bind(node.name)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.outer.update(node.names)

    visit_Nonlocal = visit_Global  # noqa: N815


class Reading(_Walk):
    """What a program asks for.

    Args:
        tree: the program.
        own: names of modules that are the program's.

    Attributes:
        uses: in the order of the text.
        unseen: what can't be seen, and how often it's there.

    >>> reading = Reading(ast.parse("import numpy as np\\nx = np\\nx.abs(1)"))
    >>> [(use.name, use.said) for use in reading.uses]
    [('numpy', 'numpy'), ('numpy.abs', 'x.abs')]
    """

    def __init__(self, tree: ast.Module, own: Container[str] = ()) -> None:
        super().__init__({}, Scope(None))
        self.own = own
        _Binding(self.scopes, self.scope).visit(tree)
        self.uses: list[Use] = []
        self.unseen: Counter[str] = Counter()
        self._expected: set[str] = set()  # names that the program looks for, or sets, itself
        self._busy: set[tuple[Scope, str]] = set()
        self._twofold: set[tuple[Scope, str]] = set()
        self.visit(tree)
        self.unseen[TWOFOLD] = len(self._twofold)
        self.uses = [use for use in self.uses if self._expected.isdisjoint(prefixes(use.name))]

    # What names stand for -----------------------------------------------------------------------

    def meaning(self, node: Meaning, scope: Scope) -> str:
        """What an expression stands for."""
        match node:
            case str():
                return "" if node.partition(".")[0] in self.own else node
            case ast.Name(id=name):
                return self._of_name(name, scope)
            case ast.Attribute(value=value, attr=name):
                return _joined(self.meaning(value, scope), name)
            case ast.Call(func=called, args=args):
                return self._of_call(self.meaning(called, scope), args, scope)
            case ast.Constant(value=str()):
                return "builtins.str()"
        kind = LITERALS.get(type(node))
        return f"builtins.{kind}()" if kind else ""

    def _of_name(self, name: str, scope: Scope) -> str:
        holder = scope.holder(name)
        if holder is None:
            return "" if scope.holder("*") else f"builtins.{name}"
        if (holder, name) in self._busy:
            return ""
        self._busy.add((holder, name))
        meanings = {self.meaning(each, holder) for each in holder.bound[name]}
        self._busy.remove((holder, name))
        if len(meanings) == 1:
            return meanings.pop()
        if any(each and "()" not in each for each in meanings):
            self._twofold.add((holder, name))
        return ""

    def _of_call(self, called: str, args: list[ast.expr], scope: Scope) -> str:
        match args:
            case [ast.Constant(value=str(name)), *_] if called in IMPORTERS:
                return name
            case [of, ast.Constant(value=str(name)), *_] if called == "builtins.getattr":
                return _joined(self.meaning(of, scope), name)
        return _joined(called, "()")

    # What is asked for --------------------------------------------------------------------------

    def _ask(
        self, name: str, node: ast.expr | ast.alias, said: str, known: str | None = ""
    ) -> None:
        if name and name.partition(".")[0] not in self.own:
            place = node.lineno, node.col_offset + 1
            self.uses.append(Use(name, said, *place, known or "", isinstance(node, ast.alias)))

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._ask(each.name, each, each.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            if each.name == "*":
                self.unseen[STARS] += 1
            if not node.level and node.module:
                name = node.module if each.name == "*" else f"{node.module}.{each.name}"
                self._ask(name, each, name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            name = self.meaning(node, self.scope)
            if self.scope.holder(node.id) is None:
                self._ask(name, node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self.meaning(node, self.scope)
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(node.ctx, ast.Load):
            self._expected.add(name)
        elif name:
            self._ask(name, node, ast.unparse(node), self.meaning(inner, self.scope))
        if not (name and isinstance(inner, ast.Name)):
            self.visit(inner)

    def visit_Call(self, node: ast.Call) -> None:
        called = self.meaning(node.func, self.scope)
        match node.args:
            case [of, ast.Constant(value=str(name)), *more] if called in ASKING:
                full = _joined(self.meaning(of, self.scope), name)
                if called == "builtins.hasattr" or more:
                    self._expected.add(full)
                else:
                    self._ask(full, node, ast.unparse(node))
            case [of, _, *_] if called in ASKING:
                self.unseen[COMPUTED] += "()" not in (self.meaning(of, self.scope) or "()")
            case [ast.Constant(value=str(name)), *_] if called in IMPORTERS:
                self._ask(name, node, name)
            case [_, *_] if called in IMPORTERS:
                self.unseen[COMPUTED] += 1
        self.unseen[EXECUTED] += called in EXECUTE
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        self._visit_guarded(node, catches(node, CATCH_NAMES))

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        asks = (each for each in ast.walk(node.test) if isinstance(each, ast.Call))
        self._visit_guarded(node, any(ast.unparse(each.func) == "hasattr" for each in asks))

    visit_IfExp = visit_If  # noqa: N815

    def _visit_guarded(self, node: ast.AST, is_guarded: bool) -> None:
        """Visit a statement; where it's guarded, it goes on where a name isn't there."""
        before = len(self.uses)
        self.generic_visit(node)
        if is_guarded:
            self.uses[before:] = [use for use in self.uses[before:] if use.is_import]


ASKING = ("builtins.getattr", "builtins.hasattr")


def _joined(name: str, part: str) -> str:
    return name and (f"{name}()" if part == "()" else f"{name}.{part}")


def prefixes(name: str) -> Iterator[str]:
    """A full name, and those of what is around it.

    >>> list(prefixes("keras.backend.dot"))
    ['keras.backend.dot', 'keras.backend', 'keras']
    """
    while name:
        yield name
        name = name.rpartition(".")[0]
