"""Graphs as functions that PyTorch can follow: fake tensors, vmap, torch.compile, torch.export.

The engine's own code writes into memory that it has used before, calls NumPy's kernels, and looks
at values. Here each line is one of PyTorch's functions of tensors, and none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch

from ...engines._codegen import rules as shared
from ...engines._codegen.code import LOOSE, VIEW, Arg, Code, Language
from ...engines._codegen.emitter import Rule
from ...engines._codegen.literal import word
from ...engines._lowering import made
from ...engines.torch.embedded import BORROWED, KERNELS
from ...engines.torch.emitter import WHOLE, TorchEmitter
from ...engines.torch.engine import TorchEngine
from ...engines.torch.namespace import BUFFERLESS, NAMESPACE
from ...engines.torch.rules import RULES
from ...errors import EngineError
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, all_nodes
from ...graph.primitives.shaping import follows_from_sizes, shape_operands
from ...runtime.compiler import prepared
from .torch_functions import FOLLOWED

Tensor = torch.Tensor

# Their results' sizes, or their numbers, come from programs over values.
DECODERS = ("ctc_greedy", "ctc_beam_search")
POOLS = ("max_pool", "pool_pick")
# What PyTorch has no function for: by other primitives. A code of its own makes random bits.
EXPANDED = frozenset((*BORROWED, *DECODERS))


def untraceable(graph: Graph) -> Node | None:
    """A node that PyTorch can't follow, as its kernel isn't made of PyTorch's functions."""
    for node in all_nodes(graph):
        name = node.primitive.name
        foreign = name == "call" and node.attrs["callee"].library.name != "torch"
        if foreign or name in DECODERS:
            return node
    return None


def has_open_sizes(graph: Graph) -> bool:
    """Whether sizes follow from values: `torch.compile` doesn't see that in a call."""
    known = follows_from_sizes(graph, ())
    return any(
        node.primitive.name == "nonzero" or not known.issuperset(shape_operands(node))
        for node in graph.nodes
    )


def refuse_untraceable(graph: Graph, what: str) -> None:
    """
    Raises:
        EngineError: names a node that PyTorch can't follow, and the user's line.
    """
    node = untraceable(graph)
    if node is not None:
        name = "a function of Python" if node.primitive.name == "call" else node.primitive.name
        raise EngineError(
            f"{what}: {name} isn't made of PyTorch's functions, so PyTorch can't follow it:"
            f" call the module outside of torch.compile, torch.export and torch.func{made(node)}"
        )


# Rules -----------------------------------------------------------------------------------------


class _ExpansionNeededError(Exception):
    """A maximum in windows isn't PyTorch's own."""


def _flat(rule: Rule) -> Rule:
    def checked(e: Traced, node: Node) -> None:
        if node not in e.flat_pools:
            raise _ExpansionNeededError
        rule(e, node)

    return checked


def _conditional(e: Traced, node: Node) -> None:
    branches = [e.body(node.attrs["then"]), e.body(node.attrs["otherwise"])]
    count = len(node.operands)
    text = f"cond({{0}}, {{{count}}}, {{{count + 1}}}, {shared.holes(1, count - 1)})"
    e.emit(node, text, [*node.operands, *branches], LOOSE)


# Beside those of `WHOLE`, functions of sizes that Python computes: PyTorch knows sizes, not values.
OF_SIZES = {
    **WHOLE,
    "select": "{1} if {0} else {2}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
    "logical_not": "not {0}",
}


class Traced(TorchEmitter):
    """Emits lines that PyTorch can follow."""

    language = Language(
        "torch (followed)",
        {
            **{name: f for name, f in NAMESPACE.items() if KERNELS.get(name) is not f},
            **BUFFERLESS,
            **FOLLOWED,
            "called": KERNELS["called"],
            "check": lambda x, holds, message: x,
            "detach": Tensor.detach,
            "int_max": torch.sym_max,
            "int_min": torch.sym_min,
            "pad": torch.constant_pad_nd,
            "upright": lambda x: x,
        },
    )
    in_place = False
    rules: ClassVar[Mapping[str, Rule]] = {
        **RULES,
        **{name: _flat(RULES[name]) for name in POOLS},
        "cond": _conditional,
        # PyTorch's own gradients, of exported programs, stop there as well.
        "stop_gradient": shared.along("detach({0})", VIEW),
    }

    def _number(self, node: Node) -> Arg:
        """See `TorchEmitter._number`."""
        if node.primitive.name in OF_SIZES and node.shape == () and node in self._early:
            given = [self.size(x) for x in node.operands]
            return self.code.emit(node, f"({OF_SIZES[node.primitive.name]})", given)
        return super()._number(node)

    @cached_property
    def _early(self) -> set[Node]:
        return follows_from_sizes(self.graph, ())

    def slot(self, node: Node) -> int:
        """See `Emitter.slot`: constants are made by lines."""
        if node.primitive is CONSTANT and node not in self._slots:
            array, kind = node.attrs["value"].array, word(node.dtype)
            plain = array.astype(np.float32) if node.dtype == "bfloat16" else array
            given = [self.constant(plain if array.shape else plain.item())]
            name = "array" if array.shape else "scalar_tensor"
            text = f"{name}({{0}}, dtype={kind}, device={{1}})"
            self.emit(node, text, [*given, self.constant(self.device)], LOOSE)
        return super().slot(node)


class TracingEngine(TorchEngine):
    """Says what can be written in PyTorch's functions alone, which check indices by themselves."""

    unchecked = ()

    def __init__(self, device: torch.device, pools: bool):
        super().__init__(str(device))
        self._expanded = EXPANDED if pools else EXPANDED.union(POOLS)

    def native(self, node: Node) -> bool:
        """See `Engine.native`."""
        return node.primitive.name not in self._expanded and super().native(node)


def traced(graph: Graph, device: torch.device, what: str) -> Callable[..., Sequence[Tensor]]:
    """A graph as a function of tensors.

    Args:
        graph: a closed graph.
        device: where its constants are.
        what: what errors call it.

    Raises:
        EngineError: a node's kernel isn't made of PyTorch's functions.
    """
    refuse_untraceable(graph, what)
    function = _emitted(graph, device).join()

    def run(*tensors: Tensor) -> Sequence[Tensor]:
        try:
            return function(*tensors)  # type: ignore[no-any-return]
        except Exception as error:
            node = Code.culprit(error)
            if node is not None:
                error.add_note(f"while {what} was followed by PyTorch{made(node)}")
            raise

    return run


def _emitted(graph: Graph, device: torch.device) -> Code:
    for pools in (True, False):
        emitter = Traced(prepared(graph, TracingEngine(device, pools), KEPT), device)
        try:
            return emitter.run(own_outputs=True)
        except _ExpansionNeededError:
            continue
    raise AssertionError("pools are expanded")


KEPT = ("stop_gradient",)
