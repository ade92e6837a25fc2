"""`function.profile`: the parts of a call, on every engine, with lines, scopes and work."""

from __future__ import annotations

import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.engines._profiles import Event, _alone
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives.windows import Window
from kameleon.runtime.inspection.work import Peak, Sized, Work, work_of

STEPS = 6


def step(row: Any, states: list[Any]) -> Any:
    state = K.tanh(row + K.dot(states[0], K.constant(np.eye(8), "float32")))
    return state, [state]


def network() -> tuple[Any, Any, Any]:
    """A training step, its input, and a variable that it changes."""
    x, w = K.placeholder((None, STEPS, 8)), K.variable(np.eye(8), name="w")
    with K.name_scope("dense"):
        h = K.relu(K.dot(x, w))
    last, _, _ = K.rnn(step, h, [K.zeros_like(h[:, 0])])
    loss = K.mean(K.square(last + K.random_normal((8,), seed=1)))
    f = K.function([x], [loss], updates=[K.update_sub(w, 0.1 * K.gradients(loss, [w])[0])])
    return f, x, w


def test_the_parts_of_a_step(engine: Engine) -> None:
    f, _, w = network()
    given = [np.ones((4, STEPS, 8))]
    before, drawn = K.get_value(w), f(given)
    K.set_value(w, before)
    found = f.profile(given)
    np.testing.assert_array_equal(K.get_value(w), before)
    assert drawn != f(given)  # the stream went on by one call, not by the profile's
    total = sum(entry.seconds for entry in found.entries)
    assert found.engine == engine.title and found.clocked > 0
    assert total == pytest.approx(found.seconds)
    if engine.name == "theano":  # PyTensor tells of its own nodes alone
        assert any(entry.name.startswith("scan") for entry in found.entries)
        return
    lines = [place for place in found.by_line if place.startswith("test_profiling.py")]
    assert any("K.tanh(row + K.dot" in place for place in lines)
    assert found.by_scope["dense/"] > 0.0
    of_steps = [e for e in found.entries if e.name == "contract" and e.function == "step"]
    flops = [e.flops for e in of_steps if not math.isnan(e.flops)]
    assert 2 * 4 * 8 * 8 * STEPS in flops
    assert all(entry.share >= 0 or math.isnan(entry.share) for entry in found.entries)


def test_a_profile_is_a_table_data_and_a_trace(tmp_path: Path) -> None:
    f, _, _ = network()
    found = f.profile([np.ones((4, STEPS, 8))])
    text = str(found)
    assert "of peak" in text and "GFLOP/s" in text and "K.tanh(row" in text
    assert found._repr_html_().count("<tr>") > 3
    told = json.loads(json.dumps(found.data, allow_nan=False))
    assert len(told["entries"]) == len(found.entries)
    f.explore(tmp_path / "page.html", found)
    assert '"seconds":' in (tmp_path / "page.html").read_text("utf-8")
    assert any(".body." in key for key in found.by_key)
    found.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    assert sum(event["dur"] for event in events) / 1e6 == pytest.approx(
        sum(entry.seconds for entry in found.entries)
    )


def test_rich_shows_tables() -> None:
    console = pytest.importorskip("rich.console", reason="Rich shows tables on terminals")
    shown = console.Console(width=200, file=StringIO())
    f, _, _ = network()
    shown.print(f.profile([np.ones((4, STEPS, 8))]))
    K.eval(K.watch(K.constant([1.0, 3.0]), "[h]"))
    shown.print(K.watched())
    text = shown.file.getvalue()
    assert "of peak" in text and "K.tanh(row" in text and "[h]" in text and "deviation" in text


def test_a_wrong_value_is_refused() -> None:
    f, _, _ = network()
    with pytest.raises(ValueError, match="takes 1 values"):
        f.profile([1.0, 2.0])


# Work -------------------------------------------------------------------------------------------


def floats(*shape: int | None) -> Node:
    return input_node(TensorType(shape, as_dtype("float32")))


WINDOW = Window((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1))
X, G, KERNEL = floats(2, 5, 5, 4), floats(2, 5, 5, 6), floats(3, 3, 4, 6)
CONV = 2 * (2 * 5 * 5 * 6) * 9 * 4
WORK = {
    "product": (
        REGISTRY["contract"](floats(3, 4), floats(4, 5), over=((1,), (0,)), batch=((), ())), 120,
    ),
    "sum": (REGISTRY["add"](floats(7), floats(7)), 7),
    "convolution": (REGISTRY["conv"](X, KERNEL, window=WINDOW), CONV),
    "its kernel's gradient": (REGISTRY["conv_kernel"](X, G, window=WINDOW), CONV),
    "its input's gradient": (
        REGISTRY["conv_input"](G, KERNEL, space=(5, 5), window=WINDOW), CONV,
    ),
    "by channel": (
        REGISTRY["depthwise_conv"](X, floats(3, 3, 4, 1), window=WINDOW), 2 * 2 * 25 * 4 * 9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_operations_are_counted(name: str) -> None:
    node, flops = WORK[name]
    graph = Graph(node.operands, [node])
    sized = Sized(graph, [np.zeros(x.shape, "float32") for x in graph.inputs])
    assert work_of(node, sized.shapes).flops == flops


def test_sizes_that_are_open_are_those_of_the_call() -> None:
    x, y = floats(None, 4), floats(4, None)
    node = REGISTRY["contract"](x, y, over=((1,), (0,)), batch=((), ()))
    sized = Sized(Graph([x, y], [node]), [np.zeros((3, 4), "f"), np.zeros((4, 5), "f")])
    assert work_of(node, sized.shapes) == Work(120, 4 * (12 + 20 + 15))
    assert math.isnan(work_of(node, {}).bytes)
    assert Peak(10.0, 10.0).share(Work(5.0, 20.0), 4.0) == 0.5


def test_steps_count() -> None:
    inner = floats(8)
    body = Graph([inner], [REGISTRY["exp"](inner)])
    loop = REGISTRY["scan"](floats(5, 8), body=body, consts=0, carry=0, backwards=False)
    sized = Sized(Graph(loop.operands, loop.results), [np.zeros((5, 8), "float32")])
    assert sized.times[body.outputs[0]] == 5 and sized.times[loop] == 1
    assert sized.shapes[body.outputs[0]] == (8,)


def test_events_within_others_are_taken_off() -> None:
    events = [
        Event("a", "loop", 0.0, 10.0), Event("a", "x", 1.0, 4.0), Event("a", "y", 2.0, 1.0),
        Event("a", "x", 6.0, 2.0), Event("b", "x", 0.0, 3.0),
    ]  # fmt: skip
    found = {(e.thread, e.name, e.start): s for e, s in _alone(events)}
    assert found["a", "loop", 0.0] == 4.0 and found["a", "x", 1.0] == 3.0
    assert found["b", "x", 0.0] == 3.0 and sum(found.values()) == 13.0
