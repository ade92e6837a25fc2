"""K's own gradients of graphs, of any order, as PyTorch's autograd takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from ...engines.torch.engine import TorchEngine
from ...graph.gradients import pullback
from ...graph.ir.leaves import input_node
from ...graph.ir.rewrite import closed, substitute
from ...graph.primitives.filling import full_like
from ...runtime.compiler import compiled, run
from .pure import Pure
from .torch_functions import is_followed
from .torch_tracing import traced

Tensor = torch.Tensor
Flags = tuple[bool, ...]


@lru_cache
def _engine(device: torch.device) -> TorchEngine:
    return TorchEngine(str(device))


class Slope(NamedTuple):
    """What gives cotangents of inputs.

    Attributes:
        function: takes tensors that are known, then the cotangents that there are.
        flows: for each input, the number of the result that is its cotangent, or None.
    """

    function: Differentiable
    flows: list[int | None]


class Differentiable:
    """A pure graph over tensors of PyTorch's, which autograd differentiates as K does.

    Where PyTorch follows what is computed (`torch.compile`, `torch.export`, `torch.func`), it sees
    its own functions; elsewhere the engine's code runs.
    """

    def __init__(self, pure: Pure, what: str, outputs: int | None = None):
        """
        Args:
            pure: the graph.
            what: what errors call it.
            outputs: how many of its outputs may have a cotangent: all, if None.
        """
        self.pure, self.what = pure, what
        floats = self.pure.differentiable[1]
        self._all = tuple(x and (outputs is None or i < outputs) for i, x in enumerate(floats))
        self._made: dict[Any, Any] = {}
        # By inputs that ask for gradients: the outputs that had a cotangent last time.
        self._expected: dict[Flags, Flags] = {}

    # Running ---------------------------------------------------------------------------------

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The outputs, which autograd has recorded."""
        if torch.compiler.is_exporting() or not torch.is_grad_enabled():
            return self.run(tensors)
        floats = self.pure.differentiable[0]
        if torch._C._are_functorch_transforms_active():
            wanted = tuple(floats)
        else:
            wanted = tuple(
                x.requires_grad and float for x, float in zip(tensors, floats, strict=True)
            )
        if not any(wanted) and not torch.autograd.forward_ad._current_level >= 0:
            return self.run(tensors)
        count = len(self.pure.graph.outputs)
        given = self._expected.get(wanted, self._all)
        call = self._kept(("call", wanted, given), lambda: Call(self, wanted, given))
        found = Recorded.apply(call, *tensors)  # type: ignore[no-untyped-call]
        return found[:count]  # type: ignore[no-any-return]

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The outputs, of which nothing is recorded, but what PyTorch follows."""
        device = tensors[0].device if tensors else torch.device("cpu")
        mixed = torch.is_autocast_enabled(device.type) if device.type != "meta" else False
        with torch.autocast(device.type, enabled=False) if mixed else nullcontext():
            graph = self.pure.graph
            if is_followed(tensors):
                call = self._kept((traced, device), lambda: traced(graph, device, self.what))
                return call(*tensors)  # type: ignore[no-any-return]
            code = self._kept((compiled, device), lambda: compiled(graph, _engine(device)))
            return run(code, tensors)

    # Differentiating -------------------------------------------------------------------------

    def _kept(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self._made.get(key)
        return self._made.setdefault(key, make()) if found is None else found

    def _of(self, pure: Pure) -> Differentiable:
        return Differentiable(pure, self.what)

    def reverse(self, wanted: Flags, given: Flags) -> tuple[Differentiable, list[int], Slope]:
        """See `Pure.reverse`: what is computed forward, what is kept of it, and the rest."""

        def make() -> tuple[Differentiable, list[int], Slope]:
            found = self.pure.reverse(wanted, given)
            slope = Slope(self._of(found.backward), found.flows)
            return self._of(found.forward), found.kept, slope

        return self._kept(("reverse", wanted, given), make)  # type: ignore[no-any-return]

    def gradient(self, wanted: Flags, given: Flags) -> Slope:
        """The same from the inputs alone, for cotangents that weren't expected."""

        def make() -> Slope:
            found = self.pure.adjoint(wanted, given)
            return Slope(self._of(found.pure), found.flows)

        return self._kept(("gradient", wanted, given), make)  # type: ignore[no-any-return]

    def tangents(self, moved: Flags) -> Differentiable:
        """Tangents of the outputs, given the inputs and the tangents of those that are moved.

        A cotangent's way back is linear in it, so the way back of that way goes forward.
        """

        def make() -> Differentiable:
            graph = self.pure.graph
            floats = [y for y in graph.outputs if y.dtype.is_float]
            ends = [x for x, moves in zip(graph.inputs, moved, strict=True) if moves]
            cotangents = [input_node(y.type) for y in floats]
            back = pullback(floats, cotangents, ends)
            tangents = [input_node(x.type) for x in ends]
            pairs = [(g, t) for g, t in zip(back, tangents, strict=True) if g is not None]
            ways = pullback([g for g, _ in pairs], [t for _, t in pairs], cotangents)
            # Of the cotangents nothing is left but their sizes.
            known = dict(zip(cotangents, floats, strict=True))
            found = [full_like(y, 0) if t is None else t for y, t in zip(floats, ways, strict=True)]
            return self._of(Pure(closed([*graph.inputs, *tangents], substitute(found, known))))

        return self._kept(("tangents", moved), make)  # type: ignore[no-any-return]

    def pulled(
        self,
        wanted: Flags,
        expected: Flags,
        saved: Sequence[Tensor],
        cotangents: Sequence[Tensor | None],
    ) -> Sequence[Tensor | None]:
        """The cotangents of the inputs.

        Args:
            wanted, expected: as `reverse` was given them.
            saved: the inputs, then what is kept.
            cotangents: those of the outputs and of what is kept beside them.
        """
        count = len(wanted)
        present = tuple(g is not None for g in cotangents)
        if not any(present):
            return [None] * count
        flowing = [g for g in cotangents if g is not None]
        forward, _, slope = self.reverse(wanted, expected)
        outputs = len(expected)
        if present[:outputs] == expected and not any(present[outputs:]):
            known = saved[count:]
        else:
            if not any(present[outputs:]):
                self._expected[wanted] = present[:outputs]
            slope, known = forward.gradient(wanted, present), saved[:count]
        found = slope.function([*known, *flowing])
        return [None if i is None else found[i] for i in slope.flows]


