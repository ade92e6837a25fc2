"""Compiled functions as modules of TensorFlow's: variables, tf.functions, and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._utils.tracebacks import boundary
from ...config import require
from ...config.external import others_can_read
from .pure import Stateless

if TYPE_CHECKING:
    from .tensorflow_module import Module


@boundary
def to_tensorflow(function: Any) -> Module:
    """A compiled function as a `tf.Module` that TensorFlow runs, differentiates and trains.

    The module has variables of its own, made of the present values of K's; from then on these and
    those change independently.

    Args:
        function: what `K.function` gives. Inputs and outputs are of any shapes and dtypes; sparse
            ones are refused.

    Returns:
        A module. `module(x, y, training=None)` takes a tensor for each input (or one list of them),
        of its dtype and known sizes, and gives tensors in the structure of the function's outputs.
        Unknown sizes stay open: each mode is traced once. Updates are assigned when all new values
        exist, and random streams go on as the function's calls would. The learning phase, where
        it's an input, is given at its place, or by `training` (True, False or a tensor); it's the
        function's default where it's left out. Without such an input `training` has no effect.
        `weights` has the variables by name; those that outputs are differentiated by are trainable.

    Raises:
        MissingLibraryError: (an ImportError) TensorFlow isn't installed; the message holds the line
            that installs it.
        ArgumentError: it's no such function, or one with sparse inputs or outputs.

    Gradients are K's own, those of `K.custom_gradient` and `K.stop_gradient` among them, of any
    order. Checks (an index out of range, say) raise `tf.errors.InvalidArgumentError` and leave
    variables alone; with `jit_compile=True` TensorFlow drops them. What `K.print_tensor` prints is
    left out.

    >>> import kameleon, numpy as np
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2), name='x'), K.variable([[1.], [2.]], name='w')
    >>> module = kameleon.to_tensorflow(K.function([x], K.tanh(K.dot(x, w))))
    >>> module(np.ones((1, 2), 'float32')).numpy().round(3)
    array([[0.995]], dtype=float32)
    >>> [v.name for v in module.trainable_variables]
    ['w:0']
    """
    require("tensorflow", "to_tensorflow")
    with others_can_read():
        from .tensorflow_module import Module

    return Module(Stateless(function, "to_tensorflow"))
