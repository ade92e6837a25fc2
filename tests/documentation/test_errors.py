"""The page on errors: it has all classes, and its programs print what it says.

Its other examples are run as those of all pages.
"""

from __future__ import annotations

import doctest
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.originals import needs_original
from _support.programs import run

from documentation.test_docs import DOCS, make

PAGE = (DOCS / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"\n### (\w+)\n(.*?)(?=\n##|\Z)", PAGE, re.DOTALL))
CLASSES = make().classes_of_errors()
CONSOLES = [
    pytest.param(name, marks=needs_original if name == "ByteCodeError" else ())
    for name, text in SECTIONS.items()
    if "```console" in text
]
NEEDS = {"RecompilationWarning": "jax", "ByteCodeError": "h5py"}


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_each_class_has_a_cause_a_remedy_and_an_example(kind: type[Exception]) -> None:
    doc = inspect.getdoc(kind) or ""
    assert "\nRemedy: " in doc
    assert "\nCause: " in doc or kind.__name__ == "KameleonError"
    assert f"autoclass:: kameleon.errors.{kind.__name__}\n" in SECTIONS[kind.__name__]
    examples = [
        *blocks("python", SECTIONS[kind.__name__]),
        *blocks("console", SECTIONS[kind.__name__]),
    ]
    assert any(kind.__name__ in example for example in examples)


def test_there_are_no_sections_of_other_classes() -> None:
    assert set(SECTIONS) == {kind.__name__ for kind in CLASSES}
    assert len(CONSOLES) > 5


@pytest.mark.parametrize("name", CONSOLES)
def test_programs_print_what_the_page_says(name: str, tmp_path: Path) -> None:
    library = NEEDS.get(name)
    if library is not None and find_spec(library) is None:
        pytest.skip(f"{library} isn't installed")
    for program in blocks("python", SECTIONS[name]):
        (tmp_path / program.partition("\n")[0].removeprefix("# ")).write_text(program, "utf-8")
    [console] = blocks("console", SECTIONS[name])
    printed = [run(arguments(line), tmp_path) for line in re.findall(r"\$ (.*)\n", console)][-1]
    expected = console.rpartition("$ ")[2].partition("\n")[2]
    checker, flags = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert checker.check_output(f"...{expected.rstrip()}...", printed.stderr, flags), printed.stderr


def arguments(line: str) -> list[str]:
    """Of Python, for a line of a console: `kameleon …` or `python …`."""
    program, *others = line.split()
    return ["-m", "kameleon", *others] if program == "kameleon" else others
