"""Private interfaces of libraries: each is tried out before it's relied on.

What a library doesn't promise may change with its next version, and not all changes raise: some
would give wrong numbers. So such an interface is used only where it behaves as it's known to, and
where the public way costs too much; else the public way is taken, with the same results. They
are listed in `docs/engines.md`.
"""

from __future__ import annotations

from collections.abc import Callable


class Private:
    """A private interface of a library, and whether it behaves as it's known to.

    Attributes:
        library: whose it is.
        name: what documentation calls it.
    """

    def __init__(self, library: str, name: str, check: Callable[[], bool]):
        """
        Args:
            library: whose it is.
            name: what it is.
            check: tries it out; it's false, or fails, where the interface is another one.
        """
        self.library, self.name = library, name
        self._check = check
        self._holds: bool | None = None
        ALL.append(self)

    def __repr__(self) -> str:
        return f"<private interface of {self.library}: {self.name}>"

    @property
    def holds(self) -> bool:
        """Whether it may be used; it's tried out when that is first asked."""
        if self._holds is None:
            self._holds = False  # what checking itself asks for takes the public way
            try:
                self._holds = bool(self._check())
            except Exception:  # in whatever way it's another one
                self._holds = False
        return self._holds


# Those of the engines that are loaded.
ALL: list[Private] = []
