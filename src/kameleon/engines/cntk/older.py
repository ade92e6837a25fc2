"""Modules of Kameleon as text that Python 3.6 takes, for a process that can't import them.

The NumPy kernels are written once, for today's Python. What they use of it is mostly in type
annotations, which nothing reads at run time: without these, and without a few further words, Python
3.6 runs them as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[3]

# What is sent: these, and what they import of Kameleon.
SENT = (
    "kameleon.engines.numpy.namespace",
    "kameleon.engines.cntk.memory",
    "kameleon.engines.cntk.segment",
)
# What stands in for modules that the worker has no use for: it computes one call at a time, with
# NumPy's warnings off, and keeps no buffers.
STAND_INS = {
    "engines._kernels.memory": "from numpy import empty, zeros\ngive = lambda array: None\n",
    "engines._kernels.quiet": "quiet = lambda function: function\n",
    "engines._codegen.blocks": "blockwise = lambda *parts: None\n",
}
# Modules, and names in them, that are there for annotations alone.
TYPING = frozenset(("__future__", "typing", "numpy.typing"))
KEPT_TYPING = frozenset(("NamedTuple", "Any"))


@cache
def sources() -> dict[str, str]:
    """By name of a module its text for Python 3.6."""
    found = {f"kameleon.{name}": text for name, text in STAND_INS.items()}
    wanted = list(SENT)
    for name in wanted:  # grows meanwhile
        path = _ROOT / f"{name.replace('.', '/')}.py"
        if name not in found and path.is_file():
            text = path.read_text("utf-8")
            found[name] = for_python_36(text)
            wanted += _imported(ast.parse(text), name.rpartition(".")[0])
    return found


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Names of what a module imports relatively: modules, and what may be one of a package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))


def for_python_36(text: str) -> str:
    """The text of a module without what Python 3.6 doesn't know.

    >>> print(for_python_36("def f(x: int | None):\\n    return list(zip(x, strict=True))"))
    def f(x):
        return list(zip(x))
    """
    return ast.unparse(ast.fix_missing_locations(_Older().visit(ast.parse(text))))


class _Older(ast.NodeTransformer):
    """Takes annotations, aliases of types and newer arguments out of a syntax tree."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """A field of a named tuple stays one, of any type."""
        if node.value is None:
            node.annotation = ast.Constant(None)
            return node
        alias = _is_type(node.annotation, "TypeAlias")
        value = ast.Constant(None) if alias else self.visit(node.value)
        return ast.Assign([node.target], value)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """A name of a type stays: other modules may import it."""
        self.generic_visit(node)
        if _names_a_type(node.value):
            node.value = ast.Constant(None)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module in TYPING and not node.level:
            node.names = [n for n in node.names if n.name in KEPT_TYPING]
        return node if node.names else None

    def visit_Import(self, node: ast.Import) -> Any:
        node.names = [n for n in node.names if n.name not in TYPING]
        return node if node.names else None

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Brackets may not hold a star."""
        self.generic_visit(node)
        index = node.slice
        if isinstance(index, ast.Tuple) and any(isinstance(x, ast.Starred) for x in index.elts):
            node.slice = ast.Call(ast.Name("tuple"), [ast.List(index.elts)], [])
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """`zip` checks nothing: what it's given here was checked where the code was tested."""
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg != "strict"]
        return node


def _is_type(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _names_a_type(node: ast.AST) -> bool:
    """Whether an expression is that of a type: `Callable[..., Any]`, or one type or another."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _names_a_type(node.left)
    known = ("Callable", "Sequence", "Mapping", "tuple", "list", "dict")
    return isinstance(node, ast.Subscript) and any(_is_type(node.value, name) for name in known)
