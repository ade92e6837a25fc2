"""The engine `auto`, which has no kernels: it chooses an engine for each function."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ...engines._base import Chooser, Engine, Executable
from ...errors import ArgumentError
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType
from ..engines import available, canonical, embedded, meant, names, runs_here
from .choice import Choice
from .report import Report

if TYPE_CHECKING:
    from ..function import Function


class AutoEngine(Chooser):
    """Chooses an engine for each function; where there is no function, it's the embedded one.

    Args:
        candidates: the names of the engines that may be chosen, beside the embedded one; all that
            are installed, if None. (But CNTK, which runs in a process of its own.)

    Raises:
        ArgumentError: there's no engine of such a name.
    """

    name = "auto"
    title = "the fastest engine"
    _all: ClassVar[weakref.WeakSet[AutoEngine]] = weakref.WeakSet()

    def __init__(self, candidates: str | Sequence[str] | None = None) -> None:
        if isinstance(candidates, str):
            candidates = [candidates]
        elif not isinstance(candidates, Iterable | None):
            raise ArgumentError(f"candidates: names of engines were expected, not {candidates!r}")
        for name in candidates or ():
            if not isinstance(name, str) or not available(name) or name == self.name:
                advice = meant(name) if isinstance(name, str) else ""
                raise ArgumentError(f"candidates: there is no engine {name!r} to choose{advice}")
        self._candidates = None if candidates is None else list(map(canonical, candidates))
        self._choices: weakref.WeakKeyDictionary[Function, Choice] = weakref.WeakKeyDictionary()
        self._all.add(self)

    @property
    def candidates(self) -> list[str]:
        """The names of the engines that may be chosen and are installed."""
        if self._candidates is not None:
            return list(filter(runs_here, self._candidates))
        return [name for name in names() if name != "cntk" and runs_here(name)]

    @cached_property
    def _is_alone(self) -> bool:
        """Whether there's only the embedded engine: its calls are its own from the first one on."""
        return set(self.candidates) <= {embedded().name}

    def among(self, candidates: str | Sequence[str]) -> AutoEngine:
        """See `Chooser`."""
        return AutoEngine(candidates)

    @property
    def rules(self) -> Any:  # type: ignore[override]
        """See `Engine`."""
        return embedded().rules

    def choice(self, function: Function) -> Choice:
        """What is known of a function's engines."""
        found = self._choices.get(function)
        if found is None:
            found = self._choices.setdefault(function, Choice(function, self, self._is_alone))
        return found

    def engine_of(self, function: Function) -> Engine:
        """See `Chooser`."""
        return self.choice(function).engine

    def call(self, function: Function, values: Sequence[Any]) -> list[Any]:
        """See `Chooser`: the call is learnt from."""
        return self.choice(function).call(values)

    def report(self, function: Function) -> Report:
        """See `Chooser`."""
        return self.choice(function).report()

    def compile(self, graph: Graph) -> Executable:
        """See `Engine`."""
        return embedded().compile(graph)

    def from_numpy(self, array: Any) -> Any:
        """See `Engine`."""
        return embedded().from_numpy(array)

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine`."""
        return embedded().to_numpy(array, copy)

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine`."""
        return embedded().type_of(value)

    def after_fork(self) -> None:
        """See `Engine`: what the parent tries isn't the child's."""
        for each in list(self._all):
            for choice in list(each._choices.values()):
                choice.begin_anew()


engine = AutoEngine()
