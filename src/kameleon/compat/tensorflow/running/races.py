"""Operations on variables that nothing orders, in the order in which TensorFlow comes to them.

A value that is read of a variable (other than a resource) is the variable's own memory, and what
takes it late takes what was assigned meanwhile. Programs depend on that without knowing: a rate
that goes by a counter of steps, which is counted up beside it, goes by the new count, as in BERT's
training. TensorFlow's threads decide it, nearly always in the same way: of what can run next, one
goes on with what was made last; others begin with the rest later, when they have been woken up.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from ..dtypes import REFERENCE
from ..graph import Operation
from .needed import DIRECTING, MERGES, PASSING

# What a thread does at once, before all else that it could go on with.
QUICK = DIRECTING | {
    *("Const", "NoOp", "Identity", "Placeholder", "PlaceholderV2", "Variable", "VariableV2"),
    *("Shape", "Rank", "Size", "Reshape", "ExpandDims", "Squeeze"),
}
# In the time that an operation takes: those, and until another thread is awake.
QUICKLY, WAKING = 0.1, 5.0


def are_raced(operations: Sequence[Operation]) -> bool:
    """Whether something reads a variable and something else assigns to it, in any order.

    Args:
        operations: in the order in which they were made.
    """
    variables: dict[Operation, Operation] = {}  # by what stands for one
    reading, writing = defaultdict[Operation, int](int), defaultdict[Operation, int](int)
    bits: dict[Operation, int] = {}
    for operation in operations:
        if not operation.inputs and operation.types and operation.types[0] >= REFERENCE:
            variables[operation] = operation
        for source, _ in operation.inputs:
            variable = variables.get(source)
            if variable is None:
                continue
            if operation.type in PASSING:
                variables[operation] = variable
            else:
                bit = bits.setdefault(operation, 1 << len(bits))
                assigns = bool(operation.types) and operation.types[0] >= REFERENCE
                (writing if assigns else reading)[variable] |= bit
    if not any(reading[variable] for variable in writing):
        return False
    before: dict[Operation, int] = {}
    for operation in operations:
        found = 0
        for each in operation.before:
            found |= before.get(each, 0)
        before[operation] = found | bits.get(operation, 0)
    follows = {bit: before[each] for each, bit in bits.items()}
    return any(
        not follows[write] & read and not follows[read] & write
        for variable, writes in writing.items()
        for write in _single(writes)
        for read in _single(reading[variable])
    )


def _single(bits: int) -> Iterable[int]:
    """The bits of a number, each as a number."""
    while bits:
        yield bits & -bits
        bits &= bits - 1


def as_begun(operations: Sequence[Operation]) -> list[Operation]:
    """Operations in the order in which threads begin with them, if there are threads enough.

    Args:
        operations: in the order in which they were made.
    """
    after, missing = _edges(operations)
    begins: dict[Operation, tuple[float, int]] = {}
    events: list[tuple[float, int, Operation | None, _Thread]] = []
    numbers = count()

    def begin(now: float, operation: Operation, thread: _Thread) -> None:
        begins[operation] = now, next(numbers)
        end = now + (QUICKLY if operation.type in QUICK else 1)
        heappush(events, (end, next(numbers), operation, thread))

    for operation in operations:
        if not missing[operation]:
            begin(-1 if operation.type == "Const" else 0, operation, _Thread())
    while events:
        now, _, ended, thread = heappop(events)
        if ended is None:  # another thread is awake, and takes what has waited longest
            if thread.later:
                begin(now, thread.later.popleft(), _Thread())
            continue
        longer: list[Operation] = []
        for each in after[ended]:
            missing[each] -= 1
            if not missing[each]:
                (thread.next if each.type in QUICK else longer).append(each)
        if longer and not thread.next:
            thread.next.append(longer.pop())
        for each in longer:
            thread.later.append(each)
            heappush(events, (now + WAKING, next(numbers), None, thread))
        if thread.next:
            begin(now, thread.next.popleft(), thread)
        elif thread.later:
            begin(now + QUICKLY, thread.later.pop(), thread)
    never = (float("inf"), 0)  # what waits for itself
    return sorted(operations, key=lambda each: begins.get(each, never))


class _Thread:
    """What a thread goes on with, and what it leaves to others, or does when nothing else is left:
    the last of it first.
    """

    def __init__(self) -> None:
        self.next: deque[Operation] = deque()
        self.later: deque[Operation] = deque()


def _edges(
    operations: Sequence[Operation],
) -> tuple[Mapping[Operation, list[Operation]], dict[Operation, int]]:
    """By operation, those that come after it, and how many it waits for."""
    after: dict[Operation, list[Operation]] = {each: [] for each in operations}
    missing: dict[Operation, int] = {}
    for operation in operations:
        before = [each for each in operation.before if each in after]
        for each in before:
            after[each].append(operation)
        missing[operation] = min(len(before), 1) if operation.type in MERGES else len(before)
    return after, missing
