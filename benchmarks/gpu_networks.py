"""Three networks at the sizes of GPUs: in K, in PyTorch (eager, compiled, a CUDA graph), in JAX.

A step is a call without arguments: data and weights lie on the device. It changes the weights by
SGD and gives the loss. Weights, data and all that is computed have one dtype; losses are summed in
float32. Products of float32 are rounded to nothing shorter, on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

RATE = 0.05
Step = Callable[[], Any]
Arrays = list[np.ndarray[Any, Any]]


class Sized(NamedTuple):
    """A network with its sizes: what it's called, and what it begins with."""

    name: str
    sizes: Mapping[str, int]

    def arrays(self) -> tuple[Arrays, Arrays]:
        """Weights and data, in float32."""
        rng = np.random.RandomState(0)
        shapes, data = SHAPES[self.name](**self.sizes)
        weights = [rng.randn(*s) * (2 / np.prod(s[:-1])) ** 0.5 for s in shapes]
        given = [rng.randn(*s) for s in data]
        return [w.astype("float32") for w in weights], [x.astype("float32") for x in given]


class Network(NamedTuple):
    """The sizes of a network, for a GPU and for a trial."""

    name: str
    large: Mapping[str, int]
    small: Mapping[str, int]

    def sized(self, small: bool) -> Sized:
        """With one of the two."""
        return Sized(self.name, self.small if small else self.large)


def _convolutional(batch: int, side: int, filters: int, width: int) -> Any:
    flat = ((side - 4) // 2) ** 2 * 2 * filters
    weights = [(3, 3, 1, filters), (3, 3, filters, 2 * filters), (flat, width), (width, 10)]
    return weights, [(batch, side, side, 1), (batch, 10)]


def _transformer(batch: int, tokens: int, width: int, heads: int) -> Any:
    weights = [*[(width, width)] * 4, (width, 4 * width), (4 * width, width)]
    return weights, [(batch, tokens, width)]


def _lstm(batch: int, steps: int, units: int) -> Any:
    return [(units, 4 * units), (units, 4 * units)], [(batch, steps, units)]


SHAPES: dict[str, Callable[..., Any]] = {
    "convolutional": _convolutional,
    "transformer": _transformer,
    "lstm": _lstm,
}
NETWORKS = {
    n.name: n
    for n in (
        Network(
            "convolutional",
            {"batch": 1024, "side": 28, "filters": 32, "width": 128},
            {"batch": 32, "side": 12, "filters": 8, "width": 16},
        ),
        Network(
            "transformer",
            {"batch": 8, "tokens": 512, "width": 1024, "heads": 16},
            {"batch": 2, "tokens": 16, "width": 32, "heads": 4},
        ),
        Network(
            "lstm",
            {"batch": 128, "steps": 128, "units": 512},
            {"batch": 4, "steps": 8, "units": 16},
        ),
    )
}


# In K ------------------------------------------------------------------------------------------


def _in_k(sized: Sized, w: list[Any], data: list[Any]) -> Any:
    from kameleon import backend as K

    size = sized.sizes
    if sized.name == "convolutional":
        x = K.relu(K.conv2d(data[0], w[0]))
        x = K.pool2d(K.relu(K.conv2d(x, w[1])), (2, 2), (2, 2))
        x = K.relu(K.dot(K.reshape(x, (size["batch"], -1)), w[2]))
        return K.square(K.dot(x, w[3]) - data[1])
    if sized.name == "transformer":
        (x,), heads, width = data, size["heads"], size["width"]
        depth = width // heads

        def normal(z: Any) -> Any:
            off = z - K.mean(z, -1, True)
            return off / K.sqrt(K.mean(K.square(off), -1, True) + 1e-5)

        def split(z: Any) -> Any:
            parts = K.reshape(z, (size["batch"], size["tokens"], heads, depth))
            return K.reshape(K.permute_dimensions(parts, (0, 2, 1, 3)), (-1, size["tokens"], depth))

        q, k, v = (split(K.dot(normal(x), kernel)) for kernel in w[:3])
        mixed = K.batch_dot(K.softmax(K.batch_dot(q, k, axes=(2, 2)) * depth**-0.5), v)
        mixed = K.reshape(mixed, (size["batch"], heads, size["tokens"], depth))
        joined = K.reshape(K.permute_dimensions(mixed, (0, 2, 1, 3)), K.int_shape(x))
        x = x + K.dot(joined, w[3])
        return K.square(x + K.dot(K.relu(K.dot(normal(x), w[4])), w[5]))
    (x,), units = data, size["units"]

    def step(inputs: Any, states: list[Any]) -> Any:
        hidden, cell = states
        z = K.dot(inputs, w[0]) + K.dot(hidden, w[1])
        i, f, g, o = (K.slice(z, (0, n * units), (-1, units)) for n in range(4))
        cell = K.sigmoid(f) * cell + K.sigmoid(i) * K.tanh(g)
        hidden = K.sigmoid(o) * K.tanh(cell)
        return hidden, [hidden, cell]

    zeros = K.zeros_like(x[:, 0])
    return K.square(K.rnn(step, x, [zeros, zeros])[1])


def kameleon(sized: Sized, dtype: str) -> Step:
    """On the engine in force."""
    from kameleon import backend as K

    arrays, given = sized.arrays()
    weights = [K.cast(K.constant(w), dtype) for w in arrays]
    variables = [K.variable(K.eval(w), dtype=dtype) for w in weights]
    data = [K.variable(K.eval(K.cast(K.constant(x), dtype)), dtype=dtype) for x in given]
    loss = K.mean(K.cast(_in_k(sized, variables, data), "float32"))
    slopes = K.gradients(loss, variables)
    pairs = zip(variables, slopes, strict=True)
    updates = [K.update_sub(v, K.cast(RATE, dtype) * g) for v, g in pairs]
    function = K.function([], [loss], updates)
    return lambda: function([])[0]


# In PyTorch ------------------------------------------------------------------------------------


def _in_torch(sized: Sized, w: list[Any], data: list[Any], layer: Any) -> Any:
    import torch.nn.functional as F

    if sized.name == "convolutional":
        x = F.conv2d(F.relu(F.conv2d(data[0], w[0])), w[1])
        x = F.max_pool2d(F.relu(x), 2).permute(0, 2, 3, 1).flatten(1)
        return F.mse_loss((F.relu(x @ w[2]) @ w[3]).float(), data[1].float())
    (x,) = data
    if sized.name == "transformer":
        shape = (*x.shape[:2], sized.sizes["heads"], -1)
        z = F.layer_norm(x, x.shape[-1:], eps=1e-5)
        q, k, v = ((z @ kernel).view(shape).transpose(1, 2) for kernel in w[:3])
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        x = x + mixed @ w[3]
        x = x + F.relu(F.layer_norm(x, x.shape[-1:], eps=1e-5) @ w[4]) @ w[5]
        return x.float().square().mean()
    return layer(x)[0].float().square().mean()


def torch_step(sized: Sized, dtype: str, way: str) -> Step:
    """Eager, compiled, or all of it recorded as a CUDA graph.

    Raises:
        RuntimeError: there's no CUDA to record a graph by.
    """
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.allow_tf32 = False
    arrays, given = sized.arrays()
    put = partial(torch.tensor, dtype=getattr(torch, dtype), device=device)
    data, layer = [put(x) for x in given], None
    if sized.name == "convolutional":
        arrays[:2] = [np.ascontiguousarray(w.transpose(3, 2, 0, 1)) for w in arrays[:2]]
        data[0] = data[0].permute(0, 3, 1, 2)
    weights = [put(w).requires_grad_() for w in arrays]
    if sized.name == "lstm":
        units = sized.sizes["units"]
        layer = torch.nn.LSTM(units, units, bias=False, batch_first=True).to(
            device, put.keywords["dtype"]
        )
        with torch.no_grad():
            for mine, w in zip(layer.parameters(), arrays, strict=True):
                mine.copy_(put(w.T))
        weights = list(layer.parameters())

    def loss_of() -> Any:
        return _in_torch(sized, weights, data, layer)

    compute = torch.compile(loss_of) if way == "torch.compile" else loss_of

    def step() -> Any:
        loss = compute()
        slopes = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, slopes, alpha=-RATE)
        return loss.detach()

    if way != "CUDA graph":
        return lambda: step().item()
    if device == "cpu":
        raise RuntimeError("it needs CUDA")
    kept = [w.detach().clone() for w in weights]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    with torch.no_grad():
        torch._foreach_copy_(weights, kept)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay() -> float:
        graph.replay()
        return loss.item()

    return replay


