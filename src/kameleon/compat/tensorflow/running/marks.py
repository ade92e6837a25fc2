"""What stands in the place of a value that there isn't."""

from __future__ import annotations

from typing import Final


class Mark:
    """What stands for a value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISSING: Final = Mark("MISSING")  # of what hasn't run
DEAD: Final = Mark("DEAD")  # flows along a branch that isn't taken
ABSENT: Final = Mark("ABSENT")  # of a branch that isn't taken, in a region
