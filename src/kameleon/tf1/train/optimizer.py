"""The base of all optimizers of `tf.train`: what a subclass gives, and what programs call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node, Update, Variable
from ..graph import GraphKeys, get_collection_ref, get_default_graph, name_scope
from ..operations import Operation
from ..variables import made, trainable_variables
from .slots import create_slot, create_zeros_slot, plain_name


class Optimizer:
    """Changes variables so that a loss gets smaller.

    A subclass makes its slots in `_create_slots`, tensors of its rates in `_prepare`, and the
    update of a variable in `_apply_dense`; `_finish` may add what comes after all updates.

    Args:
        use_locking: has no effect; an operation's updates happen at one moment.
        name: the names of its slots end so.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: Any, name: str):
        if not name:
            raise ArgumentError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._others: dict[tuple[str, Any], Any] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    # What programs call -----------------------------------------------------------------------

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of one step: gradients, and their application."""
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in pairs):
            names = [str(variable) for _, variable in pairs]
            raise ArgumentError(
                "No gradients provided for any variable, check your graph for ops that do not"
                f" support gradients, between variables {names} and loss {loss!r}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of a gradient, or None, and its variable.

        Args:
            loss: a tensor, or a function that gives one.
            var_list: variables; all trainable ones by default.
            grad_loss: the gradient of what's minimised with respect to `loss`.
        """
        loss = as_tensor(loss() if callable(loss) else loss, "Optimizer")
        variables = _flat(trainable_variables() if var_list is None else var_list)
        if not variables:
            raise ArgumentError("No variables to optimize.")
        for variable in variables:
            if not isinstance(variable, Node):
                raise TypeError(f"Argument is not a tf.Variable: {variable!r}")
        if grad_loss is not None:
            loss = K.sum(loss * K.stop_gradient(as_tensor(grad_loss, "grad_loss")))
        return list(zip(K.gradients(loss, variables), variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None
    ) -> Any:
        """The operation that changes variables by gradients, and adds 1 to `global_step`."""
        pairs = [(g, v) for g, v in grads_and_vars]
        if not pairs:
            raise ArgumentError("No variables provided.")
        known = [(_dense(g, v), v) for g, v in pairs if g is not None]
        if not known:
            names = [str(v) for _, v in pairs]
            raise ArgumentError(f"No gradients provided for any variable: {names}.")
        self._create_slots([v for _, v in known])
        with name_scope(name or self._name) as scope:
            self._prepare()
            updates = [self._constrained(self._applied(g, v), v) for g, v in known]
            applied = self._finish(updates, scope.rstrip("/"))
            if global_step is not None:
                step = K.update_add(global_step, as_tensor(1, "global_step", global_step.dtype))
                applied = Operation(scope.rstrip("/"), [applied, step])
        get_collection_ref(GraphKeys.TRAIN_OP).append(applied)
        return applied

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable; None where there's none."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """The names of the slots of each variable."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables, by name."""
        slots = [v for named in self._slots.values() for v in named.values()]
        return sorted([*self._others.values(), *slots], key=lambda v: str(v.name))

    # What subclasses give ---------------------------------------------------------------------

    def _create_slots(self, var_list: list[Any]) -> None:
        """Make what accompanies variables."""

    def _prepare(self) -> None:
        """Make tensors that all updates share."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """The update of a variable: an operation, or the result of an assignment."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """The same, for programs that give that one."""
        raise NotImplementedError

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """The operation of the whole step."""
        return Operation(name_scope, update_ops)

    # What subclasses use ------------------------------------------------------------------------

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        sizes = [int(size) for size in shape]
        make = lambda: create_slot(var, initializer(sizes, dtype), op_name)  # noqa: E731
        return self._slot(var, slot_name, make)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _slot(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        slots = self._slot_dict(slot_name)
        if var not in slots:
            slots[var] = make()
        return slots[var]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        key = (name, get_default_graph())
        if key not in self._others:
            self._others[key] = made(initial_value, False, name=name)
        return self._others[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._others.get((name, graph or get_default_graph()))

    def _non_slot_variables(self) -> list[Any]:
        return list(self._others.values())

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    # Application --------------------------------------------------------------------------------

    def _applied(self, grad: Any, var: Any) -> Any:
        """By the one of the two methods that the most special class gives."""
        for kind in type(self).__mro__:
            for name in ("_apply_dense", "_resource_apply_dense"):
                if name in vars(kind):
                    return getattr(self, name)(grad, var)
        raise NotImplementedError

    def _constrained(self, applied: Any, var: Any) -> Any:
        constraint = getattr(var, "constraint", None)
        return applied if constraint is None else with_value(applied, var, constraint)


def with_value(applied: Any, var: Any, change: Callable[[Any], Any]) -> Operation:
    """An operation, with another new value of a variable: what `change` makes of its own."""
    needed = applied.needed if isinstance(applied, Operation) else [applied]
    return Operation(
        f"{plain_name(var)}/Assign",
        [
            K.update(var, change(x.value)) if isinstance(x, Update) and x.variable is var else x
            for x in needed
        ],
    )


def _flat(variables: Any) -> list[Any]:
    """Variables in nests of lists and dicts."""
    if isinstance(variables, dict):
        return [v for key in sorted(variables) for v in _flat(variables[key])]
    if isinstance(variables, (list, tuple, set)):
        return [v for item in variables for v in _flat(item)]
    return [variables]


def _dense(gradient: Any, variable: Any) -> Any:
    if not isinstance(variable, Variable):
        raise NotImplementedError(f"Trying to update a Tensor {variable!r}; expected a variable")
    values = getattr(gradient, "values", None)
    if values is not None and hasattr(gradient, "indices"):  # rows of a gradient
        from ...prims.indexing import scatter_add
        from ...prims.sizes import size_of

        return scatter_add(values, gradient.indices, size_of(variable, 0), 0)
    return as_tensor(gradient, "apply_gradients", variable.dtype)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"train.Optimizer": Optimizer}
