"""What `import keras` gives in this process."""

from __future__ import annotations


class Given:
    """What `import keras` gives in this process."""

    def __init__(self) -> None:
        self.original = False  # whether it's the original; else Kameleon's own part of Keras
        self.folder: str | None = None  # the original's, if it had to be put on the path
        self.aliased = False  # whether tensorflow.keras gives the same, in an installed TensorFlow
        self.serves_tensorflow = False  # whether old code gets TensorFlow 1.15's files


given = Given()


def hosts_original() -> bool:
    """Whether `import keras` gives the original; else it gives Kameleon's own part of Keras."""
    return given.original


def folder() -> str | None:
    """The folder of the original that was put on the path; None if none had to be."""
    return given.folder
