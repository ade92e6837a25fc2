"""`tf.make_template`: functions that share their variables between calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graph import GraphKeys, get_collection
from .scopes import VariableScope, variable_scope


class Template:
    """A function whose variables are made at the first call and shared by all others.

    Args:
        name: of the scope of its variables; made unique.
        func: builds its part of the graph.
        unique_name, custom_getter: what its scope is made with.
        bound: arguments that each call gets.
    """

    def __init__(
        self, name: str, func: Callable[..., Any], unique_name: str | None, custom_getter: Any,
        bound: dict[str, Any],
    ):  # fmt: skip
        self._name, self._func, self._bound = name, func, bound
        self._given, self._getter = unique_name, custom_getter
        self.variable_scope: VariableScope | None = None
        self._called = False

    func = property(lambda self: self._func)
    var_scope = property(lambda self: self.variable_scope)

    def enter(self) -> Any:
        """The scope of its variables, to be entered: a new one at first."""
        if self.variable_scope is None:
            return variable_scope(self._given, self._name, custom_getter=self._getter)
        return variable_scope(self.variable_scope, reuse=True if self._called else None)

    def __call__(self, *args: Any, **options: Any) -> Any:
        with self.enter() as scope:
            result = self._func(*args, **(self._bound | options))
        self.variable_scope = self.variable_scope or scope
        self._called = True
        return result

    @property
    def name(self) -> str:
        """That of its scope; the one that was given, as long as there's none."""
        return self._name if self.variable_scope is None else str(self.variable_scope.name)

    @property
    def variable_scope_name(self) -> str | None:
        """What the names of its variables begin with; None before the first call."""
        return None if self.variable_scope is None else f"{self.variable_scope.name}/"

    def _of(self, collection: str) -> list[Any]:
        scope = self.variable_scope_name
        return [] if scope is None else get_collection(collection, scope)

    @property
    def variables(self) -> list[Any]:
        """All of its variables."""
        return [*self.global_variables, *self.local_variables]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Its global variables that no optimizer moves."""
        trainable = set(map(id, self.trainable_variables))
        return [v for v in self.global_variables if id(v) not in trainable]

    trainable_variables = property(lambda self: self._of(GraphKeys.TRAINABLE_VARIABLES))
    global_variables = property(lambda self: self._of(GraphKeys.GLOBAL_VARIABLES))
    local_variables = property(lambda self: self._of(GraphKeys.LOCAL_VARIABLES))
    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
    unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any,
) -> Template:  # fmt: skip
    """A function whose variables are made at the first call and shared by all others."""
    template = Template(name_, func_, unique_name_, custom_getter_, kwargs)
    if create_scope_now_:
        with template.enter() as template.variable_scope:
            pass
    return template


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"make_template": make_template}
