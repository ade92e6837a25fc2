"""Users' functions over tensors as bodies of scans, loops and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from .._utils.scopes import Scope
from ..errors import DTypeError, ShapeError, UnsupportedError
from ..graph.ir.closure import Closure
from ..graph.ir.leaves import input_node
from ..graph.ir.node import Node, new_serial
from ..graph.ir.rewrite import closed, substitute
from ..graph.ir.types import INT32, TensorType, join_shapes
from ..graph.primitives.control import cond, run_scan, while_
from ..graph.primitives.elementwise import add, constant
from ..graph.primitives.movement import broadcast_to, iota, reshape
from ..graph.primitives.random import random_fold
from ..graph.primitives.sizes import dims_of, roots_of, size_of

Step = Callable[[list[Node], list[Node]], tuple[Sequence[Node], Sequence[Node]]]
# So many bodies may lie within one another. Passes and engines' compilers go down into them, each
# step in several frames of Python's 1000.
DEEPEST = 50
_depth: ContextVar[int] = ContextVar("kameleon_depth", default=0)


def is_in_body() -> bool:
    """Whether the nodes of a body are made now."""
    return _depth.get() > 0


def body_of(what: str) -> Scope[int]:
    """The block in which the nodes of a body are made.

    Raises:
        UnsupportedError: too many bodies lie within one another; raised as the block is entered.
    """

    def deeper(depth: int) -> int:
        if depth == DEEPEST:
            raise UnsupportedError(
                f"{what}: more than {DEEPEST} loops and conditions lie within one another. Choose"
                " between tensors (K.switch without functions), or make each condition from the"
                " result of the one before, or one loop of all steps"
            )
        return depth + 1

    return Scope(_depth, deeper)


def traced_scan(
    what: str,
    step: Step,
    carry: Sequence[Node],
    sequences: Sequence[Node],
    backwards: bool = False,
) -> tuple[list[Node], list[Node]]:
    """Run `step(carry, slices) -> (new carry, outputs)` along axis 0 of the sequences.

    Random numbers that a step draws differ from step to step.

    Returns:
        The last carry, and the outputs stacked along a new axis 0.
    """
    states = [input_node(x.type) for x in carry]
    slices = [input_node(TensorType(x.shape[1:], x.dtype)) for x in sequences]
    start = new_serial()
    with body_of(what), _tied(states, carry, 0), _tied(slices, sequences, 1):
        new, outputs = step(states, slices)
        after = _checked_states(what, states, new)
        new = [_of_one_size(b, a) for a, b in zip(states, after, strict=True)]
    made = [*new, *outputs]
    return scan_over(what, (states, slices, made), carry, sequences, start, backwards)


def scan_over(
    what: str,
    step: tuple[Sequence[Node], Sequence[Node], Sequence[Node]],
    carry: Sequence[Node],
    sequences: Sequence[Node],
    start: int,
    backwards: bool = False,
) -> tuple[list[Node], list[Node]]:
    """A scan whose step is made: parameters for states and slices, the new states and outputs.

    Args:
        start: the serial number before the step was made.
    """
    states, slices, made = map(list, step)
    closure = Closure(what, [*states, *slices], made, start)
    sequences = list(sequences)
    if closure.sources:
        time = iota([size_of(sequences[0], 0)])
        t = input_node(TensorType((), time.dtype))
        made = _drawn_at(t, made, closure.sources)
        sequences.append(time)
        slices.append(t)
        closure = Closure(what, [*states, *slices], made, start)
    body = closed([*closure.captured, *states, *slices], made)
    return run_scan(body, closure.captured, carry, sequences, backwards)


@contextmanager
def _tied(params: Sequence[Node], given: Sequence[Node], more: int) -> Iterator[None]:
    """Let the sizes of parameters be told to be those of what is given for them, which has so many
    `more` axes in front."""
    for param, x in zip(params, given, strict=True):
        param.given = x, more
    try:
        yield
    finally:  # a body outlives what it was built for
        for param in params:
            param.given = None


def _checked_states(what: str, before: Sequence[Node], after: Sequence[Node]) -> list[Node]:
    """The states after a step, which must have the known sizes of the states before it."""
    if len(before) != len(after):
        raise ShapeError(f"{what}: a step takes {len(before)} states and returns {len(after)}")
    for a, b in zip(before, after, strict=True):
        if a.dtype != b.dtype:
            raise DTypeError(
                f"{what}: a state is {a.dtype} before a step and {b.dtype} after it; K.cast it"
            )
    return [_of_known_sizes(what, a, b) for a, b in zip(before, after, strict=True)]


def _of_known_sizes(what: str, old: Node, new: Node) -> Node:
    """`new` with the known sizes of `old`; an error at run time where the sizes differ."""
    shape = join_shapes(old.shape, new.shape, f"{what}: a state before and after a step")
    if all(a is None or b is not None for a, b in zip(old.shape, new.shape, strict=True)):
        return new
    own = dims_of(new)
    return broadcast_to(new, [o if d is None else d for d, o in zip(shape, own, strict=True)])


def _of_one_size(new: Node, old: Node) -> Node:
    """`new`, a state of a scan, which may not be stretched: each step has the first one's sizes."""
    dims = dims_of(new)
    grown = [
        axis
        for axis, size in enumerate(old.shape)
        if size is None
        and (new.shape[axis] is not None or roots_of(new, axis) > roots_of(old, axis))
    ]
    for axis in grown:
        dims[axis] = size_of(old, axis)
    return broadcast_to(new, dims) if grown else new


