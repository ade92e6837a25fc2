"""Arrays in ONNX models: each once, and in a file beside the model where they are large."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .onnx_names import rename

Array = np.ndarray[Any, Any]

# Protocol buffers hold less than 2 GiB: where a model's arrays are larger together, they lie in a
# file beside it.
LIMIT = (1 << 31) - (1 << 24)
SMALL = 1024  # arrays of fewer bytes stay in the model all the same
ALIGNED = 4096  # so that arrays can be mapped into memory


def merged(graph: onnx.GraphProto, large: Mapping[str, Array]) -> dict[str, Array]:
    """Large constants by name, each once: those of equal contents get one name."""
    kept: dict[Any, str] = {}
    same: dict[str, str] = {}
    for name, array in large.items():
        content = (array.dtype.name, array.shape, hashlib.sha256(array.data).digest())
        same[name] = kept.setdefault(content, name)
    del graph.input[len(graph.input) - len(large) :]
    rename(graph, same)
    return {name: large[name] for name in kept.values()}


def attach(
    graph: onnx.GraphProto,
    arrays: Mapping[str, Array],
    kept: set[str],
    path: str,
) -> None:
    """Make arrays initializers; inputs that aren't `kept` are given by these alone."""
    rest = [x for x in graph.input if x.name in kept or x.name not in arrays]
    del graph.input[:]
    graph.input.extend(rest)
    beside = sum(x.nbytes for x in arrays.values()) > LIMIT
    outside = {n: x for n, x in arrays.items() if beside and x.nbytes >= SMALL}
    inside = {n: x for n, x in arrays.items() if n not in outside}
    graph.initializer.extend(numpy_helper.from_array(x, n) for n, x in inside.items())
    if outside:
        graph.initializer.extend(_outside(outside, path))


def _outside(arrays: Mapping[str, Array], path: str) -> list[TensorProto]:
    """Write arrays to a file beside the model; its name tells its contents, so that a model never
    finds another one's arrays there.
    """
    places, digest, draft = [], hashlib.sha256(), f"{path}.data"
    with open(draft, "wb") as file:
        for array in arrays.values():
            file.seek(-(-file.tell() // ALIGNED) * ALIGNED)
            places.append(file.tell())
            data = np.ascontiguousarray(array).data
            digest.update(data)
            file.write(data)
    name = f"{os.path.basename(path)}.{digest.hexdigest()[:8]}.data"
    os.replace(draft, os.path.join(os.path.dirname(path), name))
    return [
        _reference(label, array, name, place)
        for (label, array), place in zip(arrays.items(), places, strict=True)
    ]


def _reference(name: str, array: Array, file: str, place: int) -> TensorProto:
    """A tensor whose data lie in another file."""
    proto = TensorProto(name=name, dims=array.shape)
    proto.data_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    proto.data_location = TensorProto.EXTERNAL
    for key, value in (("location", file), ("offset", place), ("length", array.nbytes)):
        proto.external_data.add(key=key, value=str(value))
    return proto
