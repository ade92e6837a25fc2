"""The parts of a program that run here: which branches are taken, as far as the text tells."""

from __future__ import annotations

import ast
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kameleon import config

CATCH_IMPORTS = frozenset("ImportError ModuleNotFoundError Exception BaseException".split())
CATCH_NAMES = frozenset("AttributeError NameError Exception BaseException".split())
# What a test may be that says which Python runs, and where, by its text.
HERE: dict[str, Any] = {
    "os.name": os.name,
    "sys.platform": sys.platform,
    "sys.version_info": sys.version_info[:3],
    "sys.version_info[0]": sys.version_info[0],
    "sys.version_info.major": sys.version_info[0],
}
KNOWN = {"six.PY2": False, "six.PY3": True, "TYPE_CHECKING": False, "typing.TYPE_CHECKING": False}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def imported(node: ast.stmt) -> Iterator[str]:
    """The full names that an import statement asks for; none for modules of its own package."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = (each.name for each in node.names)
        yield from (node.module if name == "*" else f"{node.module}.{name}" for name in names)


def catches(node: ast.Try, names: frozenset[str]) -> bool:
    """Whether a statement goes on after one of these errors."""
    return any(_catches(handler, names) for handler in node.handlers)


def _catches(handler: ast.ExceptHandler, names: frozenset[str]) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in names for kind in kinds)


class Alive(ast.NodeTransformer):
    """Leaves out the branches that aren't taken.

    Args:
        is_absent: whether an import of a full name fails.

    Attributes:
        other_backends: where branches are for another backend: the line, and the backend's name.
    """

    def __init__(self, is_absent: Callable[[str], bool]) -> None:
        self.is_absent = is_absent
        self.other_backends: list[tuple[int, str]] = []

    def visit_If(self, node: ast.If) -> Any:
        """The branch that is taken, where that's known."""
        truth = self._truth(node.test)
        if truth is None:
            return self.generic_visit(node)
        return [found for each in (node.body if truth else node.orelse)
                for found in _listed(self.visit(each))]  # fmt: skip

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """The value that is taken, where that's known."""
        truth = self._truth(node.test)
        if truth is None:
            return self.generic_visit(node)
        return self.visit(node.body if truth else node.orelse)

    def visit_Try(self, node: ast.Try) -> Any:
        """The body where its imports are there, else what is done about it."""
        self.generic_visit(node)
        names = [name for each in node.body for name in imported(each)]
        handlers = [each for each in node.handlers if _catches(each, CATCH_IMPORTS)]
        if not names or not handlers:
            return node
        if not any(map(self.is_absent, names)):
            return [*node.body, *node.orelse, *node.finalbody]
        found = handlers[0].body
        if any(isinstance(each, ast.Raise) for each in found):
            return node
        return [*found, *node.finalbody]

    def _truth(self, test: ast.expr) -> bool | None:
        match test:
            case ast.Constant(value=value):
                return bool(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand)
                return None if truth is None else not truth
            case ast.Call(func=ast.Attribute(attr="is_gpu_available")):
                return False  # the engine places its own work, and TensorFlow sees no GPU
            case ast.Call(
                func=ast.Attribute(value=of, attr="startswith"),
                args=[ast.Constant(value=str(start))],
            ) if ast.unparse(of) == "sys.platform":
                return sys.platform.startswith(start)
            case ast.Compare(left=left, ops=[op], comparators=[ast.expr() as right]):
                return self._compared(left, op, right)
        return KNOWN.get(ast.unparse(test))

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        text = ast.unparse(left)
        compare = COMPARE.get(type(op))
        try:
            value = ast.literal_eval(right)
        except ValueError:
            return None
        if compare is None:
            return None
        if text in HERE and isinstance(value, type(HERE[text])):
            return compare(HERE[text], value)
        if not (text.endswith("backend()") and isinstance(value, str)):
            return None
        if value != config.known_as() and value in config.KNOWN_AS:
            self.other_backends.append((left.lineno, value))
        return compare(config.known_as(), value)


def _listed(found: Any) -> Sequence[ast.AST]:
    return found if isinstance(found, list) else [found]
