"""The workloads in PyTorch: eager, autograd, its fused kernels, updates in place."""

from __future__ import annotations

import warnings
from typing import Any

import attention
import chain
import conv
import lstm
import mlp
import numpy as np
import small
import torch
import torch.nn.functional as F

Arrays = list[np.ndarray]


def parameters(arrays: Arrays) -> list[torch.Tensor]:
    """Leaves that gradients are asked for."""
    return [torch.tensor(a, requires_grad=True) for a in arrays]


class Mlp:
    """A step of SGD."""

    def __init__(self, weights: Arrays) -> None:
        self.parameters = parameters(weights)

    @property
    def weights(self) -> Arrays:
        """For the check."""
        return [p.detach().numpy() for p in self.parameters]

    @staticmethod
    def loss(
        parameters: list[torch.Tensor], images: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """Of the whole batch."""
        k1, b1, k2, b2, k3, b3 = parameters
        x = torch.addmm(b1, images, k1).relu_()
        x = torch.addmm(b2, x, k2).relu_()
        return F.cross_entropy(torch.addmm(b3, x, k3), labels.long())

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        loss = self.loss(self.parameters, torch.from_numpy(images), torch.from_numpy(labels))
        slopes = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            torch._foreach_add_(self.parameters, slopes, alpha=-mlp.RATE)
        return loss.item()


class Conv:
    """A step of Adam; convolutions work on channels that lie last."""

    def __init__(self, weights: Arrays) -> None:
        self.parameters = parameters(weights)
        with torch.no_grad():
            for i in (0, 2):  # rows, columns, in, out -> out, in, rows, columns
                kernel = self.parameters[i].permute(3, 2, 0, 1)
                kernel = kernel.contiguous(memory_format=torch.channels_last)
                self.parameters[i] = kernel.requires_grad_()
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]
        self.steps = 0

    @property
    def weights(self) -> Arrays:
        """For the check."""
        arrays = [p.detach() for p in self.parameters]
        return [a.permute(2, 3, 1, 0).numpy() if a.ndim == 4 else a.numpy() for a in arrays]

    @staticmethod
    def loss(
        parameters: list[torch.Tensor], images: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """Of the whole batch."""
        k1, b1, k2, b2, k3, b3, k4, b4 = parameters
        x = F.conv2d(images.permute(0, 3, 1, 2), k1, b1).relu_()
        x = F.max_pool2d(F.conv2d(x, k2, b2).relu_(), 2)
        x = x.permute(0, 2, 3, 1).reshape(len(images), -1)
        x = torch.addmm(b3, x, k3).relu_()
        return F.cross_entropy(torch.addmm(b4, x, k4), labels.long())

    def __call__(self, images: np.ndarray, labels: np.ndarray) -> float:
        loss = self.loss(self.parameters, torch.from_numpy(images), torch.from_numpy(labels))
        self.adam(torch.autograd.grad(loss, self.parameters))
        return loss.item()

    @torch.no_grad()
    def adam(self, slopes: tuple[torch.Tensor, ...]) -> None:
        """Change parameters and moments in place."""
        self.steps += 1
        size = conv.RATE * (1 - conv.BETA2**self.steps) ** 0.5 / (1 - conv.BETA1**self.steps)
        torch._foreach_lerp_(self.means, slopes, 1 - conv.BETA1)
        torch._foreach_mul_(self.squares, conv.BETA2)
        torch._foreach_addcmul_(self.squares, slopes, slopes, 1 - conv.BETA2)
        roots = torch._foreach_sqrt(self.squares)
        torch._foreach_add_(roots, conv.TINY)
        torch._foreach_addcdiv_(self.parameters, self.means, roots, -size)


class Lstm:
    """Loss and gradients through the fused LSTM; its gates: input, forget, candidate, output."""

    ORDER = (0, 1, 3, 2)  # of its gates among ours, and the other way round

    def __init__(self, weights: Arrays) -> None:
        kernel, recurrent, bias = (self.turned(w.T) for w in weights)
        self.parameters = parameters([kernel, recurrent, bias])
        self.no_bias = torch.zeros(4 * lstm.UNITS)
        self.start = torch.zeros(1, lstm.BATCH, lstm.UNITS)

    def turned(self, array: np.ndarray) -> np.ndarray:
        """Last two gates exchanged."""
        gates = np.split(array, 4)
        return np.concatenate([gates[i] for i in self.ORDER])

    def layout(self, results: Arrays) -> Arrays:
        """In the order of the K side."""
        return [results[0], *(self.turned(np.asarray(r)).T for r in results[1:])]

    def __call__(self, x: np.ndarray) -> Arrays:
        outputs, _, _ = torch.lstm(
            torch.from_numpy(x),
            (self.start, self.start),
            [*self.parameters, self.no_bias],
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=True,
            bidirectional=False,
            batch_first=True,
        )
        loss = outputs.square().mean()
        slopes = torch.autograd.grad(loss, self.parameters)
        return [loss.item(), *(s.numpy() for s in slopes)]


class Attention:
    """Loss and gradients: one product for queries, keys and values, then the fused kernel."""

    def __init__(self, weights: Arrays) -> None:
        self.parameters = parameters([np.concatenate([w.T for w in weights[:3]]), weights[3].T])

    @staticmethod
    def loss(x: torch.Tensor, into: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Mean square of the output."""
        heads = F.linear(x, into).view(len(x), -1, 3, attention.HEADS, attention.DEPTH)
        queries, keys, values = heads.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(queries, keys, values)
        output = F.linear(mixed.transpose(1, 2).reshape(x.shape), out)
        return output.square().mean()

    def __call__(self, x: np.ndarray) -> Arrays:
        into, out = self.parameters
        inputs = torch.from_numpy(x).requires_grad_()
        loss = self.loss(inputs, into, out)
        d_x, d_into, d_out = torch.autograd.grad(loss, [inputs, into, out])
        return [loss.item(), d_x.numpy(), *(d.T.numpy() for d in (*d_into.chunk(3), d_out))]


class Chain:
    """The chain, in place where nothing else needs the values."""

    @staticmethod
    def run(x: torch.Tensor) -> torch.Tensor:
        """All of it."""
        curve = (chain.SQUARED * x).add_(chain.LINEAR).mul_(x).add_(chain.CONSTANT)
        bell = x.square().neg_().exp_()
        other = curve - bell
        return torch.where(x > 0, curve.tanh_().mul_(bell), other)

    @torch.inference_mode()
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.run(torch.from_numpy(x)).numpy()


class Count:
    """Add one to a scalar."""

    def __init__(self) -> None:
        self.value = torch.zeros(())

    def __call__(self) -> None:
        self.value.add_(1)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Their sum, computed by PyTorch."""
    return (torch.from_numpy(x) + torch.from_numpy(y)).numpy()


# Single functions ------------------------------------------------------------------------------


def one_hot(labels: np.ndarray) -> np.ndarray:
    """Ones at the labels."""
    found = torch.zeros(len(labels), small.CLASSES)
    return found.scatter_(1, torch.from_numpy(labels).long()[:, None], 1.0).numpy()


def compressed(matrix: Any) -> torch.Tensor:
    """SciPy's compressed rows as PyTorch's."""
    parts = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such tensors are in beta state
        return torch.sparse_csr_tensor(*parts, size=matrix.shape)


def sparse_dot(matrix: Any, dense: np.ndarray) -> np.ndarray:
    """Compressed rows times a dense matrix."""
    return (compressed(matrix) @ torch.from_numpy(dense)).numpy()


def sparse_dot_slope(matrix: Any, slopes: np.ndarray) -> np.ndarray:
    """The transposed matrix times slopes."""
    return (compressed(matrix).t() @ torch.from_numpy(slopes)).numpy()


def prod_slope(x: np.ndarray) -> np.ndarray:
    """By autograd."""
    x = torch.from_numpy(x).requires_grad_()
    return torch.autograd.grad(torch.prod(x, 1).sum(), x)[0].numpy()


def cumprod_slope(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """By autograd."""
    x = torch.from_numpy(x).requires_grad_()
    return torch.autograd.grad(torch.cumprod(x, 1), x, torch.from_numpy(g))[0].numpy()


def mapped(rows: np.ndarray) -> np.ndarray:
    """All rows at once."""
    x = torch.from_numpy(rows)
    return (x * 2).add_(x.square().sum(1, keepdim=True)).tanh_().numpy()


SMALL = {
    "one_hot, 50,000 classes": one_hot,
    "sparse dot": sparse_dot,
    "gradient of sparse dot": sparse_dot_slope,
    "gradient of prod": prod_slope,
    "gradient of cumprod": cumprod_slope,
    "map_fn, 1,000 steps": mapped,
}


def pin(threads: int) -> None:
    """Threads of one operation."""
    torch.set_num_threads(threads)


SIDES = {
    "mlp": Mlp,
    "conv": Conv,
    "lstm": Lstm,
    "attention": Attention,
    "chain": Chain,
    "add": lambda: add,
    "count": Count,
    "small": lambda: SMALL,
}
