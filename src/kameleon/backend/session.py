"""The session: unique ids, the learning phase, name scopes, running tensors by hand."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from .._utils.scopes import Scope
from .._utils.tracebacks import boundary
from ..errors import ArgumentError
from ..graph.ir.context import context, unique_name
from ..graph.ir.leaves import INPUT
from ..graph.ir.node import Effect, Print, Tensor, Update
from ..graph.ir.program import carried_updates
from ..graph.ir.types import INT32, TensorType
from ..runtime import engines
from ..runtime.workspace import clear, workspace
from .sparse_tensor import SparseTensor

__all__ = [
    "get_uid",
    "reset_uids",
    "clear_session",
    "manual_variable_initialization",
    "learning_phase",
    "set_learning_phase",
    "get_session",
    "set_session",
    "Session",
    "name_scope",
    "control_dependencies",
]


def get_uid(prefix: str = "") -> int:
    """The next number of a series: 1, 2, 3 … for each prefix.

    Args:
        prefix: names the series.

    >>> from kameleon import backend as K
    >>> K.reset_uids()
    >>> K.get_uid('dense'), K.get_uid('dense'), K.get_uid('conv')
    (1, 2, 1)
    """
    return workspace.uid(prefix)


def reset_uids() -> None:
    """Let all series of `get_uid` begin anew.

    >>> from kameleon import backend as K
    >>> K.reset_uids()
    >>> K.get_uid('a')
    1
    """
    workspace.uids.clear()


def clear_session() -> None:
    """Forget names, ids, the learning phase and all compiled code of the session.

    Tensors, variables and functions that the program still holds go on working; what nobody
    holds any more is freed.

    >>> from kameleon import backend as K
    >>> K.clear_session()
    >>> K.placeholder((2,)).name
    'Placeholder:0'
    """
    clear()
    engines.release()


def manual_variable_initialization(value: bool) -> None:
    """Kept for programs that call it: here a variable always has its initial value.

    Args:
        value: whether the program initialises its variables itself; makes no difference.

    >>> from kameleon import backend as K
    >>> K.manual_variable_initialization(False)
    """


# Learning phase ----------------------------------------------------------------------------


def learning_phase() -> Tensor | int:
    """The flag that tells training (1) from testing (0).

    Returns:
        The int that was set, or a scalar tensor that is an input like any other and is 0 where
        nobody gives it a value.

    >>> from kameleon import backend as K
    >>> f = K.function([K.learning_phase()], [K.in_train_phase(K.constant(1.), K.constant(2.))])
    >>> float(f([0])[0]), float(f([1])[0])
    (2.0, 1.0)
    """
    if workspace.learning_phase is None:
        phase = Tensor(INPUT, (), {}, TensorType((), INT32), unique_name("keras_learning_phase"))
        phase.default = 0
        phase.is_phase = True
        phase.effects = ()
        workspace.learning_phase = phase
    return workspace.learning_phase


def set_learning_phase(value: int) -> None:
    """Fix the learning phase for what is built from here on.

    Args:
        value: 0 (test) or 1 (train).

    Raises:
        ValueError: the value is neither.

    >>> from kameleon import backend as K
    >>> K.set_learning_phase(1)
    >>> K.learning_phase()
    1
    >>> K.clear_session()
    """
    if value not in (0, 1):
        raise ArgumentError(f"set_learning_phase: value must be 0 or 1, got {value!r}")
    workspace.learning_phase = int(value)


# Sessions ----------------------------------------------------------------------------------


class Session:
    """Runs tensors by hand, as programs of the Keras 2 days do.

    >>> from kameleon import backend as K
    >>> with K.get_session() as session:
    ...     float(session.run(K.constant(2.) * 3.))
    6.0
    """

    @boundary
    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """The values of `fetches` (a tensor, update, or list, tuple or dict of them).

        Args:
            fetches: what to compute; updates are performed.
            feed_dict: values for placeholders, or for any other tensors.

        >>> from kameleon import backend as K
        >>> x = K.placeholder((2,))
        >>> K.get_session().run(x * 2., {x: [1., 2.]})
        array([2., 4.], dtype=float32)
        """
        from .functions import run_fetches

        return run_fetches(fetches, dict(feed_dict or {}))

    def close(self) -> None:
        """There's nothing to close."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    @property
    def graph(self) -> Session:
        """The session itself, for programs that call `session.graph.as_default()`."""
        return self

    def as_default(self) -> Session:
        """A context manager that changes nothing: there's one session."""
        return self


_session = [Session()]


def get_session() -> Session:
    """The object whose `run(fetches, feed_dict)` evaluates tensors.

    >>> from kameleon import backend as K
    >>> float(K.get_session().run(K.constant(2.) + 1.))
    3.0
    """
    return _session[0]


def set_session(session: Session) -> None:
    """Make another object the session that `get_session` returns.

    Args:
        session: anything with a method `run(fetches, feed_dict)`. A session of TensorFlow's
            changes nothing but gives a warning.

    >>> from kameleon import backend as K
    >>> K.set_session(K.get_session())
    """
    if not callable(getattr(session, "run", None)):
        raise ArgumentError(f"set_session needs an object with a method run, got {session!r}")
    if type(session).__module__.partition(".")[0] == "tensorflow":
        warnings.warn(
            "set_session: a session of TensorFlow can't run Kameleon's tensors, so get_session"
            " goes on to give Kameleon's; options such as allow_growth have no effect",
            stacklevel=2,
        )
        return
    _session[0] = session


# Scopes ------------------------------------------------------------------------------------


def name_scope(name: str) -> Scope[str]:
    """Prefix the names of what is made inside; scopes nest.

    Args:
        name: the prefix, without the slash.

    Returns:
        A context manager; `as` gives the whole scope, such as 'model/dense/'.

    >>> from kameleon import backend as K
    >>> with K.name_scope('outer'):
    ...     K.variable(1., name='w').name
    'outer/w:0'
    """
    return context.within("scope", lambda outer: f"{outer}{name}/" if name else "", gives=True)


def control_dependencies(control_inputs: Sequence[Any]) -> Scope[tuple[Effect, ...]]:
    """Nodes made inside run after these updates, and read the variables' new values.

    Args:
        control_inputs: updates (or pairs of a variable and its new value); of another tensor, the
            updates that computing it performs, and what it prints (`K.print_tensor`).

    Returns:
        A context manager.

    >>> from kameleon import backend as K
    >>> v = K.variable(1.)
    >>> with K.control_dependencies([K.update(v, v + 1.)]):
    ...     after = K.identity(v)
    >>> float(K.eval(after)), float(K.get_value(v))
    (2.0, 2.0)
    """

    def joined(outer: tuple[Effect, ...]) -> tuple[Effect, ...]:
        new = [e for item in control_inputs for e in _effects_in(item)]
        replaced = {u.variable for u in new if isinstance(u, Update)}
        kept = (e for e in outer if not (isinstance(e, Update) and e.variable in replaced))
        return (*kept, *new)

    return context.within("control", joined)


def _effects_in(item: Any) -> Sequence[Effect]:
    from .updates import is_pair, new_value, update

    if isinstance(item, Update):
        return (item,)
    if is_pair(item):
        return (update(item[0], new_value(*item)),)
    if isinstance(item, Tensor):
        prints = dict[Print, None]()
        return (*carried_updates([item], prints=prints), *prints)
    if isinstance(item, SparseTensor) or item is None:
        return ()
    raise ArgumentError(f"control_dependencies: expected updates or tensors, got {item!r}")
