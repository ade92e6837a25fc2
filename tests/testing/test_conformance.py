"""The conformance kit finds what is wrong with an engine, by the check that is there for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from example_engine.plain_engine import RULES, Interpreted, Plain, PlainEngine, Walk

from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.engines.numpy.engine import engine as numpy_engine
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType
from kameleon.testing import (
    CasesError,
    check_engine,
    conformance,
    conformance_cases,
    conformance_checks,
)
from kameleon.testing.contract import CONTRACT

# --- engines, each with one thing wrong ----------------------------------------------------------


class Keeps(PlainEngine):
    """Own arrays share memory with what they were made from."""

    def from_numpy(self, array: Any) -> Plain:
        return Plain(array)


class ReadOnly(PlainEngine):
    """What it hands out can't be written to."""

    def to_numpy(self, array: Plain, copy: bool = True) -> Any:
        result = np.array(array.array)
        result.flags.writeable = False
        return result


class Hands(PlainEngine):
    """It hands out its own memory, also where a copy was asked for."""

    def to_numpy(self, array: Plain, copy: bool = True) -> Any:
        return array.array


class Narrows(PlainEngine):
    """64 bits become 32."""

    def from_numpy(self, array: Any) -> Plain:
        narrow = {"float64": "float32", "int64": "int32"}.get(array.dtype.name, array.dtype)
        with np.errstate(all="ignore"):
            return Plain(array.astype(narrow))


class Claims(PlainEngine):
    """It takes numbers for arrays of its own."""

    def type_of(self, value: Any) -> TensorType | None:
        return TensorType((), "float64") if isinstance(value, float) else super().type_of(value)


class Trips(PlainEngine):
    """It trips over what isn't its own."""

    def type_of(self, value: Any) -> TensorType | None:
        return TensorType(value.array.shape, value.array.dtype.name)


class Adopts(PlainEngine):
    """What it adopts isn't what it was given."""

    def adopt(self, array: Any) -> Any:
        return Plain(array * 2) if isinstance(array, np.ndarray) else None


class Lingers(PlainEngine):
    """It doesn't empty the list of what is discarded."""

    def discard(self, arrays: list[Any]) -> None:
        pass


class Reuses(PlainEngine):
    """It writes to discarded memory, whoever holds it."""

    def discard(self, arrays: list[Any]) -> None:
        for x in arrays:
            x.array[...] = 0
        arrays.clear()


class Silent(PlainEngine):
    """It has nothing to run on."""

    def devices(self) -> Sequence[str]:
        return ()


class Counts(PlainEngine):
    """It compiles again at each call."""

    def compile(self, graph: Graph) -> Interpreted:
        class Again(Interpreted):
            def __call__(self, arguments: Sequence[Any]) -> list[Plain]:
                self.compilations += 1
                return super().__call__(arguments)

        return Again(graph, self.rules)


class Static(Counts):
    """It says that shapes are static, and compiles again also for those it knows."""

    static_shapes = True


def calling(call: Callable[[Graph, list[Any]], list[Any]]) -> PlainEngine:
    """The example engine, with another way to call: graph and NumPy arrays -> arrays."""

    class Calls(Interpreted):
        def __call__(self, arguments: Sequence[Any]) -> list[Plain]:
            values = [x.array if isinstance(x, Plain) else x for x in arguments]
            with np.errstate(all="ignore"):
                return [Plain(x) for x in call(self.graph, values)]

    class Engine(PlainEngine):
        def compile(self, graph: Graph) -> Interpreted:
            return Calls(graph, RULES)

    return Engine()


def walked(graph: Graph, values: list[Any]) -> list[Any]:
    return Walk(graph, [np.asarray(x) for x in values], RULES).run()


def shares(graph: Graph, values: list[Any]) -> list[Any]:
    """Results may be arguments, or views of them."""
    return walked(graph, values)


def overwrites(graph: Graph, values: list[Any]) -> list[Any]:
    """The first argument is used as a buffer."""
    results = [np.array(x) for x in walked(graph, values)]
    if values and values[0].flags.writeable:
        values[0][...] = 0
    return results


def copies_once(graph: Graph, values: list[Any]) -> list[Any]:
    """Equal results are one array."""
    copies: dict[int, Any] = {}
    return [copies.setdefault(id(n), np.array(x)) for n, x in
            zip(graph.outputs, walked(graph, values), strict=True)]  # fmt: skip


def assumes_order(graph: Graph, values: list[Any]) -> list[Any]:
    """Memory is read as if it were contiguous."""
    plain = [x if x.base is None else x.base.ravel()[: x.size].reshape(x.shape) for x in values]
    return [np.array(x) for x in walked(graph, plain)]


_buffer: dict[int, list[Any]] = {}


def shares_a_buffer(graph: Graph, values: list[Any]) -> list[Any]:
    """Calls keep their arguments where others' calls find them."""
    _buffer[id(graph)] = values
    if threading.active_count() > 1:
        time.sleep(0.001)
    return [np.array(x) for x in walked(graph, _buffer[id(graph)])]


