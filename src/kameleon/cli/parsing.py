"""The parser of command lines: Python's own, whose errors are one line that says what was meant.

It needs no library, so `kameleon run` works wherever Kameleon is installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from kameleon._utils.suggestions import suggestion

FAILED, WRONG = 1, 2  # exit statuses: the second, as Python's, for a line that isn't understood
REST = argparse.REMAINDER


class CommandError(Exception):
    """What a command can't do: its words are all that is shown."""


class Parser(argparse.ArgumentParser):
    """A parser for one command, which knows no abbreviations."""

    def __init__(self, command: str, description: str, usage: str | None = None):
        self._known: list[str] = []
        super().__init__(
            prog=f"kameleon {command}".rstrip(),
            usage=usage,
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """See argparse."""
        self._known += names
        return super().add_argument(*names, **options)

    def option(
        self, names: str, value: str, about: str, type: Callable[[str], Any] = str, **more: Any
    ) -> None:
        """Take an option with a value.

        Args:
            names: of the option, with spaces between.
            value: what `--help` calls the value.
            about: what it says of the option.
            type: reads the value.
            more: see argparse.
        """
        self.add_argument(*names.split(), metavar=value, type=type, help=about, **more)

    def switch(self, name: str, about: str, **more: Any) -> None:
        """Take an option without a value, that is asked for or not."""
        self.add_argument(name, action="store_true", help=about, **more)

    def understood(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What a command line says; ends the process where that makes no sense."""
        found, others = self.parse_known_args(arguments)
        for word in others:
            name = word.partition("=")[0]
            if name.startswith("-"):
                self.error(f"there is no option {name}{suggestion(name, self._known)}")
            self.error(f"{word!r} is one argument too many")
        return found

    def error(self, message: str) -> NoReturn:
        """Say it in one line, and end the process."""
        stop(self.prog, f"{message.removeprefix('argument ')} (see {self.prog} --help)", WRONG)


def stop(command: str, message: str, status: int = FAILED) -> NoReturn:
    """Say what is wrong on standard error, and end the process."""
    print(f"{command}: {message}", file=sys.stderr)
    sys.exit(status)


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """The type of an option that takes one of these words."""
    known = list(names)

    def check(text: str) -> str:
        if text not in known:
            listed = ", ".join(known)
            raise argparse.ArgumentTypeError(
                f"{text!r} is none of {listed}{suggestion(text, known)}"
            )
        return text

    return check


def number(least: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number, not below `least`."""

    def check(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            raise argparse.ArgumentTypeError(f"takes a number of {least} or more, not {text!r}")
        return int(text)

    return check


def sizes(text: str) -> dict[str, Any]:
    """The number of devices, or the mesh, that `--devices` names."""
    check = number(1)
    try:
        if "=" not in text:
            return {"devices": check(text)}
        pairs = [part.split("=") for part in text.split(",")]
        return {"mesh": {name.strip(): check(size.strip()) for name, size in pairs}}
    except (argparse.ArgumentTypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"takes a number of 1 or more, or sizes such as data=4,model=2, not {text!r}"
        ) from None


def devices(text: str) -> str:
    """The type of `--devices`, which is handed on as it is."""
    sizes(text)
    return text


def seconds(text: str) -> str:
    """The type of an option that takes a time; it's handed on as it is."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"takes a number of seconds above 0, not {text!r}")
    return text


def folder(text: str) -> Path:
    """The type of an option that takes a folder which is there."""
    return _there(text, Path.is_dir, "folder", os.R_OK | os.X_OK)


def file(text: str) -> Path:
    """The type of an option that takes a file which is there."""
    return _there(text, Path.is_file, "file", os.R_OK)


def new_file(*suffixes: str) -> Callable[[str], Path]:
    """The type of an option that takes a file to write, in a folder which is there."""

    def check(text: str) -> Path:
        path = Path(text).expanduser()
        if path.is_dir() or not path.parent.is_dir():
            wrong = "is a folder" if path.is_dir() else "lies in a folder that doesn't exist"
            raise argparse.ArgumentTypeError(f"{text!r} {wrong}")
        if suffixes and path.suffix.lower() not in suffixes:
            raise argparse.ArgumentTypeError(f"takes a file {', '.join(suffixes)}, not {text!r}")
        return path

    return check


def _there(text: str, fits: Callable[[Path], bool], kind: str, rights: int) -> Path:
    path = Path(text).expanduser()
    if os.path.lexists(path) and not fits(path):
        raise argparse.ArgumentTypeError(f"{text!r} is no {kind}")
    return readable(text, rights).resolve()


def readable(text: str, rights: int = os.R_OK, hint: str = "") -> Path:
    """The path of what is there, and may be read; `hint` is said where it isn't there."""
    path = Path(text).expanduser()
    if not path.exists():
        raise argparse.ArgumentTypeError(f"{text!r} doesn't exist{hint}")
    if not os.access(path, rights):
        raise argparse.ArgumentTypeError(f"{text!r} can't be read")
    return path


def made(path: Path) -> Path:
    """The folder for results, made now, so that no work is done that can't be kept.

    Raises:
        CommandError: it can't be made, or not be written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"the folder {str(path)!r} can't be made: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise CommandError(f"the folder {str(path)!r} can't be written to")
    return path


def empty(path: Path) -> Path:
    """The same of a folder with nothing in it.

    Raises:
        CommandError: it can't be made or be written to, or something is in it.
    """
    if made(path) and any(path.iterdir()):
        raise CommandError(f"the folder {str(path)!r} isn't empty: name a new one")
    return path


@contextmanager
def filled(command: str, path: Path) -> Iterator[Path]:
    """The folder for results of a command that ends as the program that it runs; what was made for
    it goes again, if there are none.
    """
    whole, process = path.resolve(), os.getpid()
    new = [folder for folder in (whole, *whole.parents) if not folder.exists()]
    try:
        made(path)
    except CommandError as error:
        stop(f"kameleon {command}", str(error))
    try:
        yield whole
    finally:
        if os.getpid() == process:  # a fork that ends leaves it to this one
            with suppress(OSError):  # something is in it
                for folder in new:
                    folder.rmdir()
