"""Graphs that are drawn, and what is read of their pictures."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.program import Program

SVG = "{http://www.w3.org/2000/svg}"


def trained() -> Program:
    """A layer with its training step, under names that XML and Mermaid read otherwise."""
    x = K.placeholder((None, 8), name='x<&"x">')
    with K.name_scope("dense"):
        w, b = K.variable(np.ones((8, 4)), name="w"), K.variable(np.zeros(4), name="b")
        h = K.dropout(K.relu(K.bias_add(K.dot(x, w), b)), 0.5)
    loss = K.mean(K.square(h))
    g = K.gradients(loss, [w, b])
    return function([x], [loss], [K.update_sub(v, 0.1 * d) for v, d in zip((w, b), g, strict=True)])


def looped() -> Program:
    """A recurrence with its gradient, a loop and a condition in it."""
    x, n = K.placeholder((2, 3, 4), name="x"), K.placeholder((), dtype="int32", name="n")

    def step(a: Any, s: Any) -> Any:
        y = K.switch(K.sum(a) > 0.0, lambda: K.tanh(a + s[0]), lambda: a - s[0])
        return y, [y]

    last, _, _ = K.rnn(step, x, [K.zeros((2, 4))])
    y = K.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * 2.0), [K.constant(0), last])
    return function([x, n], [K.sum(y[1]), *K.gradients(K.sum(last), [x])])


def residual(blocks: int) -> Program:
    """A deep network with residual connections, and its gradients."""
    x = y = K.placeholder((None, 8), name="x")
    weights = [K.variable(np.eye(8), name=f"w{i}") for i in range(blocks)]
    for i, w in enumerate(weights):
        with K.name_scope(f"block{i}"):
            y = y + K.tanh(K.dot(K.relu(y), w))
    return function([x], K.gradients(K.mean(K.square(y)), weights))


def function(*given: Any) -> Program:
    """The program of `K.function`."""
    found: Program = K.function(*given).compiled.program
    return found


GRAPHS = {"trained": trained, "looped": looped, "residual": lambda: residual(6)}


class Rectangle(NamedTuple):
    """Where a box is."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        """Whether they have an area in common."""
        return (self.left < other.right and other.left < self.right) and (
            self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, x: float, y: float, slack: float = 0.2) -> bool:
        """Whether a point is in it, or on its edge."""
        return (
            self.left - slack <= x <= self.right + slack
            and self.top - slack <= y <= self.bottom + slack
        )


class Drawn(NamedTuple):
    """What is read of a picture: boxes by their keys, and the ends of edges."""

    boxes: dict[str, Rectangle]
    edges: list[tuple[str, str, tuple[float, float], tuple[float, float]]]
    titles: dict[str, str]
    texts: list[str]


def read(svg: str) -> Drawn:
    """What an SVG shows; it must be XML."""
    found = Drawn({}, [], {}, [])
    _read(ElementTree.fromstring(svg), 0.0, 0.0, found)
    return found


def _read(element: ElementTree.Element, x: float, y: float, found: Drawn) -> None:
    moved = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.get("class") == "node":
        key, outline = element.attrib["data-key"], element[1]
        if outline.tag == f"{SVG}rect":
            width, height = float(outline.attrib["width"]), float(outline.attrib["height"])
        else:
            points = [p.split(",") for p in outline.attrib["points"].split()]
            width, height = (max(float(p[i]) for p in points) for i in (0, 1))
        found.boxes[key] = Rectangle(x, y, x + width, y + height)
        found.titles[key] = element[0].text or ""
    if element.get("class") == "edge":
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", element.attrib["d"].split(" m-3")[0])]
        start, end = (x + numbers[0], y + numbers[1]), (x + numbers[-2], y + numbers[-1])
        found.edges.append((element.attrib["data-from"], element.attrib["data-to"], start, end))
    if element.tag == f"{SVG}text":
        found.texts.append(element.text or "")
    for child in element:
        _read(child, x, y, found)
