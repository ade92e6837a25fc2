"""Functions of Python as nodes: `kameleon.call`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._utils.tracebacks import boundary
from ..errors import ArgumentError
from ..graph.ir.context import Source, user_frame
from ..graph.ir.node import Node
from ..graph.ir.types import TensorType, as_dtype
from ..graph.primitives.call import call as node_of
from ..runtime.calls import Callee, Library, Results, evaluated, library_named, library_of
from ._tensors import as_tensor, floatx, named


@boundary
def call(
    function: Callable[..., Any],
    tensors: Any,
    library: str | None = None,
    *,
    shapes: Any = None,
    dtypes: Any = None,
    like: Any = None,
    gradient: Callable[..., Any] | None = None,
    pure: bool = True,
    name: str | None = None,
) -> Any:
    """Call a function of Python where the graph runs: it takes arrays and gives arrays.

    Args:
        function: takes one array for each tensor, by position, and gives an array, or a list (or
            tuple) of arrays. It gets arrays that can't be written to.
        tensors: a tensor (or what becomes one), or a list of them.
        library: whose arrays the function takes: 'numpy'. What the function's own module says, if
            None; NumPy's, where that says nothing.
        shapes: of what a function of NumPy gives: one shape, or a list of shapes for a list of
            results; None in a shape is a size that isn't known.
        dtypes: likewise; floatx, if None. An empty list: the function gives nothing, and what
            this gives is a bool scalar that is true once the function has run.
        like: in place of shapes and dtypes a tensor or array, or a list of them, of the types of
            the results.
        gradient: `(*tensors, *cotangents) -> cotangents of the tensors`, of K tensors: a tensor
            for each of `tensors` (None: it has no influence), given one for each float result.
        pure: equal arguments give equal results, nothing else happens, and the function keeps none
            of its arguments: equal calls may be made once. Otherwise none are merged, and the
            function gets arrays of its own.
        name: the name of the result.

    Returns:
        A tensor; or a list of tensors, where the function gives a list.

    Raises:
        ArgumentError: nothing tells the types of the results.

    A result of another dtype, or of a shape that doesn't fit, is an error when the graph runs. An
    exception of the function is raised as it is, with the line that made the node; no variable has
    changed then. Inside of loops and conditions the engine must be able to call back to Python.

    >>> import kameleon, numpy as np
    >>> from kameleon import backend as K
    >>> x = K.placeholder((None, 3))
    >>> y = kameleon.call(np.sort, x, like=x)
    >>> K.function([x], [y])([[[3., 1., 2.]]])
    [array([[1., 2., 3.]], dtype=float32)]
    """
    operands = [as_tensor(x, "call") for x in _listed(tensors)]
    found = library_of(function) if library is None else library_named(library)
    declared = _declared(shapes, dtypes, like, operands)
    results = _evaluated(function, found, operands) if declared is None else declared
    source = Source(*_place())
    callee = Callee(function, found, results, pure, gradient, source)
    node = node_of(*operands, callee=callee)
    given = [named(x, name) for x in node.results]
    return given if results.several and results.types else given[0]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _place() -> tuple[str, int, str]:
    """The user's line."""
    code, line = user_frame()
    return code.co_filename, line, code.co_name


# The types of results ------------------------------------------------------------------------


def _evaluated(function: Any, library: Library, operands: Sequence[Node]) -> Results:
    """The results that the library tells.

    Raises:
        ArgumentError: it can't; says what to declare.
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    if library.name == "numpy":
        raise ArgumentError(
            f"call: nothing tells what {name} gives; say shapes= (None for unknown sizes) and"
            " dtypes=, or like="
        )
    return evaluated(function, library, operands, name)


def _declared(shapes: Any, dtypes: Any, like: Any, operands: Sequence[Node]) -> Results | None:
    """The results that the arguments declare; None, where they declare nothing.

    Raises:
        ArgumentError: they contradict each other.
    """
    if like is not None:
        if shapes is not None or dtypes is not None:
            raise ArgumentError("call: give like, or shapes and dtypes, not both")
        return _like(_listed(like), isinstance(like, (list, tuple)), operands)
    if isinstance(dtypes, (list, tuple)) and not dtypes:
        return Results((), True)
    if shapes is None:
        return None
    several = _are_shapes(shapes)
    sizes = [tuple(s) for s in shapes] if several else [tuple(shapes)]
    if not isinstance(dtypes, (list, tuple)):
        dtypes = [dtypes] * len(sizes)
    elif not several:
        raise ArgumentError(f"call: shapes has one shape, dtypes a list: {shapes!r}, {dtypes!r}")
    if len(dtypes) != len(sizes):
        raise ArgumentError(f"call: {len(sizes)} shapes, but {len(dtypes)} dtypes")
    kinds = [floatx() if d is None else as_dtype(d) for d in dtypes]
    return Results(tuple(map(TensorType, map(_sizes, sizes), kinds)), several)


def _are_shapes(shapes: Any) -> bool:
    """Whether these are shapes of several results."""
    return len(shapes) > 0 and all(isinstance(s, (list, tuple)) for s in shapes)


def _sizes(shape: Sequence[Any]) -> tuple[int | None, ...]:
    try:
        return tuple(None if d is None else int(d.__index__()) for d in shape)
    except AttributeError:
        raise ArgumentError(f"call: a shape has ints and None, not {shape!r}") from None


def _like(examples: Sequence[Any], several: bool, operands: Sequence[Node]) -> Results:
    """Results of the types of examples; those that are like an operand have its sizes."""
    nodes = [x if isinstance(x, Node) else as_tensor(x, "call") for x in examples]
    origins = [
        ((i, axis), (operands.index(x), axis))
        for i, x in enumerate(nodes)
        if x in operands
        for axis, size in enumerate(x.shape)
        if size is None
    ]
    return Results(tuple(x.type for x in nodes), several, tuple(origins))
