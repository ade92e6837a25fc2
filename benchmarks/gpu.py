"""Does Kameleon hold on a GPU, and how fast is it there? From a checkout, with PyTorch or JAX:

    PYTHONPATH=src python benchmarks/gpu.py --out gpu.json
    PYTHONPATH=src python benchmarks/gpu.py --pretend        # on the CPU, with small sizes: a trial

Each engine has a process of its own and half of the time. Of each: its devices, the conformance
kit, recorded calls of the original (tests/golden), losses of networks that train against the CPU's,
what memory is left in use, and steps of three networks, in float32 and bfloat16, beside the same by
hand. No network is needed. The report is written after each part, so an early end loses little.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ENGINES = ("torch", "jax")
GOLDEN = 300  # recorded calls, drawn from all
STEPS = 20  # of training that is compared with the CPU's
CLOSE = 1e-4  # how near losses in float32 must be, as a share
ROUNDS = 30  # steps that are timed


class Run(argparse.Namespace):
    """What the command line says, in the process of an engine.

    Attributes:
        engine: its name.
        seconds: for all parts together.
        end: when they're over, by the monotonic clock.
        pretend: whether the CPU stands for a GPU.
    """

    engine: str
    seconds: float
    end: float
    pretend: bool
    out: Path


Check = tuple[str, Callable[[], Any]]  # its name, and what raises where it doesn't hold


# Does it hold? ---------------------------------------------------------------------------------


def _each(run: Run, share: float, checks: Sequence[Check]) -> dict[str, Any]:
    """How many checks ran, in an order without favour, until a share of the time was over; which
    failed.
    """
    failed, ran, end = {}, 0, time.monotonic() + share * run.seconds
    for number in np.random.RandomState(0).permutation(len(checks)):
        if time.monotonic() > end:
            break
        name, check = checks[number]
        ran += 1
        try:
            check()
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"[:300]
    return {"of": len(checks), "ran": ran, "failed": failed}


def conformance(run: Run) -> dict[str, Any]:
    """The checks that every engine must pass."""
    from kameleon.runtime import engines
    from kameleon.testing import conformance_checks

    engine = engines.load(run.engine)
    checks = [(c.name, lambda c=c: c(engine)) for c in conformance_checks()]
    return {"devices": list(engine.devices()), **_each(run, 0.35, checks)}


def golden(run: Run) -> dict[str, Any]:
    """Calls of the original, with values, gradients and errors."""
    sys.path.insert(0, str(ROOT / "tests"))
    from golden.cases import load_cases
    from golden.differences import BY_ENGINE, DIFFERENCES
    from golden.runner import check_cases

    from kameleon import backend as K

    apart = {*DIFFERENCES, *BY_ENGINE.get(run.engine, {})}
    cases = [case for case in load_cases() if case.id not in apart]
    drawn = np.random.RandomState(1).permutation(len(cases))[:GOLDEN]
    with K.using_engine(run.engine):
        checks = [(cases[i].id, lambda i=i: check_cases(K, [cases[i]])) for i in drawn]
        return _each(run, 0.25, checks)


def curves(run: Run) -> dict[str, Any]:
    """Losses in float32, on the engine and on the embedded one, and how far they come apart."""
    import gpu_networks

    from kameleon import backend as K

    found = {}
    for name, network in gpu_networks.NETWORKS.items():
        losses = []
        for engine in (run.engine, "numpy"):
            with K.using_engine(engine):
                step = gpu_networks.kameleon(network.sized(small=True), "float32")
                losses.append([float(step()) for _ in range(STEPS)])
        mine, theirs = map(np.asarray, losses)
        apart = float(np.max(np.abs(mine - theirs) / np.abs(theirs)))
        found[name] = {"apart": apart, "holds": apart <= CLOSE, "losses": losses[0]}
    return found


# Memory ----------------------------------------------------------------------------------------


def _in_use(engine: str) -> int | None:
    """Bytes of the device that are in use; None, where nobody counts them."""
    gc.collect()
    if engine == "torch":
        import torch

        return torch.cuda.memory_allocated() if torch.cuda.is_available() else None
    import jax

    counted = jax.devices()[0].memory_stats()
    return None if counted is None else int(counted["bytes_in_use"])


def memory(run: Run) -> dict[str, Any]:
    """Bytes in use before there's a network, after a few of its steps, after many, and when it's
    gone: steps may leave nothing behind.
    """
    import gpu_networks

    from kameleon import backend as K

    with K.using_engine(run.engine):
        K.eval(K.constant(1.0) + 1.0)
        before = _in_use(run.engine)
        step = gpu_networks.kameleon(gpu_networks.NETWORKS["convolutional"].sized(True), "float32")
        after = []
        for count in (5, 45):
            for _ in range(count):
                step()
            after.append(_in_use(run.engine))
        del step
        K.clear_session()
        gone = _in_use(run.engine)
    told = {"before": before, "after 5 steps": after[0], "after 50": after[1], "gone": gone}
    return {**told, "holds": before is None or after[0] == after[1]}


# Speed -----------------------------------------------------------------------------------------


def _milliseconds(step: Callable[[], Any]) -> float:
    for _ in range(3):
        step()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def speed(run: Run) -> dict[str, Any]:
    """Milliseconds of a step, of Kameleon and by hand; and the loss that each begins with."""
    import gpu_networks

    from kameleon import backend as K

    found: dict[str, Any] = {}
    for name, network in gpu_networks.NETWORKS.items():
        for dtype in ("float32", "bfloat16"):
            sized = network.sized(small=run.pretend)
            row: dict[str, Any] = {}
            found[f"{name}, {dtype}"] = row
            with K.using_engine(run.engine):
                ways = {"kameleon": gpu_networks.kameleon, **gpu_networks.BY_HAND[run.engine]}
                for way, make in ways.items():
                    if time.monotonic() > run.end:
                        row[way] = {"skipped": "the time was over"}
                        continue
                    try:
                        step = make(sized, dtype)
                        row[way] = {"loss": float(step()), "ms": _milliseconds(step)}
                    except Exception as error:
                        row[way] = {"error": f"{type(error).__name__}: {error}"[:300]}
    return found


def told(report: dict[str, Any]) -> Iterator[str]:
    """The steps' times, and the ratio to the fastest by hand."""
    for name, row in report.get("speed", {}).items():
        times = {w: e["ms"] for w, e in row.items() if "ms" in e} if isinstance(row, dict) else {}
        mine = times.pop("kameleon", None)
        if mine is not None and times:
            others = ", ".join(f"{way} {ms:.3g} ms" for way, ms in times.items())
            yield f"{name}: {mine:.3g} ms, {mine / min(times.values()):.2f} of the best of {others}"


