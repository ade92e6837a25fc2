"""Code says what the field says: names that were retired stay so, as the glossary has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from _support.common import PACKAGE, TESTS

PAGE = (TESTS.parent / "CONTRIBUTING.md").read_text("utf-8")
ROW = re.compile(
    r"^\| `(?P<said>[\w .]+)` \| (?P<meaning>[^|]+) \| (?P<retired>[^|]+) \|$", re.MULTILINE
)
RETIRED = {name for row in ROW.finditer(PAGE) for name in re.findall(r"`(\w+)`", row["retired"])}

OTHERS = ("compat", "cli")  # they have names of other libraries, and of commands


def given() -> Iterator[tuple[str, str]]:
    """The files, and the names that modules, classes, functions and attributes have in them."""
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] in OTHERS:
            continue
        where = str(path.relative_to(PACKAGE))
        yield from ((where, part.removesuffix(".py")) for part in path.relative_to(PACKAGE).parts)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield where, node.name
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield where, node.attr


def test_retired_names_are_not_given_again() -> None:
    assert len(RETIRED) > 10
    assert not [f"{where}: {name}" for where, name in given() if name.strip("_") in RETIRED]
