"""Source that engines emit holds plain numbers and known names, whatever a graph says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE, engines_under_test

from kameleon.engines._codegen.literal import ATTRIBUTES, compiled_text, literal, quoted, word
from kameleon.errors import EngineError, KameleonError
from kameleon.graph.ir.leaves import INPUT
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import FLOAT32, DType, TensorType
from kameleon.graph.primitives.elementwise import exp
from kameleon.graph.primitives.windows import Window
from kameleon.runtime import engines
from kameleon.testing.cases import CASES

NAMES = [name for name in engines_under_test() if name in ("numpy", "torch", "theano", "jax")]


class Sly(int):
    """An int that prints as something else."""

    def __repr__(self) -> str:
        return "__import__('os')"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)


class SlyFloat(float):
    """A float that prints as something else."""

    __repr__ = __str__ = Sly.__repr__
    __format__ = Sly.__format__


@pytest.mark.parametrize(
    "value",
    [0, -3, 2**70, True, None, 0.1, -0.0, 1e300, 5e-324, (), (1,), (1, (2.5, None)), [], [1, [()]]],
    ids=repr,
)
def test_numbers_are_written_as_python_reads_them(value: Any) -> None:
    text = literal(value)
    assert repr(eval(text, {})) == repr(value)


def test_sizes_of_numpy_are_ints() -> None:
    assert literal((np.int64(3), np.uint8(4))) == "(3, 4)"


NO_LITERALS = [
    "1", "x", b"1", 1j, {}, {1}, object(), len, Sly(1), SlyFloat(1), FLOAT32, np.float32(1),
    float("nan"), float("inf"), -float("inf"), np.ones(2), (1, "2"), [[Sly(1)]], slice(1), range(2),
    Window((1,), (1,), ((0, 0),), (1,)),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_LITERALS, ids=lambda v: type(v).__name__)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(EngineError, match="can't stand in emitted source"):
        literal(value)


def test_words_are_plain() -> None:
    assert word(FLOAT32) == "float32" and type(word(FLOAT32)) is str
    assert quoted(FLOAT32) == "'float32'"
    for name in ("", "a b", "a.b", "A", "a\n", "ａ", "1", "a'", 1, None, "x" * 3 + "("):
        with pytest.raises(EngineError, match="no name"):
            word(name)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "x.__class__",
        "(lambda: open('f'))()",
        "[y for y in (1,) if exec('1')]",
        "x.shape.system",
        "(x := breakpoint)()",
    ],
)
def test_code_names_nothing_that_is_unknown(text: str) -> None:
    compiled_text("x.shape[0] + int(1)", "f", "eval", {"x", "int"})
    with pytest.raises(EngineError, match="which isn't among"):
        compiled_text(text, "f", "eval", {"x"})
    with pytest.raises(EngineError, match="which isn't among"):
        compiled_text(f"def program():\n return {text}", "f", "exec", {"x", "program"})


def test_no_attribute_leads_out_of_arrays() -> None:
    assert not [name for name in ATTRIBUTES if name.startswith("_")]


def test_it_holds_where_assertions_are_off() -> None:
    code = "from kameleon.engines._codegen.literal import literal; literal('x')"
    done = subprocess.run(
        [sys.executable, "-O", "-c", code],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "EngineError" in done.stderr


# Graphs that were never checked --------------------------------------------------------------


def corrupted(value: Any, text: str) -> list[Any]:
    """An attribute with one of its values replaced by a text, or by an int that prints as one."""
    if type(value) in (int, DType) or value is None:
        return [text, Sly(1)] if not isinstance(value, DType) else [text]
    if isinstance(value, tuple):
        found = []
        for i, item in enumerate(value):
            for bad in corrupted(item, text):
                parts = (*value[:i], bad, *value[i + 1 :])
                found.append(parts if type(value) is tuple else type(value)(*parts))
        return found
    return []


def forged(node: Node, attrs: dict[str, Any]) -> Node:
    """The node with other attributes, as if they had been inferred and checked."""
    made = Node(node.primitive, node.operands, attrs, node.type)
    if node._results is not None:
        made._results = tuple(Node(x.primitive, (made,), x.attrs, x.type) for x in node._results)
    return made


def forgeries(text: str) -> list[tuple[str, Graph]]:
    """For each primitive with attributes, graphs in which one of them holds a text."""
    found, seen = [], set()
    for case in CASES:
        inputs = case.inputs(known=False)
        first = case.results(inputs)[0]
        node = first if first.primitive.name != "item" else first.operands[0]
        if case.primitive in seen or node.primitive.name != case.primitive:
            continue
        seen.add(case.primitive)
        for name, value in node.attrs.items():
            for bad in corrupted(value, text):
                made = forged(node, {**node.attrs, name: bad})
                graph = Graph(inputs, made.results)
                found.append((f"{case.primitive}.{name} = {bad!r:.50}", graph))
    return found


@pytest.mark.parametrize("engine", NAMES)
def test_hostile_attributes_are_never_run(engine: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    text = f"__import__('os').mkdir({str(canary)!r})"
    graphs = forgeries(text)
    assert len(graphs) > 100
    for label, graph in graphs:
        given = [_zeros(x.type) for x in graph.inputs]
        try:
            found = engines.load(engine).compile(graph)(given)
        except Exception as error:
            assert not isinstance(error, SyntaxError), label
        else:
            assert found is not None
        assert not canary.exists(), label


def _zeros(type: TensorType) -> Any:
    return np.zeros([2 if d is None else d for d in type.shape], type.dtype)


@pytest.mark.parametrize("engine", ["numpy", *({"torch"} & set(NAMES))])
def test_hostile_sizes_are_refused_where_source_is_emitted(engine: str) -> None:
    x = Node(INPUT, (), {}, TensorType(("2 or exit()",), FLOAT32))  # type: ignore[arg-type]
    y = Node(exp, (x,), {}, x.type)
    with pytest.raises((KameleonError, TypeError)):
        engines.load(engine).compile(Graph([x], [y]))
