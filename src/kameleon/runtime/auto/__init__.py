"""The engine `auto`: each function runs on the engine that computes it fastest.

A function begins on the embedded engine. When its calls have taken a while, the other engines are
tried on it in processes of their own, on copies of the state (`trial`). The fastest one that agrees
takes over when what it would have saved so far is more than it costs to load and compile it
(`choice`). What was found is kept on disk (`memory`).
"""

from .engine import engine

__all__ = ["engine"]
