"""What may wait, on the host, for what the same run does: no region must hold that back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from ..graph import Operation
from .needed import Compound, Needed

# What puts something into queues and the like, and what takes it: who waits for the other one.
PUTS = re.compile("QueueEnqueue|(Ordered)?(Map)?Stage$|BarrierInsert|.*AccumulatorApply|Consume")
TAKES = re.compile(".*(Dequeue|Unstage|Peek)|BarrierTake|.*AccumulatorTake|MutexLock")

Befores = Mapping[Operation | Compound, frozenset[Operation]]


def waits_before(needed: Needed) -> Mapping[Operation | Compound, Any]:
    """What may wait before an element, in its turn and in all that were; by element. A region has
    the same before all of it.
    """
    alone = [each for each in needed.elements if not isinstance(each, Compound)]
    sides = [[each for each in alone if side.match(each.type)] for side in (PUTS, TAKES)]
    if not all(sides):
        return {}
    in_turn = _behind(needed, {each: frozenset([each]) for each in chain(*sides)})
    ever, further = in_turn, _behind(needed, in_turn)
    while ever != further:
        ever, further = further, _behind(needed, further)
    waits = [
        (befores, {  # those that don't come before all that lets them go on
            each
            for side, others in (sides, sides[::-1])
            for each in side
            if any(each not in befores[other] for other in others)
        })
        for befores in (in_turn, ever)
    ]  # fmt: skip
    return {
        element: tuple(befores.get(element, frozenset()) & free for befores, free in waits)
        for element in needed.elements
    }


def _behind(needed: Needed, known: Befores) -> Befores:
    """What is before elements, as far as it's known, handed on to what takes of them."""
    found = dict(known)
    for element in needed.elements:
        sources = (needed.of(source) for source, _ in needed.sources(element))
        befores = [found[source] for source in sources if source in found]
        if befores:
            found[element] = found.get(element, frozenset()).union(*befores)
    return found
