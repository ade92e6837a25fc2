"""Syntax trees of today's Python as those of gast 0.2, which AutoGraph changes, and back.

It stands in for a module of gast, and for what writes trees as text.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

_CONSTANTS = (  # by type of value: the class of gast, and its field
    (bool | None, "NameConstant", "value"),
    (str, "Str", "s"),
    (bytes, "Bytes", "s"),
    (int | float | complex, "Num", "n"),
    (type(...), "Ellipsis", None),
)


def _gast() -> Any:
    return importlib.import_module("tensorflow_gast.gast")


# To gast ----------------------------------------------------------------------------------------


def ast_to_gast(node: Any) -> Any:
    """A tree of Python's as one of gast's.

    Raises:
        NotImplementedError: it has syntax that gast doesn't know.
    """
    if isinstance(node, list):
        return [ast_to_gast(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    special = _TO.get(type(node).__name__)
    made = special(node) if special is not None else _like(node)
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def _like(node: Any) -> Any:
    gast, name = _gast(), type(node).__name__
    if name not in gast._nodes:
        raise NotImplementedError(f"syntax that AutoGraph doesn't know: {name}")
    fields = gast._nodes[name][0]
    return getattr(gast, name)(*[ast_to_gast(getattr(node, field, None)) for field in fields])


def _constant(node: Any) -> Any:
    for kinds, name, field in _CONSTANTS:
        if isinstance(node.value, kinds):
            made = getattr(_gast(), name)
            return made() if field is None else made(node.value)
    raise NotImplementedError(f"a constant {node.value!r}")


def _subscript(node: Any) -> Any:
    gast, part = _gast(), node.slice
    if isinstance(part, ast.Slice):
        made = ast_to_gast(part)
    elif isinstance(part, ast.Tuple) and any(isinstance(x, ast.Slice) for x in part.elts):
        made = gast.ExtSlice([
            ast_to_gast(x) if isinstance(x, ast.Slice) else gast.Index(ast_to_gast(x))
            for x in part.elts
        ])  # fmt: skip
    else:
        made = gast.Index(ast_to_gast(part))
    return gast.Subscript(ast_to_gast(node.value), made, ast_to_gast(node.ctx))


def _arguments(node: Any) -> Any:
    names = ast_to_gast([*node.posonlyargs, *node.args])
    rest = ("vararg", "kwonlyargs", "kw_defaults", "kwarg", "defaults")
    return _gast().arguments(names, *[ast_to_gast(getattr(node, field)) for field in rest])


def _argument(node: Any) -> Any:
    gast = _gast()
    return gast.Name(node.arg, gast.Param(), ast_to_gast(node.annotation))


def _handler(node: Any) -> Any:
    gast = _gast()
    name = gast.Name(node.name, gast.Store(), None) if node.name else None
    return gast.ExceptHandler(ast_to_gast(node.type), name, ast_to_gast(node.body))


_TO = {
    "Constant": _constant,
    "Subscript": _subscript,
    "Name": lambda node: _gast().Name(node.id, ast_to_gast(node.ctx), None),
    "arguments": _arguments,
    "arg": _argument,
    "ExceptHandler": _handler,
}


# From gast --------------------------------------------------------------------------------------


def gast_to_ast(node: Any) -> Any:
    """A tree of gast's as one of Python's."""
    if isinstance(node, list | tuple):
        return [gast_to_ast(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    name = type(node).__name__
    special = _FROM.get(name)
    made = special(node) if special is not None else _made(name, node)
    for place in ("lineno", "col_offset"):
        if hasattr(node, place):
            setattr(made, place, getattr(node, place))
    return made


def _made(name: str, node: Any) -> Any:
    kind = getattr(ast, name)
    found = {
        field: gast_to_ast(getattr(node, field)) for field in kind._fields if hasattr(node, field)
    }
    if "type_params" in kind._fields:
        found["type_params"] = []
    return kind(**found)


def _parameter(node: Any) -> Any:
    if node is None:
        return None
    return ast.arg(arg=node.id, annotation=gast_to_ast(node.annotation))


def _parameters(node: Any) -> Any:
    return ast.arguments(
        posonlyargs=[],
        args=[_parameter(each) for each in node.args],
        vararg=_parameter(node.vararg),
        kwonlyargs=[_parameter(each) for each in node.kwonlyargs],
        kw_defaults=gast_to_ast(node.kw_defaults),
        kwarg=_parameter(node.kwarg),
        defaults=gast_to_ast(node.defaults),
    )


def _name(node: Any) -> Any:
    kind = type(node.ctx).__name__ if node.ctx is not None else "Load"
    return ast.Name(id=node.id, ctx=getattr(ast, "Load" if kind == "Param" else kind)())


def _caught(node: Any) -> Any:
    name = getattr(node.name, "id", node.name)
    kind, body = gast_to_ast(node.type), gast_to_ast(node.body)
    return ast.ExceptHandler(type=kind, name=name, body=body)


_FROM = {
    "Num": lambda node: ast.Constant(value=node.n),
    "Str": lambda node: ast.Constant(value=node.s),
    "Bytes": lambda node: ast.Constant(value=node.s),
    "NameConstant": lambda node: ast.Constant(value=node.value),
    "Ellipsis": lambda node: ast.Constant(value=...),
    "Index": lambda node: gast_to_ast(node.value),
    "ExtSlice": lambda node: ast.Tuple(elts=gast_to_ast(node.dims), ctx=ast.Load()),
    "Module": lambda node: ast.Module(body=gast_to_ast(node.body), type_ignores=[]),
    "arguments": _parameters,
    "Name": _name,
    "ExceptHandler": _caught,
}


class Writer:
    """Writes trees as text.

    Attributes:
        result: the texts.
    """

    def __init__(self, *_: Any) -> None:
        self.result: list[str] = []

    def visit(self, node: Any) -> None:
        """Write a tree of Python's."""
        self.result.append(ast.unparse(ast.fix_missing_locations(node)))
