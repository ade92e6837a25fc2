"""Sessions of TensorFlow 1: running tensors and operations of any nest, with values fed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from .._scopes import Scope
from .._tracebacks import boundary
from ..backend import surface as K
from ..backend.functions import BackendFunction
from ..backend.sparse import to_dense
from ..backend.sparse_tensor import SparseTensor
from ..errors import ArgumentError, EvaluationError, FeedError
from ..ir.node import Node, Variable
from ..runtime.workspace import workspace
from .conversions import conversion_of
from .failures import OpError, of_run
from .graph import Graph, get_default_graph
from .operations import Derived, Operation


class SparseTensorValue(NamedTuple):
    """The value of a sparse tensor."""

    indices: Any
    values: Any
    dense_shape: Any


class Options:
    """Settings of TensorFlow that mean nothing to other engines; any are accepted and kept."""

    def __init__(self, *args: Any, **options: Any):
        self.__dict__.update(options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__dict__[name] = Options()
        return value

    # What programs do with protocol buffers.
    def CopyFrom(self, other: Options) -> None:  # noqa: N802 - TensorFlow's name
        """Take over the settings of another."""
        self.__dict__.update(other.__dict__)

    MergeFrom = CopyFrom

    def SerializeToString(self) -> bytes:  # noqa: N802 - TensorFlow's name
        """Nothing."""
        return b""


class OptimizerOptions(Options):
    """Settings of a compiler that isn't there."""

    L0, L1, OFF, DEFAULT, ON_1, ON_2 = -1, 0, -1, 0, 1, 2


class RunOptions(Options):
    """Settings of a run, which make no difference."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class _Fetches:
    """A nest of what's fetched: the tensors to compute, and the nest of their values."""

    def __init__(self, fetches: Any, graph: Graph, fed: Collection[Any]):
        self.graph = graph
        self.nodes: list[Node] = []
        self.extra: list[Node] = []
        self.fed = fed
        self.rebuild = self._plan(fetches)

    def _plan(self, item: Any) -> Callable[[Sequence[Any]], Any]:
        if isinstance(item, str):
            item = self.graph.as_graph_element(item)
        if isinstance(item, Operation):
            self.extra += item.needed
            later = [(self._plan(list(tensors)), act) for tensors, act in item.deferred]
            return lambda values: _perform(later, values)
        if isinstance(item, Derived):
            computed, made = self._plan(item.tensors), item.value
            return lambda values: made(computed(values))
        if isinstance(item, Variable) and item not in self.fed:
            return lambda values: _left_in(item)
        if isinstance(item, Node):
            return self._at(item, 1, lambda found: found[0])
        if isinstance(item, SparseTensor):
            for part in item.parts:
                self._at(part, 1, lambda found: found)
            at = len(self.nodes) - 3
            return lambda values: SparseTensorValue(*values[at : at + 3])
        if isinstance(item, Mapping):
            plans = {key: self._plan(value) for key, value in item.items()}
            kind: Any = type(item) if isinstance(item, dict) else dict
            return lambda values: kind((key, plan(values)) for key, plan in plans.items())
        if isinstance(item, tuple) and hasattr(item, "_fields"):
            each = [self._plan(value) for value in item]
            named: Any = type(item)
            return lambda values: named(*(plan(values) for plan in each))
        if isinstance(item, (list, tuple)):
            each = [self._plan(value) for value in item]
            sort: Any = type(item)
            return lambda values: sort(plan(values) for plan in each)
        found = getattr(item, "_as_graph_element", None)
        if found is not None:
            return self._plan(found())
        known = conversion_of(item)
        if known is not None:
            tensors, contracted = known.fetch(item)
            computed = self._plan(list(tensors))
            return lambda values: contracted(computed(values))
        raise TypeError(
            f"Fetch argument {item!r} has invalid type {type(item)}, must be a string or Tensor."
            " (a tensor, an operation, or a list, tuple or dict of them)"
        )

    def _at(
        self, node: Node, count: int, take: Callable[[Sequence[Any]], Any]
    ) -> Callable[[Sequence[Any]], Any]:
        at = len(self.nodes)
        self.nodes.append(node)
        return lambda values: take(values[at : at + count])


def _left_in(variable: Variable) -> Any:
    """The value that a run leaves: TensorFlow 1 hands out a variable's own memory, which updates
    change; programs count on that, as they count steps.
    """
    return np.asarray(K.get_value(variable))[()]


def _perform(later: Sequence[tuple[Callable[..., Any], Any]], values: Sequence[Any]) -> None:
    """Do what operations put off until their tensors are computed."""
    for computed, act in later:
        act(computed(values))


def _feeds(feed_dict: Mapping[Any, Any], graph: Graph) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        if isinstance(key, str):
            key = graph.get_tensor_by_name(key)
        if isinstance(key, SparseTensor) and isinstance(value, tuple):
            for part, given in zip(key.parts, value, strict=True):
                array = np.asarray(given, part.dtype)
                found[part] = array.reshape(-1, len(key.shape)) if part is key.indices else array
        elif isinstance(key, tuple):  # several tensors at once
            found |= _feeds(dict(zip(key, value, strict=True)), graph)
        elif isinstance(key, (Node, SparseTensor)):
            if isinstance(value, Node):
                raise TypeError(
                    "The value of a feed cannot be a tf.Tensor object. Acceptable feed values"
                    f" include Python scalars, strings, lists and numpy ndarrays; got {value!r}"
                )
            found[key] = _fed(key, value)
        elif (known := conversion_of(key)) is not None and known.feed is not None:
            found |= _feeds(dict(known.feed(key, value)), graph)
        else:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {key!r}")
    return found


