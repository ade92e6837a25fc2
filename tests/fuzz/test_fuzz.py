"""The fuzzer itself: its programs are data, it finds what is wrong, and the least that shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.checks import Trial, check
from fuzz.draft import Draft, WrongError
from fuzz.generate import generated
from fuzz.program import Program
from fuzz.shrink import shrunk
from fuzz.worker import quietly, tried
from kameleon import backend as K
from kameleon.engines import _embedded
from kameleon.engines.numpy.engine import engine as embedded
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.rewrite import substitute
from kameleon.graph.passes import simplify
from kameleon.graph.primitives.elementwise import cos, sub
from kameleon.runtime import engines
from kameleon.runtime.workspace import workspace

OTHERS = ("onnxruntime", "torch", "jax", "tensorflow")
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.txt"))
SMALL = """
F = 'float32'; K.set_floatx(F)
x0 = given((None, 3), value((2, 3), 'normal', 1), F)
w1 = state(value((3, 2), 'normal', 2), F)
t2 = K.dot(x0, w1)
t3 = K.tanh(t2)
t4 = K.square(t3)
t5 = K.sum(t4, axis=0)
t6 = K.exp(-t5)
update(K.update_add(w1, w1))
give(t6, t4)
"""


def test_programs_that_found_something_once(engine_name: str) -> None:
    """Each of them agrees with the embedded engine, in every call."""
    others = [] if engine_name == "numpy" else [engine_name]
    for path in CORPUS:
        program = Program.read(path.read_text())
        found = quietly(lambda program=program: list(check(program, others)))
        assert not found, (path.name, found)


def test_a_seed_is_one_program_and_its_text_is_all_of_it() -> None:
    first, again = (quietly(lambda: generated(11)) for _ in range(2))
    assert first == again == Program.read(str(first))
    assert len(first.lines) > 20
    assert quietly(lambda: list(check(first, []))) == []


@pytest.mark.parametrize("seed", range(3))
def test_programs_of_fixed_seeds(engine_name: str, seed: int) -> None:
    assert not quietly(lambda: tried(seed, [n for n in [engine_name] if n != "numpy"]))


def _wrong_in(rules: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an engine's table do `cos` where it's asked for another function."""
    monkeypatch.setitem(rules, name, rules["cos"])
    workspace.compiled.clear()
    _embedded._compiled.clear()


def test_an_engine_that_is_wrong_is_found_and_the_node_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = next((n for n in OTHERS if engines.runs_here(n)), None)
    if other is None:
        pytest.skip("the embedded engine is the only one that is installed")
    _wrong_in(engines.load(other).rules, "tanh", monkeypatch)
    [found] = check(Program.read(SMALL), [other])
    assert found.key == ("differs: tanh", other)


def test_what_is_wrong_in_whole_programs_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is right for each node, and wrong where several are compiled together."""
    other = next((n for n in OTHERS if engines.runs_here(n)), None)
    if other is None:
        pytest.skip("the embedded engine is the only one that is installed")
    load, compiled = engines.load(other), type(engines.load(other)).compile

    def together(engine: Any, graph: Graph) -> Any:
        names = [n.primitive.name for n in graph.nodes]
        if names.count("tanh") == 1 and len(graph.outputs) < len(names) - 4:
            (tanh,) = (n for n in graph.nodes if n.primitive.name == "tanh")
            graph = Graph(graph.inputs, substitute(graph.outputs, {tanh: cos(tanh.operands[0])}))
        return compiled(engine, graph)

    monkeypatch.setattr(type(load), "compile", together)
    workspace.compiled.clear()
    found = list(check(Program.read(SMALL), [other]))
    workspace.compiled.clear()
    assert [f.engine for f in found] == [other], found


def test_a_wrong_rewriting_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It's the same on every engine: the nodes on their own tell."""

    def turned(node: Node) -> Node | None:
        """a + (-b) -> b - a"""
        a, b = node.operands
        return sub(b.operands[0], a) if b.primitive.name == "neg" else None

    monkeypatch.setitem(simplify.RULES, "add", (turned,))
    program = Program.read(
        SMALL.replace("K.tanh(t2)", "-t2").replace("K.square(t3)", "t2 * t2 + t3")
    )
    assert {f.kind for f in check(program, [])} == {"differs from its nodes"}


