"""`kameleon profile program.py`: runs a program, and tells what its functions take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from kameleon._utils.tables import Part, Shown, Table
from kameleon.cli.parsing import Parser, filled, number
from kameleon.cli.run import add_options, plan_of, prepared
from kameleon.errors import KameleonError
from kameleon.runtime import function as functions
from kameleon.runtime.explorer import page
from kameleon.runtime.function import Function

USAGE = """\
kameleon profile [-n COUNT] [-o FOLDER] [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon profile [-n COUNT] [-o FOLDER] [OPTIONS] -m MODULE [ARGUMENT ...]"""
ABOUT = """\
Run a program as `kameleon run` does. At its end, tell which compiled functions took how long in
all, and for those that took longest the lines of the program that their time went to. Options stand
before the program."""
SHOWN = 20  # functions that the first table has


class Spent:
    """What calls of a function took."""

    def __init__(self) -> None:
        self.calls, self.first, self.rest = 0, 0.0, 0.0
        self.values: Sequence[Any] = ()  # of the last call

    def add(self, values: Sequence[Any], seconds: float) -> None:
        """Count a call; the first one compiles."""
        self.first, self.rest = (self.first, self.rest + seconds) if self.calls else (seconds, 0.0)
        self.calls += 1
        self.values = list(values)

    @property
    def seconds(self) -> float:
        """Of all calls."""
        return self.first + self.rest


class Recorder:
    """Notes each call of a function."""

    def __init__(self) -> None:
        self.spent: WeakKeyDictionary[Function, Spent] = WeakKeyDictionary()
        self.kept: list[Function] = []  # so that functions that a program gives up can be profiled

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call that is noted."""

        def noted(function: Function, values: Sequence[Any]) -> Any:
            start = perf_counter()
            found = call(function, values)
            spent = self.spent.get(function)
            if spent is None and not function.is_once:
                spent = self.spent[function] = Spent()
                self.kept.append(function)
            if spent is not None:
                spent.add(values, perf_counter() - start)
            return found

        return noted

    def longest(self) -> list[tuple[Function, Spent]]:
        """Functions, and what their calls took, those first that took longest."""
        return sorted(self.spent.items(), key=lambda pair: -pair[1].seconds)


def main(arguments: Sequence[str]) -> None:
    """Run the program that the command line names, until it ends; then tell what took how long."""
    parser = Parser("profile", ABOUT, USAGE)
    parser.option(
        "-n --number", "COUNT", "of how many functions the lines are told (3)", number(0), default=3
    )
    parser.option("-o --out", "FOLDER", "gets a page and a trace for each of them, as well", Path)
    add_options(parser)
    found = parser.understood(arguments)
    work, recorder = prepared(plan_of(found, parser)), Recorder()
    functions.wrap_calls(recorder.around)
    with filled("profile", found.out) if found.out else nullcontext() as folder:
        start = perf_counter()
        try:
            work()
        finally:
            for part in _report(recorder, perf_counter() - start, found.number, folder):
                _show(part)


def _show(part: Any) -> None:
    """Print a part; on a terminal as Rich does, where that's installed."""
    if sys.stderr.isatty() and find_spec("rich") is not None:
        from rich.console import Console

        Console(stderr=True).print(part)
    else:
        print(part, file=sys.stderr)


class Functions(Shown):
    """A table of functions, and what their calls took."""

    def __init__(self, longest: Sequence[tuple[Function, Spent]], whole: float):
        head = ("s", "part", "calls", "first, s", "a later one, ms", "function")
        self.table = Table([head, *(self._row(f, s, whole) for f, s in longest[:SHOWN])])

    def _parts(self) -> list[Part]:
        return [self.table]

    @staticmethod
    def _row(function: Function, spent: Spent, whole: float) -> tuple[str, ...]:
        later = f"{1e3 * spent.rest / (spent.calls - 1):.3g}" if spent.calls > 1 else ""
        part = f"{spent.seconds / whole:.1%}"
        calls, first = str(spent.calls), f"{spent.first:.3g}"
        return f"{spent.seconds:.3g}", part, calls, first, later, _named(function)


def _report(recorder: Recorder, whole: float, number: int, folder: Path | None) -> Iterator[Any]:
    longest = recorder.longest()
    yield f"kameleon profile: the program took {whole:.3g} s"
    yield Functions(longest, whole)
    for place, (function, spent) in enumerate(longest[:number], 1):
        try:
            profile = function.profile(spent.values)
        except KameleonError as error:
            yield f"\n{_named(function)}: {error}"
            continue
        yield f"\n{_named(function)}:"
        yield profile
        if folder is not None:
            name = page.file_name(place, function)
            page.write(function, folder / f"{name}.html", profile)
            profile.save_trace(folder / f"{name}.json")


def _named(function: Function) -> str:
    program = function.program
    parts = [f"{len(program.outputs)} outputs", f"{len(program.updates)} updates"]
    return f"{function.name} ({', '.join(parts)})"
