"""What to install where a library of a command is missing. It needs none itself."""

from __future__ import annotations

NEEDED = ("typer", "rich")
REMEDY = 'pip install "kameleon[demo]"'
LESS = 'pip install "kameleon[cli]"'  # enough for the other commands
