"""The commands: `kameleon demo`, `kameleon engines`, `kameleon --version`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import kameleon
from kameleon.cli import REMEDY
from kameleon.config import ENGINES, installed, settings
from kameleon.errors import KameleonError

if TYPE_CHECKING:
    from kameleon.demo.digits import Epoch, Reader
    from kameleon.demo.report import Files

app = typer.Typer(
    name="kameleon",
    help="The classic Keras backend API, written once, run on any engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DEMO_LIBRARIES = {
    "sklearn": "scikit-learn",
    "matplotlib": "Matplotlib",
    "safetensors": "safetensors",
    "threadpoolctl": "threadpoolctl",
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kameleon {kameleon.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """The classic Keras backend API, written once, run on any engine."""


# Engines ---------------------------------------------------------------------------------------


def _state(name: str) -> str:
    """Say of an engine whether it can run here, and if not, why."""
    from kameleon.runtime.engines import available  # late: it loads NumPy

    if not available(name):
        return "[dim]not in this version of Kameleon[/dim]"
    if installed(name):
        return "[green]installed[/green]"
    return f"not installed: pip install {ENGINES[name].requirement}"


@app.command()
def engines() -> None:
    """List the engines that Kameleon knows, and which of them can run here."""
    table = Table("engine", "state")
    for name in ENGINES:
        table.add_row(name, _state(name))
    Console().print(table)


# The demo --------------------------------------------------------------------------------------


def _fail(message: str) -> typer.Exit:
    """Say what is wrong on the error stream; returns the exception to raise."""
    typer.echo(message, err=True)
    return typer.Exit(1)


def _choose_engine(name: str) -> None:
    """Make `name` the engine of this process: it counts when the backend is first imported."""
    if "kameleon.backend" not in sys.modules:
        settings.backend = name
    try:
        from kameleon import backend as K
    except KameleonError as error:
        raise _fail(str(error)) from None
    if K.backend() != name:
        raise _fail(f"The backend already runs on {K.backend()}; start a new process for {name}.")


def _require_libraries() -> None:
    missing = [title for module, title in DEMO_LIBRARIES.items() if find_spec(module) is None]
    if missing:
        names = " and ".join(missing)
        raise _fail(f"The demo needs {names}, not installed here: {REMEDY}")


def _train(reader: Reader, epochs: int) -> list[Epoch]:
    """Train with a progress bar that shows loss and accuracy; return what the epochs gave."""
    history: list[Epoch] = []
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console()) as progress:
        task = progress.add_task("training", total=epochs, state="")
        for epoch in reader.learn(epochs):
            history.append(epoch)
            state = (
                f"loss {epoch.loss:.4f}  accuracy {epoch.accuracy:.2%}  "
                f"held out {epoch.held_out_accuracy:.2%}"
            )
            progress.update(task, advance=1, state=state)
    return history


def _show_result(engine: str, accuracy: float, count: int, files: Files) -> None:
    right = round(accuracy * count)
    typer.echo(f"Accuracy on held-out digits: {accuracy:.2%} ({right} of {count}), on {engine}.")
    typer.echo(f"Pictures: {files.curves} and {files.mistakes}")
    typer.echo(f"Variables: {files.variables}")


@app.command()
def demo(
    engine: Annotated[
        str, typer.Option(help="Engine to run on; see `kameleon engines`.")
    ] = "numpy",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training digits.")] = 25,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal results.")] = 0,
    out: Annotated[
        Path, typer.Option(help="Folder for pictures and variables.", file_okay=False)
    ] = Path("kameleon-demo"),
) -> None:
    """Train a convolutional network on 1,797 handwritten digits, and save what it learnt."""
    _require_libraries()
    _choose_engine(engine)
    from threadpoolctl import threadpool_limits

    from kameleon.demo import digits, report

    # Products of this size are slower on several threads, and differ in their last bits.
    with threadpool_limits(1, user_api="blas"):
        reader = digits.Reader(seed)
        history = _train(reader, epochs)
    files = report.write(out, reader, history)
    _show_result(engine, history[-1].held_out_accuracy, len(reader.held_out.labels), files)