PARTS: dict[str, Callable[[Run], Any]] = {
    "curves": curves,
    "memory": memory,
    "conformance": conformance,
    "golden": golden,
    "speed": speed,
}


# The command line ------------------------------------------------------------------------------


def engine_process(run: Run) -> None:
    """All parts of one engine; the report is written after each."""
    report: dict[str, Any] = {}
    run.end = time.monotonic() + run.seconds
    for name, part in PARTS.items():
        print(f"{run.engine}: {name} …", file=sys.stderr, flush=True)
        start = time.monotonic()
        try:
            report[name] = part(run)
        except Exception:
            report[name] = {"error": traceback.format_exc()[-2000:]}
        report[name]["took"] = round(time.monotonic() - start, 1)
        run.out.write_text(json.dumps(report, indent=1))


def faults(report: dict[str, Any]) -> Iterator[str]:
    """What didn't hold, line by line."""
    for engine in (name for name in ENGINES if name in report):
        for part in PARTS:
            found = report[engine].get(part, {"error": "it wasn't reached"})
            if "error" in found:
                yield f"{engine}: {part}: {found['error'].splitlines()[-1]}"
            for name, why in found.get("failed", {}).items():
                yield f"{engine}: {part}: {name}: {why}"
            entries = {part: found, **{k: v for k, v in found.items() if isinstance(v, dict)}}
            for name, entry in entries.items():
                if entry.get("holds") is False:
                    yield f"{engine}: {name}: doesn't hold: {entry}"


def parsed() -> Run:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("gpu.json"), help="the report (gpu.json)")
    parser.add_argument("--seconds", type=float, default=440.0, help="for all of it, about (440)")
    parser.add_argument("--pretend", action="store_true", help="the CPU stands for the GPU")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    return parser.parse_args(namespace=Run())


def main() -> None:
    """Run each engine in its own process, put their reports together and say what didn't hold."""
    run = parsed()
    if run.engine:
        engine_process(run)
        return
    report: dict[str, Any] = {
        "python": platform.python_version(), "date": time.strftime("%Y-%m-%d"),
        "pretended": run.pretend,
    }  # fmt: skip
    each = run.seconds / len(run.engines)
    for engine in run.engines:
        part = run.out.with_suffix(f".{engine}.json")
        line = [sys.executable, __file__, "--engine", engine, "--out", str(part)]
        line += ["--seconds", str(each), *(["--pretend"] if run.pretend else [])]
        try:
            subprocess.run(line, env={**os.environ, "KERAS_BACKEND": "numpy"}, timeout=1.1 * each)
        except subprocess.TimeoutExpired:
            print(f"{engine}: the time is over", file=sys.stderr)
        report[engine] = json.loads(part.read_text()) if part.exists() else {}
        part.unlink(missing_ok=True)
        run.out.write_text(json.dumps(report, indent=1))
    found = list(faults(report))
    print("\n".join(found) or "all of it holds")
    for engine in run.engines:
        for line in told(report[engine]):
            print(f"{engine}: {line}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
