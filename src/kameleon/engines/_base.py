"""What an engine is: a table of rules, and a way to turn a closed graph into a callable."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from .._utils.reports import Report
from ..graph.ir.node import Node, Variable
from ..graph.ir.program import Graph
from ..graph.ir.types import TensorType


class Timing(NamedTuple):
    """What a part of a call took.

    Attributes:
        node: what the part computes; None, where the engine doesn't tell.
        name: what the engine calls it.
        seconds: without the time of parts inside of it.
    """

    node: Node | None
    name: str
    seconds: float

    @classmethod
    def of_nodes(cls, pairs: Iterable[tuple[Node, float]]) -> list[Timing]:
        """What nodes took, given these and seconds."""
        return [cls(node, node.primitive.name, seconds) for node, seconds in pairs]


class Executable(ABC):
    """A compiled graph.

    It's pure: values of the graph's inputs go in, fresh arrays of its outputs come out. The outputs
    share no memory with NumPy arrays that went in; nor with each other, unless the engine's
    arrays can't be written to.
    """

    # How often the graph has been compiled: more than once where shapes are static.
    compilations: int = 1
    # A shorter way for calls whose arguments are all NumPy's own arrays, and whose results are
    # wanted as writable NumPy arrays (scalars needn't be arrays): a function from arrays to a list;
    # None, as long as there's no such way. The function gives None for arrays that it doesn't take
    # (by how they lie in memory, say): then the usual call is made. Its errors are the call's.
    fast_path: Callable[..., list[Any] | None] | None = None

    @abstractmethod
    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the graph.

        Args:
            arguments: for each input of the graph a NumPy array or one of the engine's own, of
                the input's dtype and with sizes that fit its type. A NumPy array may be used as it
                is during the call, but not be kept or written to.

        Returns:
            The engine's own arrays.

        Raises:
            Exception: an index is out of range, sizes that were taken as equal differ, or a
                `check` doesn't hold; the message names the index or the sizes, or is the check's.
        """
        ...

    def culprit(self, error: BaseException) -> Node | None:
        """The node at which a call failed with `error`, if that can be told."""
        return None

    @property
    def source(self) -> str:
        """What the engine runs, as text for people."""
        return repr(self)

    def made_of(self) -> Mapping[Node, str]:
        """By node of the graph, or of a body, what the engine has made of it, as text for people;
        as far as that can be told before a call.
        """
        return {}

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """Each time that it's asked, what the parts of one more run took; there's no last one.

        Args:
            arguments: as for a call.
        """
        while True:
            start = perf_counter()
            self(arguments)
            yield [Timing(None, "the whole call", perf_counter() - start)]

    def report(self) -> Report | None:
        """What each device does, where there are several, once code has been made."""
        return None


