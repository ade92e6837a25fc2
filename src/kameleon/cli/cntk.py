"""The commands `kameleon cntk`, `kameleon cntk install`, `kameleon cntk uninstall`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from kameleon.cli import cntk_environment as environment
from kameleon.cli import installing
from kameleon.cli.output import waiting
from kameleon.cli.parsing import Parser
from kameleon.config import cntk


def status(arguments: Sequence[str]) -> None:
    """CNTK 2.7, in an environment of its own: is it here, install it, remove it."""
    about = f"{status.__doc__}\n\nkameleon cntk install | uninstall: see --help of these."
    Parser("cntk", about).understood(arguments)
    if cntk.installed():
        print(f"CNTK is in {cntk.folder()}; programs run on it by KERAS_BACKEND=cntk")
    else:
        print(f"CNTK isn't installed: {cntk.INSTALL}")


def install(arguments: Sequence[str]) -> None:
    """Make an environment with Python 3.6 and CNTK 2.7, in a folder of its own."""
    parser = Parser("cntk install", install.__doc__ or "")
    parser.option("--python", "PATH", "the path of a Python 3.6; else one is looked for")
    python = parser.understood(arguments).python
    if cntk.installed():
        print(f"Nothing to do: CNTK is in {cntk.folder()}")
        return
    print(f"CNTK {cntk.VERSION} goes to {cntk.folder()}")
    with waiting("starting") as shown:
        version = environment.install(python, lambda line: shown.update(Text(line)))
    print(f"Done: CNTK {version} multiplies. Choose it by KERAS_BACKEND=cntk")


def uninstall(arguments: Sequence[str]) -> None:
    """Remove the folder that `kameleon cntk install` has made."""
    Parser("cntk uninstall", uninstall.__doc__ or "").understood(arguments)
    print(f"Removed {installing.uninstall(cntk)}")
