"""The programs of `examples/`, taken apart: prose from docstrings and comments, and code.

Their pages (`gallery.py`) and their notebooks (`notebooks.py`) are made of these parts.
"""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.building.places import ROOT

EXAMPLES = ROOT / "examples"
NAMED = (ast.FunctionDef, ast.ClassDef)


class Part(NamedTuple):
    """A piece of a program that is read at once.

    Attributes:
        name: of the function or class; empty for other statements.
        prose: what its docstring says, as Markdown.
        code: its text, without that docstring.
    """

    name: str
    prose: str
    code: str


class Row(NamedTuple):
    """What `examples/README.md` says of a program."""

    shows: str
    uses: str
    figure: str


class Program(NamedTuple):
    """A program.

    Attributes:
        name: of its file, without the suffix.
        title: the first words of its docstring.
        paragraphs: the rest of the docstring, as Markdown, but for these two:
        reached: which figure the program reaches.
        source: the paper.
        caption: what its picture shows.
        parts: the whole text behind the docstring, in order.
        row: what the table of programs says.
    """

    name: str
    title: str
    paragraphs: list[str]
    reached: str
    source: str
    caption: str
    parts: list[Part]
    row: Row

    @property
    def path(self) -> Path:
        return EXAMPLES / f"{self.name}.py"


@functools.cache
def programs() -> tuple[Program, ...]:
    """All programs, in the order of the table."""
    return tuple(read(name, row) for name, row in rows().items())


def rows() -> dict[str, Row]:
    """By name what the table of programs says."""
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\| \[`(\w+)\.py`\]\(.*?\) \| (.*) \| (.*) \| (.*) \|$", text, re.MULTILINE
    )
    return {name: Row(*cells) for name, *cells in found}


def read(name: str, row: Row) -> Program:
    """Take a program apart."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    said = [markdown(p) for p in (ast.get_docstring(tree) or "").split("\n\n")]
    reached = one_of(said, "Reached: ")
    source = one_of(said, "Source: ", "Sources: ")
    title, rest = re.fullmatch(r"(.*?\?|.*?(?=:)):? ?(.*)", said[0]).groups()  # type: ignore[union-attr]
    [caption] = [doc_of(x) for x in tree.body if isinstance(x, NAMED) and x.name == "draw"]
    left = [p for p in said[1:] if not p.startswith(("Reached: ", "Source"))]
    paragraphs = [rest[:1].upper() + rest[1:], *left]
    parts = list(parts_of(tree, text))
    return Program(name, title, paragraphs, reached, source, caption, parts, row)


def one_of(paragraphs: list[str], *heads: str) -> str:
    """The paragraph that begins with one of these words, without it."""
    [found] = [p for p in paragraphs if p.startswith(heads)]
    return re.sub(r"^\w+: (.)", lambda match: match[1].upper(), found)


def parts_of(tree: ast.Module, text: str) -> Iterator[Part]:
    """Each function and class; and imports, and other statements, as long as nothing else comes."""
    lines, done, kind, gathered = text.split("\n"), tree.body[0].end_lineno or 0, "", ""
    for node in tree.body[1:]:  # behind the docstring
        end = node.end_lineno or 0
        code = "\n".join(lines[done:end])  # with the comments before it
        done = end
        this = node.name if isinstance(node, NAMED) else "import" * is_import(node)
        if gathered and (this != kind or isinstance(node, NAMED)):
            yield Part("", "", gathered.strip("\n"))
            gathered = ""
        kind = this
        if isinstance(node, NAMED):
            yield Part(node.name, doc_of(node), without_docstring(node, lines, code).strip("\n"))
        else:
            gathered += code + "\n"
    yield Part("", "", gathered.strip("\n"))


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def without_docstring(node: ast.FunctionDef | ast.ClassDef, lines: list[str], code: str) -> str:
    """The text of a function or class without its docstring, and the blank line behind it."""
    if ast.get_docstring(node) is None:
        return code
    first = node.body[0]
    said = "\n".join(lines[first.lineno - 1 : first.end_lineno]) + "\n"
    before, after = code.split(said)
    return before + after.lstrip("\n")


def doc_of(node: ast.FunctionDef | ast.ClassDef) -> str:
    """What a docstring says, as Markdown."""
    return "\n\n".join(map(markdown, (ast.get_docstring(node) or "").split("\n\n"))).strip()


def markdown(paragraph: str) -> str:
    """A paragraph of a docstring on one line; names of K, which stand bare there, as code."""
    words = " ".join(paragraph.split())
    return re.sub(r"(?<![`\w(])(K\.\w+)(?![\w(]*`)", r"`\1`", words)


# The function `main`, for those who have no command line ------------------------------------------


class Main(NamedTuple):
    """What `main` does, statement by statement, as a notebook does it.

    Attributes:
        options: the name that holds the options, and the options with their defaults.
        cells: paragraphs of code.
        reached: the expression that says whether the figure was reached.
    """

    options: tuple[str, dict[str, object]]
    cells: list[str]
    reached: str


def main_of(program: Program) -> Main:
    """Take apart what stands in `main`: options first, then the work, then the exit status."""
    code = next(part.code for part in program.parts if part.name == "main")
    tree = ast.parse(code).body[0]
    assert isinstance(tree, ast.FunctionDef)
    at = next(i for i, node in enumerate(tree.body) if "parse_args" in ast.unparse(node))
    parsed, last = tree.body[at], tree.body[-1]
    assert isinstance(parsed, ast.Assign) and isinstance(last, ast.Return) and last.value
    assert isinstance(last.value, ast.IfExp) and ast.unparse(last.value.body) == "0"
    lines = code.split("\n")[parsed.end_lineno or 0 : last.lineno - 1]
    defaults = dict(option for node in tree.body[:at] for option in options_in(node))
    cells = re.split(r"\n\n(?=\S)", textwrap.dedent("\n".join(lines)).strip("\n"))
    return Main((ast.unparse(parsed.targets[0]), defaults), cells, ast.unparse(last.value.test))


def options_in(node: ast.stmt) -> Iterator[tuple[str, object]]:
    """The name and the default of an option that a statement adds."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "parser.add_argument":
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            name = ast.literal_eval(call.args[0]).strip("-")
            yield name, ast.literal_eval(keywords["default"])