def _fed(key: Any, value: Any) -> Any:
    if not isinstance(key, Node):
        return value
    if key.__dict__.get("is_a_size") and np.shape(value) == (1,):
        value = value[0]
    if key.__dict__.get("without_shape") and np.ndim(value):
        raise FeedError(
            f"feed_dict: the value for {key.name} has shape {np.shape(value)}, but its"
            " tf.placeholder was made without a shape and stands for a scalar; give it one, with"
            f" None for unknown sizes (it was made at {key.source})"
        )
    try:
        return np.asarray(value, dtype=key.dtype if key.dtype != "bfloat16" else None)
    except (ValueError, TypeError) as error:
        if key.__dict__.get("of_strings"):
            raise FeedError(
                f"feed_dict: {key.name} is a tf.placeholder of strings, which no tensor holds here"
                " (it takes the handle of an iterator): feed numbers that stand for the strings,"
                f" and work on strings by Python, outside of the graph (made at {key.source})"
            ) from None
        raise FeedError(f"feed_dict: {value!r} is no array for {key!r}: {error}") from None


class Session:
    """`tf.Session`: `run` computes tensors, performs updates, and gives None for operations.

    Args:
        target, config: accepted; the engine places its own work.
        graph: whose names `run` understands.

    >>> from kameleon import backend as K
    >>> x = K.placeholder((2,), name="given")
    >>> with Session() as session:
    ...     session.run({"twice": x * 2.0, "both": [x, x + 1.0]}, {x: [1., 2.]})["twice"]
    array([2., 4.], dtype=float32)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        self._graph = graph
        self._entered: list[Any] = []

    @property
    def graph(self) -> Graph:
        """The graph whose names `run` understands."""
        return get_default_graph() if self._graph is None else self._graph

    graph_def = property(lambda self: self.graph.as_graph_def())
    sess_str = ""

    @boundary
    def run(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None,
        run_metadata: Any = None,
    ) -> Any:  # fmt: skip
        """The values of `fetches`, in their nest; None for operations."""
        feeds = _feeds(feed_dict or {}, self.graph)
        wanted = _Fetches(fetches, self.graph, feeds)
        if not wanted.nodes and not wanted.extra:
            return wanted.rebuild(())
        key = ("tf.Session", tuple(wanted.nodes), tuple(wanted.extra), tuple(feeds))
        try:
            made = workspace.kept(
                key,
                lambda: BackendFunction(
                    list(feeds), wanted.nodes, (), {}, "Session.run", wanted.extra, once=True
                ),
            )
            values = made(list(feeds.values()))
        except (EvaluationError, FeedError) as error:
            if isinstance(error, OpError):  # of a run inside of this one
                raise
            raise of_run(error) from error.__cause__
        return wanted.rebuild(values)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the fed values that gives those of `fetches`."""
        keys = list(feed_list or ())
        return lambda *values: self.run(fetches, dict(zip(keys, values, strict=True)))

    def partial_run(self, *args: Any, **options: Any) -> Any:
        raise ArgumentError("Session.partial_run isn't there; run what belongs together at once")

    partial_run_setup = partial_run

    def list_devices(self) -> list[Any]:
        """None: the engine places its own work."""
        return []

    def as_default(self) -> Any:
        """A block in which `tensor.eval()` and `operation.run()` use this session."""
        return Scope(_current, lambda outer: self, gives=True)

    def close(self) -> None:
        """There's nothing to close: variables belong to the program."""

    def reset(self, *args: Any, **options: Any) -> None:
        """There's nothing to reset."""

    def __enter__(self) -> Session:
        blocks = [self.as_default()]
        if self._graph is not None:
            blocks.insert(0, self._graph.as_default())
        for block in blocks:
            block.__enter__()
        self._entered.append(blocks)
        return self

    def __exit__(self, *exception: Any) -> None:
        for block in reversed(self._entered.pop()):
            block.__exit__(*exception)


_current: ContextVar[Session | None] = ContextVar("kameleon_session", default=None)


class InteractiveSession(Session):
    """A session that's the default from the beginning."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._before = _current.get()
        _current.set(self)

    def close(self) -> None:
        """The session isn't the default any more."""
        if _current.get() is self:
            _current.set(self._before)


def get_default_session() -> Any:
    """The session entered last; else the one that `K.set_session` was given; else None."""
    kept = K.get_session()
    return _current.get() or (kept if isinstance(kept, Session) else None)


def current() -> Any:
    """The session by which `eval` and `run` compute."""
    return get_default_session() or Session()


@boundary
def evaluated(x: Any, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
    """`tensor.eval(feed_dict, session)`; the two come in either order."""
    if isinstance(session, Mapping) or hasattr(feed_dict, "run"):
        feed_dict, session = session, feed_dict
    if isinstance(x, SparseTensor):
        x = to_dense(x)
    return (session or current()).run(x, feed_dict)


PLAIN: dict[str, Any] = {
    "Session": Session,
    "InteractiveSession": InteractiveSession,
    "get_default_session": get_default_session,
    "SparseTensorValue": SparseTensorValue,
    "OptimizerOptions": OptimizerOptions,
    "RunOptions": RunOptions,
    **dict.fromkeys(("ConfigProto", "GPUOptions", "RunMetadata", "GraphOptions"), Options),
}  # fmt: skip
NAMES: dict[str, Any] = {}
