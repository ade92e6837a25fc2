"""How commands report failures to people."""

from __future__ import annotations

import typer


def fail(message: str) -> typer.Exit:
    """Print what is wrong on standard error; return the exception to raise."""
    typer.echo(message, err=True)
    return typer.Exit(1)
