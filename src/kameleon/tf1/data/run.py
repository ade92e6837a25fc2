"""One pass of an iterator through a dataset: what it knows while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...ir.node import Node


class Run:
    """What belongs to one initialisation of an iterator.

    Args:
        values: of the tensors that the dataset needs.
    """

    def __init__(self, values: Mapping[Any, Any]):
        self.values = values
        self._kept: dict[Any, Any] = {}

    def value(self, x: Any) -> Any:
        """A number or array, also where a tensor stands for it."""
        return self.values[x] if isinstance(x, Node) else x

    def kept(self, owner: Any, make: Callable[[], Any]) -> Any:
        """What a dataset keeps from one repetition to the next."""
        if owner not in self._kept:
            self._kept[owner] = make()
        return self._kept[owner]

    def within(self, values: Mapping[Any, Any]) -> Run:
        """The run of a dataset that was made of an element."""
        return Run({**self.values, **values})
