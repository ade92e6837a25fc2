"""What the commands have in common in speaking to people."""

from __future__ import annotations

import typer


def fail(message: str) -> typer.Exit:
    """Say what is wrong on the error stream; returns the exception to raise."""
    typer.echo(message, err=True)
    return typer.Exit(1)
