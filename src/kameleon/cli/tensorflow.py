"""The commands `kameleon tensorflow`, `kameleon tensorflow install`, `… uninstall`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from kameleon.cli import installing, tensorflow_files
from kameleon.cli.output import waiting_console
from kameleon.cli.parsing import Parser, file
from kameleon.compat.tensorflow import location


def status(arguments: Sequence[str]) -> None:
    """The Python files of TensorFlow 1.15: are they here, get them, remove them."""
    about = f"{status.__doc__}\n\nkameleon tensorflow install | uninstall: see --help of these."
    Parser("tensorflow", about).understood(arguments)
    print(in_words())


def in_words() -> str:
    """The sentences that say what is here, and what to do."""
    folder = location.folder()
    if not location.installed():
        return (
            f"The Python files of TensorFlow {location.VERSION} aren't installed. To install them"
            f" into {folder}: {location.INSTALL}"
        )
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return (
        f"The Python files of TensorFlow {location.VERSION} are in {folder}"
        f" ({size / 1e6:.0f} MB). A program runs on them by:"
        " kameleon run script.py"
    )


def install(arguments: Sequence[str]) -> None:
    """Get TensorFlow 1.15's Python files, 5 of its 110 MB; nothing else changes."""
    parser = Parser("tensorflow install", install.__doc__ or "")
    about = f"a wheel of TensorFlow {location.VERSION} to take them from"
    parser.option("--wheel", "FILE", about, file)
    wheel = parser.understood(arguments).wheel
    were_here = location.installed()
    if not were_here:
        print(f"They go to {location.folder()}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=waiting_console(), transient=True) as bars:
        task = bars.add_task("", total=1)
        tensorflow_files.install(
            wheel,
            lambda what, done, total: bars.update(
                task, description=what, completed=done, total=total
            ),
        )
    done = "Nothing else to do" if were_here else "Done"
    print(f"{done}. {in_words()}")


def uninstall(arguments: Sequence[str]) -> None:
    """Remove what `kameleon tensorflow install` has put into its folder."""
    Parser("tensorflow uninstall", uninstall.__doc__ or "").understood(arguments)
    print(f"Removed {installing.uninstall(location)}")
