"""A session: the values of a graph's variables, and plans for what is fetched."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kameleon._utils.locks import rlock

from ..failures import invalid
from ..graph import DEVICE, Graph, Operation, Value
from ..operations.values import is_text, texts
from ..protocol.messages import message
from ..variables import Store
from .prepared import Prepared, function
from .spans import Trace


class Session:
    """Runs parts of a graph.

    Args:
        graph: the graph.
        seconds: how long a run may take, if it isn't told; None: as long as it likes.
        beside: what sessions of the same cluster keep, this one, too.
        devices: the names of the devices.

    Attributes:
        graph: the graph.
        store: what is kept between runs.
        devices: as given.
        partial: by handle, the runs in parts that were set up; None for those that are done.
    """

    def __init__(
        self,
        graph: Graph,
        seconds: float | None = None,
        beside: Store | None = None,
        devices: Sequence[str] = (DEVICE,),
    ) -> None:
        self.graph, self.store, self._seconds = graph, Store(function, beside), seconds
        self.devices = devices
        self._plans: dict[Any, Prepared] = {}
        self.partial: dict[str, Any] = {}
        self._lock = rlock()

    def run(
        self,
        feeds: Mapping[Value, Any],
        fetches: Sequence[Value],
        targets: Sequence[Operation],
        seconds: float | None = None,
        trace: Trace | None = None,
    ) -> list[Any]:
        """Run what is fetched, and the targets, in so many seconds; the values of the fetches.
        A trace takes what ran, and when.
        """
        key = (tuple(feeds), tuple(fetches), tuple(targets), self.graph.version)
        plan = self._plans.get(key)
        if plan is None:
            for fault in self.graph.mistyped:
                raise invalid(fault)
            with self._lock:
                plan = self._plans[key] = Prepared(feeds, fetches, targets)
        seconds = self._seconds if seconds is None else seconds
        deadline = None if seconds is None else time.monotonic() + seconds
        feeds = {at: self._fed(value) for at, value in feeds.items()}
        found = plan.run(self.store, feeds, deadline, trace)
        pairs = zip(found, _holders(found), strict=True)
        return [_given(value, is_own=count <= ALONE) for value, count in pairs]

    def _fed(self, value: Any) -> Any:
        """What a value that is fed stands for: texts; a tensor that the session keeps."""
        if getattr(value, "dtype", None) is not None and value.dtype.names == ("resource",):
            handle = message("ResourceHandleProto").FromString(value.tobytes())
            return self.store.resources["tensor", handle.name]
        return texts(value) if is_text(value) else value

    def close(self) -> None:
        """Let go of all values."""
        self.store.waiting.close()
        self._plans.clear()
        self.partial.clear()
        self.store = Store(function)


def _holders(values: list[Any]) -> list[int]:
    """How many hold each value."""
    return [sys.getrefcount(value) for value in values]


[ALONE] = _holders([np.zeros(1)])  # of what nobody else holds


def _given(value: Any, is_own: bool) -> Any:
    """A value as TensorFlow's sessions give it: an array, a number of NumPy, bytes. Arrays that
    others hold, as constants and what was fed, are copied: who gets them may change them.
    """
    if is_text(value) and np.ndim(value) == 0:
        return np.asarray(value, object).item()
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim == 0:
        return np.asarray(value)[()]
    return np.asarray(value) if is_own and value.base is None else np.array(value)
