"""What commands share that install something into a folder of its own, complete or not at all."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kameleon._utils import files
from kameleon.errors import KameleonError

MARK = ".installed-by-kameleon"  # a file in the folder that says: `uninstall` may remove this

Report = Callable[[str], None]  # is called with each line that says what is going on


class InstallError(KameleonError):
    """Something can't be installed, or removed; the message says why and what to do."""


class Place(Protocol):
    """A module that says where something is installed: its folder, the environment variable that
    names another one, and the command that fills it.
    """

    VARIABLE: str
    INSTALL: str

    def folder(self) -> str:
        """The folder."""


@contextmanager
def filled_at_once(
    place: Place, what: str = "", is_complete: Callable[[str], bool] = lambda draft: True
) -> Iterator[Path]:
    """A draft folder that becomes the place's when the block has succeeded, and else is removed.

    Args:
        place: its folder isn't there, is empty, or was filled so before.
        what: comes into it.
        is_complete: whether the draft holds all that was to be installed.

    Raises:
        InstallError: the folder holds something, can't be written, or isn't complete.
    """
    folder, variable = Path(place.folder()), place.VARIABLE
    is_ours = (folder / MARK).is_file()
    if folder.exists() and not is_ours and (not folder.is_dir() or any(folder.iterdir())):
        raise InstallError(f"{folder} holds something else; name another folder by {variable}")
    remove = functools.partial(shutil.rmtree, ignore_errors=True)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with files.draft_folder(str(folder), remove) as made:
            draft = Path(made)
            yield draft
            if not is_complete(made):
                raise InstallError(f"What was installed is no {what}")
            (draft / MARK).write_text("Kameleon made this folder, and can remove it.\n", "utf-8")
            draft.chmod(0o755)  # drafts are readable by the user alone
            if is_ours:
                remove(folder)
            os.replace(draft, folder)
    except OSError as error:
        raise InstallError(
            f"{folder} can't be written: {error.strerror}. Use a virtual environment of your own,"
            f" or name another folder, also when you run programs: {variable}=FOLDER"
        ) from error


def spoken(
    command: Sequence[str], report: Report, settings: Mapping[str, str], folder: str | None = None
) -> tuple[int, list[str]]:
    """Run a command; report its output line by line. Its status, and all lines.

    Args:
        command: the command.
        report: is told the lines.
        settings: its whole environment.
        folder: where it runs, if not here.
    """
    said: list[str] = []
    with subprocess.Popen(
        command,
        env=settings,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            said.append(line.rstrip())
            report(said[-1])
    return process.returncode, said


def uninstall(place: Place) -> str:
    """Remove the folder that a command has filled; return which one that was.

    Raises:
        InstallError: there's no such folder, nothing here made it, or it can't be removed.
    """
    folder = Path(place.folder())
    if not (folder / MARK).is_file():
        raise InstallError(
            f"{folder} wasn't made by `{place.INSTALL}`, so it's not removed"
            if folder.exists()
            else f"There's nothing to remove: {folder} doesn't exist"
        )
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise InstallError(f"{error.filename} can't be removed: {error.strerror}") from error
    return str(folder)
