"""Pictures show what is there: each node once, edges between the right boxes, names as they are."""

from __future__ import annotations

import itertools
import re

import pytest

from graph.pictures.graphs import GRAPHS, SVG, looped, read, residual, trained
from kameleon import backend as K
from kameleon.graph.ir.node import ITEM
from kameleon.graph.ir.program import Graph, bodies
from kameleon.graph.ir.text import text_of
from kameleon.graph.pictures.boxes import every_box, sheet_of
from kameleon.graph.pictures.layout import placed, ranked
from kameleon.graph.pictures.looks import LOOKS, look_of
from kameleon.graph.pictures.mermaid import mermaid_of
from kameleon.graph.pictures.svg import svg_of

MORE = "explore() shows all"
every_graph = pytest.mark.parametrize("name", GRAPHS)


def count(graph: Graph) -> int:
    """How many nodes have boxes: all but the single results of those that have several."""
    inner = [n for n in graph.nodes if n in graph.inputs or n.primitive is not ITEM]
    return len(inner) + sum(count(body) for n in inner for body in bodies(n))


# --- boxes --------------------------------------------------------------------------------------


@every_graph
def test_every_node_has_a_box(name: str) -> None:
    graph = GRAPHS[name]()
    found = list(every_box(sheet_of(graph)))
    assert len(found) == len({box.key for box in found}) == count(graph)
    text = text_of(graph)
    assert all(f"{box.key}: {box.type}" in text for box in found if "." not in box.key)


def test_what_boxes_say() -> None:
    K.clear_session()
    sheet = sheet_of(trained())
    boxes = {box.name: box for box in sheet.boxes}
    x, w = boxes['x<&"x">:0'], boxes["dense/w:0"]
    assert (x.kind, x.type, w.kind, w.type) == (
        "input", "float32[?, 8]", "variable", "float32[8, 4]",
    )  # fmt: skip
    assert x.source.filename.endswith("graphs.py") and x.source.function == "trained"
    notes = [note for box in sheet.boxes for note in box.notes]
    assert sorted(notes) == ["new dense/b", "new dense/w", "output"]
    kinds = {box.kind for name in GRAPHS for box in every_box(sheet_of(GRAPHS[name]()))}
    assert kinds == LOOKS.keys() - {"python"}


def test_looking_gives_no_names() -> None:
    x = K.placeholder((2,))
    y = K.exp(x)
    K.show(y)
    assert K.log(x).name == "Log:0" and y.name == "Exp:0"


def test_operands_come_first_and_results_stand_for_their_node() -> None:
    sheet = sheet_of(looped())
    scans = [i for i, box in enumerate(sheet.boxes) if box.title == "scan"]
    takers = {i for box in sheet.boxes for i in box.operands}
    assert scans and set(scans) <= takers
    assert all(i < j for j, box in enumerate(sheet.boxes) for i in box.operands)


def test_nodes_of_gradients_are_told_apart_behind_all_passes_too() -> None:
    x = K.placeholder((3,))
    y = K.tanh(x)
    f = K.function([x], [y, *K.gradients(K.sum(K.exp(y)), [x])])
    from kameleon.graph.passes.pipeline import prepared
    from kameleon.runtime.engines import embedded

    for graph in (f.compiled.program, prepared(f.compiled.graph(), embedded())):
        marks = {box.title: box.is_gradient for box in sheet_of(graph).boxes}
        assert not marks["Tanh"] and not marks["Placeholder"] and marks["Mul"]


def test_the_mark_is_no_part_of_a_graph_s_key() -> None:
    x = K.placeholder((3,))
    plain = Graph([x], [2.0 * x])
    marked = Graph([x], K.gradients(K.sum(x * K.stop_gradient(2.0 * x)), [x]))
    by_gradient = [box.is_gradient for box in sheet_of(marked).boxes]
    assert any(by_gradient) and not any(box.is_gradient for box in sheet_of(plain).boxes)
    assert plain.key == Graph([x], [2.0 * x]).key


def test_large_graphs_are_cut_to_what_is_nearest() -> None:
    graph = residual(20)
    sheet = sheet_of(graph, limit=12)
    assert len(sheet.boxes) == 12 and sheet.total_left_out == count(graph) - 12
    assert any("output" in note for box in sheet.boxes for note in box.notes)
    words = f"{sheet.total_left_out} more nodes: {MORE}"
    assert words in read(svg_of(sheet, MORE)).texts and words in mermaid_of(sheet, MORE)
    assert sheet_of(graph, limit=count(graph)).left_out == 0


# --- SVG ----------------------------------------------------------------------------------------


def inside(key: str, other: str) -> bool:
    """Whether a node is in a body of another one."""
    return key.startswith(f"{other}.")


@every_graph
def test_boxes_dont_overlap_and_bodies_are_within(name: str) -> None:
    drawn = read(svg_of(sheet_of(GRAPHS[name]()), MORE))
    for (a, first), (b, second) in itertools.combinations(drawn.boxes.items(), 2):
        if inside(a, b) or inside(b, a):
            inner, outer = (first, second) if inside(a, b) else (second, first)
            assert outer.holds(*inner[:2]) and outer.holds(*inner[2:]), (a, b)
        else:
            assert not first.meets(second), (a, b)


