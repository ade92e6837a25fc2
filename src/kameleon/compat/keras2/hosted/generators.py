"""Data of generators where several processes train one model: the first one draws them.

Each row is made once. All processes get it, at the moment when Keras takes it; so they go the same
way, and what a generator reads or draws needn't be the same in all of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ...._utils.around import Function, around
from ...._utils.random_state import generators, set_generators
from ....config.processes import is_first, this_process
from ....distributed.distribution import from_first
from ....runtime import engines

# What takes data from generators, and the arguments that may be ones.
TAKING = {
    "fit_generator": ("generator", "validation_data"),
    "evaluate_generator": ("generator",),
    "predict_generator": ("generator",),
}


def _are_many() -> bool:
    """Whether several processes compute together here."""
    return engines.current().has_layout and this_process() is not None


def _draws() -> bool:
    return is_first() or not _are_many()


class Shared:
    """An iterator over what the first process's iterator gives.

    Args:
        make: gives that iterator; called in the first process alone.
    """

    def __init__(self, make: Callable[[], Iterator[Any]]):
        self._source = make() if _draws() else None

    def __iter__(self) -> Shared:
        return self

    def __next__(self) -> Any:
        found: list[Any] = from_first(self._drawn) if _are_many() else self._drawn()
        if not found:
            raise StopIteration
        return found[0]

    def _drawn(self) -> list[Any]:
        assert self._source is not None
        for batch in self._source:
            return [batch]
        return []


def share(module: ModuleType) -> None:
    """Let Keras's loops take what the first process draws.

    Args:
        module: `keras.engine.training_generator`.
    """
    names = vars(module)
    for name in ("OrderedEnqueuer", "GeneratorEnqueuer"):
        names[name] = _enqueuer(names[name])
    rows_of = names["iter_sequence_infinite"]
    names["iter_sequence_infinite"] = lambda data: Shared(lambda: rows_of(data))
    for name, arguments in TAKING.items():
        names[name] = _taking(names[name], arguments, names["is_sequence"])


def _enqueuer(theirs: type) -> type:
    """Keras's class, which fills its queue in the first process alone."""
    base: Any = theirs

    class Enqueuer(base):  # type: ignore[misc]
        __doc__ = theirs.__doc__

        def get(self) -> Shared:
            return Shared(super().get)

    for name in ("start", "stop", "join_end_of_epoch"):
        if hasattr(theirs, name):
            setattr(Enqueuer, name, _in_first(getattr(theirs, name)))
    Enqueuer.__name__ = Enqueuer.__qualname__ = theirs.__name__
    return Enqueuer


@around
def _in_first(method: Function, *args: Any, **options: Any) -> Any:
    return method(*args, **options) if _draws() else None


def _taking(theirs: Any, arguments: tuple[str, ...], is_sequence: Callable[[Any], bool]) -> Any:
    """Keras's function; generators that it asks by itself are shared, too."""
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def taking(*args: Any, **options: Any) -> Any:
        if not _are_many():
            return theirs(*args, **options)
        given = signature.bind(*args, **options)
        given.apply_defaults()
        bound = given.arguments
        if bound["workers"] == 0:
            for name in arguments:
                data = bound[name]
                if hasattr(data, "__next__") and not isinstance(data, Shared):
                    bound[name] = Shared(functools.partial(iter, data))
        result = theirs(*given.args, **given.kwargs)
        # What the first process has drawn, the others haven't.
        set_generators(from_first(generators))
        return result

    return taking
