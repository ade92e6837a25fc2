"""The worked examples of CONTRIBUTING.md, from first step to last, in a copy of the checkout.

The page on the inside has the code, and says in which file it goes; CONTRIBUTING.md has the rows of
tables, and the commands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from _support.common import TESTS

from kameleon.config import ENGINES, installed

ROOT = TESTS.parent
COPIED = ("src", "tests", "docs", "README.md", "CONTRIBUTING.md", "conftest.py", "pyproject.toml")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
INSIDE = (ROOT / "docs" / "internals.md").read_text("utf-8")
# Which table a row goes to, by the name that it begins with.
TABLES = {
    "Case": ("tests/backend/numeric_cases.py", "CASES"),
    "Fault": ("tests/faults/table.py", "FAULTS"),
}


def section(page: str, title: str) -> str:
    """What stands below a title."""
    return re.split(r"\n##+ ", page.split(f" {title}\n", 1)[1])[0]


def indented(title: str, start: str) -> list[str]:
    """The indented lines of an example of CONTRIBUTING.md that begin like this."""
    return re.findall(rf"^ {{7}}({start}.*)$", section(CONTRIBUTING, title), re.M)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout."""
    ignored = shutil.ignore_patterns("__pycache__", "build")
    for name in COPIED:
        source, target = ROOT / name, tmp_path / "checkout" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy2(source, target)
    return tmp_path / "checkout"


def write(checkout: Path, title: str, inside: str) -> None:
    """Write the example's code and rows where they go."""
    for block in re.findall(r"```python\n# (\S+)\n(.*?)```", section(INSIDE, inside), re.S):
        with (checkout / block[0]).open("a", encoding="utf-8") as file:
            file.write("\n\n" + block[1])
    for row in indented(title, "(?:Case|Fault)"):
        path, table = TABLES[row.partition("(")[0]]
        with (checkout / path).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{table}.append({row.rstrip(',')})\n")


def run(checkout: Path, commands: Sequence[str]) -> str:
    """Run commands as the page has them, with this Python; what they print."""
    printed = ""
    for command in commands:
        line = [sys.executable, *shlex.split(command)[1:]]
        if "pytest" in line:
            line += ["-q", "-p", "no:cacheprovider"]
        environment = {**os.environ, "TEST_ENGINES": "numpy", "PYTHONPATH": str(checkout / "src")}
        done = subprocess.run(line, cwd=checkout, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        printed += done.stdout
    return printed


def test_a_function(checkout: Path) -> None:
    title = "A function: `K.log_cosh`"
    write(checkout, title, "A function")
    chapter = checkout / "src/kameleon/backend/elementwise.py"
    text = chapter.read_text("utf-8")
    text = text.replace("__all__ = [", '__all__ = ["log_cosh",', 1)
    head, quotes, rest = text.rpartition('    """\n')
    example = indented(title, "(?:>>>|array)")
    lines = [f"    {line}\n" for line in ("", *example)]
    chapter.write_text("".join([head, *lines, quotes, rest]), "utf-8")
    commands = indented(title, r"\.venv/bin/python")
    assert len(commands) == 2
    assert re.search(r"\b[1-9]\d* passed", run(checkout, commands))


def test_a_primitive(checkout: Path) -> None:
    title = "A primitive: `cube`"
    write(checkout, title, "A primitive")
    tests, _, faults = indented(title, r"\.venv/bin/python")
    assert re.search(r"\b[1-9]\d* passed", run(checkout, [tests]))
    assert "caught" in run(checkout, [faults])


@pytest.mark.nightly
@pytest.mark.skipif(
    not all(installed(name) for name in ENGINES if name != "cntk"),
    reason="the page of support has a column for each engine",
)
def test_the_pages_of_a_primitive(checkout: Path) -> None:
    title = "A primitive: `cube`"
    write(checkout, title, "A primitive")
    run(checkout, indented(title, r"\.venv/bin/python")[1:2])
    for name in ("primitives", "support"):
        assert "`cube`" in (checkout / "docs" / f"{name}.md").read_text("utf-8")