@every_graph
def test_edges_lead_down_from_operands_to_results(name: str) -> None:
    sheet = sheet_of(GRAPHS[name]())
    drawn = read(svg_of(sheet, MORE))
    wanted = []
    for box in every_box(sheet):
        path = box.key.rpartition("%")[0]
        inner = [each for each in every_box(sheet) if each.key.rpartition("%")[0] == path]
        wanted += [(inner[i].key, box.key) for i in box.operands]
    assert sorted((a, b) for a, b, _, _ in drawn.edges) == sorted(wanted)
    for a, b, start, end in drawn.edges:
        assert drawn.boxes[a].holds(*start) and abs(start[1] - drawn.boxes[a].bottom) < 0.2
        assert drawn.boxes[b].holds(*end) and abs(end[1] - drawn.boxes[b].top) < 0.2
        assert drawn.boxes[a].bottom < drawn.boxes[b].top, "operands are above"


def test_titles_tell_the_line_and_names_are_escaped() -> None:
    sheet = sheet_of(trained())
    svg = svg_of(sheet, MORE)
    drawn = read(svg)
    for box in sheet.boxes:
        assert drawn.titles[box.key].endswith(str(box.source))
    assert 'x<&"x">:0' in drawn.texts and "<&" not in svg


def test_kinds_differ_in_colour_and_form() -> None:
    looks = [(look.paper, look.edge) for look in LOOKS.values()]
    assert len(set(looks)) == len(looks)
    forms = {look.mermaid for look in LOOKS.values()}, {look.form for look in LOOKS.values()}
    assert all(len(each) >= 5 for each in forms)
    svg = svg_of(sheet_of(trained()), MORE)
    dashed = svg.count("stroke-dasharray") - 1  # the legend has one
    assert dashed == sum(box.is_gradient for box in every_box(sheet_of(trained()))) > 0
    assert "made by a gradient" in read(svg).texts


@pytest.mark.parametrize("kind", LOOKS)
def test_words_can_be_read_on_their_paper(kind: str) -> None:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    from kameleon.graph.pictures.looks import FAINT, INK

    for is_gradient in (False, True):
        paper = light(look_of(kind, is_gradient).paper)
        assert (paper + 0.05) / (light(INK) + 0.05) > 7
    assert 1.05 / (light(FAINT) + 0.05) > 3 and (light(FAINT) + 0.05) / 0.05 > 3


@every_graph
def test_the_same_graph_gives_the_same_picture(name: str) -> None:
    graph = GRAPHS[name]()
    assert svg_of(sheet_of(graph), MORE) == svg_of(sheet_of(graph), MORE)
    again = GRAPHS[name]()  # its names and lines may differ
    rows = [[box.operands for box in every_box(sheet_of(g))] for g in (graph, again)]
    assert rows[0] == rows[1]


# --- layout -------------------------------------------------------------------------------------


def test_ranks() -> None:
    edges = [(0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (5, 4)]
    assert ranked(6, edges) == [0, 0, 1, 2, 3, 2]


def test_few_edges_cross() -> None:
    """Two chains that begin in another order than they end aren't woven."""
    edges = [(0, 3), (1, 2), (2, 4), (3, 5)]
    x = [left for left, _ in placed([(10, 10)] * 6, edges).corners]
    assert (x[0] < x[1]) == (x[3] < x[2]) == (x[5] < x[4])


def test_a_large_graph_is_laid_out_soon() -> None:
    graph = residual(400)
    sheet = sheet_of(graph)
    assert len(sheet.boxes) > 5000
    svg_of(sheet, MORE)


# --- Mermaid ------------------------------------------------------------------------------------

OPENING = {"[": "]", "(": ")", "{": "}"}


@every_graph
def test_mermaid_is_balanced_and_whole(name: str) -> None:
    sheet = sheet_of(GRAPHS[name]())
    first, *lines = mermaid_of(sheet, MORE).splitlines()
    assert first == "flowchart TD"
    depth, ids, ends = 0, set(), set()
    for line in map(str.strip, lines):
        bare = re.sub(r'"[^"<>&]*(?:<br>[^"<>&]*)*"', "~", line)
        assert '"' not in bare, line
        if edge := re.fullmatch(r"(\w+) --> (\w+)", bare):
            ends |= {*edge.groups()}
        elif bare == "end":
            depth -= 1
        elif opened := re.fullmatch(r"subgraph (\w+)\[~\]", bare):
            ids.add(opened[1])
            depth += 1
        elif node := re.fullmatch(r"(\w+)([\[({/]+)~([\])}/]+):::\w+", bare):
            ids.add(node[1])
            turned = "".join(OPENING.get(c, c) for c in reversed(node[2]))
            assert turned == node[3], line
        else:
            assert re.fullmatch(r"(classDef|class) \w+ .+", bare), line
        assert depth >= 0
    assert depth == 0 and ends <= ids and len(ids) >= count(GRAPHS[name]())


def test_all_svg_is_in_its_namespace() -> None:
    from xml.etree import ElementTree

    root = ElementTree.fromstring(svg_of(sheet_of(looped()), MORE))
    assert all(element.tag.startswith(SVG) for element in root.iter())
