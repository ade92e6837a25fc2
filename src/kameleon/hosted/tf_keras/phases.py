"""Blocks in which models are in training, or aren't."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keras import backend as K

from ...ir.node import Node
from ...runtime.workspace import workspace


@contextmanager
def in_phase(training: Any) -> Iterator[None]:
    """A block in which the learning phase is that of the argument.

    Args:
        training: a bool or 0 or 1; a tensor is taken for the open phase.
    """
    if training is None or isinstance(training, Node):
        yield
        return
    before = K.learning_phase()
    K.set_learning_phase(int(bool(training)))
    try:
        yield
    finally:
        workspace.learning_phase = before
