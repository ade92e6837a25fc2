"""What functions take of an operation: their parameters say it, by names, kinds and annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, repeat
from types import FunctionType
from typing import Any

from ..dtypes import name_of
from .values import array, data_in, integer, integers, size_in, sizes_in, tensor, text, texts

Change = Callable[[Any], Any]

# By annotation, what a value comes as; what has another annotation is handed on as it is.
OF_VALUES: dict[str, Change] = {
    "Node": tensor,
    "Array": array,
    "int": integer,
    "list[int]": integers,
    "Size": size_in,
    "list[Size]": sizes_in,
    "str": text,
    "bytes": data_in,
    "Texts": texts,
}
# The same of values that are arrays anyway.
OF_ARRAYS = {kind: change for kind, change in OF_VALUES.items() if kind not in ("Node", "Array")}
OF_ATTRIBUTES: dict[str, Change] = {"str": bytes.decode, "Kind": name_of}


def adapted(
    function: Callable[..., Any], leading: tuple[str, ...], changes: Mapping[str, Change],
    reads: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A function of `(*leading, *values)`, of which the last that leads is the operation.

    The one that is given takes of what leads what it has parameters for, by name; the values as
    `changes` says for their annotations; and by keywords the operation's attributes of these names.

    Args:
        reads: the first that leads tells the values of variables, where a value is changed.
    """
    count = len(leading)
    is_ours = isinstance(function, FunctionType)  # not NumPy's, nor a primitive
    own = inspect.signature(function).parameters.values() if is_ours else ()
    taken = [leading.index(each.name) for each in own if each.name in leading]
    of_values = [changes.get(each.annotation) for each in own if _is_value(each, leading)]
    rest = [changes.get(each.annotation) for each in own if each.kind is each.VAR_POSITIONAL]
    attributes = {
        each.name: OF_ATTRIBUTES.get(each.annotation, _same)
        for each in own
        if each.kind is each.KEYWORD_ONLY
    }
    is_changing, of_rest = any([*of_values, *rest]), rest[0] if rest else None
    if not is_changing and not attributes and len(taken) in (0, count):
        return function if taken else lambda *given: function(*given[count:])

    def bind(operation: Any) -> Callable[..., Any]:
        options = {name: operation.attribute(name) for name in attributes}
        for name, value in options.items():
            if value is not None:
                options[name] = attributes[name](value)
        of_it = partial(function, **options) if options else function

        def call(*given: Any) -> Any:
            return of_it(*[given[at] for at in taken], *given[count:])

        def call_changed(*given: Any) -> Any:
            read = given[0].value if reads else _same
            pairs = zip(given[count:], chain(of_values, repeat(of_rest)), strict=False)
            values = [change(read(value)) if change else value for value, change in pairs]
            return of_it(*[given[at] for at in taken], *values)

        return call_changed if is_changing else call

    def call(*given: Any) -> Any:
        return bind(given[count - 1])(*given)

    call.bind = bind  # type: ignore[attr-defined]
    return call


def bound(function: Callable[..., Any], operation: Any) -> Callable[..., Any]:
    """The same function, for one operation: its attributes are asked for once."""
    bind = getattr(function, "bind", None)
    return function if bind is None else bind(operation)


def _is_value(each: inspect.Parameter, leading: tuple[str, ...]) -> bool:
    return each.kind is each.POSITIONAL_OR_KEYWORD and each.name not in leading


def _same(value: Any) -> Any:
    return value
