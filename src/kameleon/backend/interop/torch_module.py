"""The module of PyTorch's that holds a compiled function; PyTorch is loaded here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch

from ..._utils.names import distinct, identifier
from ..._utils.tracebacks import hide
from ...engines.torch.tensors import TORCH, shared
from ...errors import DTypeError, FeedError, ShapeError
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType
from ...runtime.engines import embedded
from ...runtime.feeds import feed_of
from ...runtime.function import Function
from .pure import KEY, Pure, Stateless
from .torch_autograd import Differentiable
from .torch_functions import is_followed
from .torch_tracing import has_open_sizes, untraceable

Tensor = torch.Tensor

WHAT = "to_torch"


class Place(NamedTuple):
    """What an input or a variable must be.

    Attributes:
        name: K's.
        dtype: PyTorch's.
        type: K's; sizes may be unknown.
        convert: makes an array for it of anything that isn't a tensor, or refuses that.
    """

    name: str
    dtype: torch.dtype
    type: TensorType
    convert: Callable[..., Any]


def place_of(node: Node, what: str) -> Place:
    """The place of an input or a variable."""
    return Place(node.name, TORCH[node.dtype], node.type, feed_of(node, what))


class Plan:
    """All of a module that never changes: what copies of it share.

    Attributes:
        function: that it was made of.
        stateless: the same, where the learning phase is an input, if anything depends on it.
        places: of the inputs, without the learning phase.
        phase: where the learning phase is given among the inputs; None, if it isn't.
        is_followed: whether `torch.compile` sees what is computed.
        depends: whether anything depends on the learning phase.
        calls: by learning phase, what computes: the function's own inputs without the phase (but
            with it for None), variables and keys in; outputs and new values out.
    """

    def __init__(self, function: Any, names: Sequence[str] | None = None):
        own = Stateless(function, WHAT)
        own.refuse_sparse(WHAT)
        self.function, self.rebuilt, self.phase = function, own.rebuilt, own.phase
        compiled = own.function
        default = [x for x in compiled.program.unfed if x.is_phase]
        self.stateless = stateless = Stateless(_with_inputs(compiled, default), WHAT)
        self.depends = stateless.phase is not None
        self.name = stateless.name
        inputs = list(stateless.inputs)
        self.phases = [inputs.pop(stateless.phase)] if stateless.phase is not None else []
        self.places = [place_of(x, self.name) for x in inputs]
        self.states = [place_of(v, self.name) for v in stateless.variables]
        self.names = list(names or names_of(stateless))
        self.starts_with = bool(self.phases[0].default) if self.phases else True
        self.outputs = len(stateless.function.outputs)
        self.fixed = [x.shape for x in stateless.function.constants.values()]
        self.new = [(self.names[v], i) for v, i in stateless.updated.items()]
        self.copied = [i in stateless.updated for i in range(len(stateless.variables))]
        graph = stateless.pure(equal=True).graph
        self.is_followed = untraceable(graph) is None and not has_open_sizes(graph)
        self.calls: dict[bool | None, Callable[..., Any]] = {
            phase: self._call(phase) for phase in ((None, False, True) if self.depends else (None,))
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Plan:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.function, self.names)

    def _call(self, phase: bool | None) -> Callable[..., Any]:
        made: dict[bool, Differentiable] = {}

        def call(*tensors: Tensor) -> Any:
            equal = self._is_equal(tensors)
            if equal not in made:
                pure = self.pure(phase, equal)
                made[equal] = Differentiable(pure, self.name, self.outputs)
            return tuple(made[equal](tensors))

        mark = torch.compiler.allow_in_graph if self.is_followed else torch.compiler.disable
        return mark(call)  # type: ignore[no-any-return, no-untyped-call]

    def _is_equal(self, tensors: Sequence[Tensor]) -> bool:
        """Whether all sizes of inputs are equal that meet."""
        guard = self.stateless.function.guard
        if guard is None:
            return True
        shapes: list[Sequence[int]] = [x.shape for x in tensors[: len(self.places)]]
        if self.stateless.phase is not None:
            shapes.insert(self.stateless.phase, ())
        try:
            return guard.holds([*shapes, *self.fixed])
        except TypeError:  # symbolic sizes differ, and can't be shown: the code compares them
            return False

    def pure(self, phase: bool | None, equal: bool) -> Pure:
        """What is computed in a learning phase; with None it is the last of the own inputs."""
        found = self.stateless.pure(phase, equal)
        graph, at = found.graph, self.stateless.phase
        if at is None:
            return found
        inputs = [*graph.inputs]
        node = inputs.pop(at)
        if phase is None:
            inputs.insert(len(self.places), node)
        return Pure(Graph(inputs, graph.outputs))


def _with_inputs(function: Function, more: Sequence[Node]) -> Function:
    """The function with further inputs."""
    if not more:
        return function
    fixed = dict(zip(function.constants.given, function.constants.values(), strict=True))
    return Function(
        [*function.inputs, *more],
        function.outputs,
        function.program.updates,
        fixed,
        name=function.name,
    )


def names_of(program: Stateless) -> list[str]:
    """Names of parameters and buffers, for variables and then for random streams: letters, digits
    and '_'; no attribute of a module is called so.
    """
    wishes = [*program.names, *[KEY] * len(program.sources)]
    taken = (*dir(FunctionModule), *FunctionModule.__annotations__, *vars(_EMPTY))
    return distinct(map(identifier, wishes), taken)


def hold(module: torch.nn.Module, program: Stateless, names: Sequence[str]) -> None:
    """Give a module the variables, those of floats that aren't updated as parameters, others as
    buffers; and the states of random streams, as buffers.
    """
    for i, (name, value) in enumerate(zip(names, program.values, strict=False)):
        tensor = shared(value)
        if tensor.is_floating_point() and i not in program.updated:
            module.register_parameter(name, torch.nn.Parameter(tensor))
        else:
            module.register_buffer(name, tensor)
    for name, key in zip(names[len(program.variables) :], program.keys, strict=True):
        module.register_buffer(name, torch.from_numpy(key.astype(np.int64)))


_EMPTY = torch.nn.Module()


class FunctionModule(torch.nn.Module):
    """What `kameleon.to_torch` gives; see there.

    Attributes:
        names: by name of a parameter or a buffer, the name of K's variable.
    """

    names: dict[str, str]
    _plan: Plan

    def __init__(self, function: Any):
        super().__init__()
        self._plan = plan = Plan(function)
        self.names = dict(zip(plan.names, (p.name for p in plan.states), strict=False))
        hold(self, plan.stateless, plan.names)
        self.train(plan.starts_with)

    def extra_repr(self) -> str:
        """See `torch.nn.Module`."""
        inputs = ", ".join(p.name for p in self._plan.places)
        return f"{self._plan.name}, inputs: {inputs}" if inputs else self._plan.name

    def forward(self, *inputs: Any) -> Any:
        """The outputs, in the function's structure.

        Raises:
            FeedError: another number of inputs than the function has, or one that doesn't fit.
            DTypeError: a parameter or buffer has another dtype than the graph was built for.
            ShapeError: it has another shape; or a new value has, and nothing has changed.
            EvaluationError: a node can't be computed.
        """
        try:
            return self._computed(inputs)
        except Exception as error:
            if not torch.compiler.is_compiling():
                hide(error)
            raise

    def _computed(self, inputs: Sequence[Any]) -> Any:
        plan = self._plan
        variables = len(plan.states)
        held = [getattr(self, name) for name in plan.names]
        for place, value in zip(plan.states, held, strict=False):
            if value.dtype is not place.dtype or not place.type.accepts(value.shape):
                _refuse_state(place, value)
        given, phase = self._split(inputs)
        device = held[0].device if held else _device_of(given)
        tensors = [_fed(p, x, device) for p, x in zip(plan.places, given, strict=True)]
        key: bool | None = None
        if plan.depends:
            if isinstance(phase, Tensor) and is_followed([phase]):
                tensors.append(phase.to(torch.int32))
            else:
                key = bool(phase)
        states = held[:variables]
        if plan.new and _is_recorded([*tensors, *states]):  # gradients need the values from before
            before = _before if _is_compiled() else Tensor.clone
            states = [before(x) if c else x for x, c in zip(states, plan.copied, strict=True)]
        keys = [x.to(torch.uint32) for x in held[variables:]]
        results = plan.calls[key](*tensors, *states, *keys)
        self._update(results[plan.outputs :], held[variables:])
        return plan.rebuilt(results[: plan.outputs])

    def _split(self, inputs: Sequence[Any]) -> tuple[list[Any], Any]:
        """The inputs without the learning phase, and that."""
        plan, given = self._plan, list(inputs)
        wanted, phase = len(plan.places), self.training
        if plan.phase is not None and len(given) == wanted + 1:
            phase = given.pop(plan.phase)
        elif plan.phase is not None and plan.phase < wanted:
            wanted = -1
        if len(given) != wanted:
            _refuse_number(plan, inputs)
        return given, self.training if phase is None else phase

    def _update(self, values: Sequence[Tensor], keys: Sequence[Tensor]) -> None:
        """Write new values into buffers, once all fit; let random streams go on."""
        targets = [(getattr(self, name), values[i]) for name, i in self._plan.new]
        for target, value in targets:
            if target.shape != value.shape:
                _refuse_new(target, value)
        for target, value in targets:
            target.copy_(value.detach())
        for key in keys:
            key[1].add_(1)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Move or convert; the graph's dtypes stay.

        Raises:
            DTypeError: a parameter or buffer would get another dtype; nothing has changed.
        """
        for dtype in {x.dtype for x in chain(self.parameters(), self.buffers())}:
            found = fn(torch.empty(0, dtype=dtype))
            if found.dtype is not dtype:
                raise DTypeError(
                    f"{self._plan.name}: its graph was built for {_word(dtype)}, and can't become"
                    f" {_word(found.dtype)}: build it again, after"
                    f" K.set_floatx('{_word(found.dtype)}') or with dtype='{_word(found.dtype)}'"
                )
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]


