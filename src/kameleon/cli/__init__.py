"""The command `kameleon`. Its commands are in `app`, which needs Typer and Rich.

This module needs neither, so that it can say what to install where they are missing.
"""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich")
REMEDY = 'pip install "kameleon[demo]"'


def main() -> None:
    """Run the command line; exit with status 1 and one sentence if a library is missing."""
    try:
        from kameleon.cli.app import app
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in NEEDED:
            raise
        sys.exit(f"The command kameleon needs {library}, which isn't installed: {REMEDY}")
    app()
