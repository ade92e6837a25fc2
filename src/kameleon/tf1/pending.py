"""Functions of the installed TensorFlow, called on K tensors and on what came of such calls.

What a function gives in a dtype of Kameleon's becomes a tensor: the result of a `call` node. Other
results (complex numbers, strings, ragged rows) are held back as `Pending`: the next function is
called with them in the same node, and so on until something comes out that a tensor can hold.
So `tf.abs(tf.signal.rfft(x))` is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..backend.sparse_tensor import SparseTensor
from ..calls import Callee, Results, library_named
from ..errors import ArgumentError, DTypeError
from ..ir.context import Source, user_frame
from ..ir.node import Node
from ..ir.types import DTYPES, TensorType
from ..prims.call import call as node_of
from ..prims.elementwise import constant
from .operations import Derived
from .other_types import OtherType
from .shapes import Dimension, TensorShape
from .steps import Composed, Outcome, Step, function_at, tensorflow_calls


class Pending(Outcome):
    """A result of TensorFlow's that no tensor here can hold, until a function makes one of it.

    Attributes:
        spec: what TensorFlow says of it before it runs.
    """

    __array_ufunc__ = None  # operators of NumPy's arrays and of tensors leave it to those here

    def __init__(self, step: Step, index: int, spec: Any):
        super().__init__(step, index)
        self.spec = spec

    @property
    def name(self) -> str:
        """What it's called in messages."""
        return self.step.path.rpartition(".")[2]

    @property
    def dtype(self) -> Any:
        """Its element type: often one that no tensor has."""
        name = self.spec.dtype.name
        return DTYPES.get(name) or OtherType(name)

    @property
    def shape(self) -> TensorShape:
        """Its static shape."""
        shape = self.spec.shape
        return TensorShape(None if shape.rank is None else shape.as_list())

    def get_shape(self) -> TensorShape:
        """Its static shape."""
        return self.shape

    def __repr__(self) -> str:
        return f"<{self.name} of TensorFlow's, shape={self.shape}, dtype={self.dtype}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(self.refusal)

    def __bool__(self) -> bool:
        raise TypeError(self.refusal)

    @property
    def refusal(self) -> str:
        """Why it's no tensor."""
        return (
            f"{self!r} is no tensor of Kameleon's, which has no such dtype: make one of it by a"
            " function of tf (tf.abs, tf.math.real, tf.math.imag, tf.strings.length,"
            " tf.sparse.to_dense …), or fetch it by tf.Session().run"
        )

    def _as_graph_element(self) -> Derived:
        """What a session computes for it: the tensors that it comes of; then TensorFlow's part."""
        whole = Composed([self.step])
        return Derived(self.name, whole.nodes, lambda arrays: whole.on_host(arrays, self.index))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.spec.value_type, name):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        if not callable(getattr(self.spec.value_type, name)):
            return applied(f".{name}", (self,), {})
        return lambda *args, **kwargs: applied(f".{name}", (self, *args), kwargs)

    def __getitem__(self, key: Any) -> Any:
        return applied(".__getitem__", (self, key), {})


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Pending, *others: Any) -> Any:
        return applied(f".{name}", (self, *others), {})

    return apply


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul"):
    setattr(Pending, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Pending, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in ("neg", "abs"):
    setattr(Pending, f"__{_name}__", _operator(f"__{_name}__"))


def is_foreign(arguments: Iterable[Any]) -> bool:
    """Whether there's something among arguments, or in a list among them, that only TensorFlow's
    own functions take.
    """
    return tensorflow_calls() or any(
        isinstance(x, (Pending, OtherType))
        or (isinstance(x, (list, tuple)) and any(isinstance(i, Pending) for i in x))
        for x in arguments
    )


def holds_words(value: Any) -> bool:
    """Whether it's a string, or an array or list that begins with one: only TensorFlow holds it.

    >>> holds_words("one"), holds_words([[b"one"], [b"two"]]), holds_words([1.0])
    (True, True, False)
    """
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    kind = value.dtype.kind if isinstance(value, np.ndarray) else ""
    return isinstance(value, (str, bytes)) or kind in ("U", "S")


# Calling ---------------------------------------------------------------------------------------


def applied(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function of TensorFlow's gives, in its nest: tensors, and `Pending`.

    Args:
        path: see `Step`.
        args, kwargs: tensors, `Pending`, arrays, numbers and words, in nests.

    Raises:
        ArgumentError: TensorFlow doesn't take these arguments; the message is its own.
        MissingLibraryError: it isn't installed.
    """
    library_named("tensorflow")
    step = Step(path, _theirs(args), _theirs(kwargs))
    if tensorflow_calls():
        return function_at(path)(*step.args, **step.kwargs)
    whole = Composed([step])
    import tensorflow as tf

    given = whole.evaluated()
    leaves = tf.nest.flatten(given)
    types = [_types_of(x) for x in leaves]
    wanted = [(step, i) for i, found in enumerate(types) if found]
    values = iter(_values([step], wanted, [t for found in types for t in found]))
    made = [
        _made(step, i, x, [next(values) for _ in found])
        for i, (x, found) in enumerate(zip(leaves, types, strict=True))
    ]
    return tf.nest.pack_sequence_as(given, made)


# What makes or changes something in the graph here: TensorFlow would do that to one of its own.
KEPT_HERE = frozenset(
    "placeholder placeholder_with_default get_variable Variable assign assign_add assign_sub"
    " scatter_update scatter_add scatter_sub py_func py_function numpy_function Print".split()
)


def redirected(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What TensorFlow's own function gives, for one that is over K functions here.

    Raises:
        ArgumentError: today's TensorFlow has none of that name.
        DTypeError: the function makes or changes something, which has a dtype of Kameleon's.
        MissingLibraryError: it isn't installed.
    """
    if path in KEPT_HERE and not tensorflow_calls():
        given = ", ".join(map(repr, (*args, *kwargs.values())))
        raise DTypeError(
            f"tf.{path}({given}): no tensor here has such a dtype; what functions of an installed"
            " TensorFlow give in it goes to other functions of tf alone"
        )
    library_named("tensorflow")
    try:
        function_at(path)
    except AttributeError:
        raise ArgumentError(
            f"tf.{path} takes tensors of Kameleon's only, and today's TensorFlow has it no more"
        ) from None
    return applied(path, args, {key: x for key, x in kwargs.items() if key != "name"})


def _made(step: Step, index: int, like: Any, values: Sequence[Node]) -> Any:
    """A result: a tensor, a sparse tensor of three parts, one that's held back, or no tensor."""
    if not values:
        import tensorflow as tf

        if not isinstance(like, (tf.Tensor, tf.__internal__.CompositeTensor)):
            return like
        return Pending(step, index, tf.type_spec_from_value(like))
    if len(values) == 1:
        return values[0]
    indices, elements, size = values
    name = step.path.rpartition(".")[2]
    return SparseTensor(indices, elements, size, tuple(like.shape), name)


def _values(
    steps: Sequence[Step], wanted: Sequence[tuple[Step, int]], types: Sequence[TensorType]
) -> Sequence[Node]:
    """The tensors for some results of steps: of one node, or constants where nothing varies."""
    whole = Composed(steps, wanted)
    if not types:
        return ()
    if not whole.nodes:
        return [constant(x, t.dtype) for x, t in zip(whole.evaluate(), types, strict=True)]
    code, line = user_frame()
    source = Source(code.co_filename, line, code.co_name)
    results = Results(tuple(types), True, (), traced=True)
    callee = Callee(whole, library_named("tensorflow"), results, True, None, source)
    return node_of(*whole.nodes, callee=callee).results


def _types_of(like: Any) -> list[TensorType]:
    """The types of the tensors that hold a result; none if no tensors can."""
    import tensorflow as tf

    if isinstance(like, (tf.SparseTensor, tf.SparseTensorSpec)):
        rank = like.shape.rank
        dtype = DTYPES.get(like.dtype.name)
        if rank is None or dtype is None:
            return []
        int64 = DTYPES["int64"]
        shapes = [((None, rank), int64), ((None,), dtype), ((rank,), int64)]
        return [TensorType(shape, kind) for shape, kind in shapes]
    found = library_named("tensorflow").type_of(like)
    return [] if found is None else [found]


# Arguments --------------------------------------------------------------------------------------


def _theirs(item: Any) -> Any:
    """An argument as TensorFlow takes it; tensors and `Pending` stay for later."""
    if isinstance(item, Mapping):
        return {key: _theirs(value) for key, value in item.items()}
    if isinstance(item, TensorShape):
        return None if item.ndims is None else item.as_list()
    if isinstance(item, Dimension):
        return item.value
    if type(item) in (list, tuple):
        return type(item)(_theirs(value) for value in item)
    if isinstance(item, str) and type(item) is not str:  # a dtype
        return str(item)
    return item