DELICATE = """
F = 'float32'; K.set_floatx(F)
w0 = state(value((3, 4), {kind!r}, 1), F)
t1 = K.stack([{first}, {second}])
t2 = K.argmax(t1, axis=0)
t3 = K.sum(t1)
give(t2, t3)
"""


@pytest.mark.parametrize(
    ("kind", "first", "second", "delicate"),
    [
        ("normal", "K.sum(w0, axis=0)", "K.sum(w0[::-1], axis=0)", {0}),
        ("normal", "w0 * 0.3", "w0 * 0.1 * 3", {0}),
        ("normal", "w0 * 1e8 + 1.7 - w0 * 1e8", "w0", {0, 1}),
        # Where the engines can't round, ties are ties.
        ("normal", "w0", "w0[:]", set()),
        ("ties", "K.sum(w0, axis=0)", "K.sum(w0[::-1], axis=0)", set()),
        ("normal", "K.abs(w0)", "K.maximum(w0, -w0)", set()),
    ],
)
def test_what_last_bits_decide(kind: str, first: str, second: str, delicate: set[int]) -> None:
    text = DELICATE.format(kind=kind, first=first, second=second)
    assert Trial(Program.read(text).build()).delicate == delicate


CANCELLING = """
F = 'float32'; K.set_floatx(F)
x1 = given((2, 3, 5, 1), value((2, 3, 5, 1), 'normal', 4881), F)
w2 = state(value((1, 3, 1, 1), 'ties', 1455), F)
t3 = K.conv2d_transpose(x1, w2, (2, 3, 11, 1), strides=(1, 2), padding='valid')
w7 = state(value((1,), 'normal', 9601), F)
t8 = K.normalize_batch_in_training(t3, w7, w7, [0, 1, 2], epsilon=0.01)[0]
t11 = K.gradients(K.sum(t8 * 0.5), [x1])[0]
give(t11)
"""


def test_a_sum_that_cancels_blames_no_engine(engine_name: str) -> None:
    assert not list(check(Program.read(CANCELLING), [n for n in [engine_name] if n != "numpy"]))


def test_few_results_are_decided_by_last_bits() -> None:
    """Else what isn't looked at could be wrong. Half precision has few others."""
    programs = [quietly(lambda s=s: generated(s)) for s in range(20)]
    trials = [Trial(p.build()) for p in programs if "'float16'" not in p.lines[0]]
    count = sum(len(trial.built.outputs) for trial in trials)
    assert sum(len(quietly(lambda t=trial: t.delicate)) for trial in trials) < 0.03 * count


def test_a_wrong_embedded_engine_is_found_by_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    _wrong_in(embedded.rules, "tanh", monkeypatch)
    draft = Draft(1)
    x = draft.input((2, 3), "normal")
    with pytest.raises(WrongError, match="oracle"):
        draft.add(f"K.tanh({x.name})")


def test_a_wrong_gradient_is_found_by_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    _wrong_in(embedded.rules, "cos", monkeypatch)  # nothing changes: a draft is right
    draft = next(d for d in map(Draft, range(9)) if d.dtype == "float64")
    x = draft.input((2, 3), "normal", known=2)
    y = draft.add(f"K.custom_gradient(lambda v: (K.sin(v), lambda g: g))({x.name})")
    assert y is not None
    with pytest.raises(WrongError, match="gradient"):
        draft.add(f"K.gradients(K.sum({y.name} * 1), [{x.name}])[0]")


@pytest.mark.parametrize(
    ("shows", "least"),
    [
        (lambda p: any("K.square" in line for line in p.lines), 5),
        (lambda p: any("update" in line for line in p.lines), 3),
    ],
    ids=["a call", "an update"],
)
def test_a_program_is_shrunk_to_what_shows_it(shows: Callable[[Program], bool], least: int) -> None:
    def still(candidate: Program) -> bool:
        try:
            candidate.build()
        except Exception:
            return False
        return shows(candidate)

    found = shrunk(Program.read(SMALL), still)
    assert still(found)
    assert len(found.lines) <= least + 2


def test_values_are_the_same_for_the_same_seed() -> None:
    from fuzz.program import KINDS, value

    for kind in KINDS:
        name = f"{kind} 3" if kind == "index" else kind
        first = value((4, 3), name, 5)
        assert first.shape == (4, 3)
        assert np.array_equal(first, value((4, 3), name, 5), equal_nan=True)
    assert K.floatx() == "float32"
