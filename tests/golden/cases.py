"""The golden cases as typed records, read from `cases.jsonl` and `arrays.npz`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent

Array = NDArray[Any]
Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class Input:
    """A name that the call sees, and how its array gets there."""

    name: str
    array: str
    bind: str
    placeholder_shape: Shape


@dataclass(frozen=True)
class Leaf:
    """One recorded value: of a tensor, an array or a Python object."""

    kind: str
    array: str | None
    value: Any
    static_shape: Shape | None
    weight: str | None

    @property
    def is_tensor(self) -> bool:
        """Whether the original returned a tensor (dense or sparse)."""
        return self.kind.endswith("tensor")


@dataclass(frozen=True)
class Case:
    """One call, and what the original made of that call."""

    id: str
    function: str
    steps: tuple[str, ...]
    call: str
    inputs: tuple[Input, ...]
    learning_phase: int | None
    structure: str
    leaves: tuple[Leaf, ...]
    gradients: dict[str, str | None]
    random: dict[str, Any] | None
    raises: str | None
    raised_by: str | None
    is_open: bool


@cache
def load_cases() -> tuple[Case, ...]:
    """All cases, in the order of the file."""
    lines = (FOLDER / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_case(json.loads(line)) for line in lines)


def load_array(name: str) -> Array:
    """A fresh copy of a recorded array, so that no case can change another's."""
    return _arrays()[name].copy()


@cache
def _arrays() -> dict[str, Array]:
    with np.load(FOLDER / "arrays.npz") as file:
        return {name: file[name] for name in file.files}


def _case(record: dict[str, Any]) -> Case:
    return Case(
        id=record["id"],
        function=record["function"],
        steps=tuple(record.get("steps") or ()),
        call=record["call"],
        inputs=tuple(_input(n, record["inputs"][n]) for n in sorted(record["inputs"])),
        learning_phase=record.get("learning_phase"),
        structure=re.sub(r"\b(list|tuple)\(", "sequence(", record.get("structure", "")),
        leaves=_leaves(record),
        gradients=record.get("grads") or {},
        random=record.get("random"),
        raises=record["raises"],
        raised_by=record.get("raised_by"),
        is_open=bool(record.get("open")),
    )


def _input(name: str, record: dict[str, Any]) -> Input:
    shape = record.get("placeholder_shape") or record["shape"]
    return Input(name, record["array"], record["bind"], tuple(shape))


def _leaves(record: dict[str, Any]) -> tuple[Leaf, ...]:
    weights = record.get("grad_weights") or [None] * len(record["kinds"])
    columns = (record[k] for k in ("kinds", "outputs", "values", "int_shape"))
    return tuple(
        Leaf(kind, array, value, None if shape is None else tuple(shape), weight)
        for kind, array, value, shape, weight in zip(*columns, weights, strict=True)
    )
