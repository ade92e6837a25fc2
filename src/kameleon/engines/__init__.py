"""Engines: each is a table of rules for the primitives. `Engine` is the contract."""

from ._base import Engine, Executable
from ._lowering import Lowering

__all__ = ["Engine", "Executable", "Lowering"]