class Call:
    """A program, the inputs that ask for gradients, the outputs that may have cotangents."""

    def __init__(self, program: Differentiable, wanted: Flags, given: Flags):
        self.program, self.wanted, self.given = program, wanted, given
        self.forward, self.kept, _ = program.reverse(wanted, given)


class Recorded(torch.autograd.Function):
    """A call that autograd records: the outputs, and behind them what is kept for gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(call: Any, *tensors: Any) -> Any:
        """See `torch.autograd.Function`."""
        return tuple(call.forward.run(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """See `torch.autograd.Function`."""
        ctx.call, *tensors = inputs
        values = [*tensors, *output]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *(values[i] for i in ctx.call.kept))
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """See `torch.autograd.Function`."""
        call = ctx.call
        found = call.program.pulled(call.wanted, call.given, ctx.saved_tensors, cotangents)
        return None, *found

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Any) -> Any:
        """See `torch.autograd.Function`."""
        forward = ctx.call.forward
        inputs, outputs = forward.pure.differentiable
        pairs = list(zip(tangents, inputs, strict=True))
        moved = tuple(t is not None and float for t, float in pairs)
        flowing = [t for t, float in pairs if t is not None and float]
        found = iter(forward.tangents(moved)([*ctx.saved_tensors[: len(moved)], *flowing]))
        return tuple(next(found) if float else None for float in outputs)