# In JAX ----------------------------------------------------------------------------------------


def _in_jax(sized: Sized, w: list[Any], data: list[Any]) -> Any:
    import jax
    import jax.numpy as jnp
    from jax import lax

    if sized.name == "convolutional":
        kind = ("NHWC", "HWIO", "NHWC")
        x = jax.nn.relu(
            lax.conv_general_dilated(data[0], w[0], (1, 1), "VALID", dimension_numbers=kind)
        )
        x = jax.nn.relu(lax.conv_general_dilated(x, w[1], (1, 1), "VALID", dimension_numbers=kind))
        half = x.shape[1] // 2
        x = x.reshape(len(x), half, 2, half, 2, -1).max((2, 4)).reshape(len(x), -1)
        return jax.nn.relu(x @ w[2]) @ w[3] - data[1]
    (x,) = data
    if sized.name == "transformer":
        shape = (*x.shape[:2], sized.sizes["heads"], -1)

        def normal(z: Any) -> Any:
            off = z - z.mean(-1, keepdims=True)
            return off * lax.rsqrt(jnp.square(off).mean(-1, keepdims=True) + 1e-5)

        q, k, v = ((normal(x) @ kernel).reshape(shape) for kernel in w[:3])
        x = x + jax.nn.dot_product_attention(q, k, v).reshape(x.shape) @ w[3]
        return x + jax.nn.relu(normal(x) @ w[4]) @ w[5]
    zeros = jnp.zeros_like(x[:, 0])

    def step(state: Any, z: Any) -> Any:
        hidden, cell = state
        i, f, g, o = jnp.split(z + hidden @ w[1], 4, axis=1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    return lax.scan(step, (zeros, zeros), jnp.swapaxes(x, 0, 1) @ w[0])[1]


def jax_step(sized: Sized, dtype: str) -> Step:
    """The whole step by `jit`, its state donated."""
    import jax
    import jax.numpy as jnp

    arrays, given = sized.arrays()
    state = [jnp.asarray(w, dtype) for w in arrays]
    data = [jnp.asarray(x, dtype) for x in given]

    def loss_of(w: Any, data: Any) -> Any:
        with jax.default_matmul_precision("highest"):
            return jnp.mean(jnp.square(_in_jax(sized, w, data)).astype("float32"))

    @partial(jax.jit, donate_argnums=0)
    def train(w: Any, data: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(w, data)
        return jax.tree.map(lambda x, g: x - jnp.asarray(RATE, dtype) * g, w, slopes), loss

    def step() -> float:
        nonlocal state
        state, loss = train(state, data)
        return float(loss)

    return step


BY_HAND: dict[str, dict[str, Callable[[Sized, str], Step]]] = {
    "torch": {
        way: partial(torch_step, way=way) for way in ("torch", "torch.compile", "CUDA graph")
    },
    "jax": {"jax": jax_step},
}
