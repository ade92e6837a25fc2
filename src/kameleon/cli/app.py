"""The commands of `kameleon` and their options; what the commands do is in the other modules."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import kameleon
from kameleon.cli import cntk, keras2
from kameleon.cli.needs import REMEDY
from kameleon.cli.output import fail
from kameleon.cli.probe import first_line
from kameleon.config import ENGINES, settings
from kameleon.errors import KameleonError

if TYPE_CHECKING:
    from kameleon.demo.digits import Epoch, Reader
    from kameleon.demo.report import Files
    from kameleon.demo.side_by_side import Trained

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
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """The classic Keras backend API, written once, run on any engine."""


# Programs that import Keras ----------------------------------------------------------------------

app.add_typer(keras2.app, name="keras2")
app.add_typer(cntk.app, name="cntk")

UNTOUCHED: dict[str, Any] = {  # for a command that reads its arguments itself
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


@app.command(context_settings=UNTOUCHED)
def run(context: typer.Context) -> None:
    """Run a program that imports Keras, unchanged, on Kameleon."""
    from kameleon.cli.run import main

    main(context.args)


@app.command(context_settings=UNTOUCHED)
def launch(context: typer.Context) -> None:
    """Run a program in several processes, which share the work."""
    from kameleon.cli.launch import main

    main(context.args)


# Engines ---------------------------------------------------------------------------------------


@app.command()
def engines(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    devices: Annotated[
        bool, typer.Option(help="Load the libraries, to learn which devices they can use.")
    ] = True,
) -> None:
    """List the engines that Kameleon knows, what runs here, and which one is in force."""
    from kameleon.cli import engines as listing

    chosen = listing.choice()
    found = listing.rows(chosen.name)
    if devices:
        with Console(stderr=True).status("loading libraries") as status:
            found = listing.told(found, lambda w: status.update(f"loading {', '.join(w)}"))
    if as_json:
        typer.echo(json.dumps(listing.as_data(found, chosen), indent=2))
        return
    console = Console()
    console.print(listing.shown(found, console))
    typer.echo(listing.in_force(chosen))


# The demo --------------------------------------------------------------------------------------

ALL = "all"
EPOCHS = 25  # for one engine
EPOCHS_EACH = 5  # for several


def _require_libraries() -> None:
    missing = [title for module, title in DEMO_LIBRARIES.items() if find_spec(module) is None]
    if missing:
        names = " and ".join(missing)
        raise fail(f"The demo needs {names}, not installed here: {REMEDY}")


def _chosen_engines(text: str) -> list[str]:
    """Return the names in `text`: one, several with commas between them, or `all`."""
    from kameleon.runtime import engines  # late: it loads NumPy

    if text == ALL:
        # NumPy comes first, because the other engines are compared with it.
        return sorted(filter(engines.runs_here, engines.names()), key=lambda n: n != "numpy")
    names = [engines.canonical(name.strip()) for name in text.split(",") if name.strip()]
    known = {*engines.names(), *ENGINES}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"There is no engine {', '.join(unknown)}" if unknown else "No engine is named"
        raise fail(f"{what}; there are: {', '.join(engines.names())}, or {ALL} for all of them")
    return list(dict.fromkeys(names))


def _load_backend(engine: str) -> None:
    """Import the K surface on an engine, or only load the engine where that import is done."""
    if "kameleon.backend" not in sys.modules:
        settings.backend = engine
    try:
        from kameleon import backend  # noqa: F401
        from kameleon.runtime.engines import load

        load(engine)
    except KameleonError as error:
        raise fail(str(error)) from None
    except Exception as error:  # a broken library may raise anything
        raise fail(f"The engine {engine} can't be loaded: {first_line(error)}") from None


def _progress() -> Progress:
    """A display of bars that show loss and accuracy."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console())


