"""Straight-line code: emitted line by line, planned, then run.

A line computes one value into a slot. Planning finds where a value is used last, so that its
buffer is freed or written in place there. The same lines either run one by one (one-off
evaluation, very long programs) or are joined to one generated Python function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from ..._utils.collection import uncollected
from ..._utils.threads import counter
from ...graph.ir.node import Node
from ...graph.ir.text import lines_by_node
from ...graph.ir.types import TensorType
from .._kernels.buffers import SMALLEST, is_large
from .literal import compiled_text, quoted

# Longer programs run line by line: as one function they'd take longer to compile than that saves,
# and much memory.
LONGEST_SOURCE = 4000
# A program becomes one function when it's called for the n-th time.
JOINED_AT_CALL = 2

# How many functions of single lines are kept, by their text.
KEPT_STEPS = 4096

# Names that lines may use beside those of their library.
BUILT_IN = frozenset({"program", "int", "slice"})

Arg = int | str  # a slot, or the text of a literal

# A line as a function, the slots of its arguments, and those to free behind it.
Step = tuple[Callable[..., Any], list[int], list[int]]

FRESH, VIEW, LOOSE = "fresh", "view", "loose"


class Language:
    """What lines are written in.

    Attributes:
        name: of the library.
        namespace: all that lines may name. Where `{out}` stands in lines it has the functions
            `empty(shape, dtype)`, for large results, and `give(array)`, which takes an array back.
        large: the pool pays for values of so many times its smallest buffer, or more.
    """

    def __init__(self, name: str, namespace: dict[str, Any], large: int = 1):
        self.name, self.namespace, self.large = name, namespace, large
        self._known = namespace.keys() | BUILT_IN
        self._steps: dict[tuple[str, int], Callable[..., Any]] = {}

    def evaluate(self, text: str) -> Any:
        """The value of an expression."""
        return eval(
            compiled_text(text, f"<kameleon {self.name}>", "eval", self._known), self.namespace
        )

    def program(self, text: str, filename: str, constants: Mapping[str, Any]) -> dict[str, Any]:
        """What the text of a program defines; it may name `constants`, too."""
        space = {**self.namespace, **constants}
        code = compiled_text(text, filename, "exec", self._known | constants.keys())
        exec(code, space)
        return space

    def step(self, text: str, count: int) -> Callable[..., Any]:
        """The text of a line over so many arguments as a function; it's kept until there are too
        many.
        """
        step = self._steps.get((text, count))
        if step is None:
            if len(self._steps) >= KEPT_STEPS:
                self._steps.clear()
            names = [f"a{i}" for i in range(count)]
            step = self.evaluate(f"lambda {', '.join(names)}: {text.format(*names)}")
            self._steps[text, count] = step
        return step


class Line:
    """`slot = text`, where `{0}`, `{1}` … stand for `args` and `{out}` for a buffer.

    The buffer is that of an operand in `reusable`, or one of shape `dims` (a text).
    """

    __slots__ = ("args", "dest", "dims", "frees", "gives", "node", "reusable", "text", "used")

    def __init__(
        self,
        dest: int,
        text: str,
        args: Sequence[Arg],
        node: Node,
        reusable: Sequence[int],
        dims: str | None,
    ):
        self.dest, self.text, self.args, self.node = dest, text, tuple(args), node
        self.reusable, self.dims = tuple(reusable), dims
        self.used = [a for a in self.args if type(a) is int]  # the slots that are read
        self.frees: list[int] = []
        self.gives: list[int] = []


class Code:
    """Lines over numbered slots; the first slots are the parameters."""

    _next_number = staticmethod(counter(1))

    def __init__(self, parameters: int, language: Language, pooled: bool = True):
        self.language, self.pooled = language, pooled
        self.parameters = parameters
        self.lines: list[Line] = []
        self.constants: dict[int, Any] = {}
        self.outputs: list[int] = []
        self.filename = f"<kameleon {language.name} program {self._next_number()}>"
        # By slot: the parameter that is an array for its value, or None.
        self._into: dict[int, int] = {}
        self._group = list(range(parameters))
        self._owned = [False] * parameters
        self._large: set[int] = set()
        self._calls = 0
        # How lines are run one by one: the steps, and the values of slots behind the parameters.
        self._plan: tuple[list[Step], list[Any]] | None = None
        self.function: Callable[..., Any] | None = None

    # Emitting ------------------------------------------------------------------------------

    def constant(self, value: Any) -> int:
        """A slot that holds `value` in every call."""
        slot = self._new_slot(owned=False)
        self.constants[slot] = value
        return slot

    def emit(
        self,
        node: Node,
        text: str,
        args: Sequence[Arg],
        kind: str = FRESH,
        reusable: Sequence[int] = (),
        dims: str | None = None,
        shares: Sequence[int] | None = None,
    ) -> int:
        """Append a line; `kind` says whether its value is new, a view of the first operand, or
        may share memory with any (or with those numbered in `shares`); `reusable` are operands
        whose buffers may take the result, `dims` is its shape, where it can be told and the
        value may be large."""
        slot = self._new_slot(owned=kind == FRESH)
        large = self.pooled and may_be_large(node, self.language.large * SMALLEST)
        if kind == FRESH and large:
            self._large.add(slot)
        line = Line(slot, text, args, node, reusable, dims)
        self.lines.append(line)
        others = line.used[: 1 if kind == VIEW else None]
        if shares is not None:
            others = [a for i in shares if type(a := args[i]) is int]
        for used in others:
            if kind != FRESH and used not in self.constants:
                self._join(slot, used, owned=kind == VIEW)
            elif kind == VIEW:
                self._owned[self._find(slot)] = False
        return slot

    def _new_slot(self, owned: bool) -> int:
        slot = len(self._group)
        self._group.append(slot)
        self._owned.append(owned)
        return slot

    def _find(self, slot: int) -> int:
        group = self._group
        while group[slot] != slot:
            group[slot] = group[group[slot]]
            slot = group[slot]
        return slot

    def _join(self, slot: int, other: int, owned: bool) -> None:
        a, b = self._find(slot), self._find(other)
        keep = owned and self._owned[b]
        self._group[a] = b
        self._owned[b] = keep

    def is_owned(self, slot: int) -> bool:
        """Whether the value's buffer was made by this program and belongs to nobody else."""
        return (
            slot >= self.parameters
            and slot not in self.constants
            and (self._owned[self._find(slot)])
        )

    def group(self, slot: int) -> int:
        """Slots of one group may share memory."""
        return self._find(slot)

    # Planning ------------------------------------------------------------------------------

    def write_into(self, slot: int, parameter: int) -> None:
        """Let a value be computed into the array that a parameter gives, unless it gives None.

        Where that can't be done, the value is made as usual.
        """
        if slot not in self._into and not self._is_shared(slot):
            self._into[slot] = parameter

    def _is_shared(self, slot: int) -> bool:
        """Whether a value shares memory, or its line can't be told where to write."""
        line = next((n for n in self.lines if n.dest == slot), None)
        return line is None or not line.text.endswith("{out})") or self._find(slot) != slot

    def finish(self, outputs: Sequence[int]) -> None:
        """Fix the outputs; decide which buffers are reused and where slots are freed."""
        self.outputs = list(outputs)
        for slot in self._into:  # the array belongs to the caller
            self._owned[self._find(slot)] = False
        end = len(self.lines)
        last_slot: dict[int, int] = {}
        for number, line in enumerate(self.lines):
            for slot in line.used:
                last_slot[slot] = number
        for slot in outputs:
            last_slot[slot] = end
        last_group: dict[int, int] = {}
        for slot, number in last_slot.items():
            group = self._find(slot)
            last_group[group] = max(number, last_group.get(group, -1))
        for number, line in enumerate(self.lines):
            self._reuse(line, number, last_group)
        self._place_frees(last_slot, last_group, end)

    def _place_frees(self, last_slot: dict[int, int], last_group: dict[int, int], end: int) -> None:
        """Free each slot behind its last use; give large buffers back behind their last view."""
        for line in self.lines:
            base, group = line.dest, self._find(line.dest)
            until = last_group.get(group, end)
            if base in self._large and self._owned[group] and until < end:
                self._large.discard(base)
                last_slot.pop(base, None)
                self.lines[until].gives.append(base)
            elif base not in last_slot:
                line.frees.append(base)
        for slot, number in last_slot.items():
            if number < end and slot not in self.constants:
                self.lines[number].frees.append(slot)

    def _reuse(self, line: Line, number: int, last_group: dict[int, int]) -> None:
        if "{out}" not in line.text:
            return
        if line.dest in self._into:
            line.text = line.text.replace("{out}", f", out={{{len(line.args)}}}")
            line.args = (*line.args, self._into[line.dest])
            return
        chosen = ""
        for position in line.reusable:
            slot = line.args[position]
            if isinstance(slot, int) and self.is_owned(slot):
                group = self._find(slot)
                if last_group[group] == number and self._is_only_one(slot, line):
                    chosen = f", out={{{position}}}"
                    mine = self._find(line.dest)
                    last_group[group] = last_group.get(mine, number)
                    self._group[mine] = group
                    self._owned[group] = self._owned[mine]
                    self._large.discard(line.dest)
                    break
        if not chosen and line.dims is not None and line.dest in self._large:
            chosen = f", out=empty({line.dims}, {quoted(line.node.dtype)})"
        line.text = line.text.replace("{out}", chosen)

    def _is_only_one(self, slot: int, line: Line) -> bool:
        """Whether no other operand reads this one's memory, perhaps in another order."""
        group = self._find(slot)
        return all(other == slot or self._find(other) != group for other in line.used)

    # Running -------------------------------------------------------------------------------

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the lines on the parameters' values; gives the outputs' values."""
        function = self.function
        if function is None:
            self._calls += 1
            if self._calls < JOINED_AT_CALL or len(self.lines) > LONGEST_SOURCE:
                return self._interpret(arguments)
            function = self.join()
        return function(*arguments)  # type: ignore[no-any-return]

    def _interpret(self, arguments: Sequence[Any]) -> list[Any]:
        if self._plan is None:  # threads may plan at the same time, each for itself
            self._plan = uncollected(len(self.lines), self._planned)
        steps, rest = self._plan
        slots = [*arguments, *rest]
        for line, (step, reads, frees) in zip(self.lines, steps, strict=True):
            slots[line.dest] = step(*[slots[s] for s in reads])
            for slot in frees:
                slots[slot] = None
        return [slots[s] for s in self.outputs]

    def _planned(self) -> tuple[list[Step], list[Any]]:
        """How lines are run one by one. The code is only read: other threads may run or join it."""
        rest = [self.constants.get(slot) for slot in range(self.parameters, len(self._group))]
        texts = dict.fromkeys(a for line in self.lines for a in line.args if isinstance(a, str))
        slots = {text: i for i, text in enumerate(texts, self.parameters + len(rest))}
        rest += self.language.evaluate(f"({''.join(f'{text}, ' for text in texts)})")
        return [self._step(line, slots) for line in self.lines], rest

    def _step(self, line: Line, literals: Mapping[str, int]) -> Step:
        """A line as a step. Literals are arguments, too, so that lines of one kind share a
        function.
        """
        reads = [a if isinstance(a, int) else literals[a] for a in line.args]
        return self.language.step(line.text, len(reads)), reads, [*line.frees, *line.gives]

    def source(self, before: str = "", behind: Callable[[int], str] | None = None) -> str:
        """The program as one Python function.

        Args:
            before: what is done first.
            behind: what is done behind each line, given its number.
        """
        rows = [f"def program({', '.join(f's{i}' for i in range(self.parameters))}):"]
        rows += [f" {before}"] * bool(before)
        for number, line in enumerate(self.lines):
            row = f" {self._text(line)}"
            row += "".join(f"; del s{s}" for s in line.frees)
            row += "".join(f"; give(s{s}); del s{s}" for s in line.gives)
            rows.append(row if behind is None else f"{row}; {behind(number)}")
        results = ", ".join(map(self._name, self.outputs))
        rows.append(f" return ({results}{',' if self.outputs else ''})")
        return "\n".join(rows)

    def listing(self) -> str:
        """The source for people, with the sources of the bodies and blocks that it calls."""
        texts = [self.source()]
        for slot, code in self.called():
            texts.append(code.listing().replace("program(", f"c{slot}(", 1))
        return "\n\n".join(texts)

    def by_node(self) -> dict[Node, str]:
        """The lines of each node, those of bodies and blocks among them."""
        found = lines_by_node((line.node, self._text(line)) for line in self.lines)
        for _, code in self.called():
            found |= code.by_node()
        return found

    def called(self) -> Iterator[tuple[int, Code]]:
        """The code of the bodies and blocks that this code calls, and the slots of their
        functions."""
        for slot, value in self.constants.items():
            code = getattr(value, "__globals__", {}).get("_code")
            if isinstance(code, Code):
                yield slot, code

    def _text(self, line: Line) -> str:
        names = [a if isinstance(a, str) else self._name(a) for a in line.args]
        return f"s{line.dest} = {line.text.format(*names)}"

    def _name(self, slot: int) -> str:
        return f"c{slot}" if slot in self.constants else f"s{slot}"

    def join(self) -> Callable[..., Any]:
        """Compile the lines into one function."""
        names = {f"c{slot}": value for slot, value in self.constants.items()}
        names["_code"] = self
        space = self.language.program(self.source(), self.filename, names)
        self.function = function = space["program"]
        return function  # type: ignore[no-any-return]

    # Failing -------------------------------------------------------------------------------

    @staticmethod
    def culprit(error: BaseException) -> Node | None:
        """The innermost node whose line raised `error`."""
        found: Node | None = None
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            frame = traceback.tb_frame
            code = frame.f_globals.get("_code")
            if code is not None and frame.f_code.co_filename == code.filename:
                found = code.lines[traceback.tb_lineno - 2].node
            elif frame.f_code is Code._interpret.__code__:
                found = getattr(frame.f_locals.get("line"), "node", None)
            traceback = traceback.tb_next
        return found


def may_be_large(node: Node, smallest: int = SMALLEST) -> bool:
    """Whether a node's value is worth a buffer from the pool."""
    single = isinstance(node.type, TensorType)
    return single and is_large(node.shape, node.dtype.itemsize, smallest)
