"""PyTorch with `torch.compile`: the same code, compiled when a function is first called.

That pays for functions that are called thousands of times: compiling takes seconds to minutes,
and needs a C++ compiler. Loops stay in Python; what they do in each step is compiled. Sizes are
compiled in; where sizes turn out to vary, one further compilation makes them symbolic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch

from ...errors import EngineError
from ...graph.ir.program import Graph
from .._base import Executable
from .._codegen.code import Code, Language
from .embedded import KERNELS
from .engine import PlainEmitter, TorchEngine, TorchExecutable
from .namespace import BUFFERLESS, NAMESPACE

# The compiler loads Triton, where it's installed. Triton 3.7 and TensorFlow 2.21 both bring LLVM,
# and the process dies when Triton is loaded second.
if "tensorflow" in sys.modules and "triton" not in sys.modules and find_spec("triton"):
    raise EngineError(
        "torch.compile can't be loaded after TensorFlow here, as Triton would end the process:"
        " `import triton` before TensorFlow is loaded, or choose the engine 'torch'"
    )


class CompiledEmitter(PlainEmitter):
    """Emits lines without buffers to write into: the compiler plans memory, and itself makes one
    loop of elementwise operations.
    """

    language = Language(
        "torch.compile",
        {
            **NAMESPACE,
            # What isn't for the compiler: NumPy's kernels, loops, and what looks at values.
            **{
                name: torch.compiler.disable(NAMESPACE[name])  # type: ignore[no-untyped-call]
                for name in (*KERNELS, "check", "scan", "while_loop")
            },
            **BUFFERLESS,
            "keep_where_positive": lambda y, x: torch.where(y > 0, x, 0),
        },
    )

    in_place = False

    def function(self, code: Code) -> Callable[..., Any]:
        """See `Emitter.function`."""
        return torch.compile(code.join())


class CompiledEngine(TorchEngine):
    """Graphs run by PyTorch, as `torch.compile` compiles them."""

    name = "torch.compile"
    title = "PyTorch (torch.compile)"
    quick = False

    def compile(self, graph: Graph) -> Executable:
        """See `Engine.compile`."""
        emitter = CompiledEmitter(graph, self.device)
        code = emitter.run(own_outputs=True)
        code.function = emitter.function(code)
        return TorchExecutable(emitter, code)


engine = CompiledEngine()
