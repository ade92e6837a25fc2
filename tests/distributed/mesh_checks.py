"""Run with a number of devices: the same networks on one device and on all, as JSON of failures."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from networks import BATCH, NETWORKS, trained

import kameleon
from kameleon import backend as K

COUNT = int(sys.argv[1])
WITHIN = {"float32": 1e-5, "float64": 1e-12}

# How variables lie, and over which mesh.
LAYOUTS: dict[str, dict[str, Any]] = {
    "replicated": {"devices": COUNT},
    "sharded": {"devices": COUNT, "variables": "sharded"},
}
if COUNT > 2:
    # Columns of the projections to heads, rows of the one behind them; of a table its rows.
    PARALLEL = {
        **{f"{name}*": (None, "model") for name in ("query", "key", "value", "first")},
        **{f"{name}*": ("model",) for name in ("out", "second", "table")},
    }
    LAYOUTS["tensor_parallel"] = {
        "mesh": {"data": COUNT // 2, "model": 2},
        "variables": PARALLEL,
    }

checks: dict[str, Callable[[], None]] = {}


def _same(name: str, dtype: str, layout: dict[str, Any], last: int) -> None:
    with kameleon.distribute(devices=COUNT):
        pass  # JAX has its devices from now on
    want, _ = trained(name, dtype, last)
    with kameleon.distribute(**layout):
        found, network = trained(name, dtype, last)
        for v in network.variables:
            lies = v.cell.value.sharding
            assert len(lies.device_set) == COUNT, f"{v} lies on {lies}"
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=WITHIN[dtype], atol=WITHIN[dtype])


for _layout, _options in LAYOUTS.items():
    for _name in NETWORKS:
        for _dtype in WITHIN:
            checks[f"{_layout}-{_name}-{_dtype}"] = lambda n=_name, d=_dtype, o=_options: _same(
                n, d, o, BATCH
            )
        checks[f"{_layout}-{_name}-uneven"] = lambda n=_name, o=_options: _same(
            n, "float64", o, BATCH - 3
        )


def _trained(name: str, **layout: Any) -> tuple[Any, Any]:
    """The report of a network's training step, and the network."""
    with kameleon.distribute(devices=COUNT, **layout):
        network = trained(name, "float32")[1]
        return network.step.report(), network


def _report(name: str, **layout: Any) -> Any:
    return _trained(name, **layout)[0]


def one_all_reduce() -> None:
    """Data parallelism alone: slopes are added up once in a step, and nothing else is told."""
    for name in ("mlp", "lstm", "attention"):
        report, network = _trained(name)
        [only] = report.collectives
        assert only.kind == "all-reduce"
        # JAX before 0.7 adds up each weight's slopes apart.
        assert only.number == 1 or jax.__version__ < "0.7", f"{name}: {only}"
        # What the cost model takes: the slopes of all weights, and the loss.
        slopes = sum(K.get_value(v).nbytes for v in network.variables)
        assert only.bytes == slopes + 4, f"{name}: {report}"
        assert report.flops > 0 < report.accessed


def memory_falls() -> None:
    """What is cut takes a part of the memory on each device."""
    whole, cut = _report("embedding"), _report("embedding", variables="sharded")
    for a, b in zip(whole.layouts, cut.layouts, strict=True):
        if b.name.startswith("table"):
            assert (b.bytes * COUNT, b.axes) == (a.bytes, ("data", None))
    assert cut.held < 0.7 * whole.held
    assert "axis 0 along data" in str(cut)
    with tempfile.TemporaryDirectory() as folder:
        kameleon.distributed.picture(cut, f"{folder}/mesh.svg")
        drawn = Path(f"{folder}/mesh.svg").read_text()
    assert re.search(r"<!-- table\w*  64x8  axis 0 along data -->", drawn)


def functions_of_their_own() -> None:
    """A function may say where it runs; others run on one device, with the same variables."""
    x, v = K.placeholder((None, 2)), K.variable(np.zeros(2))
    spread = kameleon.Distribution(devices=COUNT)
    many = K.function([x], [K.sum(x)], [(v, v + K.sum(x, 0))], distribution=spread)
    one = K.function([x], [K.sum(x)], [(v, v + K.sum(x, 0))])
    rows = np.ones((2 * COUNT + 1, 2))
    for _ in range(2):
        assert many([rows]) == one([rows]) == [4 * COUNT + 2]
    assert K.get_value(v).tolist() == [4.0 * (2 * COUNT + 1)] * 2
    assert len(many.report().layouts) == 2


def the_same_in_all_processes() -> None:
    """Where there's one, it reads for itself."""
    with kameleon.distribute(devices=COUNT):
        assert kameleon.distributed.from_first(lambda: [1, "a"]) == [1, "a"]
        rows = kameleon.distributed.local(np.arange(4.0 * COUNT).reshape(2 * COUNT, 2))
        x = K.placeholder((None, 2), dtype="float64")
        assert K.function([x], [K.sum(x, 0)])([rows])[0].tolist() == [
            sum(range(0, 4 * COUNT, 2)),
            sum(range(1, 4 * COUNT, 2)),
        ]


def tables_of_inputs() -> None:
    """Names of placeholders may say how their values lie, evenly or not."""
    rows = np.random.default_rng(0).normal(size=(6, 4 * COUNT))
    for axes in ((None, "data"), ("data",), (), "sharded"):
        x = K.placeholder((None, 4 * COUNT), name="wide")
        f = K.function([x], [K.sum(x, 0), K.cumsum(x, 1)])
        with kameleon.distribute(devices=COUNT, inputs={"wide*": axes}):
            total, running = f([rows])
        np.testing.assert_allclose(total, rows.sum(0), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(running, rows.cumsum(1), rtol=1e-5, atol=1e-5)


checks |= {
    f.__name__: f
    for f in (
        one_all_reduce,
        memory_falls,
        functions_of_their_own,
        the_same_in_all_processes,
        tables_of_inputs,
    )
}


if __name__ == "__main__":
    K.set_engine("jax")
    failures = {}
    for key, check in checks.items():
        try:
            check()
            failures[key] = ""
        except Exception:
            failures[key] = traceback.format_exc()
    print(json.dumps(failures))
