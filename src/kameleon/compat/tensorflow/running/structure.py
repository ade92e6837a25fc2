"""Finds loops and choices again, which TensorFlow's graphs hold as operations that direct values.

Innermost first, each becomes a compound, where all in it can be compiled. What's left runs as
TensorFlow runs it, operation by operation. Known as functionalization of control flow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph import Operation, Value
from ..walks import reached
from .needed import (
    DIRECTING,
    ENTERS,
    EXITS,
    MERGES,
    SWITCHES,
    TURNS,
    Carried,
    Choice,
    Compound,
    Frame,
    Guard,
    Loop,
    Needed,
    operations_of,
)

IsCompiled = Callable[["Operation"], bool]


def structure(
    needed: Needed,
    fetches: list[Value],
    is_compiled: IsCompiled,
    apart: frozenset[Value],
    turns: Mapping[Value, Value],
) -> None:
    """Put compounds in the place of loops and choices of `needed`, which is in order; but of those
    whose conditions are among `apart`.

    Args:
        turns: by condition of a loop, what counts its turns ahead.
    """
    if not any(_raw(element, DIRECTING) for element in needed.elements):
        return
    places = {(len(needed.frames[e]), _choices(needed.guards[e])) for e in needed.elements}
    for depth in sorted({depth for depth, _ in places}, reverse=True):
        for count in sorted({count for at, count in places if at == depth and count}, reverse=True):
            choices = _Choices(needed, depth, count, fetches, is_compiled, apart)
            _replace(needed, choices.found())
        if depth:
            loops = _loops(needed, depth, fetches, is_compiled)
            loops = [loop for loop in loops if loop.condition not in apart]
            counted = [loop for loop in loops if loop.condition in turns]
            for loop in counted:
                loop.turns = turns[loop.condition]
                loop.inputs.append(loop.turns)
            _replace(needed, loops)
            if counted:  # in loops of their own
                structure(needed, fetches, is_compiled, apart, turns)
                return
    _find_outputs(needed, fetches)


def _replace(needed: Needed, found: Sequence[Compound]) -> None:
    for compound in found:
        needed.owners.update(dict.fromkeys(compound.members, compound))
    if found:
        needed.order()


def _raw(element: Operation | Compound, types: frozenset[str]) -> bool:
    """Whether an element is an operation of one of these types."""
    return not isinstance(element, Compound) and element.type in types


def _choices(guard: Guard) -> int:
    """How many choices, not loops, something is behind."""
    return sum(value[0].type != "LoopCond" for value, _ in guard)


def _is_plain(needed: Needed, element: Operation | Compound, is_compiled: IsCompiled) -> bool:
    """Whether an element can be a part of a compound."""
    if isinstance(element, Compound):
        return True
    return element.type not in DIRECTING and not needed.is_fed(element) and is_compiled(element)


def _closes(element: Operation) -> bool:
    """Whether a Merge is the head of a loop."""
    return any(source.type in TURNS for source, _ in element.inputs)


def _outer(
    needed: Needed,
    elements: Collection[Operation | Compound],
    members: set[Operation],
    resolve: Callable[[Value], Value],
) -> tuple[list[Value], list[Value], list[Operation]]:
    """What elements take, would show, and wait for, from outside."""
    inputs, shown = (
        dict.fromkeys(
            value
            for element in elements
            for value in map(resolve, found(element))
            if value[0] not in members
        )
        for found in (needed.inputs, needed.shown)
    )
    control = dict.fromkeys(
        each for element in elements for each in needed.controls(element) if each not in members
    )
    return list(inputs), [value for value in shown if value not in inputs], list(control)


def _members(elements: Iterable[Operation | Compound]) -> set[Operation]:
    return {operation for element in elements for operation in operations_of(element)}


def _find_outputs(needed: Needed, fetches: list[Value]) -> None:
    """What's taken from each compound, whoever takes it."""
    chains: dict[Operation, tuple[Compound, ...]] = {}
    takers: list[tuple[tuple[Compound, ...], list[Value]]] = []

    def note(compound: Compound, around: tuple[Compound, ...]) -> None:
        within = (*around, compound)
        takers.append((around, [*compound.inputs, *compound.shown]))
        for operation in compound.members:
            chains[operation] = within
        for inner in _inside(compound):
            note(inner, within)

    for element in needed.elements:
        if isinstance(element, Compound):
            note(element, ())
    taken: dict[Compound, dict[Value, None]] = defaultdict(dict)
    takers += [(around, operation.inputs) for operation, around in chains.items()]
    takers += [((), e.inputs) for e in needed.elements if not isinstance(e, Compound)]
    for around, values in takers:
        for value in values:
            for compound in chains.get(value[0], ()):
                if compound not in around:
                    taken[compound][value] = None
    for value in fetches:
        for compound in chains.get(value[0], ()):
            taken[compound][value] = None
    for compound in set().union(*chains.values()):
        compound.outputs = list(taken[compound])