def insists(graph: Graph, values: list[Any]) -> list[Any]:
    """A graph without outputs is none."""
    return list(np.stack(walked(graph, values)))


def with_rules(**rules: Any) -> PlainEngine:
    """The example engine with other rules, or without some."""
    engine = PlainEngine()
    engine.name = f"plain with {', '.join(rules)}"  # compiled code is kept by name
    engine.rules = {name: rule for name, rule in {**RULES, **rules}.items() if rule is not None}
    return engine


class Stretching(PlainEngine):
    """Sizes that differ are stretched, as NumPy does."""

    def compile(self, graph: Graph) -> Interpreted:
        class Loose(Walk):
            def agree(self, node: Any, sizes: list[Any]) -> None:
                pass

        return calling(
            lambda graph, values: [
                np.array(x) for x in Loose(graph, list(map(np.asarray, values)), RULES).run()
            ]
        ).compile(graph)


class Short(PlainEngine):
    """Its short way stretches sizes that differ."""

    def compile(self, graph: Graph) -> Interpreted:
        executable = super().compile(graph)
        executable.fast_path = lambda a, b: [a + b, a.copy(), b.copy(), b.copy()]
        return executable


def negative(walk: Any, node: Any, x: Any, index: Any) -> Any:
    """Indices below zero count from the end."""
    return np.take(x, index, node.attrs["axis"])


def by_accident(walk: Any, node: Any, x: Any, index: Any) -> Any:
    """What is out of range is nothing, which has no items."""
    inside = (index >= 0).all() and (index < x.shape[node.attrs["axis"]]).all()
    return (np.take(x, index, node.attrs["axis"]) if inside else None)[...]  # type: ignore[index]


def silently(walk: Any, node: Any, x: Any, holds: Any) -> Any:
    """A check that doesn't say what it checked."""
    if not holds.all():
        raise ValueError("no")
    return x


def declining(**reasons: str) -> PlainEngine:
    engine = PlainEngine()
    engine.declined = reasons
    return engine


# Engines, and the check that must find what is wrong.
WRONG: list[tuple[str, PlainEngine | NumpyEngine, str]] = [
    ("keeps", Keeps(), "arrays-are-private"),
    ("read-only", ReadOnly(), "arrays-make-the-round-trip"),
    ("hands", Hands(), "arrays-are-private"),
    ("narrows", Narrows(), "arrays-make-the-round-trip"),
    ("claims", Claims(), "other-values-are-no-arrays"),
    ("trips", Trips(), "other-values-are-no-arrays"),
    ("adopts", Adopts(), "adopted-arrays-have-the-values"),
    ("lingers", Lingers(), "discarded-values-may-be-held"),
    ("reuses", Reuses(), "discarded-values-may-be-held"),
    ("assumes-order", calling(assumes_order), "arguments-of-any-layout"),
    ("overwrites", calling(overwrites), "arguments-are-left-alone"),
    ("shares", calling(shares), "results-are-fresh"),
    ("copies-once", calling(copies_once), "results-are-fresh"),
    ("insists", calling(insists), "graphs-at-the-edge"),
    ("counts", Counts(), "one-code-for-all-sizes"),
    ("static", Static(), "one-code-for-all-sizes"),
    ("shares-a-buffer", calling(shares_a_buffer), "calls-from-several-threads"),
    ("short", Short(), "the-short-way"),
    ("negative", with_rules(gather=negative), "wrong-indices-are-errors"),
    ("by-accident", with_rules(gather=by_accident), "wrong-indices-are-errors"),
    ("silently", with_rules(check=silently), "checks-are-errors"),
    ("stretching", Stretching(), "sizes-that-differ-are-errors"),
    ("unchecked", with_rules(check=lambda walk, node, x, holds: x), "checks-are-errors"),
    ("lacks-a-rule", with_rules(cumsum=None), "the-table-is-complete"),
    ("misspells", with_rules(cumsun=RULES["cumsum"]), "the-table-is-complete"),
    ("no-reason", declining(ctc_greedy="", ctc_beam_search="why"), "the-table-is-complete"),
    ("declines-composites", declining(softmax="why"), "the-table-is-complete"),
    ("silent", Silent(), "it-says-what-it-is"),
]


# Breaches at which the check itself breaks, and with what.
FOUND = {"trips": AttributeError, "insists": ValueError}


@pytest.mark.parametrize(("name", "engine", "check"), WRONG, ids=[w[0] for w in WRONG])
def test_each_breach_of_the_contract_is_found(name: str, engine: Any, check: str) -> None:
    with pytest.raises(FOUND.get(name, AssertionError)):
        CONTRACT[check](engine)
    CONTRACT[check](PlainEngine())


def test_every_check_finds_something() -> None:
    assert {check for _, _, check in WRONG} == set(CONTRACT)


