"""The commands `kameleon tensorflow`, `kameleon tensorflow install`, `… uninstall`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from kameleon.cli import tensorflow_files
from kameleon.cli.output import waiting_console
from kameleon.cli.parsing import Parser, file
from kameleon.compat.tensorflow import location


def status(arguments: Sequence[str]) -> None:
    """The Python files of TensorFlow 1.15: are they here, get them, remove them."""
    about = f"{status.__doc__}\n\nkameleon tensorflow install | uninstall: see --help of these."
    Parser("tensorflow", about).understood(arguments)
    print(in_words(tensorflow_files.status()))


def in_words(found: tensorflow_files.Status) -> str:
    """The sentences that say what is here, and what to do."""
    if not found.installed:
        return (
            f"The Python files of TensorFlow {location.VERSION} aren't installed. To install them"
            f" into {found.folder}: {location.INSTALL}"
        )
    return (
        f"The Python files of TensorFlow {location.VERSION} are in {found.folder}"
        f" ({found.size / 1e6:.0f} MB). A program runs on them by:"
        " kameleon run script.py"
    )


def install(arguments: Sequence[str]) -> None:
    """Get TensorFlow 1.15's Python files, 5 of its 110 MB; nothing else changes."""
    parser = Parser("tensorflow install", install.__doc__ or "")
    about = f"a wheel of TensorFlow {location.VERSION} to take them from"
    parser.option("--wheel", "FILE", about, file)
    wheel = parser.understood(arguments).wheel
    before = tensorflow_files.status()
    if not before.installed:
        print(f"They go to {before.folder}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=waiting_console(), transient=True) as bars:
        task = bars.add_task("", total=1)
        tensorflow_files.install(
            wheel,
            lambda what, done, total: bars.update(
                task, description=what, completed=done, total=total
            ),
        )
    done = "Nothing else to do" if before.installed else "Done"
    print(f"{done}. {in_words(tensorflow_files.status())}")


def uninstall(arguments: Sequence[str]) -> None:
    """Remove what `kameleon tensorflow install` has put into its folder."""
    Parser("tensorflow uninstall", uninstall.__doc__ or "").understood(arguments)
    print(f"Removed {tensorflow_files.uninstall()}")
