"""`K.T` and `K.theano`: what programs took from Theano through the backend module."""

from __future__ import annotations

from typing import Any

from ..theano1.modules import module

theano: Any = module("theano")
T: Any = module("theano.tensor")
