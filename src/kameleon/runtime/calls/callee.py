"""What a `call` node knows of the function that it calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...errors import EvaluationError, GradientError
from ...graph.ir.context import Source
from ...graph.ir.node import Node
from ...graph.ir.types import TensorType
from ...graph.primitives.call import call
from ...graph.primitives.elementwise import cast, constant
from ...graph.primitives.filling import full_like
from .failures import kept, marked
from .library import Library, listed
from .results import Place, ResultError, Results


class Callee:
    """A function with all that is known of it. Callees of pure functions are equal where all of
    that is; one of a function with effects equals itself only, so that no two calls are merged.

    Attributes:
        function: takes arrays of its library by position.
        library: what makes its arrays, its results' types and its gradients.
        results: the types of what it gives.
        pure: equal arguments give equal results, and nothing else happens.
        gradient: `(*operands, *cotangents of the results) -> cotangents of the operands`, over K
            tensors; None: the library's own.
        source: the user's line.
    """

    __slots__ = ("_key", "function", "gradient", "key", "library", "pure", "results", "source")

    def __init__(
        self,
        function: Callable[..., Any],
        library: Library,
        results: Results,
        pure: bool,
        gradient: Callable[..., Any] | None,
        source: Source,
    ):
        self.function, self.library, self.results = function, library, results
        self.pure, self.gradient, self.source = pure, gradient, source
        whole = (_identity(function), library.name, results, _identity(gradient))
        self._key: Hashable = whole if pure else id(self)
        # By what graphs with equal code are told: an error of that code names the line.
        self.key = (self._key, str(source))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callee) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<{self.library.title} function {self.name}, called at {self.source}>"

    @property
    def name(self) -> str:
        """What the function is called."""
        return _name(self.function)

    def infer(self, given: Sequence[TensorType]) -> tuple[TensorType, ...]:
        """The types of the results."""
        return self.results.of_node

    @property
    def made(self) -> str:
        """The end of an error message: what was called, and where the node was made."""
        return f"while calling {self.name}, for a node which was made at {self.source}"

    def origin(self, index: int, axis: int) -> Place | None:
        """See `graph.primitives.call.Callee.origin`."""
        return dict(self.results.origins).get((index, axis))

    # Calling -----------------------------------------------------------------------------------

    def on_host(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """The results for NumPy arrays: private arrays, of the declared types.

        Raises:
            Exception: the function raised it.
            EvaluationError: a result isn't of its type.
        """
        given = [np.asarray(x) for x in arrays]
        try:
            found = self.library.run(self.function, given, self.results, self.pure)
            self.results.check_sizes(given, found)
            return found
        except ResultError as error:
            raise marked(EvaluationError(f"{error}\n  {self.made}")) from None
        except Exception as error:
            marked(error, self.made)
            raise

    @property
    def callback(self) -> Callable[..., tuple[np.ndarray, ...]]:
        """`on_host`, for libraries that lose exceptions on their way from callbacks."""
        return kept(self.on_host)

    def on_own(self, *arrays: Any) -> tuple[Any, ...]:
        """The results for arrays (or tracers) of the library, on the engine of that name.

        Raises:
            Exception: the function raised it.
            EvaluationError: a result isn't of its type.
        """
        try:
            found = self.results.listed(self.function(*arrays))
            types = self.results.of_node
            own = [self.library.own(x, t) for x, t in zip(found, types, strict=True)]
            for number, value in enumerate(own):
                type = self.library.type_of(value)
                assert type is not None
                self.results.check(number, type.shape, type.dtype)
            return tuple(own)
        except ResultError as error:
            raise marked(EvaluationError(f"{error}\n  {self.made}")) from None
        except Exception as error:
            marked(error, self.made)
            raise

    # Differentiating ---------------------------------------------------------------------------

    def back(
        self, node: Node, gs: Sequence[Node | None], needed: Sequence[bool]
    ) -> Sequence[Node | None]:
        """See `graph.primitives.call.Callee.back`.

        Raises:
            GradientError: the function has no gradient, or it gave something else.
        """
        if self.gradient is None:
            return self._pulled(node, gs, needed)
        given = [
            full_like(y, 0) if g is None else g
            for y, g in zip(node.results, gs, strict=True)
            if y.dtype.is_float
        ]
        parts = self.gradient(*node.operands, *given)
        parts = parts if isinstance(parts, (list, tuple)) else [parts]
        if len(parts) != len(node.operands):
            raise GradientError(
                f"the gradient of {self!r} gave {len(parts)} cotangents for"
                f" {len(node.operands)} tensors"
            )
        triples = zip(parts, node.operands, needed, strict=True)
        return [None if p is None or not want else self._part(p, x) for p, x, want in triples]

    def _pulled(
        self, node: Node, gs: Sequence[Node | None], needed: Sequence[bool]
    ) -> Sequence[Node | None]:
        """The cotangents by the library, in a call of its own."""
        if not (self.library.differentiates and self.pure):
            why = "" if self.pure else " (one with effects has none of its library's)"
            raise GradientError(
                f"{self!r} has no gradient{why}: give kameleon.call(…, gradient=), or call it"
                " with"
                " K.stop_gradient of its tensors"
            )
        wanted = [i for i, want in enumerate(needed) if want]
        numbers = [i for i, g in enumerate(gs) if g is not None]
        pulled = Pull(self.function, self.library, len(needed), tuple(wanted), tuple(numbers))
        types = [node.operands[i].type for i in wanted]
        origins = tuple(
            ((k, axis), (i, axis))
            for k, i in enumerate(wanted)
            for axis, size in enumerate(node.operands[i].shape)
            if size is None
        )
        results = Results(tuple(types), True, origins, self.results.traced)
        callee = Callee(pulled, self.library, results, True, None, self.source)
        cotangents: Any = [gs[i] for i in numbers]
        made = call(*node.operands, *cotangents, callee=callee)
        back: list[Node | None] = [None] * len(needed)
        for i, part in zip(wanted, made.results, strict=True):
            back[i] = part
        return back

    def _part(self, part: Any, operand: Node) -> Node:
        """A cotangent as a tensor of an operand's type."""
        if not isinstance(part, Node):
            part = constant(np.asarray(part), operand.dtype)
        if not operand.type.may_accept(part.shape):
            raise GradientError(
                f"the gradient of {self!r} gave a cotangent of shape {part.shape} for a tensor of"
                f" shape {operand.shape}"
            )
        return cast(part, operand.dtype)


