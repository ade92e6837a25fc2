"""The command `kameleon check`."""

from __future__ import annotations

import argparse
import ast
import json
import sys
import warnings
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from rich.text import Text

from kameleon.cli.output import console, show
from kameleon.cli.parsing import FAILED, Parser, readable

from .alive import Alive
from .findings import CANT, CHANGE, NOTE, SERVED, SEVERITIES, STOPPING, Finding, Said
from .reading import Reading, Use
from .served import Served

STYLES = {CANT: "red", CHANGE: "yellow", NOTE: "dim", SERVED: "green"}
HEAD = ("line", "severity", "what", "why", "remedy")
NESTED = "files that are nested too deeply"
_OLD_PYTHON = "print", "exec", "except", "raise", "leading zeros", "invalid decimal literal"


def main(arguments: Sequence[str]) -> None:
    """Say what in programs Kameleon can't serve, and what to write instead. The programs are read,
    and not run. The settings of `kameleon run` count, by their variables (KAMELEON_AS …). The exit
    status is 1 where something would stop a program."""
    parser = Parser("check", " ".join((main.__doc__ or "").split()))
    parser.switch("--json", "print JSON, for programs")
    parser.switch("--all", "list old names, too, that Kameleon gives back")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", type=_path,
                        help="a file, or a folder, whose files *.py are all read")  # fmt: skip
    asked = parser.understood(arguments)
    served, unseen, found = Served(), Counter[str](), list[Finding]()
    files = dict.fromkeys(file for path in asked.programs for file in _files(path))
    beside = {name for path in asked.programs if path.is_dir() for name in _modules(path)}
    for file in files:
        found += check(file, served, unseen, beside | own_modules(file))
    shown = [each for each in found if asked.all or each.severity != SERVED]
    if asked.json:
        print(json.dumps(as_data(shown, len(files), unseen), indent=2))
    else:
        _show(shown)
        print(in_words(shown, len(files), unseen))
    if any(each.severity in STOPPING for each in found):
        sys.exit(FAILED)


def _path(text: str) -> Path:
    path = readable(text)
    if not any(_files(path)):
        raise argparse.ArgumentTypeError(f"{text!r} holds no files *.py")
    return path


def _files(path: Path) -> Iterator[Path]:
    """The files of programs at a path: hidden folders, and installed packages, aren't looked at."""
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*.py")):
        inner = file.relative_to(path).parts
        if not any(part.startswith(".") or part == "site-packages" for part in inner):
            yield file


# Checking ---------------------------------------------------------------------------------------


def check(
    file: Path, served: Served, unseen: Counter[str], own: Container[str] = ()
) -> list[Finding]:
    """What there is to say of a program, in the order of its lines.

    Args:
        file: the program.
        served: what programs get.
        unseen: is told what can't be seen in it.
        own: names of modules that are the program's own.
    """
    source = file.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program's own, when it's run
            tree = ast.parse(source, str(file))
        alive = Alive(lambda name: name.partition(".")[0] not in own and served.is_absent(name))
        reading = Reading(alive.visit(tree), own)
    except (SyntaxError, ValueError) as error:
        return [_unparsed(file, error)]
    except RecursionError:
        unseen[NESTED] += 1
        return []
    unseen.update(reading.unseen)
    found = [_branch(file, *other) for other in alive.other_backends]
    missing = set[str]()  # modules: each is said once
    for use in reading.uses:
        said = served.about(use.name)
        if said is not None and said.name not in missing and use.is_news(said.name):
            missing.update([said.name] * ("." not in said.name))
            found.append(_finding(file, use, said))
    return sorted(dict.fromkeys(found), key=lambda each: (each.line, each.column))


def own_modules(file: Path) -> set[str]:
    """The modules that are a program's own: those in its folder, and in those of packages around
    it. Where a whole folder is checked, all in there are: a program may put each on its path.
    """
    folders = [file.absolute().parent]
    while (folders[-1] / "__init__.py").is_file():
        folders.append(folders[-1].parent)
    return {each.stem for folder in folders for each in folder.iterdir() if _is_module(each)}


def _modules(folder: Path) -> Iterator[str]:
    return (each.stem for each in folder.absolute().rglob("*") if _is_module(each))


def _is_module(path: Path) -> bool:
    return path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py")))


def _unparsed(file: Path, error: SyntaxError | ValueError) -> Finding:
    line, column = getattr(error, "lineno", 1) or 1, getattr(error, "offset", 1) or 1
    what = (getattr(error, "text", "") or "").strip()
    message = getattr(error, "msg", str(error))
    is_old = any(word in message for word in _OLD_PYTHON) or what.startswith(_OLD_PYTHON)
    why = f"Python 2's syntax: {message}" if is_old else message
    remedy = "write the file for Python 3" if is_old else "Python can't read this line either"
    return Finding(str(file), line, column, CANT, what, why, remedy)


def _branch(file: Path, line: int, backend: str) -> Finding:
    why = f"a branch for the backend {backend!r}, which isn't what this program is told"
    remedy = f"kameleon run --as {backend} takes it"
    return Finding(str(file), line, 1, NOTE, "backend()", why, remedy)


def _finding(file: Path, use: Use, said: Said) -> Finding:
    return Finding(str(file), use.line, use.column, said.severity, use.said, said.why, said.remedy)


# Showing ----------------------------------------------------------------------------------------


def counted(found: Sequence[Finding]) -> dict[str, int]:
    """How many findings there are of each severity."""
    there = Counter(each.severity for each in found)
    return {severity: there[severity] for severity in SEVERITIES}


def as_data(found: Sequence[Finding], files: int, unseen: Counter[str]) -> dict[str, object]:
    """All findings, and the summary, as data for JSON."""
    summary = {"files": files, **counted(found), "not seen": dict(+unseen)}
    return {"findings": [each._asdict() for each in found], "summary": summary}


def in_words(found: Sequence[Finding], files: int, unseen: Counter[str]) -> str:
    """The summary, in a line."""
    counts = [f"{count} × {severity}" for severity, count in counted(found).items() if count]
    blind = ", ".join(f"{count} × {what}" for what, count in sorted((+unseen).items()))
    said = ", ".join(counts) or "nothing to do"
    many = "file" if files == 1 else "files"
    return f"{files} {many}: {said}{f'; not seen: {blind}' if blind else ''}"


def _show(found: Sequence[Finding]) -> None:
    """A table for each file on a terminal, else a line for each finding."""
    if not console().is_terminal:
        for each in found:
            remedy = f": {each.remedy}" if each.remedy else ""
            where = f"{each.file}:{each.line}:{each.column}"
            print(f"{where}: {each.severity}: {each.what}: {each.why}{remedy}")
        return
    for file in dict.fromkeys(each.file for each in found):
        print(file)
        show(HEAD, [_cells(each) for each in found if each.file == file])


def _cells(each: Finding) -> tuple[Text, ...]:
    where = f"{each.line}:{each.column}"
    kind = Text(each.severity, STYLES[each.severity])
    return Text(where), kind, Text(each.what), Text(each.why), Text(each.remedy)
