"""Graphs of K as graphs of other libraries, for those who go on with them there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..._utils.tracebacks import boundary
from ...config import require
from ...errors import ArgumentError, DTypeError
from ...graph.ir.leaves import SOURCE
from ...graph.ir.node import Node, Variable
from ...graph.ir.program import Program
from ...graph.passes.equal_sizes import taking_equal_sizes
from ...runtime.compiler import prepared
from ...runtime.pure import fed, pure_graph
from ...runtime.state import draws, numpy_value
from .._tensors import as_tensor

# For each variable and random stream of K, the shared variable of PyTensor that stands for it.
_shared: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()


@boundary
def to_pytensor(tensors: Any, inputs: Any = ()) -> Any:
    """The graph of K tensors as a graph of PyTensor's own symbolic operations.

    PyTensor's rewrites, its gradients, its printing and its compilers work on it as on a graph that
    was written by hand. Each variable becomes a shared variable of PyTensor's with its name, dtype,
    shape and present value. Later calls give the same shared variable; from the first call on, it
    and the variable change independently. A random stream becomes a shared variable that functions
    of PyTensor's update, so that each call draws anew.

    Args:
        tensors: a tensor, or a list of tensors, of any shapes and dtypes but bfloat16.
        inputs: a list of the placeholders that the tensors need: for each, a new PyTensor variable
            is made, with its name, dtype and known sizes, and given back, too. Or a dict of
            placeholders and the PyTensor variables that take their places, of the same dtypes and
            numbers of axes. (Any tensor may be an input: what computes it is left out.)

    Returns:
        PyTensor variables with the dtypes of the tensors: one for a tensor, a list for a list.
        Where `inputs` is a list that isn't empty: a pair of these and the list of new inputs.

    Raises:
        MissingLibraryError: (an ImportError) PyTensor isn't installed; the message holds the line
            that installs it.
        ArgumentError: something is no tensor, or sparse, or a PyTensor variable has another
            dtype or number of axes than the placeholder.
        FeedError: a placeholder is needed that isn't among the inputs.
        DTypeError: there's bfloat16, which PyTensor doesn't have.

    Updates and prints that tensors carry are left out, and so are gradients of `K.custom_gradient`:
    PyTensor derives its own.

    >>> import kameleon
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2), name='x'), K.variable([[1.], [2.]], name='w')
    >>> y, (x_in,) = kameleon.to_pytensor(K.tanh(K.dot(x, w)), [x])
    >>> print(y)
    Tanh.0
    >>> y.eval({x_in: np.ones((1, 2), 'float32')}, mode='FAST_COMPILE').round(3)
    array([[0.995]], dtype=float32)
    """
    require("theano", "to_pytensor")
    several = isinstance(tensors, list | tuple)
    outputs = [_tensor(x, "tensors") for x in (tensors if several else [tensors])]
    given = _given(inputs)
    found = _lowered(outputs, given)
    result = found if several else found[0]
    return (result, list(given.values())) if given and not isinstance(inputs, Mapping) else result


def _tensor(x: Any, what: str) -> Node:
    node = x if isinstance(x, Node) else as_tensor(x, "to_pytensor")
    if not isinstance(node, Node):
        raise ArgumentError(f"to_pytensor: {what} must be tensors that aren't sparse, got {x!r}")
    return node


def _given(inputs: Mapping[Any, Any] | Sequence[Any]) -> dict[Node, Any]:
    """For each input the PyTensor variable that takes its place."""
    import pytensor.tensor as pt

    from ...engines.theano.native.engine import GraphEngine

    if isinstance(inputs, Node):
        inputs = [inputs]
    for x in inputs:
        if not isinstance(x, Node):
            raise ArgumentError(
                f"to_pytensor: inputs must be tensors that aren't sparse, got {x!r}"
            )
        if x.dtype in GraphEngine.lacks:
            why = GraphEngine.lacks[x.dtype]
            raise DTypeError(f"to_pytensor: '{x.name}' is {x.type}, and {why}")
    if not isinstance(inputs, Mapping):
        return {x: pt.tensor(x.name[:-2], dtype=str(x.dtype), shape=x.shape) for x in inputs}
    for x, variable in inputs.items():
        _check(x, variable)
    return dict(inputs)


def _check(x: Node, variable: Any) -> None:
    """Refuse a variable of PyTensor's that can't stand for a tensor."""
    type: Any = getattr(variable, "type", None)
    dtype, ndim = getattr(type, "dtype", None), getattr(type, "ndim", None)
    if (dtype, ndim) == (str(x.dtype), len(x.shape)) and x.type.may_accept(type.shape):
        return
    raise ArgumentError(
        f"to_pytensor: {variable!r} of type {type} can't stand for '{x.name}' {x.type}:"
        f" it must be a PyTensor variable of that dtype with {len(x.shape)} axes,"
        f" such as pytensor.tensor.tensor(dtype='{x.dtype}', shape={x.shape})"
    )


def _lowered(outputs: list[Node], given: Mapping[Node, Any]) -> list[Any]:
    from ...engines.theano.native.engine import GraphEngine, Symbolic

    program = fed(Program(list(given), outputs))
    defaults = program.unfed
    whole = Program([*program.inputs, *defaults], program.outputs)
    graph = taking_equal_sizes(pure_graph(whole), len(given))
    graph = prepared(graph, GraphEngine(), keep=("stop_gradient",))
    states = [_shared_with(x) for x in (*whole.variables, *whole.sources)]
    arguments = [*given.values(), *map(_default, defaults), *states]
    found = Symbolic(graph, arguments).run()
    for x, y in zip(outputs, found, strict=True):
        if x._name is not None and y.owner is not None and y.name is None:
            y.name = x.name[:-2]
    return found


def _default(x: Node) -> Any:
    """The value of a placeholder that needn't be given, as a constant."""
    from pytensor.tensor import constant

    return constant(np.asarray(x.default, str(x.dtype)), name=x.name[:-2])


def _shared_with(node: Node) -> Any:
    """The shared variable for a variable or a random stream."""
    found = _shared.get(node)
    return _shared.setdefault(node, _new(node)) if found is None else found


def _new(node: Node) -> Any:
    import pytensor

    if isinstance(node, Variable):
        return pytensor.shared(numpy_value(node), name=node.name[:-2], shape=node.shape)
    assert node.primitive is SOURCE
    key = np.array([node.attrs["seed"], draws(node).value], np.uint32)
    shared = pytensor.shared(key, name="random_key", shape=(2,))
    with warnings.catch_warnings():  # `default_update` is deprecated, but has no substitute
        warnings.simplefilter("ignore", DeprecationWarning)
        shared.default_update = shared + np.array([0, 1], np.uint32)
    return shared