def traced_cond(
    what: str,
    condition: Node,
    then: Callable[[], Sequence[Node]],
    otherwise: Callable[[], Sequence[Node]],
) -> list[Node]:
    """The tensors that one of two functions makes; the other function's aren't computed.

    Where one function makes a tensor of fewer axes (a zero in place of rows, say), it gets axes of
    size 1 in front: which of both comes out is known at run time.
    """
    start = new_serial()
    with body_of(what):
        branches = [list(then()), list(otherwise())]
    return cond_over(what, condition, branches, start)


def cond_over(what: str, condition: Node, branches: list[list[Node]], start: int) -> list[Node]:
    """The outputs of one of two branches that are made: where the condition holds, the first's."""
    for outputs, others in (branches, branches[::-1]):
        for i, (y, other) in enumerate(zip(outputs, others, strict=False)):
            if missing := max(0, len(other.shape) - len(y.shape)):
                outputs[i] = reshape(y, [*[1] * missing, *dims_of(y)])
    closures = [Closure(what, [], outputs, start, whole=True) for outputs in branches]
    captured = list(dict.fromkeys(n for c in closures for n in c.captured))
    graphs = [closed(captured, outputs) for outputs in branches]
    return list(cond(condition, *captured, then=graphs[0], otherwise=graphs[1]).results)


def traced_while(
    what: str,
    condition: Callable[[list[Node]], Node],
    body: Callable[[list[Node]], Sequence[Node]],
    carry: Sequence[Node],
) -> list[Node]:
    """Run `body` on the carry as long as `condition` holds."""
    states = [input_node(x.type) for x in carry]
    start = new_serial()
    with body_of(what):
        made = [condition(states), *_checked_states(what, states, body(states))]
    return while_over(what, states, made, carry, start)


def while_over(
    what: str, states: Sequence[Node], made: Sequence[Node], carry: Sequence[Node], start: int
) -> list[Node]:
    """A loop whose step is made: parameters for states; the condition, then the new states."""
    sources = Closure(what, states, made, start).sources
    if not sources:
        return _while(what, states, carry, made, start)
    # Random numbers that a step draws differ from step to step, so the steps are counted.
    t, zero = input_node(TensorType((), INT32)), constant(0, INT32)
    made = [*_drawn_at(t, made, sources), add(t, constant(1, INT32))]
    return _while(what, [*states, t], [*carry, zero], made, start)[:-1]


def _while(
    what: str, states: Sequence[Node], carry: Sequence[Node], made: Sequence[Node], start: int
) -> list[Node]:
    """The loop over `made`: the condition, then the new states, as functions of `states`."""
    captured = Closure(what, states, made, start).captured
    test, new = (closed([*captured, *states], part) for part in (made[:1], made[1:]))
    node = while_(*captured, *carry, condition=test, body=new, consts=len(captured))
    return list(node.results)


def _drawn_at(t: Node, made: Sequence[Node], sources: Sequence[Node]) -> list[Node]:
    """`made`, with the random streams of a body replaced by those of step `t`."""
    return substitute(made, {s: random_fold(s, t) for s in sources})
