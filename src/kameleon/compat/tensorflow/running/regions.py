"""Runs a region: what it's compiled for, and how it's divided where it can't be compiled.

A region is compiled for the shapes and types of what comes in. Where an operation needs a value
to build its part (a size, an axis), that value is a part of the key, too; if it's computed in the
region itself, the region is cut in two before that operation. Sizes that differ from run to run are
left open at last, where all operations can be built without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from kameleon.errors import EvaluationError

from ..failures import failure, invalid
from ..graph import Operation
from ..lowering import NotCompiledError
from ..operations import table
from ..operations.lists import TensorList
from ..operations.values import (
    NeedsValueError,
    is_text,
    open_sizes,
)
from ..resources.base import Resource
from ..variables import Reference, Store
from .ahead import turns_ahead
from .bodies import AheadError, ApartError
from .compiled import ARRAYS, AssertedError, Compiled, Region, Rows, is_handed_on
from .marks import ABSENT
from .needed import Compound, Loop, around
from .sizes import (
    MOST,
    Key,
    Known,
    Numbers,
    Sizes,
    is_open,
    is_shaped,
    kind_of,
    known_part,
    without_values,
)
from .units import DIFFER, Hints, Unit

T = TypeVar("T")
# So many compiled functions a region keeps, and of so many kinds of keys which sizes differ.
KEPT = 32


def run(store: Store, unit: Unit, values: Sequence[Any], openly: bool = True) -> Sequence[Any]:
    """Run a region, `openly` or for just these sizes; the values that others take from it.

    Raises:
        DivideError: it must be run in smaller units.
        AssertedError: it must be run so that some operations run alone, and tell what they found.
    """
    direct: Compiled | None = unit.direct
    if direct is not None and (results := direct.at_once(values)) is not None:
        return results
    if unit.keeps:
        values = [_rows(x) if isinstance(x, TensorList) else x for x in values]
    if unit.needs_values:
        known = unit.hints.known
        values = [
            store.variables.value(x) if isinstance(x, Reference) and at in known else x
            for at, x in zip(unit.inputs, values, strict=True)
        ]
    compiled: Compiled | None = None
    try:
        key = tuple([
            (x.shape, x.dtype) if type(x) in ARRAYS and unit.is_plain[place]
            else _key(unit, place, x) for place, x in enumerate(values)
        ])  # fmt: skip
        compiled = unit.recent.get(key) if openly else None
        if compiled is None or not compiled.is_for(store):
            compiled = _keep(unit.recent, key, _compiled(store, unit, values, key, openly))
        found = compiled.run(store, values)
        unit.direct = compiled if compiled.is_direct else None
        return found
    except DivideError:
        raise
    except Exception as error:
        failed = isinstance(error, EvaluationError)
        if failed and compiled and compiled.is_open:  # the sizes may be such as weren't thought of
            return run(store, unit, values, openly=False)
        # What the program asserts may not hold, and was to come first.
        alone = unit.assertions | (_failing(unit, str(error)) if failed else frozenset())
        if alone := alone - unit.hints.on_host:  # else they would run alone
            raise AssertedError(alone) from error
        if failed:
            raise invalid(str(error)) from error
        raise


def _failing(unit: Unit, message: str) -> frozenset[Operation]:
    """The operations that a message names."""
    return frozenset(each for each in unit.within if f"{{{{node {each.name}}}}}" in message)


class DivideError(Exception):
    """A region must be run in smaller units, by these hints."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(hints)
        self.hints = hints


def _rows(given: TensorList) -> Any:
    rows = given.rows
    return given if rows is None else rows.view(Rows)


def _compiled(store: Store, unit: Unit, values: Sequence[Any], key: Key, openly: bool) -> Compiled:
    found = _kept(store, unit, key)
    if found is None:
        kind = kind_of(key)
        sizes = unit.sizes.get(kind) or _keep(unit.sizes, kind, Sizes(_unknown(unit, key)))
        if openly and sizes.have_changed(key):
            unit.differs = True
            found = _without_sizes(store, unit, values, sizes, key)
    if found is None:
        _demand_few(unit, key)
        found = _keep(unit.cache, key, _for_sizes(store, unit, values, key))
    return found


def _unknown(unit: Unit, key: Key) -> Iterator[tuple[int, int]]:
    """The sizes that the graph doesn't know, by input and axis, where some are known to differ."""
    for place, (source, index) in enumerate(unit.inputs if unit.hints.differ else ()):
        if is_shaped(key[place]) and not isinstance(key[place][1], Numbers):
            known, sizes = source.shapes[index], key[place][0]
            for axis in range(len(sizes)):  # of a list its graph knows nothing
                if known is None or len(known) != len(sizes) or known[axis] < 0:
                    yield place, axis


def _kept(store: Store, unit: Unit, key: Key) -> Compiled | None:
    """What a region was compiled to, while it holds."""
    found: Compiled | None = unit.cache.get(key)
    return found if found is not None and found.is_for(store) else None


