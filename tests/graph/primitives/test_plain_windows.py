"""Windows are brought to their plainest form, whoever computes them."""

from __future__ import annotations

from typing import Any

import pytest

from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import conv, pool
from kameleon.graph.primitives.sizes import dims_of
from kameleon.graph.primitives.windows import Window


def tensor(*shape: int | None) -> Node:
    return input_node(TensorType(shape, as_dtype("float32")))


def window(sizes: Any, strides: Any, padding: Any = None, dilation: Any = None) -> Window:
    rank = len(sizes)
    return Window(sizes, strides, padding or ((0, 0),) * rank, dilation or (1,) * rank)


def windows_in(inputs: list[Node], output: Node) -> list[Window]:
    """The windows that are left when the graph is simplified."""
    graph = simplify(Graph(inputs, [output]))
    return [n.attrs["window"] for n in graph.nodes if "window" in n.attrs]


ONE_CELL = window((1, 1), (2, 3), dilation=(2, 1))
ONE_PLACE = window((2, 3), (1, 2), ((0, 0), (1, 0)))
PLAIN = {
    ONE_CELL: window((1, 1), (1, 1)),
    ONE_PLACE: window((2, 3), (1, 1), ((0, 0), (1, 0))),
}


@pytest.mark.parametrize("moves", PLAIN, ids=["one cell", "one place"])
def test_strides_that_say_nothing_are_left_out(moves: Window) -> None:
    x, k = tensor(2, 4, 3, 5), tensor(*moves.sizes, 5, 7)
    y = conv.conv(x, k, window=moves)
    g = tensor(*y.shape)
    assert windows_in([x, k], y) == [PLAIN[moves]]
    assert windows_in([x, g], conv.conv_kernel(x, g, window=moves)) == [PLAIN[moves]]
    assert windows_in([g, k], conv.conv_input(g, k, [4, 3], moves)) == [PLAIN[moves]]


def test_one_cell_over_unknown_sizes() -> None:
    x, k = tensor(None, None, None, 5), tensor(1, 1, 5, 7)
    y = conv.conv(x, k, window=ONE_CELL)
    back = conv.conv_input(y, k, dims_of(x)[1:-1], ONE_CELL)
    assert windows_in([x, k], back) == [PLAIN[ONE_CELL]] * 2


@pytest.mark.parametrize("space", [(4, 3), (None, 3), (None, None)], ids=str)
def test_single_cells_need_no_window_where_convolutions_are_expanded(
    space: tuple[Any, ...],
) -> None:
    x, k = tensor(2, *space, 5), tensor(1, 1, 5, 7)
    moves = window((1, 1), (2, 1))
    y = conv.conv(x, k, window=moves)
    g = tensor(*y.shape)
    for inputs, found in (([x, k], y), ([x, g], conv.conv_kernel(x, g, window=moves))):
        simple = simplify(Graph(inputs, [found]), lambda node: "conv" not in node.primitive.name)
        assert [n.primitive.name for n in simple.nodes if "window" in n.attrs] == []
        assert "contract" in [n.primitive.name for n in simple.nodes]


@pytest.mark.parametrize("shape", [(0, 4, 3, 5), (None, 0, 3, 5), (2, 4, 3, 0)], ids=str)
def test_what_is_empty_is_not_computed(shape: tuple[int | None, ...]) -> None:
    moves = window((2, 2), (1, 1), ((1, 0), (1, 0)))
    x = tensor(*shape)
    k = tensor(2, 2, shape[-1], 7)
    assert not windows_in([x, k], conv.conv(x, k, window=moves))
    assert not windows_in([x], pool.sum_pool(x, window=moves))
    if shape[1]:
        assert not windows_in([x], pool.max_pool(x, window=moves).results[0])