def _inside(compound: Compound) -> list[Compound]:
    return [each for part in compound.parts for each in part if isinstance(each, Compound)]


# Choices ----------------------------------------------------------------------------------------


@dataclass
class _Group:
    """What becomes a choice."""

    branches: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    merges: list[tuple[Operation, tuple[int, int]]] = field(default_factory=list)


Key = tuple[Frame, Guard, "Value"]  # where a choice is, and its condition


class _Choices:
    """The choices in loops of some depth, behind so many choices.

    What two functions of one condition do may depend on each other through what lies between. So
    elements are told apart by their stage, too: by how many joins lie before them.
    """

    def __init__(
        self,
        needed: Needed,
        depth: int,
        count: int,
        fetches: list[Value],
        is_compiled: IsCompiled,
        apart: frozenset[Value],
    ) -> None:
        self._needed, self._is_compiled = needed, is_compiled
        self._elements = [e for e in needed.elements if len(needed.frames[e]) == depth]
        self._count = count
        self._sides: dict[tuple[Frame, Guard], tuple[Key, int]] = {}
        self._stages: dict[Operation | Compound, int] = {}
        self._groups: dict[tuple[Key, int], _Group] = defaultdict(_Group)
        self._spoilt: set[Key] = set()
        self._apart = apart
        self._fetched = {value[0] for value in fetches}

    def found(self) -> list[Compound]:
        """The compounds."""
        self._find_stages()
        joins = [
            (e, sides)
            for e in self._elements
            if not isinstance(e, Compound) and (sides := self._ways(e)) is not None
        ]
        for element in self._elements:
            self._sort_in(element)
        for merge, (key, ways) in joins:
            self._groups[key, self._stages[merge]].merges.append((merge, ways))
        self._find_takers({merge for merge, _ in joins})
        self._find_strangers()
        groups = [(key, group) for (key, _), group in self._groups.items()]
        return [
            self._compound(key, group)
            for key, group in groups
            if key not in self._spoilt and key[2] not in self._apart
        ]

    def _find_takers(self, joins: set[Operation]) -> None:
        """What joins more than the two sides of a choice must know which of them is taken."""
        for element in self._elements:
            if _raw(element, MERGES) and element not in joins:
                for source, _ in self._needed.inputs(element):
                    before = self._needed.of(source)
                    place = (self._needed.frames[before], self._needed.guards[before])
                    if place in self._sides:
                        self._spoilt.add(self._sides[place][0])

    def _find_strangers(self) -> None:
        """A branch may take nothing that lies in it and isn't a part of a choice."""
        needed = self._needed
        parts: dict[Key, list[Any]] = defaultdict(list)
        for (key, _), group in self._groups.items():
            merges = (merge for merge, _ in group.merges)
            parts[key] += [*group.branches[0], *group.branches[1], *merges]
        for key, elements in parts.items():
            members = _members(elements)
            inputs, shown, control = _outer(needed, elements, members, _through(needed, key[2]))
            places = [needed.place(value)[1] for value in (*inputs, *shown)]
            places += [needed.guards[needed.of(operation)] for operation in control]
            triggers = (each for each in control if each.type == "ControlTrigger")
            if any(condition == key[2] for place in places for condition, _ in place - key[1]) or (
                any(not members.isdisjoint(each.control) for each in triggers)
            ):
                self._spoilt.add(key)

    def _find_stages(self) -> None:
        needed = self._needed
        for element in needed.elements:
            stage = 0
            for source, _ in needed.sources(element):
                before = needed.of(source)
                leaves = _raw(before, MERGES | EXITS) and not needed.is_fed(before)
                stage = max(stage, self._stages.get(before, 0) + leaves)
            self._stages[element] = stage
        # What only later stages take waits for them: an array is made where it's filled and read.
        first: dict[Operation | Compound, int] = {}
        for element in reversed(needed.elements):
            if element in first and not _raw(element, DIRECTING):
                self._stages[element] = max(self._stages[element], first[element])
            stage = self._stages[element]
            for source, _ in needed.sources(element):
                before = needed.of(source)
                first[before] = min(stage, first.get(before, stage))

    def _ways(self, merge: Operation) -> tuple[Key, tuple[int, int]] | None:
        """If an element joins the two sides of a choice: which, and its input for each way."""
        needed = self._needed
        if merge.type not in MERGES or _closes(merge):
            return None
        guard = needed.guards[merge]
        if needed.is_fed(merge) or len(merge.inputs) != 2 or _choices(guard) != self._count - 1:
            return None
        guards = [needed.place(value)[1] for value in merge.inputs]
        sides = [list(each - guard) for each in guards]
        if [len(side) for side in sides] != [1, 1]:
            return None
        [(condition, way)], [(other, against)] = sides
        if condition != other or {way, against} != {0, 1}:
            return None
        key = (needed.frames[merge], guard, condition)
        for each, side in zip(guards, (way, against), strict=True):
            known = self._sides.setdefault((key[0], each), (key, side))
            if known != (key, side):
                self._spoilt |= {key, known[0]}
        return key, (0, 1) if way == 0 else (1, 0)

    def _sort_in(self, element: Operation | Compound) -> None:
        needed = self._needed
        place = (needed.frames[element], needed.guards[element])
        if place not in self._sides:
            return
        key, way = self._sides[place]
        is_fetched = not isinstance(element, Compound) and element in self._fetched
        if is_fetched or not _is_plain(needed, element, self._is_compiled):
            self._spoilt.add(key)
        else:
            self._groups[key, self._stages[element]].branches[way].append(element)

    def _compound(self, key: Key, group: _Group) -> Compound:
        condition = key[2]
        merges = [merge for merge, _ in group.merges]
        elements = [*group.branches[0], *group.branches[1]]
        members = _members([*elements, *merges])

        needed, parts = self._needed, [*elements, *merges]
        inputs, shown, control = _outer(needed, parts, members, _through(needed, condition))
        inputs = list(dict.fromkeys([condition, *inputs]))
        name = (merges or list(members))[0].name
        return Choice(
            name, members, inputs, shown, control, condition, group.branches, group.merges
        )


