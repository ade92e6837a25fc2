"""What asyncio had and did until Python 3.9."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from functools import wraps
from typing import Any

from ..functions import Around, Function, around, renamed
from ..stand_in import Old, Table, constant


def coroutine(func: Function) -> Function:
    """The decorator of generators, and functions, that are coroutines."""
    generator: Any = types.coroutine(func) if inspect.isgeneratorfunction(func) else None

    @wraps(func)
    async def call(*args: Any, **options: Any) -> Any:
        if generator is not None:
            return await generator(*args, **options)
        found = func(*args, **options)
        return await found if inspect.isawaitable(found) else found

    return call


def _without_loop(name: str) -> Around:
    """A function or class whose argument `loop` said which loop is running."""
    return renamed(f"asyncio.{name}", loop=None)


@around
def _get_event_loop(_: Function) -> Any:
    """The loop that is running, or set; else a new one, which is set."""
    asyncio = _asyncio()
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        policy = asyncio.get_event_loop_policy()
    held = getattr(getattr(policy, "_local", None), "_loop", None)
    if held is not None:
        return held
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop


@around
async def _wait(wait: Function, fs: Any, **options: Any) -> Any:
    """`asyncio.wait`, of coroutines, too."""
    return await wait([_asyncio().ensure_future(f) for f in fs], **options)


FUNCTIONS = "sleep gather wait_for shield as_completed".split()
CLASSES = "Event Lock Condition Semaphore BoundedSemaphore Queue LifoQueue PriorityQueue".split()

TABLES: Mapping[str, Table] = {
    "asyncio": Table(
        {
            "coroutine": constant("async def", coroutine),
            "async": Old("asyncio.ensure_future", lambda asyncio: asyncio.ensure_future),
        },
        {
            **{name: _without_loop(name) for name in FUNCTIONS},
            "wait": lambda wait: _wait(_without_loop("wait")(wait)),
            "get_event_loop": _get_event_loop,
        },
        members={
            "Task": {
                "all_tasks": Old("asyncio.all_tasks", lambda _: _asyncio().all_tasks),
                "current_task": Old("asyncio.current_task", lambda _: _asyncio().current_task),
            }
        },
        called={name: _without_loop(name) for name in CLASSES},
    ),
}


def _asyncio() -> Any:
    import asyncio

    return asyncio
