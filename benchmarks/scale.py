"""How far two programs scale: counted here, on virtual devices, then reckoned for real ones.

    kameleon run --devices 8 benchmarks/scale.py docs/scale        # writes scale.json and scale.svg
    kameleon run --devices 8 benchmarks/scale.py --overhead        # one device against plain JAX

ResNet-50 is Keras's own, with 32 images a device; the block of a transformer is written in K, with
8 sequences of 512 tokens a device. Operations, memory traffic and collectives come from the
programs as XLA compiles them for eight devices, with one row and with two on each, which tells what
grows with rows; what devices and links do in a second are parameters.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kameleon
from kameleon import backend as K
from kameleon.distributed import Machine

HERE = 8  # virtual devices
DEVICES = (8, 16, 32, 64, 128, 256, 512, 1000)
# An H100's nodes, by its data sheet: 400 of 989 TFLOP/s in bfloat16 (in reach of good programs),
# 3.35 TB/s of memory, 450 GB/s in a direction over NVLink, and one link of 400 Gbit/s a device.
MACHINE = Machine(flops=4e14, memory=3.35e12, inside=4.5e11, between=5e10)
WIDTH, HEADS, TOKENS, SEQUENCES, IMAGES = 1024, 16, 512, 8, 32


def resnet() -> Iterator[Any]:
    """The step of Keras's ResNet-50."""
    import keras
    from keras.applications.resnet50 import ResNet50

    model = ResNet50(weights=None, input_shape=(224, 224, 3), classes=1000)
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy")
    for rows in (HERE, 2 * HERE):
        model.train_on_batch(np.zeros((rows, 224, 224, 3), "float32"), np.eye(1000)[:rows])
        yield model.train_function.report()