# Refusals and conversions -----------------------------------------------------------------------


def _word(dtype: torch.dtype) -> str:
    return str(dtype)[6:]


def _refuse_state(place: Place, value: Tensor) -> None:
    if value.dtype is not place.dtype:
        raise DTypeError(
            f"variable '{place.name}' is {_word(place.dtype)} in the graph, and"
            f" {_word(value.dtype)} in the module: build the graph with"
            f" dtype='{_word(value.dtype)}', or convert it back"
        )
    raise ShapeError(
        f"variable '{place.name}' has shape {place.type.shape}, the module's {tuple(value.shape)}"
    )


def _refuse_new(target: Tensor, value: Tensor) -> None:
    raise ShapeError(
        f"a new value has shape {tuple(value.shape)}, its variable {tuple(target.shape)}"
    )


def _refuse_number(plan: Plan, inputs: Sequence[Any]) -> None:
    names = ", ".join(f"'{x.name}'" for x in plan.stateless.inputs[: len(plan.places) + 1])
    raise FeedError(f"{plan.name} takes values for {names or 'nothing'}, {len(inputs)} were given")


def _device_of(given: Sequence[Any]) -> torch.device:
    return next((x.device for x in given if isinstance(x, Tensor)), torch.device("cpu"))


@torch.library.custom_op("kameleon::before", mutates_args=())
def _before(x: Tensor) -> Tensor:
    """A copy that compilers don't make anew in the backward pass: x has changed by then.

    PyTorch 2.13 saves x itself for `x.clone()`, if that's cheaper, even where x is written to.
    """
    return x.clone()


