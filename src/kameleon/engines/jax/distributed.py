"""JAX over a mesh of devices: the same code, with arguments that lie as a distribution says.

XLA's partitioner does the rest: it follows the arguments' layouts through the program, and inserts
what devices must tell each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding

from ..._reports import Layout, Report
from ...errors import ArgumentError, EngineError
from ...ir.leaves import INPUT
from ...ir.node import Node, Variable
from ...ir.program import Graph
from ...ir.text import text_of
from ...layouts import Axes, Distribution
from .._exchange import numpy_view
from .arrays import in_64_bits
from .collectives import collectives
from .engine import JaxEngine
from .executable import JaxExecutable, number
from .lockstep import digest
from .processes import ask_for, from_first, is_many, join, put, rows, take_step, whole

# JAX declares no types for these.
_SPEC: Any = jax.sharding.PartitionSpec
_CUT: Any = lax.with_sharding_constraint
_LIKE: Any = jax.ShapeDtypeStruct


class DistributedEngine(JaxEngine):
    """Runs graphs on the devices of a mesh.

    Args:
        distribution: how arrays lie; its devices are JAX's first ones.

    Raises:
        EngineError: JAX has fewer devices.
    """

    arranges = True

    def __init__(self, distribution: Distribution):
        processes = join()
        if distribution.devices:
            ask_for(-(-distribution.devices // processes))
        available = jax.devices()
        self.distribution = distribution.over(len(available))
        sizes = self.distribution.mesh
        assert sizes is not None and self.distribution.devices is not None
        count = self.distribution.devices
        if count > len(available):
            raise EngineError(
                f"{self.distribution!r} takes {count} devices, JAX has {len(available)}"
                f" ({available[0].platform}): run the program by `kameleon run --devices {count}`,"
                " which on a processor makes as many virtual devices, or take fewer"
            )
        self.title = f"JAX on {count} device{'s' * (count > 1)}"
        devices = np.array(available[:count]).reshape(tuple(sizes.values()))
        self.mesh = Mesh(devices, tuple(sizes))
        self.whole = self.sharding(())

    def sharding(self, axes: Axes) -> NamedSharding:
        """A layout, as JAX says it."""
        return NamedSharding(self.mesh, _SPEC(*axes))

    def key_of(self, graph: Graph) -> Hashable:
        """See `Engine.key_of`: what is laid out by its name shares no code with other names."""
        names = (x.name if x.primitive is INPUT else "" for x in graph.inputs)
        return (graph.key, tuple(names)) if self.distribution.inputs else graph.key

    def compile(self, graph: Graph) -> DistributedExecutable:
        """See `Engine.compile`."""
        return DistributedExecutable(graph, self)

    def from_numpy(self, array: Any) -> Any:
        """See `Engine.from_numpy`; every device gets all of it."""
        return in_64_bits(put, np.array(array), self.whole)

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine.to_numpy`."""
        return in_64_bits(whole, array)

    def arranged(self, array: Any, variable: Variable) -> Any:
        """See `Engine.arranged`."""
        wanted = self.sharding(self.distribution.of_variable(str(variable), array.shape))
        found = getattr(array, "sharding", None)
        if found is not None and wanted.is_equivalent_to(found, array.ndim):
            return array
        return in_64_bits(put, array, wanted, True)

    def joined(self, part: Any) -> Any:
        """The batch of which this process has a part of the rows.

        Raises:
            ArgumentError: the devices don't divide them.
        """
        array = np.asarray(part)
        axes = self.distribution.of_input("", array.shape, array.shape[0] if array.shape else None)
        try:
            return in_64_bits(rows, array, self.sharding(axes))
        except ValueError as error:
            raise ArgumentError(
                f"local: {array.shape[:1]} rows of a process can't be cut over its devices: {error}"
            ) from None

    def from_first(self, function: Callable[[], Any]) -> Any:
        """What a function gives in the first process, in all of them."""
        return in_64_bits(from_first, function)

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`."""
        found = numpy_view(array)
        return None if found is None else in_64_bits(put, found, self.whole)

    def devices(self) -> Sequence[str]:
        """See `Engine.devices`."""
        return [f"{d.platform}:{d.id}" for d in self.mesh.devices.flat]


class DistributedExecutable(JaxExecutable):
    """Compiled code for one combination of sizes and layouts.

    What's given lies as the distribution says where its sizes are multiples of the mesh's. Where
    they aren't, every device gets all of it. The code is told how it's to be cut if all variables
    are whole everywhere: XLA pads the parts, and leaves the padding out of what is computed over
    all of them. Where variables are cut it doesn't always (JAX 0.10: rows gathered from a table cut
    along another axis of the mesh), so there each device computes all of such a batch.

    Args:
        graph: a simplified graph.
        engine: whose layouts count.
    """

    def __init__(self, graph: Graph, engine: DistributedEngine):
        super().__init__(graph)
        self.engine = engine
        self._direct = self.short = None  # arguments are laid out before each call
        inputs = self.graph.inputs
        # How often code was made, and what for the last time.
        self._noted = 0
        self._made: tuple[list[Any], tuple[tuple[int, Axes], ...]] | None = None
        # What a call is given; and keys of random streams and the like. Variables lie where they
        # belong.
        self._given = [i for i in self._traced if inputs[i].primitive is INPUT]
        laid_out = {*self._given, *(i for i, x in enumerate(inputs) if isinstance(x, Variable))}
        self._program = ""  # a digest, for other processes
        self._small = [i for i in self._traced if i not in laid_out]

    def _results(self, arguments: Sequence[Any]) -> Sequence[Any]:
        if is_many():
            if not self._program:
                self._program = digest(text_of(self.graph))
            take_step(self._program, [arguments[i] for i in self._given])
        placed, uneven = self._placed(arguments)
        results = self._variant(placed, uneven)
        if self.flags:
            results = [*results[:-1], whole(results[-1])]
        if len(self._seen) != self._noted:  # new code was made
            self._noted = len(self._seen)
            self._made = [_like(x) for x in placed], uneven
        return results

    def report(self) -> Report | None:
        """See `Executable.report`: of the code that was made last."""
        if self._made is None:
            return None
        return in_64_bits(self._report, *self._made)  # type: ignore[no-any-return]

    def _report(self, placed: Sequence[Any], uneven: tuple[tuple[int, Axes], ...]) -> Report:
        fixed = tuple(number(placed[i]) for i in self._static)
        given = [placed[i] for i in self._traced]
        code: Any = self._variants[fixed, uneven]
        made = code.lower(*given, *(self._large_values or ())).compile()
        memory = made.memory_analysis()
        inputs = self.graph.inputs
        layouts = [
            _layout(inputs[i], x)
            for i, x in zip(self._traced, given, strict=True)
            if isinstance(getattr(x, "sharding", None), NamedSharding)
        ]
        return Report(
            dict(self.engine.mesh.shape),
            tuple(layouts),
            tuple(collectives(made.as_text())),
            memory.argument_size_in_bytes,
            memory.temp_size_in_bytes,
        )

    def _placed(self, arguments: Sequence[Any]) -> tuple[list[Any], tuple[tuple[int, Axes], ...]]:
        """The arguments where they belong; numbers and layouts of those that aren't cut evenly."""
        placed, uneven = list(arguments), []
        for i in self._small:
            placed[i] = put(placed[i], self.engine.whole)
        batch = self._batch(arguments)
        for i in self._given:
            value, node = placed[i], self.graph.inputs[i]
            axes = self.engine.distribution.of_input(node.name, np.shape(value), batch)
            sharding = self.engine.sharding(axes)
            if not _is_even(np.shape(value), sharding):
                sharding = self.engine.whole
                if self.engine.distribution.variables_are_whole:
                    uneven.append((i, axes))
            placed[i] = put(value, sharding)
        return placed, tuple(uneven)

    def _held(self, array: Any) -> Any:
        return put(array, self.engine.whole)

    def _batch(self, arguments: Sequence[Any]) -> int | None:
        """The size of the batch: the first size of the first input whose first size isn't known
        before, or else of the first input that has axes.
        """
        shapes = [(self.graph.inputs[i].shape, np.shape(arguments[i])) for i in self._given]
        known = [(declared, shape) for declared, shape in shapes if shape]
        known.sort(key=lambda pair: pair[0][0] is not None)
        return known[0][1][0] if known else None

    def _laid_out(self, arguments: Sequence[Any], layout: Any) -> Sequence[Any]:
        told = list(arguments)
        for i, axes in layout:
            at = self._traced.index(i)
            told[at] = _CUT(told[at], self.engine.sharding(axes))
        return told


def _like(value: Any) -> Any:
    """What stands for an argument; numbers that decide shapes are kept."""
    if not isinstance(value, jax.Array):
        return value
    return _LIKE(value.shape, value.dtype, sharding=value.sharding)


def _layout(node: Node, like: Any) -> Layout:
    part = like.sharding.shard_shape(like.shape)
    axes = tuple(like.sharding.spec)
    axes += (None,) * (len(like.shape) - len(axes))
    size = math.prod(part) * np.dtype(like.dtype).itemsize
    return Layout(str(node) if isinstance(node, Variable) else node.name, like.shape, axes, size)


def _is_even(shape: Sequence[int], sharding: NamedSharding) -> bool:
    """Whether all parts of such an array are of one size."""
    try:
        sharding.shard_shape(tuple(shape))
    except ValueError:
        return False
    return True
