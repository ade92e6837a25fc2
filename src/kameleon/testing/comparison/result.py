"""What a comparison found, in numbers and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.tables import Part, Shown, Table
from ...engines._kernels.quiet import quiet

Array = Any

# By dtype, how far two engines may be apart, relative to the largest magnitude of the tensor.
TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
# The absolute tolerance, as a part of the relative one: for tensors of numbers near zero.
ABSOLUTE = 1e-3


@dataclass(frozen=True)
class Difference:
    """How far two values of one tensor are apart.

    Attributes:
        name: what the tensor is: 'output 0', say.
        dtype: its element type; integers and bools must be equal.
        absolute: the largest difference of two elements; infinite where one is NaN or infinite
            and the other isn't the same, or where shapes or dtypes differ.
        scale: the largest finite magnitude in the reference.
        only_nan: whether each element of the reference is NaN: then agreement says little.
    """

    name: str
    dtype: str
    absolute: float
    scale: float
    only_nan: bool = False

    @property
    def relative(self) -> float:
        """The largest difference in units of the largest magnitude."""
        if self.absolute == 0:
            return 0.0
        return self.absolute / self.scale if self.scale else np.inf

    def within(self, rtol: float | None = None, atol: float | None = None) -> bool:
        """Whether the difference is at most `atol` + `rtol` times the largest magnitude."""
        if self.dtype not in TOLERANCES:
            return self.absolute == 0
        rtol = TOLERANCES[self.dtype] if rtol is None else rtol
        atol = rtol * ABSOLUTE if atol is None else atol
        return self.absolute <= atol + rtol * self.scale


def difference(name: str, got: Array, want: Array) -> Difference:
    """How far `got` is from the reference's `want`."""
    a, b = np.asarray(got), np.asarray(want)
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(name, str(b.dtype), np.inf, 0.0)
    numbers = np.abs(b.astype("float64"))
    scale = np.max(numbers[np.isfinite(numbers)], initial=0.0)
    apart = np.max(_apart(a, b), initial=0.0)
    only_nan = bool(b.size) and bool(np.isnan(numbers).all())
    return Difference(name, str(b.dtype), float(apart), float(scale), only_nan)


def _apart(got: Array, want: Array) -> Array:
    """The magnitudes of the differences of elements, as float64; NaN equals NaN."""
    exact = np.asarray(got), np.asarray(want)
    a, b = (x.astype("float64") for x in exact)
    apart = _distance(a, b)
    apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
    apart = np.where(np.isnan(apart), np.inf, apart)
    if exact[0].dtype.kind in "iu":  # large integers that differ may be equal as floats
        apart = np.maximum(apart, exact[0] != exact[1])
    return apart


_distance = quiet(lambda a, b: np.abs(a - b))
_range = quiet(lambda numbers: (numbers.min(), numbers.mean(), numbers.max()))


@dataclass(frozen=True)
class FirstDifference:
    """The first node of the graph whose value differs, though the values of its operands agree.

    Attributes:
        primitive: the primitive's name.
        operands: the operands' types.
        type: the type of the node's value.
        name: the tensor's name.
        source: the line that made the node.
        values: two lines about the node's value: on the reference, and on the other engine.
        alone: whether the node differs even if given the very same operands; else it makes small
            differences of its operands a large one.
    """

    primitive: str
    operands: tuple[str, ...]
    type: str
    name: str
    source: str
    values: tuple[str, str]
    alone: bool

    def __str__(self) -> str:
        how = "" if self.alone else "\n  it makes small differences of its operands large ones"
        call = f"{self.primitive}({', '.join(self.operands)}) -> {self.type}"
        lines = "\n  ".join(self.values)
        return f"{call}, '{self.name}'\n  which was made at {self.source}\n  {lines}{how}"


