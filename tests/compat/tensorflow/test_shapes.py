"""Shape functions: what a line of the notation demands and gives, and what TensorFlow 1.15 says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kameleon.compat.tensorflow.graph import Graph, Operation, Shape
from kameleon.compat.tensorflow.shapes.notation import Line, table
from kameleon.compat.tensorflow.shapes.rules import RULES, ShapeMismatchError

Given = Shape | np.ndarray  # a shape, or a value


def operation(kind: str, given: tuple[Given, ...], **attributes: Any) -> Operation:
    """An operation that takes constants, or what isn't known."""
    graph = Graph()
    made = Operation(graph, kind, "made")
    made.known = attributes
    for at, each in enumerate(given):
        source = Operation(graph, "Placeholder", f"input{at}")
        if isinstance(each, np.ndarray):
            source.type, source.value = "Const", each
        source.shapes = [each.shape if isinstance(each, np.ndarray) else each]
        made.inputs.append((source, 0))
    return made


def told(rule: Any, *given: Given, **attributes: Any) -> Any:
    """The shapes of outputs; what is said, where the inputs don't go together."""
    made = operation("Made", given, **attributes)
    try:
        return rule(made, [source.shapes[0] for source, _ in made.inputs])
    except ShapeMismatchError as error:
        return str(error)


LINES: list[tuple[str, tuple[Given, ...], Any]] = [
    ("x -> x", (None,), [None]),
    ("x -> x x", ((2, -1), (3,)), [(2, -1), (2, -1)]),
    ("x x -> x", ((2, -1), (-1, 3)), [(2, 3)]),
    (
        "x x -> x",
        ((2,), (3,)),
        "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2] and [3].",
    ),
    ("x x -> x", ((2,), ()), "Shapes must be equal rank, but are 1 and 0"),
    ("x* -> x", ((-1, 2), (3, -1), None), [(3, 2)]),
    ("? x -> x", ((1,), (2,)), [(2,)]),
    ("-> () ?", ((1,),), [(), None]),
    ("(b,?) (?,n) -> (b,n)*2", ((2, 3), (4, 5)), [(2, 5), (2, 5)]),
    ("(b,?) (?,n) -> (b,n)*2", (None, (4, 5)), [(-1, 5), (-1, 5)]),
    ("(b,?) (?,n) -> (b,n)", ((2,), (4, 5, 6)), "Shape must be rank 2 but is rank 1"),
    ("(n) (n) -> (n)", ((2,), (3,)), "Dimensions must be equal, but are 2 and 3"),
    ("(n) (n)* -> (n)", ((-1,), (-1,), None, (3,)), [(3,)]),
    ("(3,n) -> (n)", ((4, -1),), "Dimension must be 3 but is 4"),
    ("(3,n) (n) -> (n)", ((4, 5), (6,)), "Dimensions must be equal, but are 5 and 6"),
    ("(3,n) (n) -> (n)", ((4, 5), ()), "Shape must be rank 1 but is rank 0"),
    ("(*b,n,n) -> (*b) (n)", ((7, 2, -1),), [(7,), (2,)]),
    ("(*b,n,n) -> (*b) (n)", (None,), [None, (-1,)]),
    ("(*b,n,n) -> (*b)", ((2,),), "Shape must be at least rank 2 but is rank 1"),
    ("(n,*s) -> (*s,n)", ((1, 2, 3),), [(2, 3, 1)]),
    ("(*b,n) (*b,n) -> (*b,n)", ((-1, 3), (2, -1)), [(2, 3)]),
    ("x:(?) -> x (?)", (None,), [None, (-1,)]),
    ("(n) -> (4*n,n+1,n-1,n//4,n*2+1)", ((6,),), [(24, 7, 5, 1, 13)]),
    ("(n) -> (4*n,n+1,n-1,n//4,n/4)", ((-1,),), [(-1,) * 5]),
    ("(n) -> (n/4)", ((8,),), [(2,)]),
    ("(n) -> (n/4)", ((6,),), "Dimension size must be evenly divisible by 4 but is 6"),
    ("(m,n) -> (min(m,n),2)", ((-1, 0),), [(0, 2)]),
    ("(m,n) -> (min(m,n),2)", ((-1, 3),), [(-1, 2)]),
    ("x -> (#x)", ((4, 5),), [(2,)]),
    ("x -> (#x)", (None,), [(-1,)]),
    ("(?,@two) -> (?,@two)*@two", ((1, -1),), [(-1, 2), (-1, 2)]),
    ("(?,@two) -> (@two)", ((1, 3),), "Dimension must be 2 but is 3"),
    ("(m,n)^yes -> (m,n)", ((1, 2),), [(2, 1)]),
    ("(m,n)^no -> (m,n)", ((1, 2),), [(1, 2)]),
    ("x -> x if yes else ?", ((1,),), [(1,)]),
    ("x -> x if no else ?", ((1,),), [None]),
    ("x -> x if not yes else () if no else (2)", ((1,),), [(2,)]),
    ("x x -> x if no else ? x -> x", ((1,), (2,)), [(2,)]),
    ("~(b,*s,c) -> ~(b,*s,2*c) (c)", ((1, 2, 3, 4),), [(1, 4, 3, 4), (2,)]),
    ("? =n -> (n)", ((1,), np.array(3)), [(3,)]),
    ("? =n -> (n)", ((1,), ()), [(-1,)]),
    ("? =n -> (n)", ((1,), (2,)), "Shape must be rank 0 but is rank 1"),
    ("=[h,w] -> (w,h)", (np.array([3, 4]),), [(4, 3)]),
    ("=[h,w] -> (w,h)", ((2,),), [(-1, -1)]),
    ("=[h,w] -> (w,h)", ((3,),), "Dimension must be 2 but is 3"),
    ("=(*s) -> (*s)", (np.array([3, -1]),), [(3, -1)]),
    ("=(*s) -> (*s)", ((2,),), [(-1, -1)]),
    ("=(*s) -> (*s)", (np.array([3, -2]),), "Invalid value in tensor used for shape: -2"),
    ("=(m,n) (n) -> (m)", (np.array([3, 4]), (5,)), "Dimensions must be equal, but are 4 and 5"),
    ("=(m,n) -> (m)", (np.array([3]),), "Shape must be rank 2 but is rank 1"),
]