def transformer() -> Iterator[Any]:
    """The step of a block: attention and two dense layers, with layer normalization."""
    shapes = dict.fromkeys(("query", "key", "value", "out"), (WIDTH, WIDTH))
    shapes |= {"first": (WIDTH, 4 * WIDTH), "second": (4 * WIDTH, WIDTH)}
    w = {n: K.variable(np.random.normal(size=s) * 0.02, name=n) for n, s in shapes.items()}
    x = K.placeholder((None, TOKENS, WIDTH))

    def normal(z: Any) -> Any:
        return (z - K.mean(z, -1, True)) / (K.std(z, -1, True) + 1e-5)

    def heads(z: Any) -> Any:
        split = K.reshape(z, (-1, TOKENS, HEADS, WIDTH // HEADS))
        return K.reshape(K.permute_dimensions(split, (0, 2, 1, 3)), (-1, TOKENS, WIDTH // HEADS))

    z = normal(x)
    q, k, v = (heads(K.dot(z, w[name])) for name in ("query", "key", "value"))
    scores = K.softmax(K.batch_dot(q, k, axes=[2, 2]) / (WIDTH // HEADS) ** 0.5)
    mixed = K.reshape(K.batch_dot(scores, v, axes=[2, 1]), (-1, HEADS, TOKENS, WIDTH // HEADS))
    mixed = K.reshape(K.permute_dimensions(mixed, (0, 2, 1, 3)), (-1, TOKENS, WIDTH))
    y = x + K.dot(mixed, w["out"])
    y = y + K.dot(K.relu(K.dot(normal(y), w["first"])), w["second"])
    loss = K.mean(K.square(y))
    weights = list(w.values())
    changes = [(v, v - 0.1 * g) for v, g in zip(weights, K.gradients(loss, weights), strict=True)]
    step = K.function([x], [loss], updates=changes)
    for rows in (HERE, 2 * HERE):
        step([np.zeros((rows, TOKENS, WIDTH), "float32")])
        yield step.report()


# By program: its reports with one row and two, how many rows a device is given, and what they are.
PROGRAMS: dict[str, tuple[Callable[[], Iterator[Any]], int, str]] = {
    "ResNet-50": (resnet, IMAGES, f"{IMAGES} images a device"),
    "transformer block": (transformer, SEQUENCES, f"{SEQUENCES} x {TOKENS} tokens a device"),
}


def reckoned(folder: Path) -> None:
    """Count, reckon, and write the numbers and a picture of them."""
    found: dict[str, Any] = {}
    for name, (count, load, told) in PROGRAMS.items():
        report, second = count()
        assert report.collectives == second.collectives, "what is told doesn't grow with rows"
        grown = report._replace(
            flops=report.flops + (load - 1) * (second.flops - report.flops),
            accessed=report.accessed + (load - 1) * (second.accessed - report.accessed),
        )
        rows = []
        for devices in DEVICES:
            cost = grown.cost(MACHINE, devices)
            rows.append([devices, cost.computing, cost.telling, cost.computing / cost.most])
        found[name] = {
            "load": told,
            "operations": grown.flops,
            "memory": grown.accessed,
            "collectives": [list(c) for c in report.collectives],
            "rows": rows,
        }
        print(f"{name}, {told}: {grown.flops / 1e12:.2f} Tflop, {grown.accessed / 1e9:.1f} GB")
        print("\n".join(f"  {c.number} {c.kind}: {c.bytes:,} bytes" for c in report.collectives))
        for devices, computing, telling, efficiency in rows:
            print(
                f"  {devices:>5} devices: {1e3 * computing:6.2f} ms computing,"
                f" {1e3 * telling:6.2f} ms telling, {efficiency:4.0%} to"
                f" {computing / max(computing, telling):4.0%}"
            )
    folder.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, folder.with_suffix(".svg"))


def draw(found: dict[str, Any], path: Path) -> None:
    """The part of the time that devices compute, over their number."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "kameleon"  # the same file each time
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for colour, (name, told) in zip(("#2b6cb0", "#c05621"), found.items(), strict=True):
        devices, computing, telling, waits = map(np.array, zip(*told["rows"], strict=True))
        overlaps = computing / np.maximum(computing, telling)
        axes.fill_between(devices, waits, overlaps, color=colour, alpha=0.25, lw=0)
        axes.plot(devices, waits, "o-", color=colour, label=f"{name}, {told['load']}")
    axes.set_xscale("log")
    axes.set_xticks(DEVICES, map(str, DEVICES))
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("devices, 8 in a node")
    axes.set_ylabel("part of the time that they compute")
    axes.legend(loc="lower left")
    figure.savefig(path, metadata={"Date": None})


def overhead() -> None:
    """A step on one device, distributed and not, in turns."""
    for width, batch in ((256, 64), (512, 128), (1024, 256)):
        rows = [np.random.normal(size=(batch, width)).astype("float32")]
        spread = kameleon.Distribution(devices=1)
        steps = [_step(width, distribution=spread), _step(width, engine="jax")]
        times: list[list[float]] = [[], []]
        for turn in range(60):
            for i in (0, 1) if turn % 2 else (1, 0):
                start = time.perf_counter()
                steps[i](rows)
                times[i].append(time.perf_counter() - start)
        ratio = min(times[0]) / min(times[1])
        print(f"{width} wide, {batch} rows: {1e3 * min(times[1]):.2f} ms, ratio {ratio:.3f}")


def _step(width: int, **options: Any) -> Any:
    x = K.placeholder((None, width))
    w = [K.variable(np.random.normal(size=(width, width)) * 0.03) for _ in range(3)]
    h = x
    for v in w:
        h = K.tanh(K.dot(h, v))
    loss = K.mean(K.square(h))
    changes = [(v, v - 0.1 * slope) for v, slope in zip(w, K.gradients(loss, w), strict=True)]
    return K.function([x], [loss], updates=changes, **options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", nargs="?", type=Path, default=Path("scale"))
    parser.add_argument("--overhead", action="store_true")
    told = parser.parse_args(sys.argv[1:])
    overhead() if told.overhead else reckoned(told.path)