_before.register_fake(torch.empty_like)
_before.register_autograd(lambda ctx, g: g)


def _is_compiled() -> bool:
    return torch.compiler.is_compiling() and not torch.compiler.is_exporting()


def _is_recorded(tensors: Sequence[Tensor]) -> bool:
    if torch._C._are_functorch_transforms_active():
        return True
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)


def _fed(place: Place, value: Any, device: torch.device) -> Tensor:
    """A value for an input as a tensor of its dtype on the module's device.

    Raises:
        FeedError: its sizes differ, its numbers would change, or it's on another device.
    """
    if not isinstance(value, Tensor):
        return shared(place.convert(value, embedded())).to(device)
    if value.dtype is not place.dtype:
        value = _cast(place, value)
    if not place.type.accepts(value.shape):
        raise FeedError(
            f"input '{place.name}' has shape {place.type.shape}, the value given for it"
            f" {tuple(value.shape)}"
        )
    if value.device != device and value.dim():
        raise FeedError(
            f"the value for input '{place.name}' is on {value.device}, the module on {device}:"
            f" hand it over as value.to('{device}')"
        )
    found: Tensor = value.to(device)
    return found


def _cast(place: Place, value: Tensor) -> Tensor:
    """A tensor in the dtype of an input: floats may be rounded, others stay what they are."""
    found = value.to(place.dtype)
    if place.dtype.is_floating_point and not value.dtype.is_complex:
        return found
    kept = torch.can_cast(value.dtype, place.dtype) and (
        is_followed([value]) or torch.equal(found.to(value.dtype), value)
    )
    if not kept:
        raise FeedError(
            f"input '{place.name}' is {_word(place.dtype)}; values of dtype {_word(value.dtype)}"
            " would be changed; cast them"
        )
    return found
