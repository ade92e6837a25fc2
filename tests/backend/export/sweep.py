"""Which format, and which native object, holds which primitive: all cases through each of them.

    PYTHONPATH=src:tests python -m backend.export.sweep [--only onnx] [--match conv] [--write]

A case that is held must give what its oracle says; one that isn't must be refused by an error that
says why. What is refused is kept in `held.json` (`--write`), of which `docs/make.py` makes a table.
"""

from __future__ import annotations

import argparse
import atexit
import functools
import importlib
import json
import multiprocessing
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from kameleon import backend as K
from kameleon.backend.export.formats import FORMATS, Format
from kameleon.backend.interop.pure import Stateless
from kameleon.errors import KameleonError
from kameleon.testing import conformance_cases
from kameleon.testing.cases.case import Case

from .reading import LibraryError, Reader

Array = np.ndarray[Any, Any]
RECORD = Path(__file__).with_name("held.json")
# By column, and by primitive, why cases are refused: some or, with True, all.
Refused = dict[str, dict[str, tuple[bool, str]]]


class Column(NamedTuple):
    """Something that functions are made.

    Attributes:
        title: above the table's column.
        run: function, and values of its inputs -> values of its outputs.
        needs: modules that must be there.
        taken: a case as it's posed; None, where it isn't.
        exact: whether infinity is infinity, and digits are those of other columns.
        apart: the settings of the process that it needs, if it can't be this one.
    """

    title: str
    run: Callable[[Any, Sequence[Array]], Sequence[Any]]
    needs: Sequence[str]
    taken: Callable[[Case], Case | None] = lambda case: case
    exact: bool = True
    apart: Mapping[str, str] | None = None


# What runs a function ----------------------------------------------------------------------------


def through(row: Format) -> Callable[[Any, Sequence[Array]], Sequence[Any]]:
    """By files, read in one process: thousands of cases are too many for a process each."""
    read = Reader()

    def run(function: Any, operands: Sequence[Array]) -> Sequence[Any]:
        module = importlib.import_module(f"kameleon.backend.export.{row.module}")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"case{row.suffix}")
            module.write(Stateless(function, "export"), path)
            return read(module.RELOAD, path, operands)

    return run


def by_jax(function: Any, operands: Sequence[Array]) -> Sequence[Any]:
    from kameleon.backend.interop.jax import to_jax
    from kameleon.engines.jax.arrays import X64

    with X64(True):
        run, parameters = to_jax(function)
        outputs, _ = run(parameters, list(operands))
        return [np.asarray(x) for x in outputs]


def by_torch(function: Any, operands: Sequence[Array]) -> Sequence[Any]:
    from kameleon.backend.interop.torch import to_torch

    outputs = to_torch(function)(*operands)
    return [x.detach().numpy() for x in outputs]


def by_tensorflow(function: Any, operands: Sequence[Array]) -> Sequence[Any]:
    from kameleon.backend.interop.tensorflow import to_tensorflow

    return [x.numpy() for x in to_tensorflow(function)(*operands)]


def by_keras3(function: Any, operands: Sequence[Array]) -> Sequence[Any]:
    from kameleon.backend.interop.keras3 import to_keras3

    found = to_keras3(function)(list(operands))
    return [np.asarray(x) for x in (found if isinstance(found, list | tuple) else [found])]


# Of the process in which Keras runs on TensorFlow; the graphs there are for NumPy, as here.
KERAS_3 = {"KERAS_BACKEND": "tensorflow", "KAMELEON_ENGINE": "numpy", "TF_CPP_MIN_LOG_LEVEL": "3"}


@functools.cache
def process(*settings: tuple[str, str]) -> ProcessPoolExecutor:
    """A process with settings of its own: Keras 3 asks for its backend once."""
    with patch.dict(os.environ, settings):
        found = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        found.submit(int).result()  # it starts now
    atexit.register(found.shutdown)
    return found


def filled(case: Case) -> Case | None:
    """A case of which nothing is empty."""
    return case if all(x.size for x in (*case.operands, *case.expected())) else None


