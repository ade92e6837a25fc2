"""`kameleon explore program.py`: runs a program, and writes a page for each function of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakSet

from kameleon.cli.parsing import Parser, filled
from kameleon.cli.run import add_options, plan_of, prepared
from kameleon.errors import KameleonError
from kameleon.runtime import function as functions
from kameleon.runtime.explorer import page
from kameleon.runtime.function import Function

USAGE = """\
kameleon explore [-o FOLDER] [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon explore [-o FOLDER] [OPTIONS] -m MODULE [ARGUMENT ...]"""
ABOUT = """\
Run a program as `kameleon run` does, and write a page for each function that it compiles, graphs of
TensorFlow 1 among them: the graph, what the passes make of it, your lines, and what the engine
runs. Any browser shows the pages. What K.eval evaluates has none. Options stand before the
program."""


class Pages:
    """Writes the page of each function that it's told, once.

    Args:
        folder: gets the pages.
    """

    def __init__(self, folder: Path):
        self.folder, self.count = folder, 0
        self._known: WeakSet[Function] = WeakSet()

    def __call__(self, function: Function) -> None:
        if function in self._known or function.is_once:
            return
        self._known.add(function)
        self.count += 1
        try:
            page.write(function, self.folder / f"{page.file_name(self.count, function)}.html")
        except KameleonError as error:  # the program goes on without the page
            print(f"kameleon explore: {function.name}: {error}", file=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    """Run the program that the command line names, until it ends, and write pages meanwhile."""
    parser = Parser("explore", ABOUT, USAGE)
    place = Path("explored")
    parser.option("-o --out", "FOLDER", f"where the pages go ({place})", Path, default=place)
    add_options(parser)
    found = parser.understood(arguments)
    work = prepared(plan_of(found, parser))
    with filled("explore", found.out) as folder:
        pages = Pages(folder)
        functions.watchers.append(pages)
        try:
            work()
        finally:
            functions.watchers.remove(pages)
            about = f"{pages.count} pages are" if pages.count != 1 else "1 page is"
            where = f"{about} in {folder}" if pages.count else "no function was compiled"
            print(f"kameleon explore: {where}", file=sys.stderr)
