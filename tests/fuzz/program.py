"""A program as text, and what it becomes when it's run against `K`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Node

Array = np.ndarray[Any, Any]
# Tensors are called x0, w1, t2 …; text of a program holds no other such words.
TENSOR = re.compile(r"\b[xwt]\d+\b")


@dataclass
class Built:
    """What the lines of a program made.

    Attributes:
        inputs, feeds: placeholders and the values that they are fed with.
        variables: with the values that they start from.
        outputs, updates: what a function of the program gives and does.
        names: by name, all that the lines assigned.
    """

    inputs: list[Node] = field(default_factory=list)
    feeds: list[Array] = field(default_factory=list)
    variables: list[tuple[Node, Array]] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    updates: list[Any] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names.update(
            K=K, np=np, value=value, given=self.given, state=self.state, give=self.give,
            update=self.updates.append,
        )  # fmt: skip

    def given(self, shape: Sequence[int | None], array: Array, dtype: str) -> Node:
        """A placeholder that is fed with an array."""
        node: Node = K.placeholder(tuple(shape), dtype=dtype)
        self.inputs.append(node)
        self.feeds.append(array.astype(dtype))
        return node

    def state(self, array: Array, dtype: str) -> Node:
        """A variable that starts from an array."""
        node: Node = K.variable(array, dtype=dtype)
        self.variables.append((node, array.astype(dtype)))
        return node

    def give(self, *tensors: Node) -> None:
        """Name the outputs."""
        self.outputs += tensors

    def run(self, line: str) -> None:
        """Execute one line."""
        exec(compile(line, "<program>", "exec"), self.names)

    def restart(self) -> None:
        """Give the variables the values that they start from."""
        for variable, array in self.variables:
            K.set_value(variable, array)


@dataclass(frozen=True)
class Program:
    """Lines of Python over `K`, each of them a statement of its own."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    @classmethod
    def read(cls, text: str) -> Program:
        """From text; comments are left out."""
        return cls(tuple(s for s in text.splitlines() if s and not s.startswith("#")))

    @property
    def outputs(self) -> list[str]:
        """The names of the tensors that it gives."""
        return TENSOR.findall(next(s for s in reversed(self.lines) if s.startswith("give(")))

    def build(self) -> Built:
        """Run the lines in a fresh session."""
        K.clear_session()
        K.set_floatx("float32")
        built = Built()
        exec(compile(str(self), "<program>", "exec"), built.names)
        return built


def value(shape: Sequence[int], kind: str, seed: int) -> Array:
    """Numbers of a kind, the same ones for the same seed; float64 that float32 can hold.

    Kinds: `normal`; `ties`, few different numbers; `special`, with NaN, infinities and both zeros;
    `positive`; `unit`, within (0, 1); `whole`; `index K` below K; `bits`, 0 and 1.
    """
    random = np.random.default_rng(seed)
    kind, _, detail = kind.partition(" ")
    made = KINDS[kind](random, tuple(shape), detail)
    return np.asarray(made, "float32").astype("float64")


def _special(random: np.random.Generator, shape: tuple[int, ...], _: str) -> Array:
    rare = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e9])
    some = random.normal(size=shape)
    return np.where(random.random(shape) < 0.25, random.choice(rare, shape), some)


KINDS: dict[str, Any] = {
    "normal": lambda r, shape, _: r.normal(size=shape),
    "ties": lambda r, shape, _: r.integers(-3, 4, shape) / 2,
    "special": _special,
    "positive": lambda r, shape, _: r.random(shape) + 0.25,
    "unit": lambda r, shape, _: 0.05 + 0.9 * r.random(shape),
    "whole": lambda r, shape, _: r.integers(-4, 5, shape),
    "index": lambda r, shape, top: r.integers(0, int(top), shape),
    "bits": lambda r, shape, _: r.integers(0, 2, shape),
}
