"""The command `kameleon demo`: training shown on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from kameleon.cli.demo.loading import load_backend
from kameleon.cli.needs import REMEDY
from kameleon.cli.output import console, show
from kameleon.cli.parsing import CommandError, Parser, made, number
from kameleon.cli.probe import first_line
from kameleon.config import ENGINES

if TYPE_CHECKING:
    from kameleon.cli.demo.digits import Epoch, Reader
    from kameleon.cli.demo.report import Files
    from kameleon.cli.demo.side_by_side import Trained

DEMO_LIBRARIES = {
    "matplotlib": "Matplotlib",
    "threadpoolctl": "threadpoolctl",
}

ALL = "all"
OUT = Path("kameleon-demo")
EPOCHS = 25  # for one engine
EPOCHS_EACH = 5  # for several
PASSES = 6  # for a click in a page
# What `--help` says of options.
ON = f"""engine to run on (see `kameleon engines`), several with commas between them, or {ALL}: the
same training on each, side by side (default: numpy)"""
OFTEN = f"""passes over the training digits (default: {EPOCHS}; {EPOCHS_EACH} on each of several
engines; {PASSES} for a click in the page of --web)"""
WEB = """write a page in which the network learns, in a browser; digits are drawn there, and its
losses are held against those of one engine here"""
ORT = """with --web: npm's file of ONNX Runtime Web, or a folder with it, instead of fetching it
(32 MB)"""


def _require_libraries() -> None:
    missing = [title for module, title in DEMO_LIBRARIES.items() if find_spec(module) is None]
    if missing:
        names = " and ".join(missing)
        raise CommandError(f"it needs {names}, not installed here: {REMEDY}")


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
        there = f"there are: {', '.join(engines.names())}, or {ALL} for all of them"
        if not unknown:
            raise CommandError(f"no engine is named; {there}")
        raise CommandError(f"there is no engine {unknown[0]}{engines.meant(unknown[0])}; {there}")
    return list(dict.fromkeys(names))


def _progress() -> Progress:
    """A display of bars that show loss and accuracy."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console())


def _train(progress: Progress, title: str, engine: str, reader: Reader, epochs: int) -> Trained:
    """Train with a bar of the display."""
    from kameleon.cli.demo.side_by_side import train

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
    from kameleon.cli.demo import digits, report

    reader = digits.Reader(seed)
    with _progress() as progress:
        run = _train(progress, "training", engine, reader, epochs)
    if run.error is not None:
        raise CommandError(f"{engine}: {first_line(run.error)}")
    files = report.write(out, reader, run.epochs)
    _show_result(engine, run.epochs[-1].held_out_accuracy, len(reader.held_out.labels), files)


def _show_result(engine: str, accuracy: float, count: int, files: Files) -> None:
    right = round(accuracy * count)
    print(f"Accuracy on held-out digits: {accuracy:.2%} ({right} of {count}), on {engine}.")
    print(f"Pictures: {files.curves} and {files.mistakes}")
    print(f"Variables: {files.variables}")


def _demo_on_several(names: Sequence[str], epochs: int, seed: int, out: Path) -> None:
    from kameleon.cli.demo import digits, report, side_by_side

    reader = digits.Reader(seed)
    start = side_by_side.Start(reader)
    runs = []
    with _progress() as progress:
        for name in names:
            start.restore()
            runs.append(_train(progress, name, name, reader, epochs))
    _show_table(runs)
    failed = [run for run in runs if run.error is not None]
    if len(failed) < len(runs):
        print(f"Picture: {report.write_comparison(out, runs)}")
    if failed:
        raise CommandError(f"these failed: {', '.join(run.engine for run in failed)}")


def _show_table(runs: Sequence[Trained]) -> None:
    """One row for each engine: what it learnt, and how long that took."""
    rows = []
    for run in runs:
        numbers = [""] * 4
        if run.epochs:
            last = run.epochs[-1]
            numbers = [f"{last.loss:.6f}", f"{last.held_out_accuracy:.2%}"]
            numbers += [f"{seconds:.2f} s" for seconds in (run.compiling, run.training)]
        cells = map(Text, (run.engine, run.version, *numbers))
        rows.append([*cells, _remarks(run, runs)])
    head = ("engine", "version", "loss", "accuracy", "compiling", "training", "remarks")
    show(head, rows, "loss in the last epoch, accuracy on held-out digits")


def _remarks(run: Trained, runs: Sequence[Trained]) -> Text:
    """How far a run was from the reference, or why it failed."""
    from kameleon.cli.demo.side_by_side import difference, reference_of

    reference = reference_of(runs)
    if run.error is not None or reference is None:
        return Text(first_line(run.error) if run.error else "", "red")
    if run is reference:
        return Text("the reference")
    return Text(f"loss within {difference(run, reference):.1e} of {reference.engine}")


def main(arguments: Sequence[str]) -> None:
    """Train a convolutional network on 1,797 handwritten digits, and save what it learnt."""
    parser = Parser("demo", main.__doc__ or "")
    parser.option("--engine", "NAME", ON, default="numpy")
    parser.option("--epochs", "N", OFTEN, number(1))
    parser.option("--seed", "N", "equal seeds give equal results", number(0), default=0)
    parser.option("--out", "FOLDER", f"folder for pictures and variables (default: {OUT})", Path)
    parser.option("--web", "FOLDER", WEB, Path)
    parser.option("--ort", "PATH", ORT, Path)
    asked = parser.understood(arguments)
    if asked.ort is not None and asked.web is None:
        parser.error("--ort goes with --web")
    names = _chosen_engines(asked.engine)
    if asked.web is not None:
        if asked.out is not None or len(names) > 1:
            parser.error("--web goes with one engine, and without --out")
        from kameleon.cli.demo.web.command import make

        make(asked.web, asked.ort, names[0], asked.epochs or PASSES, asked.seed)
        return
    _require_libraries()
    out = made(asked.out or OUT)
    if len(names) == 1 and asked.engine != ALL:
        load_backend(names[0])
        _demo_on_one(names[0], asked.epochs or EPOCHS, asked.seed, out)
        return
    if asked.epochs is None:
        print(f"{EPOCHS_EACH} epochs on each of {', '.join(names)}; --epochs changes that.")
    load_backend("numpy")
    _demo_on_several(names, asked.epochs or EPOCHS_EACH, asked.seed, out)
