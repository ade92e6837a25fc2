"""The perceptron with CNTK's own trainer, in CNTK's environment; the rest as by hand in NumPy."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import mlp
import numpy as np

from by_hand import numpy as by_numpy
from kameleon.config import cntk as environment

Arrays = list[np.ndarray]
SCRIPT = Path(__file__).parents[1] / "cntk_trainer.py"  # beside no numpy.py


class Mlp:
    """The step by CNTK's trainer, which keeps the weights; batches go there through a pipe."""

    def __init__(self, weights: Arrays) -> None:
        self.shapes = [w.shape for w in weights]
        theirs, mine = os.pipe()
        self.sink, there = os.fdopen(mine, "wb"), os.pipe()
        self.source = os.fdopen(there[0], "rb")
        where = environment.folder()
        self.process = subprocess.Popen(
            [environment.python(where), str(SCRIPT), str(theirs), str(there[1])],
            pass_fds=(theirs, there[1]),
            env=environment.variables(where),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(there[1])
        self._tell({"rate": mlp.RATE, "batch": mlp.BATCH, "shapes": self.shapes}, *weights)

    def _tell(self, data: Any, *arrays: np.ndarray) -> None:
        self.sink.write(json.dumps(data).encode() + b"\n")
        for array in arrays:
            self.sink.write(np.ascontiguousarray(array).data)
        self.sink.flush()

    def __call__(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Take one step; return the loss before it."""
        self._tell(x.shape, x, labels)
        return float(np.frombuffer(self.source.read(8))[0])

    @property
    def weights(self) -> Arrays:
        """What the trainer holds."""
        self._tell([])
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        parts = [np.frombuffer(self.source.read(4 * n), "float32") for n in sizes]
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def pin(threads: int) -> None:
    """Both sides compute in other processes, with one thread."""


SIDES = {**by_numpy.SIDES, "mlp": Mlp}
OTHERS = "by hand in NumPy"
NOTES = {"mlp": "by hand: CNTK's trainer", **dict.fromkeys(set(SIDES) - {"mlp"}, OTHERS)}
