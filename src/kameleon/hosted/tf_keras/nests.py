"""Layers and tensors in lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from keras.engine.base_layer import Layer


def leaves(nest: Any) -> Iterator[Any]:
    """What is in a nest of lists, tuples and dicts."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        for part in nest:
            yield from leaves(part)
    else:
        yield nest


def layers_in(nest: Any) -> list[Any]:
    """The layers in a nest."""
    return [each for each in leaves(nest) if isinstance(each, Layer)]


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """The nest, with a function applied to what is in it."""
    if isinstance(nest, dict):
        return {key: mapped(function, part) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped(function, part) for part in nest)
    return function(nest)
