"""Compiled functions as pure functions of JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._utils.tracebacks import boundary
from ...config import require
from .pure import Stateless


@boundary
def to_jax(function: Any) -> tuple[Callable[..., tuple[Any, dict[str, Any]]], dict[str, Any]]:
    """A compiled function as a pure function of JAX, and the values of its variables.

    `jax.jit`, `jax.grad`, `jax.vmap`, `jax.lax.scan`, `jax.shard_map` and all else that transforms
    functions work on it, to any order. Gradients are K's own, `K.custom_gradient` among them.

    Args:
        function: what `K.function` gives. The engine in force doesn't matter.

    Returns:
        A pair `run, parameters`. `parameters` has the present values of the variables that the
        function reads or writes, arrays of JAX by name (with a number, where a name occurs twice);
        they and the variables change independently. `run(parameters, inputs, key=None)` is pure,
        and gives a pair of

        - the outputs, in the nest that `K.function` was given; sparse ones are `BCOO` matrices;
        - the parameters behind the call: a dict in which updated variables have new values.

        `inputs` is a list of arrays, tracers or numbers, as for the function itself. Those that
        decide shapes must be numbers; a learning phase that is a number leaves just one of both
        branches in the code. Sparse inputs are `BCOO` matrices, or SciPy's. `key` is needed where
        random numbers are drawn: an int n, which may be traced, for what the function would draw in
        its call after n others; or a key of `jax.random`.

    Raises:
        MissingLibraryError: (an ImportError) JAX isn't installed; the message holds the line that
            installs it.
        ArgumentError: it's no function of `K.function`.
        EngineError: a part of it can't be traced; the message names it and your line. Where a size
            follows from values, that's found in the first call.

    JAX's settings stay as they are. While 64-bit numbers are switched off, parameters, inputs and
    outputs of 64 bits come and go in 32 bits, as all arrays of JAX do then; what the graph holds in
    64 bits is computed in 64 bits all the same. Printed and watched values are left out, and so are
    checks (an index out of range, a check of your own): traced code raises nothing.

    >>> import jax, kameleon, numpy as np
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2)), K.variable([[3.], [4.]], name='w')
    >>> run, parameters = kameleon.to_jax(K.function([x], [K.sum(K.square(K.dot(x, w)))]))
    >>> loss = lambda parameters, x: run(parameters, [x])[0][0]
    >>> print(jax.grad(loss)(parameters, np.ones((1, 2), 'float32'))['w'])
    [[14.]
     [14.]]
    """
    require("jax", "to_jax")
    from .jax_function import Runner

    found = Runner(Stateless(function, "to_jax"))
    return boundary(found.run), found.parameters
