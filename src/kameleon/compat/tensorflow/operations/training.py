"""Steps of optimizers: what becomes of a variable and of what is kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.indexing import gather

from ..failures import invalid
from ..graph import Operation, shape_text
from ..lowering import Lowering
from ..shapes.state import RESOURCE, steps
from .demands.table import on
from .elementwise import larger, zero
from .scattering import put
from .state import given_back
from .table import effect
from .values import tensor

Rule = Callable[[Any], dict[str, Node]]  # of the step's inputs, by name; gives new values


def _rule(name: str) -> Callable[[Rule], Rule]:
    """Decorates an optimizer's step."""
    types = steps(name)
    on(types)(_demand_alike)

    def add(rule: Rule) -> Rule:
        @effect(types)
        def step(lowering: Lowering, operation: Operation, *given: Any) -> Any:
            arguments = operation.definition.input_arg
            parts = _named(operation, given)
            kept = [each.name for each in arguments if each.is_ref or each.type == RESOURCE]
            values = {name: tensor(lowering.value(value)) for name, value in parts.items()}
            rows = values.get("indices")
            old = {name: values[name] for name in kept}
            if rows is not None:
                values.update({name: gather(value, rows, 0) for name, value in old.items()})
            options = {each: operation.attribute(each) for each in ("use_nesterov", "update_slots")}
            for name, value in rule(SimpleNamespace(**values, **options)).items():
                whole = value if rows is None else put(old[name], rows, value)
                lowering.assign(parts[name], whole)
            return given_back(operation, parts["var"])

        return rule

    return add


def _named(operation: Operation, given: Sequence[Any]) -> dict[str, Any]:
    """What a step takes, by the names of its definition."""
    return dict(zip((each.name for each in operation.definition.input_arg), given, strict=True))


def _demand_alike(operation: Operation, *given: Any) -> None:
    """A gradient must be of the variable's shape; one for some rows, but for their number."""
    parts = _named(operation, given)
    name = "grad" if "grad" in parts else "delta"
    whole, slope = parts["var"].shape, parts[name].shape
    if "indices" not in parts:
        if whole != slope:
            shapes = f"{shape_text(whole)} {shape_text(slope)}"
            raise invalid(f"var and {name} do not have the same shape{shapes}")
    elif slope[:1] != parts["indices"].shape:
        raise invalid("grad must be the same size as indices in the first dimension.")
    else:
        for axis, (a, b) in enumerate(zip(whole, slope, strict=False)):
            if axis and a != b:
                raise invalid(f"var and grad must match in dimension {axis}")


def _shrunk(x: Node, by: Node) -> Node:
    """Nearer to zero, not beyond."""
    left = E.abs(x) - by
    return E.sign(x) * E.select(E.gt(left, zero(left)), left, zero(left))


def _moving(old: Node, new: Node, weight: Node) -> Node:
    return old + (new - old) * (1 - weight)


_rule("GradientDescent")(lambda s: {"var": s.var - s.alpha * s.delta})


@_rule("ProximalGradientDescent")
def _proximal(s: Any) -> dict[str, Node]:
    moved = s.var - s.alpha * getattr(s, "delta", getattr(s, "grad", None))
    return {"var": _shrunk(moved, s.alpha * s.l1) / (1 + s.l2 * s.alpha)}


@_rule("Momentum")
def _momentum(s: Any) -> dict[str, Node]:
    kept = s.accum * s.momentum + s.grad
    moved = s.grad * s.lr + kept * s.momentum * s.lr if s.use_nesterov else kept * s.lr
    return {"accum": kept, "var": s.var - moved}


@_rule("KerasMomentum")
def _keras_momentum(s: Any) -> dict[str, Node]:
    kept = s.accum * s.momentum - s.grad * s.lr
    return {
        "accum": kept,
        "var": s.var + (kept * s.momentum - s.grad * s.lr if s.use_nesterov else kept),
    }


def _adagrad(s: Any, root: Callable[[Node], Node]) -> dict[str, Node]:
    kept = s.accum if s.update_slots is False else s.accum + s.grad * s.grad
    return {"accum": kept, "var": s.var - s.lr * s.grad / root(kept)}


_rule("Adagrad")(lambda s: _adagrad(s, E.sqrt))
_rule("AdagradV2")(lambda s: _adagrad(s, lambda kept: E.sqrt(kept) + s.epsilon))


@_rule("ProximalAdagrad")
def _proximal_adagrad(s: Any) -> dict[str, Node]:
    kept = s.accum + s.grad * s.grad
    rate = s.lr / E.sqrt(kept)
    moved = s.var - s.grad * rate
    return {"accum": kept, "var": _shrunk(moved, rate * s.l1) / (1 + s.l2 * rate)}


