"""The workloads in PyTorch, with what `torch.compile` makes of the loss and its gradients."""

from __future__ import annotations

import torch

from . import torch as eager
from .torch import pin

__all__ = ["SIDES", "pin"]


class Mlp(eager.Mlp):
    """A step of SGD."""

    loss = staticmethod(torch.compile(eager.Mlp.loss))


class Conv(eager.Conv):
    """A step of Adam."""

    loss = staticmethod(torch.compile(eager.Conv.loss))


class Attention(eager.Attention):
    """Loss and gradients."""

    loss = staticmethod(torch.compile(eager.Attention.loss))


class Chain(eager.Chain):
    """The chain as one loop."""

    run = staticmethod(torch.compile(eager.Chain.run))


SIDES = {"mlp": Mlp, "conv": Conv, "attention": Attention, "chain": Chain}
