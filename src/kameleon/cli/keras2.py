"""The commands `kameleon keras2`, `kameleon keras2 install`, `kameleon keras2 uninstall`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from kameleon.cli import installing, original
from kameleon.cli.output import show, waiting
from kameleon.cli.parsing import CommandError, Parser, folder
from kameleon.compat.keras2 import location


def status(arguments: Sequence[str]) -> None:
    """The original Keras 2.3.1, that programs run on: is it here, install it, remove it."""
    about = f"{status.__doc__}\n\nkameleon keras2 install | uninstall: see --help of these."
    Parser("keras2", about).understood(arguments)
    found = original.status()
    show(HEAD, rows(found))
    print(in_words(found))


HEAD = ("package", "version", "state", "needed for")


def rows(found: original.Status) -> list[list[Text]]:
    """The original and its libraries, a row each."""
    there = found.found is not None
    own = Text("installed", "green") if there else Text("not installed", "red")
    job = f"programs that import Keras {location.VERSION}"
    listed = [[Text("keras"), Text(found.version), own, Text(job)]]
    for library in original.LIBRARIES:
        missing = library in found.lacking
        state = Text("not installed", "red") if missing else Text("installed", "green")
        known = original.version_of(library.requirement)
        listed.append([Text(library.requirement), Text(known), state, Text(library.job)])
    return listed


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
    where = found.found or "the environment's own packages"
    return (
        f"Under `kameleon run`, `import keras` gives Keras {found.version}, on Kameleon."
        f"\nIt's in {where}"
    )


def install(arguments: Sequence[str]) -> None:
    """Install the original Keras 2.3.1 into a folder of its own; another Keras stays as it is."""
    parser = Parser("keras2 install", install.__doc__ or "")
    about = "folder with the files to install; nothing is fetched then"
    parser.option("--from", "FOLDER", about, folder, dest="source")
    source = parser.understood(arguments).source
    before = original.status()
    if before.found is not None and not before.lacking:
        print(f"Nothing to do: {in_words(before)}")
        return
    if before.found is None:
        print(f"Keras {location.VERSION} goes to {before.folder}")
    if before.lacking:
        names = ", ".join(f"{library.requirement} ({library.job})" for library in before.lacking)
        print(f"Into this environment: {names}")
    with waiting("starting") as shown:
        original.install(source, lambda line: shown.update(Text(line)))
        shown.update("trying it")
        wrong = original.trial()
    if wrong:
        raise CommandError(f"it's installed, but doesn't run:\n{wrong}")
    print(f"Done. {in_words(original.status())}")
    print("Run a program: kameleon run script.py")


def uninstall(arguments: Sequence[str]) -> None:
    """Remove what `kameleon keras2 install` has put into its folder; libraries stay."""
    Parser("keras2 uninstall", uninstall.__doc__ or "").understood(arguments)
    print(f"Removed {installing.uninstall(location)}")
