"""A graph as compiled JAX code: one compilation for each combination of sizes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import lax

from ..._utils.locks import lock
from ...errors import RecompilationWarning, warn
from ...graph.analysis.meetings import meeting_themselves
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, all_nodes, bodies
from ...graph.ir.text import text_of
from ...graph.ir.types import BFLOAT16, FLOAT16
from ...graph.primitives.precision import has_dtype
from ...graph.primitives.shaping import shape_inputs
from .._base import Executable, Timing
from .._flags import checked, flagged
from .._profiles import Event, by_node, marked, timings
from .arrays import between, compiler_options, in_64_bits
from .lowering import NOTHING, Tracing, as_array, is_large
from .rules import RULES

Compiled = Callable[..., Sequence[Any]]
# So many compilations of one graph, and each doubling of their number, lead to a warning.
OFTEN = 10
# How many of the last sizes the warning names.
SHOWN = 3
# Instructions of XLA's code, and the names of JAX's operations that they come from.
_NAMED = re.compile(r'^\s*(?:ROOT )?%?(\S+) = .*op_name="([^"]*)"', re.MULTILINE)
# A copy that XLA makes, for outputs that are inputs.
_COPY: Any = lax.copy_p
_LIKE: Any = jax.ShapeDtypeStruct


class JaxExecutable(Executable):
    """Traces the graph once for each combination of shapes and of numbers that decide shapes.

    Args:
        graph: a simplified graph.
    """

    def __init__(self, graph: Graph):
        self._unflagged = graph
        self.graph, self.flags = flagged(graph)
        self._static = shape_inputs(self.graph)
        self._traced = [i for i in range(len(graph.inputs)) if i not in self._static]
        self._large = large_constants(self.graph)
        self._large_values: list[Any] | None = None
        self._variants: dict[Any, Compiled] = {}
        self._seen: dict[tuple[Any, ...], None] = {}
        self._lock = lock()
        self._simple = not (self._static or self.flags)
        self._direct = self._jitted(()) if self._simple and not self._large else None
        if self._direct is not None and graph.outputs:
            self.fast_path = between(self._direct, graph)

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        return in_64_bits(self._run, arguments)  # type: ignore[no-any-return]

    def _run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        results = self._results(arguments)
        _block_until_ready(arguments, results)
        return checked(results, self.flags) if self.flags else results

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`; JAX makes nothing before sizes are known."""
        if self._static or not all(x.type.is_static for x in self.graph.inputs):
            return {}
        shapes = [x.shape for x in self.graph.inputs]
        made = marked(jax.named_scope, lambda: self._jaxpr((), shapes))
        return by_node(_equations(made.jaxpr), all_nodes(self.graph))

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        if type(self) is not JaxExecutable:  # on several devices
            yield from super().timings(arguments)
        made, given = in_64_bits(JaxExecutable(self._unflagged)._marked, arguments)
        names, nodes = dict(_NAMED.findall(made.as_text())), list(all_nodes(self.graph))
        wait: Any = jax.block_until_ready
        run = lambda: wait(made(*given))  # noqa: E731
        in_64_bits(run)
        while True:
            with tempfile.TemporaryDirectory() as folder:
                with jax.profiler.trace(folder):
                    in_64_bits(run)
                [path] = Path(folder).rglob("*.xplane.pb")
                profile = jax.profiler.ProfileData.from_file(str(path))
                yield timings(_events(profile), nodes, names)

    def _marked(self, arguments: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        """Code whose instructions tell their nodes, and what it's given."""
        code: Any = self._direct
        code, given = self._code(arguments) if code is None else (code, arguments)
        return marked(jax.named_scope, lambda: code.lower(*given).compile()), given

    def _results(self, arguments: Sequence[Any]) -> Sequence[Any]:
        if self._direct is not None:
            return self._direct(*arguments)
        results = self._variant(arguments)
        if self._simple and self.fast_path is None and self.graph.outputs:
            self.fast_path = between(self._variants[(), ()], self.graph, self._large_values or ())
        return results

    def _variant(self, arguments: Sequence[Any], layout: Hashable = ()) -> Sequence[Any]:
        """Call the code for the numbers that decide shapes, and for the arguments' layout."""
        code, given = self._code(arguments, layout)
        return code(*given)

    def _code(
        self, arguments: Sequence[Any], layout: Hashable = ()
    ) -> tuple[Compiled, Sequence[Any]]:
        """That code, and what it's given."""
        fixed = tuple(number(arguments[i]) for i in self._static)
        found = self._variants.get((fixed, layout))
        if found is None:
            made = self._jitted(fixed, layout)
            found = self._variants.setdefault((fixed, layout), made)
        if self._large_values is None:
            self._large_values = [self._held(n.attrs["value"].array) for n in self._large]
        return found, [*(arguments[i] for i in self._traced), *self._large_values]

    def _held(self, array: Any) -> Any:
        """A constant, where code finds it."""
        return jax.device_put(array)

    # Making code ------------------------------------------------------------------------------

    def _jitted(self, fixed: tuple[Any, ...], layout: Any = ()) -> Compiled:
        """Code that donates no buffers: an interrupted call loses no variable's value. On a
        processor donation costs time, too.
        """

        def kameleon(*arguments: Any) -> tuple[Any, ...]:
            self._count(fixed, arguments)
            return self._trace(fixed, self._laid_out(arguments, layout))

        compiled: Compiled = jax.jit(kameleon, compiler_options=compiler_options())
        return compiled

    def _laid_out(self, arguments: Sequence[Any], layout: Any) -> Sequence[Any]:
        """The tracers of what code takes, told where they lie; on one device no question."""
        return arguments

    def _trace(self, fixed: tuple[Any, ...], arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The graph over tracers."""
        inputs = self.graph.inputs
        given: list[Any] = [None] * len(inputs)
        for i, value in zip(self._traced, arguments, strict=False):
            given[i] = value
        for i, number in zip(self._static, fixed, strict=True):
            given[i] = np.array(number, inputs[i].dtype)[()]
        large = dict(zip(self._large, arguments[len(self._traced) :], strict=True))
        outputs = Tracing(self.graph, given, RULES, large).run()
        # JAX would give outputs that are inputs without copying them.
        passed = {id(x) for x in arguments}
        return tuple(_COPY.bind(y) if id(y) in passed else as_array(y) for y in outputs)

    # Counting ---------------------------------------------------------------------------------

    @property
    def compilations(self) -> int:  # type: ignore[override]
        """How many combinations of sizes have come."""
        return len(self._seen)

    def _count(self, fixed: tuple[Any, ...], arguments: Sequence[Any]) -> None:
        """Note the sizes that code is made for, while it's made; warn where these are many."""
        shapes = tuple(tuple(x.shape) for x in arguments[: len(self._traced)])
        with self._lock:
            if (fixed, shapes) in self._seen:
                return
            self._seen[fixed, shapes] = None
            count = len(self._seen)
        rounds, odd = divmod(count, OFTEN)
        if rounds and not odd and not rounds & (rounds - 1):  # 10, 20, 40 …
            warn(self._often(), RecompilationWarning)

    def _often(self) -> str:
        seen = list(self._seen)
        varied = []
        for number, i in enumerate(self._static):
            varied += self._varied(self.graph.inputs[i], [fixed[number] for fixed, _ in seen])
        for number, i in enumerate(self._traced):
            varied += self._varied(self.graph.inputs[i], [shapes[number] for _, shapes in seen])
        return (
            f"JAX has compiled one function for {len(seen)} combinations of sizes: "
            + "; ".join(varied)
            + ". JAX compiles for fixed sizes: pad inputs to a few of them, or choose an engine"
            " that compiles once for all sizes (tensorflow, torch, onnxruntime, theano or numpy)"
        )

    def _varied(self, node: Node, values: list[Any]) -> list[str]:
        if len(set(values)) < 2:
            return []
        last = ", ".join(map(str, values[-SHOWN:]))
        kind = "shape" if isinstance(values[0], tuple) else "value"
        return [f"'{node.name}' {node.type} had {len(set(values))} {kind}s, last {last}"]

    @property
    def source(self) -> str:
        """What JAX has traced for the last sizes; the graph, if it hasn't run yet."""
        if not self._seen:
            return text_of(self.graph)
        return str(self._jaxpr(*list(self._seen)[-1]))

    def _jaxpr(self, fixed: tuple[Any, ...], shapes: Sequence[Any]) -> Any:
        """What JAX traces for numbers that decide shapes, and for the other inputs' shapes."""
        pairs = zip((self.graph.inputs[i] for i in self._traced), shapes, strict=True)
        like = [_LIKE(shape, np.dtype(x.dtype)) for x, shape in pairs]
        like += [_LIKE(x.shape, np.dtype(x.dtype)) for x in self._large]
        return in_64_bits(jax.make_jaxpr(lambda *xs: self._trace(fixed, xs)), *like)


def _equations(jaxpr: Any) -> Iterator[tuple[str, str]]:
    """By the names of the scopes that it was made in, the first line of each equation."""
    for equation in jaxpr.eqns:
        yield str(equation.source_info.name_stack), str(equation).partition("\n")[0]
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _equations(inner)


def _events(profile: Any) -> Iterator[Event]:
    """What XLA's code did."""
    for plane in profile.planes:
        for line in plane.lines:
            for event in line.events:
                if any(key == "hlo_op" for key, _ in event.stats):
                    start, length = event.start_ns / 1e9, event.duration_ns / 1e9
                    yield Event((plane.name, line.name), event.name, start, length)


def number(value: Any) -> Any:
    """A number that decides shapes, or a tuple of them."""
    found = np.asarray(value).tolist()
    return tuple(found) if isinstance(found, list) else found


def large_constants(graph: Graph) -> list[Node]:
    """The constants of a graph and its bodies that shall be arguments; `NOTHING` among them, where
    XLA would compute something otherwise than it's written.
    """
    found = {n: None for n in graph.nodes if is_large(n)}
    for node in graph.nodes:
        for body in bodies(node):
            found.update(dict.fromkeys(large_constants(body)))
    if has_dtype(graph, (FLOAT16, BFLOAT16)) or meeting_themselves(graph):
        found[NOTHING] = None
    return list(found)


def _block_until_ready(arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Wait, where code may still read a NumPy array, which its owner may change any time."""
    for x in arguments:
        if isinstance(x, np.ndarray):
            if results:
                results[0].block_until_ready()
            return
