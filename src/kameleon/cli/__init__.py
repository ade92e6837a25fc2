"""The command line `kameleon`. Its commands are in `app`, which needs Typer and Rich.

This module needs neither library, so that it can say what to install where one is missing; and
`kameleon run` needs neither, so that programs run wherever Kameleon is installed.
"""

from __future__ import annotations

import sys

from .needs import LESS, NEEDED, REMEDY


def main() -> None:
    """Run the command line; exit with status 1 and one sentence if a library is missing."""
    if sys.argv[1:2] == ["launch"]:
        from kameleon.cli.launch import main as launch

        launch(sys.argv[2:])
        return
    if sys.argv[1:2] == ["run"]:
        from kameleon.cli.run import main as run

        run(sys.argv[2:])  # outside of Typer: how the program ends is the program's affair
        return
    try:
        from kameleon.cli.app import app
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in NEEDED:
            raise
        remedy = REMEDY if sys.argv[1:2] == ["demo"] else LESS
        sys.exit(f"The command kameleon needs {library}, which isn't installed: {remedy}")
    app()