class Engine(ABC):
    """The contract. Third parties register an instance by the entry point `kameleon.engines`.

    name: how users choose it.
    title: how its name is written.
    library: the module that runs the graphs, for `version`.
    rules: by name of a primitive, the engine's own way to do it. A composite primitive that has
        no rule is expanded into simpler ones before `compile` sees it.
    where: by name of a primitive whose rule doesn't hold for every node, whether it holds for one.
        Elsewhere composites are expanded, core primitives rewritten by passes: docs/engines.md.
    declined: by name of a core primitive, why the engine can't do it. The embedded engine computes
        such nodes between compiled parts, and so whole loops and conditions that hold them.
    borrowed: names of primitives whose rules call the embedded engine's kernels.
    lacks: by name of a dtype, why the engine doesn't compute with it.
    emulated: by name of a dtype that the engine only stores, the dtype in which all operations on
        it are computed; results are rounded after each.
    bits: by name of such a dtype, that of the integers in which the engine keeps its bits, as it
        hasn't the dtype itself. `compile` sees these alone: the embedded engine converts arrays.
    half: where float16 is computed in float32, the names of primitives that stay in float16 all
        the same; else None.
    carriers: by name of a primitive, for each dtype that the engine has no kernel for, the dtype
        in which the primitive is computed instead; see `graph.passes.carriers`.
    storage: by name of an unsigned dtype, the signed dtype in which the engine keeps its numbers.
        `compile` sees the unsigned dtype in inputs, outputs and conversions alone.
    nonempty_dims: by name of a primitive over windows, what mustn't be missing where it's computed:
        "samples", "places", "channels". Where any may be, conditions skip the node; calls whose
        arguments lack them are made on the embedded engine.
    deepest: how many loops and conditions may lie within one another; the embedded engine computes
        those that hold more of them. None, if any number may.
    unchecked: names of primitives for which it takes any index: the graph has checks of these.
    empty_loops: whether its loops take sequences of length 0. If not, conditions skip such loops.
    static_shapes: sizes must be known when code is made. Inputs that decide sizes are then given
        as NumPy scalars: `graph.primitives.shaping.shape_inputs` names them.
    compiles_each_size: a call of new sizes compiles: where these are ever new ones, the embedded
        engine may make the calls.
    quick: compiling for one single evaluation is worth it; else the embedded engine evaluates
        what `K.eval` is given.
    has_layout: whether it has `arranged`.
    started: code was made for it in this process, or in the process that forked this one.
    lost: why the engine can't run any longer in this process; empty, if it can.
    """

    name: str
    title: str
    library: str = ""
    rules: Mapping[str, Callable[..., Any]]
    where: Mapping[str, Callable[[Node], bool]] = {}
    declined: Mapping[str, str] = {}
    borrowed: Collection[str] = ()
    lacks: Mapping[str, str] = {}
    emulated: Mapping[str, str] = {}
    bits: Mapping[str, str] = {}
    half: Collection[str] | None = None
    carriers: Mapping[str, Mapping[str, str]] = {}
    storage: Mapping[str, str] = {}
    nonempty_dims: Mapping[str, Collection[str]] = {}
    deepest: int | None = None
    unchecked: Collection[str] = ()
    empty_loops: bool = True
    static_shapes: bool = False
    compiles_each_size: bool = False
    quick: bool = True
    has_layout: bool = False
    started: bool = False
    lost: str = ""

    @abstractmethod
    def compile(self, graph: Graph) -> Executable:
        """Turn a closed graph (its leaves are inputs and constants) into a callable."""
        ...

    def key_of(self, graph: Graph) -> Hashable:
        """Equal for graphs that can share their code."""
        return graph.key

    @abstractmethod
    def from_numpy(self, array: Any) -> Any:
        """The engine's own array with the values of a NumPy array; they share no memory."""
        ...

    @abstractmethod
    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """A writable NumPy array with the values of one of the engine's own.

        Without `copy` it may share memory: the caller gives `array` up.
        """
        ...

    @abstractmethod
    def type_of(self, value: Any) -> TensorType | None:
        """Shape and dtype of one of the engine's own arrays; None for anything else."""
        ...

    def shape_of(self, array: Any) -> Sequence[int]:
        """The sizes of one of the engine's own arrays: equal to a tuple of them."""
        found = self.type_of(array)
        assert found is not None
        return found.shape  # type: ignore[return-value]

    def native(self, node: Node) -> bool:
        """Whether there's a rule for this node."""
        name = node.primitive.name
        return name in self.rules and (name not in self.where or self.where[name](node))

    def refusal(self, node: Node, inside: bool = False) -> str | None:
        """Why the embedded engine must do a node in place of this one; None, if it needn't.

        Args:
            node: any node of a simplified graph.
            inside: of a loop or a condition, where a rule for a host callback holds for all
                nodes: it calls back, where it can't be part of compiled code.
        """
        primitive = node.primitive
        if self.bits and node.operands:
            tensors = (result for x in (node, *node.operands) for result in x.results)
            if any(x.dtype in self.bits for x in tensors):
                return "its library hasn't the dtype"
        if self.native(node) or (
            inside and primitive.host_callback and primitive.name in self.rules
        ):
            return None
        if primitive.host_callback:
            return "its compiled code can't call Python"
        return self.declined.get(primitive.name)

    def adopt(self, array: Any) -> Any:
        """Another engine's array as one of this engine's that shares its memory (DLPack).

        Neither side writes to such memory. None where that can't be done.
        """
        return None

    def arranged(self, array: Any, variable: Variable) -> Any:
        """A NumPy array that nobody else holds, or one of the engine's own, as the engine keeps the
        value of a variable.

        Asked for each value that a variable gets here, where the engine `has_layout`.
        """
        return array

    def discard(self, arrays: list[Any]) -> None:
        """Take a list of values that the caller needs no longer, and empty it.

        Their memory may be used again where nobody else holds it.
        """
        arrays.clear()

    def release(self) -> None:  # noqa: B027 (most engines keep nothing)
        """Free what is kept for reuse: the session was cleared."""

    def after_fork(self) -> None:  # noqa: B027 (most engines hold nothing of the kind)
        """In a forked child: leave alone what the parent's threads may have held."""

    def survives_fork(self) -> bool:
        """Whether the engine runs in a child forked after it had started; asked in the child."""
        return True

    def version(self) -> str:
        """The version of the library that runs the graphs."""
        return str(getattr(sys.modules.get(self.library), "__version__", ""))

    def devices(self) -> Sequence[str]:
        """The devices that it can run on; the first one is used."""
        return ("cpu",)


class Chooser(Engine):
    """An engine without kernels of its own: it chooses an engine for each function."""

    @property
    @abstractmethod
    def candidates(self) -> list[str]:
        """The names of the engines that may be chosen, and are installed."""
        ...

    @abstractmethod
    def among(self, candidates: str | Sequence[str]) -> Chooser:
        """The same for engines of these names alone.

        Raises:
            ArgumentError: there's none of such a name.
        """
        ...

    @abstractmethod
    def engine_of(self, function: Any) -> Engine:
        """The engine that serves a function (`runtime.function.Function`) now."""
        ...

    @abstractmethod
    def call(self, function: Any, values: Sequence[Any]) -> list[Any]:
        """Call a function on the engine that serves it."""
        ...

    @abstractmethod
    def report(self, function: Any) -> Any:
        """What is known of a function's engines, to be printed."""
        ...