def _through(needed: Needed, condition: Value) -> Callable[[Value], Value]:
    """What lies before the switches of a condition."""

    def resolve(value: Value) -> Value:
        while value[0].type in SWITCHES and needed.condition(value[0].inputs[1]) == condition:
            value = value[0].inputs[0]
        return value

    return resolve


# Loops ------------------------------------------------------------------------------------------


def _loops(needed: Needed, depth: int, fetches: list[Value], is_compiled: IsCompiled) -> list[Loop]:
    inside: dict[Frame, list[Operation | Compound]] = defaultdict(list)
    for element in needed.elements:
        if len(needed.frames[element]) == depth:
            inside[needed.frames[element]].append(element)
    enters: dict[Frame, list[Operation]] = defaultdict(list)
    exits: dict[Frame, list[Operation]] = defaultdict(list)
    for element in needed.elements:
        if isinstance(element, Compound) or needed.is_fed(element):
            continue
        if element.type in ENTERS:
            enters[(*needed.frames[element], element.attribute("frame_name"))].append(element)
        elif element.type in EXITS:
            exits[needed.frames[element]].append(element)
    fetched = {source for source, _ in fetches}
    left = needed.left()
    before = {
        frame: set[Frame]().union(*(left[each] for each in (*elements, *enters[frame])))
        for frame, elements in inside.items()
    }
    found = []
    for frame, elements in inside.items():
        if frame in reached(before[frame], lambda each: before.get(each, ())):
            continue  # it can't be one part: some of it comes after it was left
        inner = [e for e in elements if not _raw(e, EXITS)]
        loop = _loop(needed, inner, enters[frame], exits[frame], is_compiled)
        if loop is not None and not fetched & set(inner):
            found.append(loop)
    return found


