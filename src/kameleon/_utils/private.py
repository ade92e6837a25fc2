"""Private interfaces of libraries: each is tried out before it's relied on.

What a library doesn't promise may change with its next version, and not all changes raise: some
would give wrong numbers. So a private interface is used only where a check finds that it behaves
as expected, and where the public way costs too much; else the public way is taken, with the same
results. The interfaces are listed in `docs/engines.md`.
"""

from __future__ import annotations

from collections.abc import Callable


class Private:
    """A private interface of a library, and whether it behaves as expected.

    Attributes:
        library: the library that has the interface.
        name: what documentation calls the interface.
    """

    def __init__(self, library: str, name: str, check: Callable[[], bool]):
        """
        Args:
            library: the library that has the interface.
            name: what documentation calls the interface.
            check: tries the interface out; gives False, or raises, where it behaves otherwise.
        """
        self.library, self.name = library, name
        self._check = check
        self._holds: bool | None = None
        ALL.append(self)

    def __repr__(self) -> str:
        return f"<private interface of {self.library}: {self.name}>"

    @property
    def holds(self) -> bool:
        """Whether the interface may be used; it's tried out when this is first asked."""
        if self._holds is None:
            self._holds = False  # if the check itself asks, it takes the public way
            try:
                self._holds = bool(self._check())
            except Exception:  # a changed interface may fail in any way
                self._holds = False
        return self._holds


# Python's own, and those of the engines that are loaded.
ALL: list[Private] = []
