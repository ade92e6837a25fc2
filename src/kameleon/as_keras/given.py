"""What this process has been given for `keras`."""

from __future__ import annotations


class Given:
    """What this process has been given for `keras`."""

    def __init__(self) -> None:
        self.original = False  # or what Kameleon has of its own
        self.folder: str | None = None  # where it is, if it had to be put on the path
        self.aliased = False  # whether tensorflow.keras is the same


given = Given()


def hosts_original() -> bool:
    """Whether `import keras` gives the original; else it gives what Kameleon has of its own."""
    return given.original


def folder() -> str | None:
    """The folder of the original that was put on the path; None if there was no need."""
    return given.folder
