"""The workloads on ONNX Runtime: forward and backward passes, both as ONNX by hand.

ONNX Runtime doesn't differentiate. State goes round: two sets of buffers take turns as inputs
and outputs of a step.
"""

from __future__ import annotations

from collections.abc import Mapping

import conv
import numpy as np
import onnx.parser
import onnxruntime

from . import onnx_models as models

Arrays = list[np.ndarray]

HEAD = '<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]>'


def session(text: str) -> onnxruntime.InferenceSession:
    """A model in the textual form of ONNX, ready to run."""
    model = onnx.parser.parse_model(HEAD + text)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), onnxruntime.SessionOptions())


class Loop:
    """Runs a step again and again: output `w_` is the input `w` of the next one."""

    def __init__(self, text: str, state: Mapping[str, np.ndarray]) -> None:
        value = onnxruntime.OrtValue.ortvalue_from_numpy  # shares memory with the array
        self.session = session(text)
        self.loss = np.zeros((), "float32")
        self.state = [{k: v.copy() for k, v in state.items()} for _ in range(2)]
        sets = [{k: value(v) for k, v in arrays.items()} for arrays in self.state]
        self.bindings = []
        for old, new in (sets, sets[::-1]):
            binding = self.session.io_binding()
            for name in state:
                binding.bind_ortvalue_input(name, old[name])
                binding.bind_ortvalue_output(f"{name}_", new[name])
            binding.bind_ortvalue_output("loss", value(self.loss))
            self.bindings.append(binding)

    def values(self, names: list[str]) -> Arrays:
        """Of the state now."""
        return [self.state[0][name] for name in names]

    def __call__(self, **inputs: np.ndarray) -> float:
        binding = self.bindings[0]
        for name, array in inputs.items():
            binding.bind_cpu_input(name, array)
        self.session.run_with_iobinding(binding)
        self.bindings.reverse()
        self.state.reverse()
        return float(self.loss)


class Mlp:
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.loop = Loop(models.MLP, dict(zip(models.WEIGHTS["mlp"], weights, strict=True)))

    @property
    def weights(self) -> Arrays:
        """For the check."""
        return self.loop.values(models.WEIGHTS["mlp"])

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        return self.loop(x=images, labels=labels)


class Conv:
    """A step of Adam."""

    def __init__(self, weights: Arrays) -> None:
        state = dict(zip(models.WEIGHTS["conv"], weights, strict=True))
        state["k1"], state["k2"] = (
            np.ascontiguousarray(state[n].transpose(3, 2, 0, 1)) for n in ("k1", "k2")
        )
        dense = state["k3"].reshape(12, 12, 64, -1)
        state["k3"] = dense.transpose(2, 0, 1, 3).reshape(state["k3"].shape)
        moments = {f"{kind}_{n}": np.zeros_like(w) for kind in "mv" for n, w in state.items()}
        self.loop = Loop(models.convolutional(), {**state, **moments})
        self.steps = 0

    @property
    def weights(self) -> Arrays:
        """For the check."""
        k1, b1, k2, b2, k3, *others = self.loop.values(models.WEIGHTS["conv"])
        dense = k3.reshape(64, 12, 12, -1).transpose(1, 2, 0, 3).reshape(k3.shape)
        return [k1.transpose(2, 3, 1, 0), b1, k2.transpose(2, 3, 1, 0), b2, dense, *others]

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        self.steps += 1
        size = conv.RATE * (1 - conv.BETA2**self.steps) ** 0.5 / (1 - conv.BETA1**self.steps)
        return self.loop(images=images, labels=labels, size=np.array(size, "float32"))


class Lstm:
    """Loss and gradients by two scans."""

    def __init__(self, weights: Arrays) -> None:
        self.session = session(models.LSTM)
        self.weights = dict(zip(("kernel", "recurrent", "bias"), weights, strict=True))

    def __call__(self, x: np.ndarray) -> Arrays:
        return self.session.run(None, {"x": x, **self.weights})


class Attention:
    """Loss and gradients: one product for queries, keys and values."""

    def __init__(self, weights: Arrays) -> None:
        self.session = session(models.ATTENTION)
        self.weights = {"into": np.concatenate(weights[:3], axis=1), "out": weights[3]}

    def __call__(self, x: np.ndarray) -> Arrays:
        return self.session.run(None, {"x": x, **self.weights})


class Chain:
    """The chain as a graph."""

    def __init__(self) -> None:
        self.session = session(models.CHAIN)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"x": x})[0]


class Add:
    """A sum, from NumPy to NumPy."""

    def __init__(self) -> None:
        self.session = session(models.ADD)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"x": x, "y": y})[0]


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        self.loop = Loop(models.COUNT, {"n": np.zeros((), "float32")})

    def __call__(self) -> None:
        self.loop()


def pin(threads: int) -> None:
    """Threads of one operation: sessions made without options, or with new ones, get these."""
    usual = onnxruntime.SessionOptions

    def pinned() -> onnxruntime.SessionOptions:
        options = usual()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        return options

    onnxruntime.SessionOptions = pinned


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": Add,
    "count": Count,
}
NOTES = dict.fromkeys(("mlp", "conv", "lstm", "attention"), "by hand: gradients written as ONNX")
