"""What to install where a library of a command is missing. This module itself needs none."""

from __future__ import annotations

NEEDED = ("typer", "rich")
REMEDY = 'pip install "kameleon[demo]"'
LESS = 'pip install "kameleon[cli]"'  # enough for all commands but the demo
