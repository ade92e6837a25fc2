"""Whose defaults `tf.keras` has: those of TensorFlow 1.15, or of 2.x."""

from __future__ import annotations

import os
from typing import TypeVar

from kameleon import config

T = TypeVar("T")


def is_second() -> bool:
    """Whether the program was written for TensorFlow 2."""
    return os.environ.get(config.TF_KERAS, "").strip() == "2"


def of_version(first: T, second: T) -> T:
    """The value of TensorFlow 1.15, or that of 2.x."""
    return second if is_second() else first
