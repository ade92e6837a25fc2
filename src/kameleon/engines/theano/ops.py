"""Ops that mean graphs of PyTensor's, the kernels that compute them, and elementwise loops in C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType as ArrayType
from pytensor.tensor.variable import TensorConstant

from ...graph.ir.types import Shape, TensorType

Function = Callable[..., Sequence[Any]]

DIFFER = "sizes that were taken as equal differ at run time"

# The version of the C code made here: PyTensor keeps compiled code on disk.
VERSION = 1


class AxisOf(NamedTuple):
    """The size of an axis of a variable."""

    value: Any
    axis: int


class InlineOp(OpFromGraph):  # type: ignore[misc]
    """An Op that means a graph of PyTensor's own operations, and that a kernel computes.

    To PyTensor it's an `OpFromGraph` that is to be inlined: its modes and gradients see the graph,
    which is made when it's first asked for: that takes longer than all the rest. Kameleon's mode
    puts the kernel in its place (`rewrites.Kernels`). Those with equal keys merge.
    """

    # What `OpFromGraph` makes of the graph.
    LATE = frozenset({"fgraph", "_frozen_fgraph", "kwargs", "pullback_overrides", "_frozen_lop"})
    LATE |= {"pushforward_overrides", "_lop_op_cache", "_rop_op_cache", "_connection_pattern"}
    is_inline = True
    shared_inputs = ()
    __call__ = Op.__call__

    def __init__(
        self,
        name: str,
        operands: Sequence[Any],
        types: Sequence[ArrayType],
        key: Any,
        meaning: Callable[[Sequence[Any]], Sequence[Any]],
        kernel: Callable[[], Function],
        view: bool = False,
    ):
        """
        Args:
            name: for prints.
            operands: PyTensor variables; it's for such types.
            types: of the results.
            key: equal where the meaning is.
            meaning: gives PyTensor variables of PyTensor variables.
            kernel: gives the function for a `Kernel`.
            view: see `Kernel`.
        """
        self.name, self.key, self.meaning, self.kernel, self.view = name, key, meaning, kernel, view
        self.input_types, self.output_types = [x.type for x in operands], list(types)
        self.view_map = {0: [0]} if view else {}

    def __getattr__(self, name: str) -> Any:
        if name not in self.LATE:
            raise AttributeError(name)
        types = self.output_types
        inputs = [t() for t in self.input_types]
        # Inlined, a constant would be taken for a variable of the inner graph.
        outputs = [y.copy() if isinstance(y, Constant) else y for y in self.meaning(inputs)]
        super().__init__(inputs, outputs, inline=True, name=self.name, on_unused_input="ignore")
        self.output_types = types  # of which the graph may know less
        return getattr(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InlineOp) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.name

    def clone(self) -> InlineOp:
        """See `HasInnerGraph`: nobody changes the inner graph, which is copied out."""
        return self

    def make_node(self, *operands: Any) -> Apply[Any, Any]:
        """Apply it to PyTensor variables."""
        return Apply(self, list(operands), [t() for t in self.output_types])

    def computed(self) -> Kernel:
        """The Op that does the same, quickly."""
        return Kernel(self.name, self.kernel(), self.output_types, self.view)

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Run the kernel on the operands' values, where nothing was inlined."""
        self.computed().perform(node, inputs, output_storage)


def meant(name: str, operands: Sequence[Any], *how: Any) -> list[Any]:
    """The results of a `InlineOp` for these operands."""
    results: list[Any] = InlineOp(name, operands, *how).make_node(*operands).outputs
    return results


class Kernel(Op):  # type: ignore[misc]
    """An Op whose work a Python function does: arrays in, a tuple of arrays out.

    PyTensor never takes two kernels for the same. With `view` the one result may share the memory
    of the first operand; else results are fresh.
    """

    def __init__(self, name: str, function: Function, types: Sequence[ArrayType], view: bool):
        self.name, self.function, self.types = name, function, tuple(types)
        self.view_map = {0: [0]} if view else {}

    def __str__(self) -> str:
        return self.name

    def make_node(self, *operands: Any) -> Apply[Any]:
        """Apply the Op to PyTensor variables."""
        return Apply(self, list(operands), [t() for t in self.types])

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Run the function on the operands' values."""
        for cell, value in zip(output_storage, self.function(*inputs), strict=True):
            cell[0] = value if type(value) is np.ndarray else np.asarray(value)

    def make_thunk(
        self,
        node: Any,
        storage_map: Any,
        compute_map: Any,
        no_recycling: Any,
        impl: str | None = None,
    ) -> Callable[[], None]:
        """The call of the function in a graph's code, without the detour over `perform`."""
        function = self.function
        inputs = [storage_map[x] for x in node.inputs]
        outputs = [storage_map[y] for y in node.outputs]
        done = [compute_map[y] for y in node.outputs]

        def thunk() -> None:
            values = function(*[cell[0] for cell in inputs])
            for cell, value, mark in zip(outputs, values, done, strict=True):
                cell[0] = value if type(value) is np.ndarray else np.asarray(value)
                mark[0] = True

        thunk.inputs, thunk.outputs = inputs, outputs  # type: ignore[attr-defined]
        thunk.lazy = False  # type: ignore[attr-defined]
        return thunk