def _train(progress: Progress, title: str, engine: str, reader: Reader, epochs: int) -> Trained:
    """Train with a bar of the display."""
    from kameleon.demo.side_by_side import train

    task = progress.add_task(title, total=epochs, state="")

    def show(epoch: Epoch) -> None:
        state = (
            f"loss {epoch.loss:.4f}  accuracy {epoch.accuracy:.2%}  "
            f"held out {epoch.held_out_accuracy:.2%}"
        )
        progress.update(task, advance=1, state=state)

    run = train(engine, reader, epochs, show)
    progress.stop_task(task)
    if run.error is not None:
        progress.update(task, state="failed")
    return run


def _demo_on_one(engine: str, epochs: int, seed: int, out: Path) -> None:
    from kameleon.demo import digits, report

    reader = digits.Reader(seed)
    with _progress() as progress:
        run = _train(progress, "training", engine, reader, epochs)
    if run.error is not None:
        raise fail(f"{engine}: {first_line(run.error)}")
    files = report.write(out, reader, run.epochs)
    _show_result(engine, run.epochs[-1].held_out_accuracy, len(reader.held_out.labels), files)


def _show_result(engine: str, accuracy: float, count: int, files: Files) -> None:
    right = round(accuracy * count)
    typer.echo(f"Accuracy on held-out digits: {accuracy:.2%} ({right} of {count}), on {engine}.")
    typer.echo(f"Pictures: {files.curves} and {files.mistakes}")
    typer.echo(f"Variables: {files.variables}")


def _demo_on_several(names: Sequence[str], epochs: int, seed: int, out: Path) -> None:
    from kameleon.demo import digits, report, side_by_side

    reader = digits.Reader(seed)
    start = side_by_side.Start(reader)
    runs = []
    with _progress() as progress:
        for name in names:
            start.restore()
            runs.append(_train(progress, name, name, reader, epochs))
    Console().print(_table_of(runs))
    failed = [run for run in runs if run.error is not None]
    if len(failed) < len(runs):
        typer.echo(f"Picture: {report.write_comparison(out, runs)}")
    if failed:
        raise fail(f"Failed: {', '.join(run.engine for run in failed)}")


def _table_of(runs: Sequence[Trained]) -> Table:
    """One row for each engine: what it learnt, and how long that took."""
    table = Table("engine", "version", "loss", "accuracy", "compiling", "training", "remarks")
    for run in runs:
        numbers = [""] * 4
        if run.epochs:
            last = run.epochs[-1]
            numbers = [f"{last.loss:.6f}", f"{last.held_out_accuracy:.2%}"]
            numbers += [f"{seconds:.2f} s" for seconds in (run.compiling, run.training)]
        table.add_row(run.engine, run.version, *numbers, _remarks(run, runs))
    table.caption = "loss in the last epoch, accuracy on held-out digits"
    return table


def _remarks(run: Trained, runs: Sequence[Trained]) -> Text:
    """How far a run was from the reference, or why it failed."""
    from kameleon.demo.side_by_side import difference, reference_of

    reference = reference_of(runs)
    if run.error is not None or reference is None:
        return Text(first_line(run.error) if run.error else "", "red")
    if run is reference:
        return Text("the reference")
    return Text(f"loss within {difference(run, reference):.1e} of {reference.engine}")


@app.command()
def demo(
    engine: Annotated[
        str,
        typer.Option(
            help="Engine to run on (see `kameleon engines`), several with commas between them,"
            f" or {ALL}: the same training on each, side by side."
        ),
    ] = "numpy",
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Passes over the training digits.",
            show_default=f"{EPOCHS}; {EPOCHS_EACH} on each of several engines",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal results.")] = 0,
    out: Annotated[
        Path, typer.Option(help="Folder for pictures and variables.", file_okay=False)
    ] = Path("kameleon-demo"),
) -> None:
    """Train a convolutional network on 1,797 handwritten digits, and save what it learnt."""
    _require_libraries()
    names = _chosen_engines(engine)
    if len(names) == 1 and engine != ALL:
        _load_backend(names[0])
        _demo_on_one(names[0], epochs or EPOCHS, seed, out)
        return
    if epochs is None:
        epochs = EPOCHS_EACH
        typer.echo(f"{epochs} epochs on each of {', '.join(names)}; --epochs changes that.")
    _load_backend("numpy")
    _demo_on_several(names, epochs, seed, out)
