"""The words that arguments may be, for type checkers."""

from __future__ import annotations

from typing import Literal

Padding = Literal["valid", "same"]
CausalPadding = Literal["valid", "same", "causal"]
DataFormat = Literal["channels_last", "channels_first"]
PoolMode = Literal["max", "avg"]
Interpolation = Literal["nearest", "bilinear"]
