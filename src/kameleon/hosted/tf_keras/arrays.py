"""Arrays of one axis as inputs and targets: where a model has one axis, too, none is added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.engine import training_utils

from ...backend import surface as K


def _standardizing(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def standardize_input_data(
        data: Any, names: Any, shapes: Any = None, *rest: Any, **kwargs: Any
    ) -> Any:
        single = [shape is not None and len(shape) == 1 for shape in shapes or []]
        if any(single):
            shapes = [(*s, 1) if one else s for s, one in zip(shapes, single, strict=True)]
        found = theirs(data, names, shapes, *rest, **kwargs)
        if not any(single):
            return found
        return [_squeezed(x) if one else x for x, one in zip(found, single, strict=True)]

    return standardize_input_data


def _squeezed(x: Any) -> Any:
    is_column = isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[1] == 1
    return x[:, 0] if is_column else x


def as_targets(arrays: Any, targets: Any) -> Any:
    """Arrays with as many axes as the targets that they're fed to."""
    if not isinstance(arrays, list) or len(arrays) != len(targets):
        return arrays
    return [_squeezed(x) if K.ndim(t) == 1 else x for x, t in zip(arrays, targets, strict=True)]


def install() -> None:
    """Let Keras take such arrays as they are. A second call does nothing."""
    theirs = training_utils.standardize_input_data
    if theirs.__module__ != __name__:
        training_utils.standardize_input_data = _standardizing(theirs)