class Loop(Elemwise):  # type: ignore[misc]
    """An elementwise loop that compilers can vectorise, where all arrays are without gaps."""

    def c_compile_args(self, **options: Any) -> list[str]:
        """Arguments for the compiler: nothing reads errno or needs floating-point traps."""
        return [*super().c_compile_args(**options), "-fno-math-errno", "-fno-trapping-math"]

    def c_code_cache_version_apply(self, node: Any) -> tuple[Any, ...]:
        """The version that tells this code from PyTensor's own in the store of compiled code."""
        return (*super().c_code_cache_version_apply(node), "kameleon", VERSION)

    def _c_all(
        self, node: Any, name: str, inames: list[str], onames: list[str], sub: Any
    ) -> tuple[str, ...]:
        """PyTensor's code, with a plain loop before its nest of loops over strides."""
        before, checks, making, nest, behind = super()._c_all(node, name, inames, onames, sub)
        named = {
            **dict(zip(inames, node.inputs, strict=True)),
            **dict(zip(onames, node.outputs, strict=True)),
        }
        plain = self._plain_loop(node, name, inames, onames, named, sub)
        if plain is not None:
            gapless = " && ".join(f"PyArray_IS_C_CONTIGUOUS({label})" for label in named)
            nest = f"if ({gapless}) {{\n{plain}\n}} else {{\n{nest}\n}}"
        return before, checks, making, nest, behind

    def _plain_loop(
        self,
        node: Any,
        name: str,
        inames: list[str],
        onames: list[str],
        named: dict[str, Any],
        sub: Any,
    ) -> str | None:
        """One loop over all elements; None where an operand that isn't a number is stretched."""
        full = node.outputs[0].type.shape
        if all(d == 1 for d in full):
            return None
        before, inside, behind = [], [], []
        for label, x in named.items():
            data = f"((dtype_{label}*) PyArray_DATA({label}))"
            if all(d == 1 for d in x.type.shape):
                before.append(f"const dtype_{label} {label}_i = {data}[0];")
            elif any(d == 1 != want for d, want in zip(x.type.shape, full, strict=True)):
                return None
            else:
                before.append(f"dtype_{label}* {label}_at = {data};")
                if label in onames:
                    inside.append(f"dtype_{label} {label}_i;")
                    behind.append(f"{label}_at[i] = {label}_i;")
                else:  # read at once: a read inside of a condition isn't vectorised
                    inside.append(f"const dtype_{label} {label}_i = {label}_at[i];")
        each, results = ([f"{label}_i" for label in labels] for labels in (inames, onames))
        task = self.scalar_op.c_code(node.tag.fake_node, f"{name}_plain_", each, results, sub)
        count = f"const npy_intp n = PyArray_SIZE({onames[0]});"
        head = "#pragma GCC ivdep\nfor (npy_intp i = 0; i < n; i++) {"
        return "\n".join([*before, count, head, *inside, task, *behind, "}"])


def constant(array: Any) -> Any:
    """An array as a constant of PyTensor."""
    return TensorConstant(ArrayType(array.dtype.name, array.shape), array)


@lru_cache(1024)
def array_type(type: TensorType) -> ArrayType:
    """PyTensor's type for a tensor type of a graph."""
    return ArrayType(str(type.dtype), type.shape)


def stretchable(x: Any, shape: Shape) -> Any:
    """A variable whose axes of size 1 may be stretched: PyTensor knows less than the graph."""
    axes = [i for i, d in enumerate(shape) if d == 1 and x.type.shape[i] != 1]
    return pt.specify_broadcastable(x, *axes) if axes else x
