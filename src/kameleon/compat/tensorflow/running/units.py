"""Units: what runs at once, and what turned out while they were compiled."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from ..dtypes import OF_K, name_of
from ..graph import Operation, Value
from ..operations import table
from .needed import ENTERS, MERGES, SWITCHES, TURNS, Compound, Frame, operations_of
from .sizes import Key, Sizes

REGION, FED = "region", "fed"


@dataclass(frozen=True)
class Hints:
    """What turned out while a part was compiled.

    Attributes:
        on_host: operations that run alone, though they could be compiled.
        known: values that must be known before what takes them is compiled.
        needing: the operations that need those.
        apart: conditions of loops and choices that can't be compiled.
        turns: conditions of loops, each with what counts its turns ahead.
        differ: whether sizes do from run to run.
    """

    on_host: frozenset[Operation] = frozenset()
    known: frozenset[Value] = frozenset()
    needing: frozenset[Operation] = frozenset()
    apart: frozenset[Value] = frozenset()
    turns: frozenset[tuple[Value, Value]] = frozenset()
    differ: bool = False

    @cached_property
    def numbers(self) -> frozenset[Value]:
        """What counts the turns of loops ahead."""
        return frozenset(number for _, number in self.turns)

    def is_before(self, value: Value) -> bool:
        """Whether a value must be there before what takes it is compiled."""
        return value in self.known or value in self.numbers

    def __or__(self, other: Hints) -> Hints:
        names = [each.name for each in fields(self)]
        return Hints(*(getattr(self, name) | getattr(other, name) for name in names))

    def without_values(self, operations: frozenset[Operation]) -> Hints:
        """What operations needed to be compiled needn't be known any more."""
        return replace(self, known=frozenset(), needing=self.needing - operations)


NONE, DIFFER = Hints(), Hints(differ=True)


@dataclass(eq=False)
class Unit:
    """What runs at once.

    Attributes:
        elements: in an order that fits; one, but for a region.
        kind: `region`, `fed`, or the type of the operation.
        hints: of the plan.
        repeats: it may run many times in a run, as a turn of a loop does.
        frame: the loops that it's in.
        left: the loops something of which came out before it.
        inputs: the values that come from other units; each once for a region.
        shown: those, behind them, that only assertions show where they don't hold.
        awaited: what of others stands for "it has run", and must be there.
        outputs: the values that others take, or that are fetched.
        marked: the outputs that aren't just taken on the host: it's said if they're known.
        controls: what stands for "it has run", where others wait for it.
        cache: what the region was compiled to.
        recent: the same by keys that came.
        direct: what it was compiled to last, if that takes and gives values as they are.
        sizes: by kind of its key, the sizes that differ from run to run.
        differs: whether sizes did from run to run.
    """

    elements: list[Operation | Compound]
    kind: str
    hints: Hints
    repeats: bool = False
    frame: Frame = ()
    left: frozenset[Frame] = frozenset()
    inputs: list[Value] = field(default_factory=list)
    shown: list[Value] = field(default_factory=list)
    awaited: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    marked: set[Value] = field(default_factory=set)
    controls: list[Value] = field(default_factory=list)
    cache: dict[Key, Any] = field(default_factory=dict)
    recent: dict[Key, Any] = field(default_factory=dict)
    direct: Any = None
    sizes: dict[Key, Sizes] = field(default_factory=dict)
    differs: bool = False

    @property
    def operation(self) -> Operation:
        """The only operation."""
        return self.elements[0]  # type: ignore[return-value]

    @property
    def waits_for(self) -> list[Value]:
        """All that must be there before it runs."""
        return [*self.inputs, *self.shown, *self.awaited]

    @property
    def is_constant(self) -> bool:
        """Whether it gives the same in each run, outside of loops."""
        is_fed = self.kind == FED or self.frame
        return not is_fed and not self.waits_for and all(x.type == "Const" for x in self.within)

    @cached_property
    def enters_all_turns(self) -> bool:
        """Whether it hands a value into each turn of a loop."""
        return self.kind in ENTERS and bool(self.operation.attribute("is_constant"))

    @cached_property
    def closes_loop(self) -> bool:
        """Whether it's a Merge that takes the values of the next turn, too."""
        return self.kind in MERGES and any(each.type in TURNS for each, _ in self.inputs)

    @cached_property
    def carries(self) -> bool:
        """Whether it's a Merge of a value that may be another one in each turn."""
        following = [each for each in self.inputs if each[0].type in TURNS]
        for source, _ in following:
            value = source.inputs[0]
            while value[0].type in SWITCHES | {"Identity"}:
                value = value[0].inputs[0]
            if value[0] is self.operation:
                return False
        return self.closes_loop

    @cached_property
    def needs_values(self) -> bool:
        """Whether an operation here needs a value to be compiled."""
        return not self.hints.needing.isdisjoint(self.within)

    @cached_property
    def is_known(self) -> list[bool]:
        """By input, whether what it is decides what the region is compiled to."""
        known = self.hints.numbers | (self.hints.known if self.needs_values else frozenset())
        return [value in known for value in self.inputs]

    @cached_property
    def is_plain(self) -> list[bool]:
        """By input, whether it holds numbers that needn't be known."""
        kinds = [name_of(source.types[index]) in OF_K for source, index in self.inputs]
        return [one and not other for one, other in zip(kinds, self.is_known, strict=True)]

    @cached_property
    def keeps(self) -> bool:
        """Whether an operation here works on what is kept."""
        return any(table.is_kept(each) for each in self.within)

    @cached_property
    def within(self) -> set[Operation]:
        """All operations here."""
        return {operation for each in self.elements for operation in operations_of(each)}

    @cached_property
    def assertions(self) -> frozenset[Operation]:
        """What the program asserts here."""
        return frozenset(each for each in self.within if each.type in table.ASSERTIONS)
