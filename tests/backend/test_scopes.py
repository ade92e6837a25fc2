"""The blocks of `K.name_scope`, `K.control_dependencies` and `K.using_engine`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError
from kameleon.graph.ir.context import context
from kameleon.runtime import engines


def named(name: str) -> Any:
    return K.name_scope(name)


def entered_by_hand(name: str) -> None:
    scope = named(name)
    assert scope.__enter__() == context.scope == f"{name}/"
    assert not scope.__exit__(None, None, None)


def entered_by_a_stack(name: str) -> None:
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(named(name)) == context.scope == f"{name}/"
        stack.enter_context(named("inner"))
        assert context.scope == f"{name}/inner/"


def entered_as_a_decorator(name: str) -> None:
    @K.name_scope(name)
    def function(x: str) -> str:
        """Documented."""
        return context.scope + x

    assert [function("x"), function(x="y")] == [f"{name}/x", f"{name}/y"]
    assert function.__doc__ == "Documented."


def entered_where_it_was_not_made(name: str) -> None:
    scope = named(name)
    with named("outer"), scope as given:
        assert given == context.scope == f"outer/{name}/"


def left_by_a_return(name: str) -> None:
    def function() -> str:
        with named(name):
            return context.scope

    assert function() == f"{name}/"


def left_in_another_order(name: str) -> None:
    def generator() -> Iterator[str]:
        with named(name) as scope:
            yield scope

    steps = generator()
    assert next(steps) == f"{name}/"
    with named("b"):
        assert context.scope == f"{name}/b/"
    steps.close()


@pytest.mark.parametrize("enter", [
    entered_by_hand, entered_by_a_stack, entered_as_a_decorator, entered_where_it_was_not_made,
    left_by_a_return, left_in_another_order,
])  # fmt: skip
def test_ways_to_enter_and_to_leave(enter: Callable[[str], None]) -> None:
    enter("a")
    assert context.scope == ""


def test_exceptions_pass_and_the_former_value_is_back() -> None:
    v, before = K.variable(1.0), engines.current()
    for scope in (
        K.name_scope("a"), K.control_dependencies([K.update(v, v + 1.0)]), K.using_engine("numpy"),
    ):  # fmt: skip
        with pytest.raises(ZeroDivisionError), scope:
            raise ZeroDivisionError
        assert (context.scope, context.control, engines.current()) == ("", (), before)


def test_what_cannot_be_entered_changes_nothing() -> None:
    with pytest.raises(ArgumentError, match="control_dependencies"):
        K.control_dependencies([object()]).__enter__()
    assert context.control == ()


def test_a_scope_is_entered_once() -> None:
    scope = K.name_scope("a")
    with scope:
        pass
    with pytest.raises(ArgumentError, match="once"), scope:
        pass
    assert context.scope == ""


def test_a_task_goes_on_in_the_scope_in_which_it_was_made() -> None:
    async def task() -> str:
        await asyncio.sleep(0)
        with K.name_scope("own"):
            return context.scope

    async def main() -> list[str]:
        with K.name_scope("a"):
            first = asyncio.create_task(task())
        return [await first, context.scope]

    assert asyncio.run(main()) == ["a/own/", ""]