def _keep(table: dict[Key, T], key: Key, value: T) -> T:
    """Put a value in a table, in place of the oldest one where it's full."""
    while len(table) >= KEPT:
        del table[next(iter(table))]
    table[key] = value
    return value


def _without_sizes(
    store: Store, unit: Unit, values: Sequence[Any], sizes: Sizes, key: Key
) -> Compiled | None:
    """A region without the sizes that differ; None where operations need them."""
    opened = sizes.without(key)
    found = _kept(store, unit, opened)
    if found is None and is_open(opened):
        region = Region(store, unit, values, opened)
        try:
            with open_sizes() as several:
                made = region.compiled(several)
            found = _keep(unit.cache, opened, made)
        except AheadError as error:
            raise DivideError(unit.hints | DIFFER | _counted_ahead(unit, error.loop)) from None
        except NeedsValueError as error:
            hints = _known_for(region, error)
            if hints and hints.known.issubset(unit.inputs):  # numbers that are known may be sizes
                raise DivideError(unit.hints | DIFFER | hints) from None
            sizes.be_needed()
        except Exception:  # whatever it is: what is compiled for these sizes does without, or tells
            sizes.be_needed()
    return found


def _known_for(region: Region, error: NeedsValueError) -> Hints | None:
    """Let the values be known that tell what an operation needs; None where there are none. What
    only tells it in a loop or a choice are single numbers: there are as many functions as of them.
    """
    operation, within = error.operation, region.compound_of(error.operation)
    known = region.nearest(error.value, operation)
    if within is not None and not within.members.isdisjoint(each for each, _ in known):
        known = region.nearest(error.value, operation, within)
    return Hints(known=known, needing=frozenset({operation})) if known else None


def _for_sizes(store: Store, unit: Unit, values: Sequence[Any], key: Key) -> Compiled:
    region, hints = Region(store, unit, values, key), unit.hints
    if unit.cache:  # it was compiled for others
        hints |= DIFFER
    try:
        return region.compiled()
    except NeedsValueError as error:
        known, within = _known_for(region, error), region.compound_of(error.operation)
        if known:
            raise DivideError(hints | known) from None
        if (loop := _headed(error.operation, unit.elements)) is not None:
            raise DivideError(hints | _counted_ahead(unit, loop)) from None
        if within is not None:
            raise DivideError(hints | Hints(apart=frozenset({within.condition}))) from None
        name, kind = error.operation.name, error.operation.type
        message = f"{name} ({kind}) needs a value when it's compiled: {error}"
        raise failure("UNIMPLEMENTED", message) from None
    except ApartError as error:
        raise DivideError(hints | Hints(apart=frozenset({error.condition}))) from None
    except AheadError as error:
        raise DivideError(hints | _counted_ahead(unit, error.loop)) from None
    except NotCompiledError:
        raise DivideError(hints | Hints(on_host=region.kept())) from None


def _headed(operation: Operation, elements: Iterable[Operation | Compound]) -> Loop | None:
    """The loop at whose head an operation is."""
    for each in elements:
        if isinstance(each, Compound) and operation in each.members:
            if isinstance(each, Loop) and any(x.merge is operation for x in each.carried):
                return each
            return _headed(operation, chain.from_iterable(each.parts))
    return None


def _counted_ahead(unit: Unit, loop: Loop) -> Hints:
    """Let a loop's turns be counted ahead; where that can't be, let it run apart."""
    compounds = around(loop, unit.elements) or []
    turning = [each.condition for each, _ in compounds if isinstance(each, Loop)]
    turns = None if turning else turns_ahead(loop, compounds)
    if turns is None:
        return Hints(apart=frozenset([*turning, loop.condition][:1]))
    return Hints(turns=frozenset({(loop.condition, turns)}))


def _demand_few(unit: Unit, key: Key) -> None:
    """A region isn't compiled for ever more values that must be known: what needs them runs alone
    then, and the region is compiled for the shapes of what that gives.

    Raises:
        DivideError: it was compiled for enough of them.
    """
    needing = unit.hints.needing.intersection(unit.elements)
    alone = frozenset(operation for operation in needing if table.is_folded(operation))
    if not alone:
        return
    kinds = [kind_of(without_values(each)) for each in unit.cache]
    if kinds.count(kind_of(without_values(key))) >= MOST:
        raise DivideError(unit.hints.without_values(alone) | Hints(on_host=alone))


def _key(unit: Unit, place: int, value: Any) -> Any:
    """What of a value decides how its region is compiled."""
    if isinstance(value, Reference) or value is ABSENT:
        return value
    if is_handed_on(unit, place, value):
        return Resource
    if isinstance(value, Known):
        return value.part
    if is_text(value):
        return known_part(np.asarray(value, object))
    array = np.asarray(value)
    if unit.is_known[place]:
        return known_part(array)
    return (array.shape, (Rows, array.dtype) if isinstance(value, Rows) else array.dtype)
