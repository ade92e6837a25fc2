"""What TensorFlow's files ask of TensorRT, NVIDIA's library: it isn't there."""

from __future__ import annotations


def get_linked_tensorrt_version() -> tuple[int, int, int]:
    """Of the library that TensorFlow was built with."""
    return (0, 0, 0)


def get_loaded_tensorrt_version() -> tuple[int, int, int]:
    """Of the library that is loaded."""
    return (0, 0, 0)


def is_tensorrt_enabled() -> bool:
    """Whether TensorFlow was built with it."""
    return False
