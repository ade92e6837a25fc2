"""Gradients of K's programs as native objects: K's own, which bridges use, against the library's.

Each library could differentiate the operations that a program is traced as. Both ways give loss and
gradients of all weights, of the networks of other workloads; "by hand" is the library's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attention
import conv
import lstm
import mlp
import numpy as np
from harness import SCALES, Row, compare, require_close

Arrays = list[np.ndarray]
Step = Callable[..., Any]
# Loss and gradients by K's own and by the library's own.
Steps = tuple[Step, Step]

NETWORKS: dict[str, tuple[Any, Callable[[], Sequence[np.ndarray]]]] = {
    "mlp": (mlp, mlp.batch),
    "conv": (conv, conv.batch),
    "lstm": (lstm, lambda: [lstm.sequences()]),
    "attention": (attention, lambda: [attention.sequences()]),
}


def jax_steps(function: Any) -> dict[str, Steps]:
    """Compiled by `jax.jit`."""
    import jax

    import kameleon
    from kameleon.backend.interop.jax_tracing import Traced
    from kameleon.backend.interop.pure import Stateless

    run, parameters = kameleon.to_jax(function)
    stateless = Stateless(function, "benchmark")
    traced = Traced(stateless.pure(), "benchmark")

    def step(loss: Callable[..., Any]) -> Step:
        compiled = jax.jit(jax.value_and_grad(loss))

        def values(*data: np.ndarray) -> list[Any]:
            found, slopes = jax.block_until_ready(compiled(parameters, *data))
            return [found, *slopes.values()]

        return values

    return {
        "jit": (
            step(lambda state, *data: run(state, data)[0][0]),
            step(lambda state, *data: traced(*data, *(state[x] for x in stateless.names))[0]),
        )
    }


def torch_steps(function: Any) -> dict[str, Steps]:
    """As they are, and by `torch.compile`."""
    import torch

    import kameleon
    from kameleon.backend.interop.pure import Stateless
    from kameleon.backend.interop.torch_tracing import traced

    module = kameleon.to_torch(function)
    parameters = list(module.parameters())
    graph = Stateless(function, "benchmark").pure(equal=True).graph
    followed = traced(graph, torch.device("cpu"), "benchmark")

    def step(loss: Callable[..., Any]) -> Step:
        def values(*data: np.ndarray) -> list[Any]:
            found = loss(*map(torch.from_numpy, data))
            return [found.detach(), *torch.autograd.grad(found, parameters)]

        return values

    def compiled(loss: Callable[..., Any]) -> Step:
        return step(torch.compile(loss, dynamic=False))  # by itself it would see sizes change

    own, its = (lambda *x: module(*x)[0]), (lambda *x: followed(*x, *parameters)[0])
    return {"eager": (step(own), step(its)), "torch.compile": (compiled(own), compiled(its))}


def tensorflow_steps(function: Any) -> dict[str, Steps]:
    """In a `tf.function`."""
    import tensorflow as tf

    import kameleon
    from kameleon.backend.interop.pure import Stateless
    from kameleon.backend.interop.tensorflow_graph import Applied

    module = kameleon.to_tensorflow(function)
    variables = list(module.weights.values())
    applied = Applied(Stateless(function, "benchmark").pure())

    def step(loss: Callable[..., Any]) -> Step:
        @tf.function(autograph=False)  # type: ignore[untyped-decorator]
        def values(*data: Any) -> list[Any]:
            with tf.GradientTape() as tape:
                found = loss(*data)
            return [found, *tape.gradient(found, variables)]

        return values

    return {
        "tf.function": (
            step(lambda *data: module(*data)[0]),
            step(lambda *data: applied.plain([*data, *map(tf.convert_to_tensor, variables)])[0]),
        )
    }


STEPS = {"jax": jax_steps, "torch": torch_steps, "tensorflow": tensorflow_steps}


def run() -> list[Row]:
    """Check that both ways agree, then time them."""
    from kameleon import backend as K

    rows = []
    for name, (module, batch) in NETWORKS.items():
        inputs, loss, _ = module.network(module.initial_weights())
        data = list(batch())
        for how, (own, its) in STEPS[K.backend()](K.function(inputs, [loss])).items():
            require_close(f"{name}, {how}", own(*data), its(*data))
            mine, theirs, noise = compare(lambda: own(*data), lambda: its(*data))  # noqa: B023
            figures = mine * SCALES["ms"], theirs * SCALES["ms"], "ms", noise
            rows.append(Row("bridges", f"gradients of {name}, {how}", *figures))
    return rows
