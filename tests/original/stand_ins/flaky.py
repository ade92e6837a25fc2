"""The decorator of the package `flaky`, as far as the tests use it.

It's a module of its own, so that processes that a test starts find it, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def flaky(**_: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a test that fails be tried a second time."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def twice(*args: Any, **kwargs: Any) -> None:
            try:
                test(*args, **kwargs)
            except (AssertionError, StopIteration):
                test(*args, **kwargs)

        return twice

    return decorate