@_rule("AdagradDA")
def _dual(s: Any) -> dict[str, Node]:
    total = s.gradient_accumulator + s.grad
    squares = s.gradient_squared_accumulator + s.grad * s.grad
    count = E.cast(s.global_step, str(s.var.dtype))
    left = _shrunk(total, s.l1 * count)
    return {
        "gradient_accumulator": total,
        "gradient_squared_accumulator": squares,
        "var": -s.lr * left / (s.l2 * count * s.lr + E.sqrt(squares)),
    }


@_rule("Adadelta")
def _adadelta(s: Any) -> dict[str, Node]:
    squares = s.accum * s.rho + s.grad * s.grad * (1 - s.rho)
    moved = E.sqrt(s.accum_update + s.epsilon) / E.sqrt(squares + s.epsilon) * s.grad
    updates = s.accum_update * s.rho + moved * moved * (1 - s.rho)
    return {"accum": squares, "accum_update": updates, "var": s.var - moved * s.lr}


def _moments(s: Any) -> tuple[Node, Node, Node]:
    """The rate of a step, and what moves with the gradients and with their squares."""
    rate = s.lr * E.sqrt(1 - s.beta2_power) / (1 - s.beta1_power)
    return rate, _moving(s.m, s.grad, s.beta1), _moving(s.v, s.grad * s.grad, s.beta2)


@_rule("Adam")
def _adam(s: Any) -> dict[str, Node]:
    rate, first, second = _moments(s)
    ahead = s.grad * (1 - s.beta1) + s.beta1 * first if s.use_nesterov else first
    return {
        "m": first, "v": second, "var": s.var - ahead * rate / (E.sqrt(second) + s.epsilon),
    }  # fmt: skip


@_rule("AdamWithAmsgrad")
def _amsgrad(s: Any) -> dict[str, Node]:
    rate, first, second = _moments(s)
    most = larger(s.vhat, second)
    moved = first * rate / (E.sqrt(most) + s.epsilon)
    return {"m": first, "v": second, "vhat": most, "var": s.var - moved}


@_rule("AdaMax")
def _adamax(s: Any) -> dict[str, Node]:
    first = _moving(s.m, s.grad, s.beta1)
    most = larger(s.beta2 * s.v, E.abs(s.grad))
    moved = s.lr / (1 - s.beta1_power) * (first / (most + s.epsilon))
    return {"m": first, "v": most, "var": s.var - moved}


@_rule("RMSProp")
def _rmsprop(s: Any) -> dict[str, Node]:
    squares = _moving(s.ms, s.grad * s.grad, s.rho)
    moved = s.mom * s.momentum + s.grad * s.lr / E.sqrt(squares + s.epsilon)
    return {"ms": squares, "mom": moved, "var": s.var - moved}


@_rule("CenteredRMSProp")
def _centered(s: Any) -> dict[str, Node]:
    squares, mean = _moving(s.ms, s.grad * s.grad, s.rho), _moving(s.mg, s.grad, s.rho)
    moved = s.mom * s.momentum + s.grad * s.lr / E.sqrt(squares - mean * mean + s.epsilon)
    return {"ms": squares, "mg": mean, "mom": moved, "var": s.var - moved}


def _ftrl(s: Any, grad: Node) -> dict[str, Node]:
    total = s.accum + s.grad * s.grad
    root, before = E.pow(total, 0 * total - s.lr_power), E.pow(s.accum, 0 * total - s.lr_power)
    linear = s.linear + grad - (root - before) / s.lr * s.var
    weight = root / s.lr + 2 * s.l2
    return {"accum": total, "linear": linear, "var": -_shrunk(linear, s.l1) / weight}


_rule("Ftrl")(lambda s: _ftrl(s, s.grad))
_rule("FtrlV2")(lambda s: _ftrl(s, s.grad + 2 * s.l2_shrinkage * s.var))


def _by_signs(s: Any, scale: Callable[[Node], Node]) -> dict[str, Node]:
    mean = s.beta * s.m + (1 - s.beta) * s.grad
    agree = E.sign(s.grad) * E.sign(mean)
    return {"m": mean, "var": s.var - s.lr * scale(agree) * s.grad}


_rule("AddSign")(lambda s: _by_signs(s, lambda agree: s.alpha + s.sign_decay * agree))
_rule("PowerSign")(lambda s: _by_signs(s, lambda agree: E.exp(s.logbase * s.sign_decay * agree)))