def _loop(
    needed: Needed,
    elements: list[Operation | Compound],
    enters: list[Operation],
    exits: list[Operation],
    is_compiled: IsCompiled,
) -> Loop | None:
    """The loop of a frame; None if there's something in it that can't be compiled."""
    raw = [e for e in elements if not isinstance(e, Compound) and e.type in DIRECTING]
    conditions = [e for e in raw if e.type == "LoopCond"]
    if len(conditions) != 1 or any(e.type in ENTERS for e in raw):
        return None
    condition = conditions[0]
    plain = [e for e in elements if isinstance(e, Compound) or e.type not in DIRECTING]
    if not all(_is_plain(needed, e, is_compiled) for e in plain):
        return None
    heads = [e for e in raw if e.type in MERGES]
    switches: dict[Operation, list[Operation]] = defaultdict(list)
    for each in raw:
        if each.type in SWITCHES and needed.deciding(each) is None:
            if each.inputs[1][0] is not condition or each.inputs[0][0] not in heads:
                return None
            switches[each.inputs[0][0]].append(each)
    carried = []
    for head in heads:
        parts = _carried(needed, head, switches[head])
        if parts is None:
            return None
        carried.append(parts)
    members = _members(elements) | set(enters) | set(exits)
    inputs, shown, control = _outer(needed, plain, members, lambda value: value)
    if inputs or shown:
        return None
    testing = _behind(needed, condition.inputs[0], plain)
    leaving = [each for each in plain if ((condition, 0), 0) in needed.guards[each]]
    body = [e for e in plain if e not in testing and e not in leaving]
    inputs, shown, control = _outer(needed, [*plain, *enters], members, lambda value: value)
    control += [c for e in (*raw, *exits) for c in needed.controls(e) if c not in members]
    return Loop(
        condition.name, members, inputs, shown, list(dict.fromkeys(control)),
        condition.inputs[0], carried, [e for e in plain if e in testing], body, leaving, exits,
    )  # fmt: skip


def _carried(needed: Needed, head: Operation, switches: list[Operation]) -> Carried | None:
    if len(head.inputs) != 2 or needed.is_fed(head):
        return None
    by_kind = {source.type in TURNS: source for source, _ in head.inputs}
    first, turn = by_kind.get(False), by_kind.get(True)
    if first is None or turn is None or first.type not in ENTERS:
        return None
    return Carried(head, first.inputs[0], turn.inputs[0], switches)


def _behind(
    needed: Needed, value: Value, plain: list[Operation | Compound]
) -> set[Operation | Compound]:
    """The plain elements that a value depends on, in the same turn."""
    inside = set(plain)
    return reached(
        {needed.of(value[0])} & inside,
        lambda element: {needed.of(source) for source, _ in needed.sources(element)} & inside,
    )
