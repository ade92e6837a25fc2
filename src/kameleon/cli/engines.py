"""What `kameleon engines` shows: the engines there are, which run here, and who chose one."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from importlib.metadata import EntryPoint, packages_distributions, version

from rich.text import Text

from kameleon.cli.output import show, waiting
from kameleon.cli.parsing import Parser
from kameleon.cli.probe import Answer, ask
from kameleon.config import (
    ALIASES,
    DEFAULT,
    ENGINES,
    ENVIRONMENT,
    choose_backend,
    describe_source,
    installed,
    settings,
)
from kameleon.config import cntk as cntk_environment
from kameleon.errors import EngineNotFoundError

AT_ONCE = 2  # libraries loading at the same time


@dataclass(frozen=True)
class EngineRow:
    """An engine, as far as it's known without loading its library; `answered` adds the rest.

    Attributes:
        name: the name that chooses the engine.
        aliases: other names that choose the engine.
        title: the name as it's shown to users.
        library, version: the installed package that runs the graphs; empty where there's none.
        installed: whether the engine can run here, as far as installed packages tell.
        install: the line that installs the library; empty where there is nothing to install.
        devices: what the engine can run on, of which the first is used; None if it wasn't asked.
        error: why the library can't be loaded; empty if it can be, or if that wasn't tried.
        note: further remarks.
        in_force: whether programs started here would run on this engine.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    library: str = ""
    version: str = ""
    installed: bool = False
    install: str = ""
    devices: tuple[str, ...] | None = None
    error: str = ""
    note: str = ""
    in_force: bool = False


@dataclass(frozen=True)
class Choice:
    """The engine in force (None, if the one that was asked for isn't here), and who chose it."""

    name: str | None
    source: str
    reason: str


# Collecting ------------------------------------------------------------------------------------


def choice() -> Choice:
    """Return the engine that a program started here would run on."""
    from kameleon.runtime.engines import available, canonical  # late: it loads NumPy

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            asked, source = choose_backend(available)
        except EngineNotFoundError as error:
            return Choice(None, "", str(error))
    said = "".join(f" ({w.message})" for w in caught)
    name = canonical(asked)
    if source == DEFAULT:
        path = settings._path
        reason = f"the default: neither {ENVIRONMENT} nor {path} names an engine"
        return Choice(name, source, said.strip(" ()") or reason)
    kind = "" if name in ENGINES or available(name) else ", an external backend"
    return Choice(name, source, f"{describe_source(source, asked)}{kind}{said}")


def rows(chosen: str | None) -> list[EngineRow]:
    """Return all engines, as far as they are known without loading a library.

    Args:
        chosen: the name of the engine in force.
    """
    from kameleon.runtime.engines import third_parties

    packages = packages_distributions()
    found = [_own(name, packages) for name in ENGINES]
    found += [_third_party(point) for point in third_parties().values()]
    return [replace(row, in_force=row.name == chosen) for row in found]


def _own(name: str, packages: Mapping[str, list[str]]) -> EngineRow:
    from kameleon.runtime.engines import available

    known = ENGINES[name]
    row = EngineRow(name, known.title, tuple(a for a, meant in ALIASES.items() if meant == name))
    if not available(name):
        return replace(row, note="no engine in this version")
    if not installed(name):
        return replace(row, install=known.install)
    if known.found is not None:
        place, its = f"in {cntk_environment.folder()}", cntk_environment.VERSION
        return replace(row, installed=True, library=known.module, version=its, note=place)
    library = (packages.get(known.module) or [known.module])[0]
    return replace(row, installed=True, library=library, version=_version(library))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except Exception:  # a library on the path that no installer knows of
        return ""


def _third_party(point: EntryPoint) -> EngineRow:
    row = EngineRow(point.name, point.name, installed=True, note=f"by {point.value}")
    if point.dist is None:
        return row
    return replace(row, library=point.dist.name, version=point.dist.version)


def answered(
    found: Iterable[EngineRow],
    progress: Callable[[list[str]], None] = lambda waiting: None,
    ask: Callable[[str], Answer] = ask,
) -> list[EngineRow]:
    """Return the rows with what the engines say of themselves.

    Args:
        found: rows; the libraries of installed engines are loaded, in other processes.
        progress: called with the titles of the engines that haven't answered yet.
        ask: asks an engine by its name.
    """
    found = list(found)
    waiting = {row.name: row.title for row in found if row.installed}
    answers: dict[str, Answer] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        progress(list(waiting.values()))
        asked = {pool.submit(ask, name): name for name in waiting}
        for done in as_completed(asked):
            name = asked[done]
            answers[name] = done.result()
            del waiting[name]
            progress(list(waiting.values()))
    return [_with_answer(row, answers.get(row.name)) for row in found]


def _with_answer(row: EngineRow, answer: Answer | None) -> EngineRow:
    if answer is None:
        return row
    if answer.error:
        return replace(row, error=answer.error)
    return replace(row, devices=answer.devices, version=row.version or answer.version)


# Showing ---------------------------------------------------------------------------------------


def as_data(found: Iterable[EngineRow], chosen: Choice) -> dict[str, object]:
    """Return all rows and the choice as data for JSON."""
    return {"engines": [asdict(row) for row in found], "in_force": asdict(chosen)}


HEAD = ("engine", "title", "library", "state", "devices")


def cells(row: EngineRow) -> tuple[Text, ...]:
    """What people see of a row, in the order of `HEAD`."""
    return (
        Text(" or ".join((row.name, *row.aliases)), "bold" if row.in_force else ""),
        Text(row.title),
        Text(" ".join(filter(None, (row.library, row.version)))),
        _state(row),
        Text(", ".join(row.devices or ())),
    )


def _state(row: EngineRow) -> Text:
    """Whether the engine can run here, and if not, why or what to do."""
    if row.error:
        return Text(row.error, "red")
    if row.install:
        return Text(f"not installed: {row.install}")
    if not row.installed:
        return Text(row.note, "dim")
    state = "installed, in force" if row.in_force else "installed"
    return Text("; ".join(filter(None, [state, row.note])), "green")


def in_force(chosen: Choice) -> str:
    """Return the sentence that says which engine programs started here run on."""
    if chosen.name is None:
        return f"No engine is in force: {chosen.reason}"
    return f"In force: {chosen.name} – {chosen.reason}"


# The command -----------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """List the engines that Kameleon knows, what runs here, and which one is in force."""
    parser = Parser("engines", main.__doc__ or "")
    parser.switch("--json", "print JSON, for programs")
    parser.add_argument(
        "--devices",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="load the libraries, to learn which devices they can use (default)",
    )
    asked = parser.understood(arguments)
    chosen = choice()
    found = rows(chosen.name)
    if asked.devices:
        with waiting("loading libraries") as status:
            found = answered(found, lambda w: status.update(f"loading {', '.join(w)}"))
    if asked.json:
        print(json.dumps(as_data(found, chosen), indent=2))
        return
    show(HEAD, [cells(row) for row in found])
    print(in_force(chosen))