@pytest.mark.parametrize(("line", "given", "wanted"), LINES)
def test_lines_say_shapes(line: str, given: tuple[Given, ...], wanted: Any) -> None:
    attributes = {"two": 2, "yes": True, "no": False, "data_format": b"NCHW"}
    assert told(Line(line), *given, **attributes) == wanted


def names(text: str) -> set[str]:
    """The names of shapes and sizes in a part of a line."""
    return set(re.findall(r"(?<![\w@^])[a-z]\w*", text)) - {"min"}


def test_all_lines_can_be_read() -> None:
    lines = {rule.text: rule for rule in RULES.values() if isinstance(rule, Line)}
    assert len(lines) > 100
    for text, line in lines.items():
        assert callable(line.rule)
        left = ""
        for part in re.split(r" if (?:not )?\w+ else ", text):
            before, arrow, outputs = part.rpartition("->")
            left = before if arrow else left
            assert names(outputs) <= names(left), text


def test_faulty_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="Relu has a shape function already"):
        table("Relu : x -> x")
    with pytest.raises(ValueError, match="no arrow in a line: x x"):
        table("Unheard : x x")
    assert "Unheard" not in RULES


# By type: inputs, and what TensorFlow 1.15 says.
ORIGINAL: list[tuple[str, tuple[Given, ...], Any]] = [
    ("BatchMatMul", ((6, 2, 1), None), [(6, 2, -1)]),
    ("BiasAddGrad", ((),), "Shape must be at least rank 2 but is rank 0"),
    ("Conv2DBackpropInput", (np.array([3, 4]),), "Shape must be rank 4 but is rank 2"),
    ("CropAndResize", (None, (6, 3), None, None), "Dimension must be 4 but is 3"),
    ("DrawBoundingBoxesV2", ((1, 1, 3), (12, 1), None), [(1, 1, 3)]),
    ("Fingerprint", ((), ()), "Shape must be at least rank 1 but is rank 0"),
    (
        "FusedBatchNormV3",
        (None, (4,), (2,), None, None),
        "Dimensions must be equal, but are 4 and 2",
    ),
    ("InTopK", ((3, 2), (4,)), "Dimensions must be equal, but are 3 and 4"),
    ("MatrixDiagPart", ((2, -1, 0),), [(2, 0)]),
    ("MatrixSolve", (None, (4, 2)), [(4, 2)]),
    ("NonMaxSuppression", ((6, 3), None, None), "Dimension must be 4 but is 3"),
    ("ResizeArea", (None, (3,)), "Dimension must be 2 but is 3"),
    ("SampleDistortedBoundingBoxV2", (None, None, (2,)), "Shape must be rank 0 but is rank 1"),
    (
        "ScatterNdAdd",
        ((4, 3), (2, 1), (2, 5)),
        "Dimension 0 in both shapes must be equal, but are 3 and 5. Shapes are [3] and [5].",
    ),
    ("StatelessRandomUniformInt", (None, None, (2,), ()), "Shape must be rank 0 but is rank 1"),
    ("StatelessRandomUniform", (None, (3,)), "Dimension must be 2 but is 3"),
    ("TridiagonalSolve", ((4, 3), (3, 2)), "Dimension must be 3 but is 4"),
    (
        "UnsortedSegmentJoin",
        ((2, 3), (3,), None),
        "Dimensions must be equal, but are 2 and 3",
    ),
    (
        "Multinomial",
        (None, np.array(-1)),
        "Dimension size, given by scalar input 1, must be non-negative but is -1",
    ),
    ("MatrixSetDiag", (None, (-1,)), (-1, -1)),
    ("MatrixSetDiag", ((2, -1, 3), (-1,)), "Shape must be rank 2 but is rank 1"),
    ("BroadcastTo", ((0, 3), np.array([2, 3])), (2, 3)),
]


@pytest.mark.parametrize(("kind", "given", "wanted"), ORIGINAL)
def test_types_say_what_the_original_says(kind: str, given: tuple[Given, ...], wanted: Any) -> None:
    attributes = {"data_format": b"NHWC", "is_training": False}
    assert told(RULES[kind], *given, **attributes) == wanted
