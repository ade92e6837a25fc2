"""Arrays of a library over buffers that are used again, and taken back when nobody needs them.

References are counted, so a mistake can't do harm: what somebody else holds isn't taken. Where
counts of references don't tell who holds an array, nothing is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..._utils.private import Private
from .buffers import SMALLEST, Buffers


class Pool(Buffers):
    """The buffers of one library, shared by all programs and threads of the process.

    Attributes:
        counts: whether references tell who holds an array.
    """

    def __init__(
        self,
        library: tuple[str, str],
        sample: Callable[[], Any],
        owner: Callable[[Any], Any],
        size: Callable[[Any], int],
        is_own: Callable[[Any, Any], bool],
        holders: Sequence[Callable[[Any], Any]],
    ):
        """
        Args:
            library: whose reference counts these are, and what documentation calls them.
            sample: makes an array over a buffer of its own.
            owner: what holds the memory of an array.
            size: how many bytes an owner holds.
            is_own: whether an array and its owner came from here, and the library itself holds
                neither elsewhere.
            holders: each makes something that holds an array, or its memory, too.
        """
        super().__init__()
        self._sample, self._owner, self._size, self._is_own = sample, owner, size, is_own
        self._holders, self._kind = holders, type(sample())
        self.counts = Private(*library, self._counts_tell)
        array = sample()
        self._references = self._given(array)

    def give(self, array: Any) -> None:
        """Keep the memory of `array` for reuse, if the caller's variable is the only one left."""
        if type(array) is not self._kind or array.nbytes < SMALLEST or not self.counts.holds:
            return
        if self._is_alone(array):
            owner = self._owner(array)
            self.keep(self._size(owner), owner)

    def give_all(self, arrays: list[Any]) -> None:
        """`give` each array of a list that is the only one to hold them; the list is emptied."""
        while arrays:
            array = arrays.pop()
            self.give(array)

    # Counting references -----------------------------------------------------------------------

    def _is_alone(self, array: Any) -> bool:
        """Whether a caller's caller's variable is the only one to hold an array and its memory."""
        owner = self._owner(array)
        held, memory_held = self._references
        return (
            sys.getrefcount(array) <= held
            and sys.getrefcount(owner) <= memory_held
            and self._is_own(array, owner)
        )

    def _counted(self, array: Any) -> tuple[int, int]:
        """What `_is_alone` counts."""
        owner = self._owner(array)
        return sys.getrefcount(array), sys.getrefcount(owner)

    def _given(self, array: Any) -> tuple[int, int]:
        return self._counted(array)

    def _taken(self, array: Any) -> bool:
        return self._is_alone(array)

    def _counts_tell(self) -> bool:
        """Whether an array is known to be alone where it is, and only there."""

        def is_taken_beside(holder: Callable[[Any], Any]) -> bool:
            array = self._sample()
            held = holder(array)
            return self._taken(array) and held is not None

        return is_taken_beside(str) and not any(map(is_taken_beside, self._holders))