class Comparable:
    """A function that says what it's compared by; those of one class with equal keys are equal."""

    key: Hashable

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Pull(Comparable):
    """The function from a call's operands and cotangents to the cotangents of some operands.

    It's a function of the library's arrays, so the library differentiates it, too.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        library: Library,
        count: int,
        wanted: tuple[int, ...],
        numbers: tuple[int, ...],
    ):
        """
        Args:
            function: what was called.
            library: of its arrays.
            count: the number of its operands.
            wanted: the numbers of those whose cotangents are wanted.
            numbers: of its results that have a cotangent.
        """
        self.function, self.library, self.count = function, library, count
        self.wanted, self.numbers = wanted, numbers
        self.key = _identity(function), library.name, count, wanted, numbers
        self.__name__ = f"gradient of {_name(function)}"

    def __call__(self, *arrays: Any) -> list[Any]:
        xs, gs = arrays[: self.count], arrays[self.count :]

        def part(*values: Any) -> list[Any]:
            """The results that have a cotangent, as a function of what wants one."""
            given = list(xs)
            for i, value in zip(self.wanted, values, strict=True):
                given[i] = value
            found = listed(self.function(*given))
            return [found[i] for i in self.numbers]

        held = [x for i, x in enumerate(xs) if i not in self.wanted]
        return list(self.library.pull(part, [xs[i] for i in self.wanted], gs, held))


def _name(function: Any) -> str:
    """What a function is called."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


# Functions that are equal exactly where they are the same, or methods of the same object; and those
# that say themselves what they're compared by.
COMPARED = (FunctionType, BuiltinFunctionType, MethodType, Comparable)


def _identity(function: Any) -> Hashable:
    """Equal for one and the same function; callables of other classes may have any equality."""
    return function if isinstance(function, COMPARED) or function is None else id(function)
