"""What to install where a library of a command is missing. This module itself needs none."""

from __future__ import annotations

NEEDED = ("rich",)
DEMO = ("matplotlib", "threadpoolctl")
LESS = f"pip install {' '.join(NEEDED)}"  # enough for all commands but the demo
REMEDY = f"{LESS} {' '.join(DEMO)}"