def plain(case: Case) -> Case | None:
    """The same with float32 in place of float64, and 3 of infinity, unless it's about that;
    of NaN, too, in maxima of windows.
    """
    if filled(case) is None:
        return None
    lost = np.isinf if case.primitive != "max_pool" else lambda x: ~np.isfinite(x)
    operands = [
        np.where(lost(x), np.copysign(3, x), x).astype(f"f{min(x.itemsize, 4)}")
        if x.dtype.kind == "f"
        else x
        for x in case.operands
    ]

    def oracle(*given: Array) -> tuple[Array, ...]:
        found = [np.asarray(x) for x in _several(case.oracle(*given))]
        return tuple(x.astype("float32") if x.dtype == "float64" else x for x in found)

    narrow = replace(case, operands=tuple(operands), oracle=oracle)
    try:
        results = narrow.results(narrow.inputs(known=True))
    except KameleonError:
        return case
    return case if any(y.dtype == "float64" for y in results) else narrow


# What the page on exporting says of a format.
TAKEN = {"litert": plain, "stablehlo": filled}
COLUMNS: dict[str, Column] = {
    row.name: Column(
        row.title,
        through(row),
        list(row.needs),
        TAKEN.get(row.name, lambda case: case),
        exact=row.name != "litert",
    )
    for row in FORMATS.values()
} | {
    "to_jax": Column("`to_jax`", by_jax, ["jax"]),
    "to_torch": Column("`to_torch`", by_torch, ["torch"]),
    "to_tensorflow": Column("`to_tensorflow`", by_tensorflow, ["tensorflow"]),
    "to_keras3": Column("`to_keras3`", by_keras3, ["keras", "tensorflow"], apart=KERAS_3),
}


def is_there(name: str) -> bool:
    """Whether a column can be swept here."""
    return all(find_spec(need) for need in COLUMNS[name].needs)


# The sweep ---------------------------------------------------------------------------------------


def check(column: Column, cases: Sequence[Case], known: bool) -> None:
    """Cases, as one function, against their oracles.

    Raises:
        KameleonError: they're refused.
        AssertionError: a number is wrong.
    """
    posed = [case.inputs(known) for case in cases]
    results = [case.results(inputs) for case, inputs in zip(cases, posed, strict=True)]
    function = K.function(
        [x for each in posed for x in each], [y for each in results for y in each]
    )
    operands = [np.asarray(x) for case in cases for x in case.operands]
    found = iter(column.run(function, operands))
    for case in cases:
        for expected in case.expected():
            _check_value(case, np.asarray(next(found)), expected, column.exact)


def _finite(*arrays: Array) -> list[Array]:
    """Arrays with the largest numbers in place of infinities."""
    return [
        np.clip(x, np.finfo(x.dtype).min, np.finfo(x.dtype).max) if x.dtype.kind == "f" else x
        for x in arrays
    ]


def _several(found: Any) -> Sequence[Any]:
    return found if isinstance(found, tuple) else (found,)


def _check_value(case: Case, got: Array, expected: Array, exact: bool) -> None:
    kinds = [(x.dtype.name, x.shape) for x in (got, expected)]
    assert kinds[0] == kinds[1], f"{case.id}: {kinds[0]}, not {kinds[1]}"
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, err_msg=case.id)
        return
    tolerance = case.units * float(np.finfo(expected.dtype).eps)
    if not exact:
        got, expected, tolerance = *_finite(got, expected), 4 * tolerance
    np.testing.assert_allclose(
        got.astype("float64"),
        expected.astype("float64"),
        rtol=tolerance,
        atol=min(tolerance, 1e-6),
        err_msg=case.id,
    )


def swept(name: str, primitive: str) -> tuple[bool, str] | None:
    """Whether all of a primitive's cases are refused, and why most of them; None where none is.

    Raises:
        AssertionError: a number is wrong; or an error says nothing to users.
    """
    settings = COLUMNS[name].apart
    if settings is None:
        return _swept(name, primitive)
    return process(*settings.items()).submit(_swept, name, primitive).result()


