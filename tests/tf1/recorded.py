"""What TensorFlow 1.15 returned, and what is returned here: `recorded/README.md` says how it was
recorded."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kameleon import backend as K
from kameleon.tf1.modules import module

FOLDER = Path(__file__).parents[1] / "recorded" / "tf1"
SCRIPT = runpy.run_path(str(FOLDER / "record.py"))
GIVEN: dict[str, np.ndarray] = SCRIPT["given"]()
SUBJECTS = sorted(path.stem for path in FOLDER.glob("*.npz"))
EXACT = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-6}


class Case(NamedTuple):
    """An expression, the static shapes of its results, and their values and gradients."""

    expression: str
    shapes: list[list[int | None] | None]
    values: dict[str, np.ndarray]


def read(subject: str) -> tuple[list[Case], list[tuple[str, str]]]:
    """The cases of a subject, and its expressions that raise, each with the class."""
    with np.load(FOLDER / f"{subject}.npz") as file:
        arrays = dict(file)
    index = json.loads(str(arrays.pop("index")))

    def unpacked(kind: str, shape: Sequence[int], start: int) -> np.ndarray:
        return arrays[kind][start : start + int(np.prod(shape))].reshape(shape)

    cases = [
        Case(text, shapes, {key: unpacked(*place) for key, place in row.items()})
        for text, shapes, row in index["cases"]
    ]
    return cases, [(text, error) for text, error in index["errors"]]


def placeholders(known: bool = False) -> dict[str, Any]:
    """An input for each array; the first sizes of all are unknown, or all sizes known."""
    return {
        name: K.placeholder(x.shape if known else (None, *x.shape[1:]), dtype=x.dtype.name)
        for name, x in GIVEN.items()
    }


def evaluated(expression: str, tensors: dict[str, Any]) -> Any:
    """What an expression over the tensors gives."""
    return eval(expression, {**tensors, "tf": K.tf, "np": np, "inside": inside})


def inside(name: str) -> Any:
    """A module inside of TensorFlow, as programs import it."""
    return module(f"tensorflow.python.{name}")


class Built(NamedTuple):
    """The tensors of a case by their keys in the record."""

    case: Case
    tensors: dict[str, Any]


def build(case: Case, tensors: dict[str, Any]) -> Built:
    """The graph of a case."""
    results = SCRIPT["flat"](evaluated(case.expression, tensors))
    results = [y if K.is_tensor(y) else K.tf.convert_to_tensor(y) for y in results]
    found = {str(i): y for i, y in enumerate(results)}
    slopes = [key for key in case.values if key in tensors]
    if slopes:
        floats = [y for y in results if y.dtype.is_float]
        total = sum(
            (K.sum(K.sin(K.cast(y, "float64"))) for y in floats), K.constant(0.0, "float64")
        )
        gradients = K.gradients(total, [tensors[key] for key in slopes])
        found |= dict(zip(slopes, gradients, strict=True))
    return Built(case, found)


def complaints(built: Built, values: dict[str, np.ndarray]) -> Iterable[str]:
    """What differs from the record."""
    case = built.case
    yield from shape_complaints(case, built.tensors)
    for key, want in case.values.items():
        got = values.get(key)
        if got is None:
            yield f"{case.expression}: {key}: nothing"
        elif (got.dtype, got.shape) != (want.dtype, want.shape):
            yield f"{case.expression}: {key}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        else:
            near = EXACT.get(want.dtype.name, 0.0)
            if not np.allclose(got, want, rtol=near, atol=near / 10, equal_nan=True):
                yield f"{case.expression}: {key}: {got.ravel()[:6]}, not {want.ravel()[:6]}"


def shape_complaints(case: Case, tensors: dict[str, Any]) -> Iterable[str]:
    """Sizes that were known to TensorFlow are known here, and those known here are right."""
    for i, shape in enumerate(case.shapes):
        want = case.values[str(i)].shape
        got = K.int_shape(tensors[str(i)])
        known = [None] * len(want) if shape is None else shape
        for mine, theirs, true in zip(got, known, want, strict=True):
            if (mine is None and theirs is not None) or mine not in (None, true):
                yield f"{case.expression}: result {i}: static shape {got}, not {shape}"
                break


def evaluate(cases: Sequence[Built], tensors: dict[str, Any]) -> list[dict[str, np.ndarray]]:
    """The values of several cases, by one function."""
    wanted = [(i, key, y) for i, built in enumerate(cases) for key, y in built.tensors.items()]
    there = [(i, key, y) for i, key, y in wanted if y is not None]
    values = K.function(list(tensors.values()), [y for *_, y in there])(list(GIVEN.values()))
    found: list[dict[str, np.ndarray]] = [{} for _ in cases]
    for (i, key, _), value in zip(there, values, strict=True):
        found[i][key] = value
    return found