# --- the rest of the kit -------------------------------------------------------------------------


def half(name: str) -> Callable[..., Any]:
    """The rule of a primitive, where half of what it gives is wrong."""
    return lambda walk, node, *xs: RULES[name](walk, node, *xs) * 2


@pytest.mark.parametrize(
    ("rule", "match", "finds"),
    [
        ("tanh", "tanh", {"values-tanh-static", "values-tanh-unknown"}),
        ("mul", "gradient-tanh", {"gradient-tanh-static"}),
        ("linear_scan", "linear_scan", {"values-linear_scan-static"}),
        # Composites are expanded: whoever needs the wrong rule fails, too.
        ("exp", "softplus", {"values-softplus-static", "expansion-softplus-unknown"}),
    ],
)
def test_wrong_rules_are_found(rule: str, match: str, finds: set[str]) -> None:
    right = check_engine(PlainEngine(), match=match)
    assert right.ok and finds <= set(right.passed), right
    report = check_engine(with_rules(**{rule: half(rule)}), match=match)
    assert finds <= set(report.failures), report
    assert not report.ok


def test_a_wrong_expansion_is_found() -> None:
    report = check_engine(with_rules(exp=half("exp")), match="expansion-softplus")
    assert report.failures and not report.passed


def test_the_failing_cases_are_named() -> None:
    def wrong(walk: Any, node: Any, x: Any) -> Any:
        return np.floor(x) + (x.dtype == "float32")

    report = check_engine(with_rules(floor=wrong), match="values-floor-static")
    (error,) = report.failures.values()
    assert isinstance(error, CasesError)
    assert set(error.failures) >= {"floor-float32"} and "floor-float64" not in error.failures
    assert all(f"\n{name}: AssertionError: " in str(error) for name in error.failures)
    assert "cases fail, the first with AssertionError: " in str(report)


def test_cases_that_only_fail_together_fail() -> None:
    """Code that is right for one case and wrong for several is wrong."""

    def grouped(graph: Graph, values: list[Any]) -> list[Any]:
        results = walked(graph, values)
        return results[::-1] if len(results) > 1 else results

    report = check_engine(calling(grouped), match="values-floor-static")
    (error,) = report.failures.values()
    assert isinstance(error, CasesError) and not error.failures
    assert "pass alone and fail together" in str(error)


def test_a_wrong_gradient_is_found_element_by_element() -> None:
    def slightly(walk: Any, node: Any, x: Any) -> Any:
        y = np.cos(x)
        if y.size:
            y.flat[0] *= 1 + 1e-5
        return y

    report = check_engine(with_rules(cos=slightly), match="gradient-sin")
    assert report.failures and not report.passed


def test_an_engine_may_lack_dtypes_if_it_says_so() -> None:
    engine = PlainEngine()
    engine.lacks = {"float16": "it's too small", "float64": "it's too large"}
    report = check_engine(engine, match="-add-")
    assert report.ok and len(report.passed) > 2, report
    report = check_engine(engine, match="contract-")
    assert report.ok, report


def test_what_it_says_to_lack_it_must_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    from kameleon.graph.passes import pipeline

    engine = PlainEngine()
    engine.lacks = {"float16": "it's too small"}
    monkeypatch.setattr(pipeline, "_check_dtypes", lambda graph, engine: None)
    report = check_engine(engine, match="values-add-")
    assert not report.passed
    for error in report.failures.values():
        assert isinstance(error, CasesError)
        assert error.failures and all("float16" in name for name in error.failures)
        assert all("lacks {'float16'}" in str(e) for e in error.failures.values())


def test_gradients_in_a_dtype_that_it_lacks_are_refused() -> None:
    engine = PlainEngine()
    engine.lacks = {"float64": "it's too large"}
    assert check_engine(engine, match="gradient-tanh").ok


def test_report_and_progress() -> None:
    seen: list[tuple[int, int, str]] = []
    report = check_engine(
        with_rules(tanh=half("tanh")), lambda *args: seen.append(args), match="-tanh-"
    )
    assert [done for done, _, _ in seen] == list(range(seen[0][1]))
    assert [name for _, _, name in seen] == [c.name for c in conformance_checks("-tanh-")]
    assert len(report.passed) + len(report.failures) == len(seen)
    lines = str(report).splitlines()
    assert lines[0] == f"plain with tanh: {len(report.passed)} of {len(seen)} checks passed"
    assert lines[1].strip().startswith(next(iter(report.failures)))
    assert str(check_engine(numpy_engine, match="values-tanh")) == ("numpy: 2 of 2 checks passed")


def test_lists() -> None:
    assert {case.primitive for case in conformance_cases("scan")} == {"scan"}
    assert conformance_cases("no such") == []
    name, checks = conformance("contract-results-are-fresh")
    assert (name, [c.__name__ for c in checks]) == ("check", ["contract-results-are-fresh"])
    assert "run" not in repr(checks[0])
