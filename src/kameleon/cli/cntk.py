"""The commands `kameleon cntk`, `kameleon cntk install`, `kameleon cntk uninstall`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from kameleon.cli import cntk_environment as environment
from kameleon.cli.output import fail
from kameleon.config import cntk

app = typer.Typer(help="CNTK 2.7, in an environment of its own: is it here, install it, remove it.")


@app.callback(invoke_without_command=True)
def status(context: typer.Context) -> None:
    """CNTK 2.7, in an environment of its own: is it here, install it, remove it."""
    if context.invoked_subcommand is not None:
        return
    if cntk.installed():
        typer.echo(f"CNTK is in {cntk.folder()}; programs run on it by KERAS_BACKEND=cntk")
    else:
        typer.echo(f"CNTK isn't installed: {cntk.INSTALL}")


@app.command()
def install(
    python: Annotated[
        str | None,
        typer.Option("--python", help="The path of a Python 3.6; else one is looked for."),
    ] = None,
) -> None:
    """Make an environment with Python 3.6 and CNTK 2.7, in a folder of its own."""
    if cntk.installed():
        typer.echo(f"Nothing to do: CNTK is in {cntk.folder()}")
        return
    typer.echo(f"CNTK {cntk.VERSION} goes to {cntk.folder()}")
    with Console(stderr=True).status("starting") as shown:
        try:
            version = environment.install(python, lambda line: shown.update(Text(line)))
        except environment.InstallError as error:
            shown.stop()
            raise fail(str(error)) from None
    typer.echo(f"Done: CNTK {version} multiplies. Choose it by KERAS_BACKEND=cntk")


@app.command()
def uninstall() -> None:
    """Remove the folder that `kameleon cntk install` has made."""
    try:
        typer.echo(f"Removed {environment.uninstall()}")
    except environment.InstallError as error:
        raise fail(str(error)) from None
