"""Reading checkpoints without a graph."""

from __future__ import annotations

import importlib
from typing import Any

from .. import checkpoints
from ..paths import path_of
from .exports import as_text, export


@export("CheckpointReader")
class CheckpointReader:
    """The tensors of a checkpoint, by name."""

    def __init__(self, prefix: str | bytes) -> None:
        self._checkpoint = checkpoints.opened(path_of(prefix))

    def debug_string(self) -> bytes:
        """The tensors, one in a line."""
        return checkpoints.described(self._checkpoint).encode()

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes."""
        checkpoint = self._checkpoint
        return {name: list(checkpoint.entry(name).shape) for name in checkpoint.names()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The types."""
        dtypes: Any = importlib.import_module("tensorflow_core.python.framework.dtypes")
        checkpoint = self._checkpoint
        return {name: dtypes.DType(checkpoint.entry(name).dtype) for name in checkpoint.names()}

    def has_tensor(self, name: str | bytes) -> bool:
        """Whether a tensor is there."""
        return as_text(name) in self._checkpoint

    def get_tensor(self, name: str | bytes) -> Any:
        """The values of a tensor."""
        found = checkpoints.tensor(self._checkpoint, as_text(name))
        return found if found.ndim else found[()]


export("NewCheckpointReader")(CheckpointReader)
