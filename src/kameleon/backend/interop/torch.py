"""Compiled functions as modules of PyTorch's: parameters, buffers, and gradients of any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._utils.tracebacks import boundary
from ...config import require

if TYPE_CHECKING:
    from .torch_module import FunctionModule


@boundary
def to_torch(function: Any) -> FunctionModule:
    """A compiled function as a `torch.nn.Module`, which PyTorch trains, differentiates and exports.

    Float variables become parameters. Those that the function itself updates (moving means, what
    an optimizer's step changes), variables of other dtypes, and the states of random streams
    become buffers. All have the present values of K's variables; from then on these and those
    change independently. Their names are K's names with '_' in place of what isn't a letter, a
    digit or '_'; `module.names` says which is which.

    Args:
        function: what `K.function` gives, with inputs and outputs of any dtypes and shapes; sparse
            ones are refused.

    Returns:
        A module. `module(x, y)` takes a tensor for each input, of its known sizes, and of its dtype
        or one that converts to it without loss (floats may be rounded); NumPy arrays and numbers
        are taken as `K.function` takes them. It gives tensors in the structure of the function's
        outputs. Then it writes new values of updated variables into their buffers, as a call of the
        function would, and random streams go on to their next numbers, which are those of the
        function's calls on any engine.

        The learning phase, where the function depends on it, is that of `module.train()` and
        `module.eval()`, unless it's an input that is given. Where it is no input, or one that
        needn't be given, the module starts as `K.function` runs: in phase 0, `eval()`.

    Raises:
        MissingLibraryError: (an ImportError) PyTorch isn't installed; the message holds the line
            that installs it.
        ArgumentError: it's no function of `K.function`, or an input or output is sparse.

    Gradients are K's own, with those that `K.custom_gradient` defines, to any order, forward ones
    and those of `torch.func` too. Exported programs have PyTorch's gradients. Dtypes are part of
    the graph: `double()`, `half()` and autocast don't change them. What is printed and watched is
    left out, and so are checks where PyTorch follows a call (`torch.compile`, `torch.export`,
    `torch.func.vmap`), which can't raise errors there.

    >>> import kameleon, torch
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2), name='x'), K.variable([[1.], [2.]], name='w')
    >>> module = kameleon.to_torch(K.function([x], K.dot(x, w)))
    >>> module(torch.ones(1, 2)).sum().backward()
    >>> module.w.grad
    tensor([[1.],
            [1.]])
    """
    require("torch", "to_torch")
    from .torch_module import FunctionModule

    return FunctionModule(function)
