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

from ..._utils.reports import Layout, Report
from ...config.layouts import Axes, Distribution
from ...errors import ArgumentError, EngineError
from ...graph.ir.leaves import INPUT
from ...graph.ir.node import Node, Variable
from ...graph.ir.program import Graph
from ...graph.ir.text import text_of
from .._exchange import numpy_view
from .arrays import in_64_bits
from .collectives import collectives
from .divergence_check import digest
from .engine import JaxEngine
from .executable import JaxExecutable
from .processes import ask_for, from_first, gather_to_host, is_many, join, put, rows, take_step

# JAX declares no types for these.
_SPEC: Any = jax.sharding.PartitionSpec
_CUT: Any = lax.with_sharding_constraint
_LIKE: Any = jax.ShapeDtypeStruct

# Numbers of arguments whose parts aren't of one size, with the axes that they're cut along.
Uneven = tuple[tuple[int, Axes], ...]
_Layouts = tuple[list[NamedSharding], Uneven]


class DistributedEngine(JaxEngine):
    """Runs graphs on the devices of a mesh.

    Args:
        distribution: how arrays lie; its devices are JAX's first ones.

    Raises:
        EngineError: JAX has fewer devices.
    """

    has_layout = True
    compiles_each_size = False  # else one device would hold what lies on many

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
        self.is_one = count == 1 and processes == 1

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
        return in_64_bits(gather_to_host, array)

    def arranged(self, array: Any, variable: Variable) -> Any:
        """See `Engine.arranged`."""
        if self.is_one and isinstance(array, jax.Array):
            return array  # there's nowhere else to lie
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
        inputs = self.graph.inputs
        if not engine.is_one:
            self._direct = self.fast_path = None  # arguments are laid out before each call
        # By the shapes of what a call is given, how it lies.
        self._layouts: dict[tuple[tuple[int, ...], ...], _Layouts] = {}
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
        if self.engine.is_one:
            return super()._results(arguments)
        placed, uneven = self._placed(arguments)
        results = self._variant(placed, uneven)
        return [*results[:-1], gather_to_host(results[-1])] if self.flags else results

    def report(self) -> Report | None:
        """See `Executable.report`: of the code that was made last."""
        return in_64_bits(self._report) if self._seen else None

    def _report(self) -> Report:
        fixed, shapes = list(self._seen)[-1]
        likes, uneven = self._likes(dict(zip(self._traced, shapes, strict=True)))
        code: Any = self._direct or self._variants[fixed, () if self.engine.is_one else uneven]
        made = code.lower(*likes.values(), *(self._large_values or ())).compile()
        memory, cost = made.memory_analysis(), made.cost_analysis() or {}
        inputs = self.graph.inputs
        return Report(
            dict(self.engine.mesh.shape),
            tuple(_layout(inputs[i], x) for i, x in likes.items() if i not in self._small),
            tuple(collectives(made.as_text())),
            memory.argument_size_in_bytes,
            memory.temp_size_in_bytes,
            cost.get("flops", 0.0),
            cost.get("bytes accessed", 0.0),
        )

    def _likes(self, shapes: dict[int, tuple[int, ...]]) -> tuple[dict[int, Any], Uneven]:
        """What stands for arguments of these shapes where they belong, by their numbers."""
        given, uneven = self._layout_of(tuple(shapes[i] for i in self._given))
        engine, layouts = self.engine, dict(zip(self._given, given, strict=True))
        for i in set(shapes) - {*layouts, *self._small}:
            name = _name(self.graph.inputs[i])
            layouts[i] = engine.sharding(engine.distribution.of_variable(name, shapes[i]))
        dtypes = {i: np.dtype(self.graph.inputs[i].dtype) for i in shapes}
        return {
            i: _LIKE(shape, dtypes[i], sharding=layouts.get(i, engine.whole))
            for i, shape in shapes.items()
        }, uneven

    def _placed(self, arguments: Sequence[Any]) -> tuple[list[Any], Uneven]:
        """The arguments where they belong; numbers and layouts of those that aren't cut evenly."""
        placed = list(arguments)
        for i in self._small:
            placed[i] = put(placed[i], self.engine.whole)
        shapes = tuple([np.shape(placed[i]) for i in self._given])
        shardings, uneven = self._layouts.get(shapes) or self._layout_of(shapes)
        for i, sharding in zip(self._given, shardings, strict=True):
            placed[i] = put(placed[i], sharding)
        return placed, uneven

    def _layout_of(self, shapes: tuple[tuple[int, ...], ...]) -> _Layouts:
        """How what is given lies, and what of it isn't cut evenly."""
        distribution, batch = self.engine.distribution, self._batch(shapes)
        shardings, uneven = [], []
        for i, shape in zip(self._given, shapes, strict=True):
            axes = distribution.of_input(_name(self.graph.inputs[i]), shape, batch)
            sharding = self.engine.sharding(axes)
            if not _is_even(shape, sharding):
                sharding = self.engine.whole
                if distribution.variables_are_whole:
                    uneven.append((i, axes))
            shardings.append(sharding)
        return self._layouts.setdefault(shapes, (shardings, tuple(uneven)))

    def _held(self, array: Any) -> Any:
        return put(array, self.engine.whole)

    def _batch(self, given: Sequence[tuple[int, ...]]) -> int | None:
        """The size of the batch: the first size of the first input whose first size isn't known
        before, or else of the first input that has axes.
        """
        declared = (self.graph.inputs[i].shape for i in self._given)
        shapes = zip(declared, given, strict=True)
        known = [(wanted, shape) for wanted, shape in shapes if shape]
        known.sort(key=lambda pair: pair[0][0] is not None)
        return known[0][1][0] if known else None

    def _laid_out(self, arguments: Sequence[Any], layout: Any) -> Sequence[Any]:
        arrays = list(arguments)
        for i, axes in layout:
            at = self._traced.index(i)
            arrays[at] = _CUT(arrays[at], self.engine.sharding(axes))
        return arrays


def _name(node: Node) -> str:
    return node.name.removesuffix(":0")


def _layout(node: Node, like: Any) -> Layout:
    part = like.sharding.shard_shape(like.shape)
    axes = tuple(like.sharding.spec)
    axes += (None,) * (len(like.shape) - len(axes))
    size = math.prod(part) * np.dtype(like.dtype).itemsize
    return Layout(_name(node), like.shape, axes, size)


def _is_even(shape: Sequence[int], sharding: NamedSharding) -> bool:
    """Whether all parts of such an array are of one size."""
    try:
        sharding.shard_shape(tuple(shape))
    except ValueError:
        return False
    return True
