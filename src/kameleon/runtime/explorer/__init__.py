"""One page that shows all of a function: its graph, the passes, and what an engine makes of it."""

from __future__ import annotations
