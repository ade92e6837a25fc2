"""The workloads in NumPy: buffers made once, updates in place, large matrix products."""

from __future__ import annotations

import attention
import chain
import conv
import mlp
import numpy as np
import small
from lstm import BATCH, INPUTS, STEPS, UNITS
from numpy.lib.stride_tricks import as_strided

Arrays = list[np.ndarray]


class Mlp:
    """The step in NumPy, with every buffer made once."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [w.copy() for w in weights]
        self.slopes = [np.empty_like(w) for w in weights]
        self.values = [np.empty((mlp.BATCH, size), "float32") for size in mlp.SIZES[1:]]
        self.deltas = [np.empty((mlp.BATCH, size), "float32") for size in mlp.SIZES[1:-1]]
        self.masks = [np.empty((mlp.BATCH, size), bool) for size in mlp.SIZES[1:-1]]
        self.rows = np.arange(mlp.BATCH)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Fill `values`; the last one holds the logits."""
        for layer, out in enumerate(self.values):
            np.matmul(x, self.weights[2 * layer], out=out)
            out += self.weights[2 * layer + 1]
            if layer < len(self.values) - 1:
                np.maximum(out, 0, out=out)
            x = out
        return x

    def __call__(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Take one step; return the loss before it."""
        delta = self.forward(x)
        delta -= delta.max(axis=1, keepdims=True)
        picked = delta[self.rows, labels]
        np.exp(delta, out=delta)
        totals = delta.sum(axis=1, keepdims=True)
        loss = float(np.mean(np.log(totals[:, 0]) - picked))
        delta /= totals
        delta[self.rows, labels] -= 1
        delta *= np.float32(1 / mlp.BATCH)
        for layer in reversed(range(len(self.values))):
            below = self.values[layer - 1] if layer else x
            np.matmul(below.T, delta, out=self.slopes[2 * layer])
            np.sum(delta, axis=0, out=self.slopes[2 * layer + 1])
            if layer:
                back = self.deltas[layer - 1]
                np.matmul(delta, self.weights[2 * layer].T, out=back)
                back *= np.greater(below, 0, out=self.masks[layer - 1])
                delta = back
        for weight, slope in zip(self.weights, self.slopes, strict=True):
            slope *= np.float32(mlp.RATE)
            weight -= slope
        return loss


class Convolution:
    """A valid 3x3 convolution with bias and relu: columns and BLAS, buffers made once.

    One image at a time: what is gathered is multiplied while it's still in the cache.
    """

    def __init__(self, size: int, channels: int, filters: int, needs_input: bool) -> None:
        places = size - 2
        self.windows = np.empty((conv.BATCH, places, places, 3, 3 * channels), "float32")
        self.columns = self.windows.reshape(conv.BATCH, -1, 9 * channels)
        self.out = np.empty((conv.BATCH, places, places, filters), "float32")
        self.mask = np.empty(self.out.shape, bool)
        self.back = np.empty((conv.BATCH, size, size, channels), "float32") if needs_input else None
        self.parts = np.empty((places, places, 3, 3, channels), "float32")

    def forward(self, x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """Gather the columns (they are kept), multiply, add the bias, apply relu."""
        batch, rows, row, column, cell = (x.shape[0], *x.strides)
        strides = (rows, row, column, row, cell)  # three cells beside each other lie in one run
        windows = as_strided(x, self.windows.shape, strides, writeable=False)
        flat = kernel.reshape(-1, kernel.shape[-1])
        out = self.out.reshape(batch, -1, self.out.shape[-1])
        for image in range(batch):
            np.copyto(self.windows[image], windows[image])
            np.matmul(self.columns[image], flat, out=out[image])
            out[image] += bias
            np.maximum(out[image], 0, out=out[image])
        return self.out

    def backward(self, delta: np.ndarray, kernel: np.ndarray, slopes: Arrays) -> np.ndarray | None:
        """Fill the slopes of kernel and bias; return the delta of the input, if it's needed."""
        filters = delta.shape[-1]
        delta *= np.greater(self.out, 0, out=self.mask)
        flat = delta.reshape(-1, filters)
        columns = self.columns.reshape(len(flat), -1)
        np.matmul(columns.T, flat, out=slopes[0].reshape(-1, filters))
        np.sum(flat, axis=0, out=slopes[1])
        if self.back is None:
            return None
        self.back.fill(0)
        places, turned = self.out.shape[1], kernel.reshape(-1, filters).T
        for image, back in zip(delta, self.back, strict=True):
            parts = self.parts.reshape(places * places, -1)
            np.matmul(image.reshape(-1, filters), turned, out=parts)
            for i in range(3):
                for j in range(3):
                    back[i : i + places, j : j + places] += self.parts[:, :, i, j]
        return self.back


class Conv:
    """The step in NumPy."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = [w.copy() for w in weights]
        self.slopes = [np.empty_like(w) for w in weights]
        self.means = [np.zeros_like(w) for w in weights]
        self.squares = [np.zeros_like(w) for w in weights]
        self.scratch = [np.empty_like(w) for w in weights]
        self.steps = 0
        self.first = Convolution(28, 1, 32, needs_input=False)
        self.second = Convolution(26, 32, 64, needs_input=True)
        self.pooled = np.empty((conv.BATCH, 12, 12, 64), "float32")
        self.unpooled = np.empty((conv.BATCH, 24, 24, 64), "float32")
        self.rows = np.arange(conv.BATCH)

    @staticmethod
    def corners(x: np.ndarray) -> Arrays:
        """The four cells of each 2x2 window, as views."""
        return [x[:, i::2, j::2] for i in range(2) for j in range(2)]

    def __call__(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Take one step; return the loss before it."""
        k1, b1, k2, b2, k3, b3, k4, b4 = self.weights
        h = self.second.forward(self.first.forward(x, k1, b1), k2, b2)
        a, b, c, d = self.corners(h)
        pooled = np.maximum(a, b, out=self.pooled)
        np.maximum(pooled, c, out=pooled)
        np.maximum(pooled, d, out=pooled)
        flat = pooled.reshape(conv.BATCH, -1)
        dense = np.maximum(flat @ k3 + b3, 0)
        loss, delta = self.loss(dense @ k4 + b4, labels)

        np.matmul(dense.T, delta, out=self.slopes[6])
        np.sum(delta, axis=0, out=self.slopes[7])
        delta = (delta @ k4.T) * (dense > 0)
        np.matmul(flat.T, delta, out=self.slopes[4])
        np.sum(delta, axis=0, out=self.slopes[5])
        delta = self.unpool((delta @ k3.T).reshape(pooled.shape))
        self.first.backward(self.second.backward(delta, k2, self.slopes[2:4]), k1, self.slopes[:2])
        self.adam()
        return loss

    def loss(self, logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean crossentropy of the softmax, and its slope in the logits."""
        logits -= logits.max(axis=1, keepdims=True)
        picked = logits[self.rows, labels]
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1, keepdims=True)
        logits /= totals
        logits[self.rows, labels] -= 1
        logits *= np.float32(1 / conv.BATCH)
        return float(np.mean(np.log(totals[:, 0]) - picked)), logits

    def unpool(self, delta: np.ndarray) -> np.ndarray:
        """Give each window's delta to its largest cell.

        Equal cells above 0 don't occur in these data, and relu stops what goes to those at 0.
        """
        pairs = zip(self.corners(self.second.out), self.corners(self.unpooled), strict=True)
        for cell, back in pairs:
            np.multiply(delta, cell == self.pooled, out=back)
        return self.unpooled

    def adam(self) -> None:
        """Change the weights in place."""
        self.steps += 1
        size = conv.RATE * np.sqrt(1 - conv.BETA2**self.steps) / (1 - conv.BETA1**self.steps)
        parts = zip(self.weights, self.slopes, self.means, self.squares, self.scratch, strict=True)
        for weight, slope, mean, square, scratch in parts:
            mean *= np.float32(conv.BETA1)
            mean += np.multiply(slope, np.float32(1 - conv.BETA1), out=scratch)
            square *= np.float32(conv.BETA2)
            slope *= slope
            slope *= np.float32(1 - conv.BETA2)
            square += slope
            np.sqrt(square, out=scratch)
            scratch += np.float32(conv.TINY)
            np.divide(mean, scratch, out=scratch)
            scratch *= np.float32(size)
            weight -= scratch


class Lstm:
    """Loss (mean square of all outputs) and gradients in NumPy.

    The inputs of all steps are multiplied at once; gates and states are kept for the way back;
    each weight's gradient is one product over all steps.
    """

    def __init__(self, weights: Arrays) -> None:
        self.weights = weights
        self.x = np.empty((STEPS, BATCH, INPUTS), "float32")
        self.gates = np.empty((STEPS, BATCH, 4 * UNITS), "float32")
        self.deltas = np.empty_like(self.gates)
        self.cells = np.zeros((STEPS + 1, BATCH, UNITS), "float32")
        self.squashed = np.empty((STEPS, BATCH, UNITS), "float32")  # tanh of the cells
        self.hidden = np.zeros((STEPS + 1, BATCH, UNITS), "float32")
        self.scratch = np.empty((BATCH, 4 * UNITS), "float32")

    def forward(self) -> None:
        """Fill gates, cells and hidden states."""
        kernel, recurrent, bias = self.weights
        np.matmul(self.x.reshape(-1, INPUTS), kernel, out=self.gates.reshape(-1, 4 * UNITS))
        self.gates += bias
        for t, z in enumerate(self.gates):
            z += np.matmul(self.hidden[t], recurrent, out=self.scratch)
            sigmoids, candidate = z[:, : 3 * UNITS], z[:, 3 * UNITS :]
            sigmoids *= np.float32(0.5)  # sigmoid(z) = (1 + tanh(z / 2)) / 2
            np.tanh(z, out=z)
            sigmoids += 1
            sigmoids *= np.float32(0.5)
            let_in, keep, show = (z[:, i * UNITS : (i + 1) * UNITS] for i in range(3))
            cell = np.multiply(keep, self.cells[t], out=self.cells[t + 1])
            cell += np.multiply(let_in, candidate, out=self.squashed[t])
            np.multiply(show, np.tanh(cell, out=self.squashed[t]), out=self.hidden[t + 1])

    def backward(self) -> None:
        """Fill `deltas`: the slope of the loss in each gate before its nonlinearity."""
        recurrent = self.weights[1].T
        scale = np.float32(2 / (BATCH * STEPS * UNITS))
        d_hidden = np.zeros((BATCH, UNITS), "float32")
        d_cell = np.zeros((BATCH, UNITS), "float32")
        for t in reversed(range(STEPS)):
            z, dz = self.gates[t], self.deltas[t]
            i, f, o, g = (z[:, k * UNITS : (k + 1) * UNITS] for k in range(4))
            di, df, do, dg = (dz[:, k * UNITS : (k + 1) * UNITS] for k in range(4))
            squashed = self.squashed[t]
            d_hidden += self.hidden[t + 1] * scale
            np.multiply(d_hidden, squashed, out=do)
            d_cell += d_hidden * o * (1 - squashed * squashed)
            np.multiply(d_cell, g, out=di)
            np.multiply(d_cell, self.cells[t], out=df)
            np.multiply(d_cell, i * (1 - g * g), out=dg)
            gates, part = z[:, : 3 * UNITS], dz[:, : 3 * UNITS]
            part *= gates * (1 - gates)
            d_cell *= f
            np.matmul(dz, recurrent, out=d_hidden)

    def __call__(self, x: np.ndarray) -> Arrays:
        """Return the loss and the gradients of the three weights."""
        np.copyto(self.x, x.transpose(1, 0, 2))
        self.forward()
        self.backward()
        deltas = self.deltas.reshape(-1, 4 * UNITS)
        outputs = self.hidden[1:].ravel()
        return [
            np.dot(outputs, outputs) / np.float32(outputs.size),
            self.x.reshape(-1, INPUTS).T @ deltas,
            self.hidden[:-1].reshape(-1, UNITS).T @ deltas,
            deltas.sum(axis=0),
        ]


class Attention:
    """Loss and gradients in NumPy: one product for queries, keys and values; heads are views."""

    def __init__(self, weights: Arrays) -> None:
        rows, steps = (attention.BATCH, attention.STEPS)
        width, heads, depth = attention.WIDTH, attention.HEADS, attention.DEPTH
        self.into, self.out = np.concatenate(weights[:3], axis=1), weights[3].copy()
        self.joint = np.empty((rows * steps, 3 * width), "float32")
        self.d_joint = np.empty_like(self.joint)
        self.mixed = np.empty((rows * steps, width), "float32")
        self.d_mixed = np.empty_like(self.mixed)
        self.shares = np.empty((rows, heads, steps, steps), "float32")
        self.d_shares = np.empty_like(self.shares)

        def split(array: np.ndarray) -> np.ndarray:
            """A view: kind (query, key, value), batch, head, step, depth."""
            parts = array.reshape(rows, steps, -1, heads, depth)
            return parts.transpose(2, 0, 3, 1, 4)

        self.heads, self.d_heads = split(self.joint), split(self.d_joint)
        self.mixed_heads, self.d_mixed_heads = split(self.mixed)[0], split(self.d_mixed)[0]

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Fill shares and what is mixed by them; return the output."""
        np.matmul(x, self.into, out=self.joint)
        queries, keys, values = self.heads
        queries *= np.float32(attention.SCALE)
        shares = np.matmul(queries, keys.swapaxes(2, 3), out=self.shares)
        shares -= shares.max(axis=3, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=3, keepdims=True)
        np.matmul(shares, values, out=self.mixed_heads)
        return self.mixed @ self.out

    def __call__(self, x: np.ndarray) -> Arrays:
        """Return the loss and the gradients of input and kernels."""
        flat = x.reshape(-1, attention.WIDTH)
        output = self.forward(flat)
        loss = np.dot(output.ravel(), output.ravel()) / np.float32(output.size)
        output *= np.float32(2 / output.size)
        slope = self.mixed.T @ output
        np.matmul(output, self.out.T, out=self.d_mixed)
        (queries, keys, values), (d_queries, d_keys, d_values) = self.heads, self.d_heads
        np.matmul(self.shares.swapaxes(2, 3), self.d_mixed_heads, out=d_values)
        back = np.matmul(self.d_mixed_heads, values.swapaxes(2, 3), out=self.d_shares)
        back -= (self.d_mixed_heads * self.mixed_heads).sum(axis=3, keepdims=True)
        back *= self.shares
        np.matmul(back, keys, out=d_queries)
        d_queries *= np.float32(attention.SCALE)
        np.matmul(back.swapaxes(2, 3), queries, out=d_keys)
        slopes = flat.T @ self.d_joint
        d_x = (self.d_joint @ self.into.T).reshape(x.shape)
        return [loss, d_x, *np.split(slopes, 3, axis=1), slope]


class Chain:
    """The chain in NumPy, in place; the result is a new array."""

    def __init__(self) -> None:
        self.curve, self.bell = np.empty((2, chain.SIZE), "float32")
        self.positive = np.empty(chain.SIZE, bool)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        curve = np.multiply(x, np.float32(chain.SQUARED), out=self.curve)
        curve += np.float32(chain.LINEAR)
        curve *= x
        curve += np.float32(chain.CONSTANT)
        bell = np.multiply(x, x, out=self.bell)
        np.negative(bell, out=bell)
        np.exp(bell, out=bell)
        result = curve - bell
        np.tanh(curve, out=curve)
        curve *= bell
        np.copyto(result, curve, where=np.greater(x, 0, out=self.positive))
        return result


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        self.value = np.zeros((), "float32")

    def __call__(self) -> None:
        np.add(self.value, 1, out=self.value)


# Single functions ------------------------------------------------------------------------------


def one_hot(labels: np.ndarray) -> np.ndarray:
    """Ones at the labels."""
    found = np.zeros((len(labels), small.CLASSES), "float32")
    found[np.arange(len(labels)), labels] = 1
    return found


def prod_slope(x: np.ndarray) -> np.ndarray:
    """The product of all others in each row: by division, where that is right."""
    product = np.prod(x, axis=1, keepdims=True)
    if product.all() and np.isfinite(product).all():
        return product / x
    before, after = np.ones((2, *x.shape), "float32")
    np.cumprod(x[:, :-1], axis=1, out=before[:, 1:])
    np.cumprod(x[:, :0:-1], axis=1, out=after[:, -2::-1])
    return before * after


def cumprod_slope(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Of the running product of each row, weighted: by division, where that is right."""
    weighted = np.cumprod(x, axis=1)
    if not (weighted[:, -1].all() and np.isfinite(weighted[:, -1]).all()):
        raise NotImplementedError("there are zeros")
    weighted *= g
    return np.cumsum(weighted[:, ::-1], axis=1)[:, ::-1] / x


def mapped(rows: np.ndarray) -> np.ndarray:
    """All rows at once."""
    return np.tanh(rows * 2 + np.square(rows).sum(axis=1, keepdims=True))


SMALL = {
    "one_hot, 50,000 classes": one_hot,
    "sparse dot": lambda matrix, dense: matrix @ dense,
    "gradient of sparse dot": lambda matrix, slopes: matrix.T @ slopes,
    "gradient of prod": prod_slope,
    "gradient of cumprod": cumprod_slope,
    "map_fn, 1,000 steps": mapped,
}


def pin(threads: int) -> None:
    """The environment variables of BLAS are all there is."""


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": lambda: np.add,
    "count": Count,
    "small": lambda: SMALL,
}