@dataclass
class EngineRun:
    """What running the problem on one engine gave.

    Attributes:
        engine: the engine's name.
        values: the results; None where the engine failed.
        first_call, warm_call: seconds of a call with compilation, and of one without.
        error: what was raised, as text; None, if nothing was.
        differences: from the reference, one for each result.
        first_difference: the first node that differs from the reference, if one does.
    """

    engine: str
    values: list[Array] | None = None
    first_call: float = np.nan
    warm_call: float = np.nan
    error: str | None = None
    differences: list[Difference] = field(default_factory=list)
    first_difference: FirstDifference | None = None

    @property
    def only_nan(self) -> bool:
        """Whether all that the engine was compared with is NaN."""
        return bool(self.differences) and all(d.only_nan for d in self.differences)

    @property
    def worst(self) -> Difference | None:
        """The largest relative difference; one beyond its tolerance goes before all within."""
        if not self.differences:
            return None
        return max(self.differences, key=lambda d: (not d.within(), d.relative))

    def agrees(self, rtol: float | None = None, atol: float | None = None) -> bool:
        """Whether the engine ran, and is within these tolerances of the reference."""
        return self.error is None and all(d.within(rtol, atol) for d in self.differences)


@dataclass
class Comparison(Shown):
    """What `compare` found. It prints as a table, also in a notebook, with the nodes where engines
    begin to differ.

    Attributes:
        reference: the name of the engine that the others are compared with.
        names: of the results: outputs, new values of variables, gradients.
        runs: by name of an engine, what running on it gave.
    """

    reference: str
    names: list[str]
    runs: dict[str, EngineRun]

    def agree(self, rtol: float | None = None, atol: float | None = None) -> bool:
        """Whether all engines ran and give the same, within tolerances.

        Args:
            rtol: how far apart floats may be, as a part of the largest magnitude of their
                tensor; by dtype, if None: 1e-9 for float64, 1e-4 for float32, 1e-2 for float16,
                5e-2 for bfloat16.
            atol: an absolute difference that is allowed in addition; a thousandth of rtol, if None.
        """
        return all(run.agrees(rtol, atol) for run in self.runs.values())

    @property
    def only_nan(self) -> list[str]:
        """The names of results that are NaN in each element: agreement on these says little."""
        found = (d.name for run in self.runs.values() for d in run.differences if d.only_nan)
        return list(dict.fromkeys(found))

    def _parts(self) -> list[Part]:
        return [self._title(), Table(self._rows()), *self._details()]

    def _title(self) -> str:
        count = len(self.names)
        return f"{count} result{'s' * (count != 1)} compared with {self.reference}"

    def _rows(self) -> list[Sequence[str]]:
        head = ("engine", "agrees", "difference", "relative", "of", "first call", "warm call")
        return [head, *(self._row(run) for run in self.runs.values())]

    def _row(self, run: EngineRun) -> Sequence[str]:
        if run.error is not None:
            return (run.engine, "failed", "", "", "", "", "")
        times = _seconds(run.first_call), _seconds(run.warm_call)
        if run.engine == self.reference or run.worst is None:
            return (run.engine, "", "", "", "", *times)
        worst = run.worst
        verdict = "NO" if not run.agrees() else "only NaN" if run.only_nan else "yes"
        return (
            run.engine, verdict, f"{worst.absolute:.1e}", f"{worst.relative:.1e}", worst.name,
            *times,
        )  # fmt: skip

    def _details(self) -> list[str]:
        lines = []
        if names := self.only_nan:
            lines.append(f"\n{', '.join(names)}: only NaN on {self.reference}, which says little")
        for run in self.runs.values():
            if run.error is not None:
                lines.append(f"\n{run.engine} failed: {run.error}")
            elif run.first_difference is not None:
                lines.append(
                    f"\n{run.engine} differs from {self.reference} at\n  {run.first_difference}"
                )
            elif not run.agrees():
                lines.append(
                    f"\n{run.engine} differs from {self.reference}, but no node alone does: the"
                    " cause is how they are compiled together"
                )
        return lines


def _seconds(value: float) -> str:
    """A time in a readable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def summary(engine: str, value: Array, at: tuple[int, ...]) -> str:
    """A line about a value: the element at `at`, where two values differ most, and the range."""
    array = np.asarray(value)
    if not array.size:
        return f"{engine}: shape {array.shape}"
    numbers = array.astype("float64")
    said = f"{engine}: {array[at]!s}"
    if array.ndim:
        low, mean, high = _range(numbers)
        said += f" at {list(at)}; from {low:.6g} to {high:.6g}, mean {mean:.6g}"
    return said


def worst_place(got: Array, want: Array) -> tuple[int, ...]:
    """The index of the element where two arrays of one shape differ most."""
    apart = _apart(got, want)
    if not apart.ndim or not apart.size:
        return ()
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(apart)), apart.shape))
