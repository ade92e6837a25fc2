"""`tf.Module`: objects that know the variables in their attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import ArgumentError
from ..ir.node import Variable
from .graph import name_scope
from .nests import flatten


class Module:
    """A base of classes: variables and other modules in attributes, and in nests there, are found.

    Args:
        name: an identifier, which names made in its scope begin with; by default the class's name
            in small letters.

    Raises:
        ArgumentError: (a ValueError) the name is no identifier.

    >>> class TwoLines(Module):
    ...     pass
    >>> TwoLines().name
    'two_lines'
    """

    # Attributes that aren't looked into.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"_name", "_scope_name"})

    def __init__(self, name: str | None = None) -> None:
        name = _small(type(self).__name__) if name is None else name
        if not name.isidentifier():
            raise ArgumentError(f"{name!r} is not a valid module name: it must be an identifier")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A block in which names begin with the module's."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables in it: its own, in the order of attributes' names, then its modules'."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of its variables that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in it, and those in them."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Module)))

    def _flatten(
        self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None
    ) -> Iterator[Any]:
        """What lies in attributes, each thing once."""
        seen, waiting = {id(self)}, [self]
        while waiting:
            module, inner = waiting.pop(0), []
            for key in sorted(vars(module)):
                if key in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                for leaf in flatten(vars(module)[key]):
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    if predicate is None or predicate(leaf):
                        yield leaf
                    if recursive and isinstance(leaf, Module):
                        inner.append(leaf)
            waiting[:0] = inner

    def _no_dependency(self, value: Any) -> Any:
        """The value itself: files hold variables by their names, not by attributes."""
        return value

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method: it runs in the module's scope of names."""

        @functools.wraps(method)
        def run(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return run


def _small(name: str) -> str:
    """The name of a class as names of variables are written.

    >>> _small("HTTPServer"), _small("DenseLayer2D")
    ('http_server', 'dense_layer2_d')
    """
    return re.sub("(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", name).lower()


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"Module": Module}
