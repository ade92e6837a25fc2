"""The commands `kameleon keras2`, `kameleon keras2 install`, `kameleon keras2 uninstall`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kameleon.cli import original
from kameleon.cli.output import fail
from kameleon.hosting import location

app = typer.Typer(help="The original Keras 2.3.1: is it here, install it, remove it.")


@app.callback(invoke_without_command=True)
def status(context: typer.Context) -> None:
    """The original Keras 2.3.1, that programs run on: is it here, install it, remove it."""
    if context.invoked_subcommand is None:
        found = original.status()
        Console().print(as_table(found))
        typer.echo(in_words(found))


def as_table(found: original.Status) -> Table:
    """The original and its libraries, a row each."""
    table = Table("package", "version", "state", "needed for")
    for column in table.columns:
        column.overflow = "fold"
    where = Text("not installed", "red")
    if found.found is not None:
        where = Text(found.found or "the environment's own", "green")
    table.add_row("keras", found.version, where, f"programs that import Keras {location.VERSION}")
    for library in original.LIBRARIES:
        missing = library in found.lacking
        state = Text("not installed", "red") if missing else Text("installed", "green")
        known = original.version_of(library.requirement)
        table.add_row(library.requirement, known, state, library.job)
    return table


def in_words(found: original.Status) -> str:
    """The sentence that says which Keras programs get, and what to do for another."""
    if found.found is None:
        beside = f" (this environment's own Keras, {found.own}, stays)" if found.own else ""
        return (
            "Under `kameleon run`, `import keras` gives Kameleon's own keras.backend and"
            f" keras.layers. For all of Keras {location.VERSION}: {location.INSTALL}{beside}"
        )
    if found.lacking:
        return f"Libraries are missing: {location.INSTALL}"
    return f"Under `kameleon run`, `import keras` gives Keras {found.version}, on Kameleon."


@app.command()
def install(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Folder with the files to install; nothing is fetched then.",
            exists=True,
            file_okay=False,
            resolve_path=True,
        ),
    ] = None,
) -> None:
    """Install the original Keras 2.3.1 into a folder of its own; another Keras stays as it is."""
    before = original.status()
    if before.found is not None and not before.lacking:
        typer.echo(f"Nothing to do: {in_words(before)}")
        return
    if before.found is None:
        typer.echo(f"Keras {location.VERSION} goes to {before.folder}")
    if before.lacking:
        names = ", ".join(f"{library.requirement} ({library.job})" for library in before.lacking)
        typer.echo(f"Into this environment: {names}")
    with Console(stderr=True).status("starting") as shown:
        try:
            original.install(source, lambda line: shown.update(Text(line)))
        except original.InstallError as error:
            shown.stop()
            raise fail(str(error)) from None
        shown.update("trying it")
        wrong = original.trial()
    if wrong:
        raise fail(f"It's installed, but doesn't run:\n{wrong}")
    typer.echo(f"Done. {in_words(original.status())}")
    typer.echo("Run a program: kameleon run script.py")


@app.command()
def uninstall() -> None:
    """Remove what `kameleon keras2 install` has put into its folder; libraries stay."""
    try:
        typer.echo(f"Removed {original.uninstall()}")
    except original.InstallError as error:
        raise fail(str(error)) from None
