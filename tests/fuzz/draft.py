"""A program in the making: each line is run and its value known before the next one is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K
from kameleon.errors import KameleonError
from kameleon.graph.ir.node import ITEM, Node, Variable, walk
from kameleon.graph.ir.rewrite import closed
from kameleon.runtime.engines import embedded
from kameleon.runtime.inspection.values import evaluator
from kameleon.testing.comparison.result import difference

from .oracle import Oracle
from .program import TENSOR, Array, Built, Program
from .stepwise import Nudging, nudged

LARGEST = 400  # elements of a tensor
DEEPEST = 5  # axes
MANY = 7  # axes, in programs that have many
# A gradient as `calls.gradient` writes it: of what, and by what.
GRADIENT = re.compile(r"K\.gradients\((.*), \[(\w+)\]\)\[0\]")
STEP = 1e-6  # of differences
STEPS = [STEP * i for i in (-2, -1, 0, 1, 2)]
FAR = 1e3  # numbers further from 0 have too few digits for such steps
HUGE = {"float16": 1e2}  # larger numbers make last bits count


class WrongError(Exception):
    """Something that must not be; `kind` names its class, the text tells it."""

    def __init__(self, kind: str, text: str):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Entry(NamedTuple):
    """A tensor of the program: its name there, the node, and its value."""

    name: str
    node: Node
    value: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes at run time."""
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats."""
        return self.value.dtype.kind == "f"


class Draft:
    """Draws what a program consists of, from one seed.

    Attributes:
        random: the source of all choices.
        dtype: the float dtype of the program.
        refused: lines that K refused with an error of its own, and what it said.
    """

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.dtype = self.choice(["float16", *["float32", "float64"] * 3])
        self.special = self.flag(0.12)  # NaN and infinities among the values
        self.empty = self.flag(0.15)  # sizes of 0
        self.many = self.flag(0.15)  # axes, of few elements each
        self.unknown = self.choice([0.0, 0.3, 0.7])  # how many sizes are unknown when built
        self.built = Built()
        self.built.run(first_line(self.dtype))
        self.lines: list[str] = []
        self.entries: list[Entry] = []
        self.values: dict[Node, Any] = {}
        self.refused: list[tuple[str, str]] = []
        self.unchecked: set[str] = set()
        self._count = 0

    # Choices -----------------------------------------------------------------------------------

    def choice(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return options[int(self.random.integers(len(options)))]

    def int(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self.random.integers(low, high + 1))

    def flag(self, chance: float = 0.5) -> bool:
        """True with this chance."""
        return bool(self.random.random() < chance)

    def size(self) -> int:
        """The size of an axis."""
        if self.many:
            return self.choice([1, 1, 1, 2, 2, 3] + [0] * self.empty)
        return self.choice([1, 1, 2, 2, 3, 3, 4, 5] + [0, 0] * self.empty)

    def shape(self, low: int = 0, high: Any = None) -> tuple[int, ...]:
        """Sizes of `low` to `high` axes."""
        high = self._most if high is None else high
        return tuple(self.size() for _ in range(self.int(low, high)))

    @property
    def _most(self) -> Any:
        """The number of axes, where calls take any."""
        return MANY if self.many else 4

    # Operands ----------------------------------------------------------------------------------

    def pick(self, fits: Callable[[Entry], bool], recent: int = 12) -> Entry | None:
        """A tensor that fits; newer ones are likelier."""
        found = [e for e in self.entries if fits(e)]
        return self.choice(found[-recent:]) if found else None

    def float(self, low: int = 0, high: Any = None, filled: bool = False) -> Entry:
        """A float tensor with so many axes, without empty ones if `filled`."""
        high = self._most if high is None else high

        def fits(e: Entry) -> bool:
            return e.is_float and low <= e.ndim <= high and (not filled or 0 not in e.shape)

        found = self.pick(fits) if self.flag(0.85) else None
        if found is not None:
            return found
        sizes = self.shape(low, high)
        return self.input([max(s, 1) for s in sizes] if filled else sizes)

    def input(
        self, shape: Sequence[int], kind: str | None = None, dtype: str = "F", known: int = 0
    ) -> Entry:
        """A new placeholder, variable or constant of these sizes; the first ones `known`."""
        kind = kind or self.choice(["normal", "normal", "ties"] + ["special"] * self.special)
        array = f"value({tuple(shape)}, {kind!r}, {self.int(0, 9999)})"
        where = self.random.random()
        if where < 0.5:
            hidden = [i >= known and self.flag(self.unknown) for i in range(len(shape))]
            dims = tuple(None if h else d for h, d in zip(hidden, shape, strict=True))
            entry = self.add(f"given({dims}, {array}, {dtype})", "x")
        elif where < 0.9:
            entry = self.add(f"state({array}, {dtype})", "w")
        else:
            entry = self.add(f"K.constant({array}, dtype={dtype})", "x")
        assert entry is not None
        return entry

    def partner(self, x: Entry) -> Entry:
        """Another tensor of the same dtype that can be combined with `x` element by element."""

        def fits(y: Entry) -> bool:
            return y.value.dtype == x.value.dtype and stretches(x, y)

        found = self.pick(fits) if self.flag(0.8) else None
        if found is not None:
            return found
        sizes = [1 if self.flag(0.2) else d for d in x.shape]
        return self.input(sizes[self.choice([0, 0, self.int(0, len(sizes))]) :])

    # Lines -------------------------------------------------------------------------------------

    def add(self, expression: str, prefix: str = "t") -> Entry | None:
        """Run a line that assigns the expression; None where K refuses it."""
        name = f"{prefix}{self._count}"
        line = f"{name} = {expression}"
        try:
            self.built.run(line)
        except (KameleonError, IndexError) as error:
            self.refused.append((expression, f"{type(error).__name__}: {error}"))
            return None
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise WrongError("raw error", f"{line}\n{text}") from error
        node = self.built.names[name]
        if not isinstance(node, Node):
            return None
        try:
            array = self.value(node)
        except Exception as error:
            self.refused.append((expression, f"when run, {type(error).__name__}: {error}"))
            return None
        self._count += 1
        self.lines.append(line)
        entry = Entry(name, node, array)
        self._check_type(entry, line)
        self._check_value(entry, expression)
        if GRADIENT.fullmatch(expression) and self.dtype == "float64":
            self._check_gradient(entry, expression)
        if prefix == "t" and not self._is_kept(entry):
            self.lines.pop()
            return None
        self.entries.append(entry)
        return entry

    def _is_kept(self, e: Entry) -> bool:
        finite = e.value[np.isfinite(e.value)] if e.is_float else e.value
        largest = np.max(np.abs(finite.astype("float64")), initial=0.0)
        deepest, huge = MANY if self.many else DEEPEST, HUGE.get(self.dtype, 1e4)
        return bool(e.value.size <= LARGEST and e.ndim <= deepest and largest <= huge)

    def value(self, node: Node) -> Array:
        """The value of a node. Nodes of a line are evaluated together, apart from other lines'."""
        self.values.update(zip(self.built.inputs, self.built.feeds, strict=True))
        self.values.update(self.built.variables)
        new = [n for n in walk([node], set(self.values)) if n not in self.values]
        made = [n for n in new if n.primitive is not ITEM]
        if any(isinstance(n, Variable) for n in made):
            raise LookupError("a variable that the program didn't make")
        if made:
            results = [r for n in made for r in n.results]
            self.values.update(zip(results, self._together(made, results), strict=True))
            self.values.update((n, self.values[n.results[0]]) for n in made)
        return np.asarray(self.values[node])

    def _together(self, nodes: Sequence[Node], results: Sequence[Node]) -> list[Array]:
        """What nodes give, from known values of all others."""
        own = {*nodes, *results}
        operands = list(dict.fromkeys(x for n in nodes for x in n.operands if x not in own))
        graph = closed(operands, results)
        return evaluator(embedded())(graph, [self.values[x] for x in operands])

    def _check_type(self, e: Entry, line: str) -> None:
        """What was inferred when the line was built is what came when it ran."""
        inferred = e.node.type
        if not inferred.accepts(e.shape) or str(inferred.dtype) != str(e.value.dtype):
            actual = f"shape {e.shape}, dtype {e.value.dtype}"
            raise WrongError("type", f"{line}\ninferred {inferred}, it was {actual}")

    def _check_value(self, e: Entry, expression: str) -> None:
        """The oracle, given the same operands, says the same."""
        names = {x.name: x.value for x in self.entries}
        want = Oracle(names, self.dtype).evaluate(expression)
        if want is None:
            self.unchecked.add(expression.partition("(")[0])
            return
        want = np.asarray(want)
        if want.shape != e.shape:
            raise WrongError("oracle", f"{expression}\nshape {e.shape}, expected {want.shape}")
        want = want.astype(e.value.dtype)
        found = difference("", e.value, want)
        if not found.within() and not self._hangs_on_last_bits(expression, want, names):
            raise WrongError("oracle", f"{expression}\nis {e.value}\nexpected {want}")

    def _hangs_on_last_bits(self, expression: str, want: Array, names: Mapping[str, Array]) -> bool:
        """Whether the oracle says something else of numbers that are moved by their last bits."""
        random = Nudging(self._count)
        moved = {k: nudged(x, np.ones(x.shape, bool), random) for k, x in names.items()}
        other = np.asarray(Oracle(moved, self.dtype).evaluate(expression))
        return not difference("", other.astype(want.dtype), want).within()

    def _check_gradient(self, e: Entry, expression: str) -> None:
        """Along a random direction, differences say the same; at a small kink, on either side."""
        loss, name = GRADIENT.fullmatch(expression).groups()  # type: ignore[union-attr]
        total, x = eval(loss, self.built.names), self.built.names[name]
        flat = any(n.primitive.name in ("stop_gradient", "round") for n in walk([total]))
        if flat or not np.isfinite(e.value).all():
            return
        here = self.values[x]
        if np.abs(here).max(initial=0) > FAR or any(map(self._is_at_its_kink, walk([total]))):
            return
        others = [i for i, p in enumerate(self.built.inputs) if p is not x]
        inputs = [x, *(self.built.inputs[i] for i in others)]
        along = K.function(inputs, [total], engine="numpy")
        feeds = [self.built.feeds[i] for i in others]
        direction = np.random.default_rng(self._count).normal(size=here.shape)
        points = [along([here + h * direction, *feeds])[0] for h in STEPS]
        slopes = np.diff(points) / STEP
        got = np.sum(direction * e.value)
        scale = 1 + np.abs(slopes).max() + np.abs(direction * e.value).sum()
        low, high = slopes.min() - 1e-4 * scale, slopes.max() + 1e-4 * scale
        if high - low < 2e-3 * scale and not low < got < high:
            text = f"{expression}\nis {got} along a line, differences: {slopes}"
            raise WrongError("gradient", text)

    def _is_at_its_kink(self, node: Node) -> bool:
        """Whether a node is |x|, or its slope, of an x with a 0: |x| * |x| has no kink there, but
        its gradient is made as if it had."""
        return node.primitive.name in ("abs", "sign") and not self.value(node.operands[0]).all()

    def program(self) -> Program:
        """The finished program: its last tensors and some others are the outputs."""
        made = [e.name for e in self.entries if e.name.startswith("t")]
        used = {word for line in self.lines for word in _words(line.partition("=")[2])}
        leaves = [name for name in made if name not in used]
        inner = [name for name in made if name in used and self.flag(0.15)]
        give = f"give({', '.join([*leaves, *inner] or [self.entries[-1].name])})"
        return Program((first_line(self.dtype), *self.lines, give))


def first_line(dtype: str) -> str:
    """What programs of a float dtype begin with."""
    return f"F = {dtype!r}; K.set_floatx(F)"


def _words(text: str) -> list[str]:
    return TENSOR.findall(text)


def stretches(x: Entry, y: Entry) -> bool:
    """Whether two tensors may be combined element by element: sizes of 1 are stretched, also those
    that are unknown when the program is built.
    """
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)
