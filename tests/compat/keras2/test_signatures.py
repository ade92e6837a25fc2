"""K's functions take what those of the original's source take, in the same order."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from _support.originals import needs_original

from kameleon import backend as K
from kameleon.compat.keras2 import location

pytestmark = needs_original
# Names for TensorFlow's graphs and eager mode, which K has no use for.
TENSORFLOWS = ("symbolic", "is_symbolic", "eager", "v1_variable_initialization")


def functions(module: str) -> Iterator[tuple[str, list[str], list[object]]]:
    """Names, parameters and defaults of a module's functions; `...` for no plain default."""
    path = Path(location.folder()) / "keras" / "backend" / module
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_"):
            arguments = statement.args
            try:
                defaults = [ast.literal_eval(d) for d in arguments.defaults]
            except ValueError:
                defaults = [...]
            yield statement.name, [a.arg for a in arguments.args], defaults


@pytest.mark.parametrize("module", ["tensorflow_backend.py", "common.py"])
def test_parameters_are_those_of_the_original(module: str) -> None:
    compared = 0
    for name, parameters, defaults in functions(module):
        if name in TENSORFLOWS:
            continue
        ours = [
            p for p in inspect.signature(getattr(K, name)).parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD
        ][: len(parameters)]  # fmt: skip
        assert [p.name for p in ours] == parameters, name
        assert [p.default for p in ours if p.default is not p.empty] == defaults, name
        compared += 1
    assert compared > 5
