"""Which modules of the package import which, and when: what their code says, without loading it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from _support.common import PACKAGE

# Processes of their own find the file in `children`; nothing imports it.
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "children" not in path.parts)


@dataclass(frozen=True)
class Import:
    """That one module imports another, and when it does."""

    importer: str
    imported: str
    line: int
    late: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def module_name(path: Path) -> str:
    """Dotted name of the module in the file."""
    parts = ("kameleon", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imports_of(name: str) -> Iterator[Import]:
    """What the module imports, at its top or late (in a function, or for types only)."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, late = stack.pop()
        for target in targets_of(name, node):
            yield Import(name, target, node.lineno, late)  # type: ignore[attr-defined]
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        late = late or inside or is_for_types(node)
        stack.extend((child, late) for child in ast.iter_child_nodes(node))


def is_for_types(node: ast.AST) -> bool:
    """Whether the node is an `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def targets_of(name: str, node: ast.AST) -> list[str]:
    """The modules that an import statement loads; none for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        [told] = node.args[:1] or [None]
        is_literal = isinstance(told, ast.Constant) and told.value in MODULES
        return [told.value] if is_literal else []  # type: ignore[union-attr]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        is_package = MODULES[name].name == "__init__.py"
        parts = name.split(".")[: -(node.level - is_package) or None]
        base = ".".join([*parts, *filter(None, [base])])
    children = [f"{base}.{alias.name}" for alias in node.names]
    submodules = [child for child in children if child in MODULES]
    return submodules if len(submodules) == len(children) else [base, *submodules]


@cache
def imports() -> list[Import]:
    """What all modules import."""
    return [found for name in MODULES for found in imports_of(name)]


def inner() -> list[Import]:
    """The imports of modules of the package."""
    return [i for i in imports() if i.imported.split(".")[0] == "kameleon"]


def outer() -> list[Import]:
    """The imports of modules of other packages than Python's own."""
    own = sys.stdlib_module_names | {"kameleon"}
    return [i for i in imports() if i.imported.split(".")[0] not in own]