def _swept(name: str, primitive: str) -> tuple[bool, str] | None:
    column, refused, count = COLUMNS[name], list[str](), 0
    whole = [x for c in conformance_cases(primitive) if (x := column.taken(c)) is not None]
    for known in (True, False):
        cases = [c for c in whole if known or c.has_unknown]
        count += len(cases)
        try:
            if cases:
                check(column, cases, known)
        except Exception:
            refused += _refused(column, cases, known)
    return (len(refused) == count, Counter(refused).most_common(1)[0][0]) if refused else None


def _refused(column: Column, cases: Sequence[Case], known: bool) -> Iterator[str]:
    """Why cases are refused, each alone."""
    faults: list[str] = []
    for case in cases:
        try:
            check(column, [case], known)
        except KameleonError as error:
            yield _line(error).rpartition(": ")[2]
        except LibraryError as error:
            yield _line(error)
        except AssertionError as error:
            faults.append(str(error).strip())
        except Exception as error:
            faults.append(f"{case.id}: {type(error).__name__}: {error}")
    if faults:
        raise AssertionError("\n".join(faults))


def _line(error: Exception) -> str:
    """The first line of an error."""
    return str(error).strip().splitlines()[0]


def sweep(name: str, chosen: Iterable[str]) -> Iterator[tuple[str, tuple[bool, str] | None, str]]:
    """By primitive, what a column refuses of it, and its faults."""
    for primitive in chosen:
        try:
            yield primitive, swept(name, primitive), ""
        except AssertionError as error:
            yield primitive, None, str(error)


def primitives() -> list[str]:
    """The primitives that have cases, by name."""
    return sorted({case.primitive for case in conformance_cases()})


# The table ---------------------------------------------------------------------------------------


def recorded() -> Refused:
    """What was found before."""
    kept = json.loads(RECORD.read_text("utf-8"))
    return {
        name: {primitive: (bool(x[0]), str(x[1])) for primitive, x in rows.items()}
        for name, rows in kept.items()
    }


def write(name: str, found: Mapping[str, tuple[bool, str] | None]) -> None:
    """Keep what was found of primitives in a column; what wasn't swept stays as it is."""
    kept = recorded() if RECORD.exists() else {}
    rows = kept.get(name, {}) | found
    kept[name] = {primitive: answer for primitive, answer in rows.items() if answer is not None}
    RECORD.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


WORDS = {None: "yes", False: "in part", True: "no"}


def table() -> str:
    """The table for the documentation, of all columns that were swept."""
    found = recorded()
    names = [name for name in COLUMNS if name in found]
    lines = [["primitive", *(COLUMNS[name].title for name in names)], ["---"] * (len(names) + 1)]
    for primitive in primitives():
        cells = [found[name].get(primitive, (None,))[0] for name in names]
        lines.append([f"`{primitive}`", *(WORDS[cell] for cell in cells)])
    return _lines(lines)


def reasons() -> str:
    """Why a column doesn't hold some primitives, as a table for the documentation."""
    lines = [["", "primitives", "why"], ["---"] * 3]
    for name, rows in recorded().items():
        by_reason: dict[str, list[str]] = {}
        for primitive, (_, why) in rows.items():
            by_reason.setdefault(why.replace("|", "\\|"), []).append(f"`{primitive}`")
        title = COLUMNS[name].title
        lines += [[title, ", ".join(rest), why] for why, rest in by_reason.items()]
    return _lines(lines)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="columns, with commas between")
    parser.add_argument("--match", default="", help="a regular expression for primitives' names")
    parser.add_argument("--write", action="store_true", help="keep what is found")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else [name for name in COLUMNS if is_there(name)]
    chosen = [x for x in primitives() if re.search(given.match, x)]
    faulty = False
    for name in names:
        found = {}
        for primitive, answer, fault in sweep(name, chosen):
            print(name, primitive, *(answer or ()), fault, flush=True)
            faulty |= bool(fault)
            if not fault:
                found[primitive] = answer
        if given.write:
            write(name, found)
    sys.exit(faulty)


if __name__ == "__main__":
    main()
