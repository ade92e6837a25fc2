"""Pages and notebooks of the programs: their text is whole, their pictures are current."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from _support.originals import needs_original
from _support.programs import run

from docs.building import gallery, programs, recorded
from docs.building.places import PICTURES
from docs.building.programs import Program
from examples.table import PROGRAMS as TABLE
from examples.table import assert_figures, wording

PROGRAMS = programs.programs()
LARGEST = 60_000  # bytes of a picture
QUICK = ("custom_optimizer",)  # notebooks that run with every change

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def test_all_programs_are_in_the_gallery() -> None:
    names = {path.stem for path in programs.EXAMPLES.glob("*.py")}
    text = gallery.gallery()
    assert {program.name for program in PROGRAMS} == names == set(recorded.recorded())
    assert {path.name for path in PICTURES.iterdir()} == {
        "recorded.json",
        *(f"{name}.png" for name in names),
    }
    for program in PROGRAMS:
        assert f"[**{program.title}**](examples/{program.name}.md)" in text
        assert f"\nexamples/{program.name}\n" in text


@each_program
def test_pictures_and_output_belong_to_the_text(program: Program) -> None:
    known = recorded.recorded()[program.name]
    path = recorded.picture(program)
    again = f"run `python -m docs pictures {program.name}`, and look at the picture"
    assert known["program"] == recorded.digest(program.path), again
    assert known["picture"] == recorded.digest(path), again
    assert path.stat().st_size < LARGEST
    [row] = [row for row in TABLE if row.name == program.name]
    assert_figures(row, recorded.output(program))


@each_program
def test_the_page_has_the_whole_program(program: Program) -> None:
    text = gallery.page(program)
    assert text.startswith(f"# {program.title}\n") and program.caption and program.source
    code = "\n\n".join(part.code for part in program.parts)
    assert bare(code) == bare(program.path.read_text(encoding="utf-8"))
    for part in program.parts:
        assert f"```python\n{part.code}\n```" in text
        assert not part.name or f"\n### {part.name}\n" in text


def bare(source: str) -> str:
    """A program without the docstrings of the module and of what it defines."""
    tree = ast.parse(source)
    named = [node for node in tree.body if isinstance(node, programs.NAMED)]
    for node in (tree, *named):
        if ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.unparse(tree)


def test_names_of_k_are_code() -> None:
    assert programs.markdown("by K.log and `K.exp(x)`,\nand K.tf.abs") == (
        "by `K.log` and `K.exp(x)`, and `K.tf`.abs"
    )


# Notebooks ----------------------------------------------------------------------------------------

RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read("notebook.ipynb", as_version=4)
nbformat.validate(notebook)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, "executed.ipynb")
"""
NOTEBOOKS = [
    pytest.param(
        program, id=program.name, marks=[pytest.mark.nightly] * (program.name not in QUICK)
    )
    for program in PROGRAMS
]


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize("program", NOTEBOOKS)
def test_the_notebook_runs_in_a_fresh_kernel(program: Program, tmp_path: Path) -> None:
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name)
    from docs.building import notebooks

    written = tmp_path / "notebook.ipynb"
    written.write_text(notebooks.text(program), encoding="utf-8")
    assert notebooks.text(program) == notebooks.text(program)  # not another one in each build
    ended = run(["-c", RUN], tmp_path, {**recorded.ONE_THREAD, "IPYTHONDIR": str(tmp_path / "ip")})
    assert ended.returncode == 0, ended.stderr[-3000:]
    cells = json.loads((tmp_path / "executed.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    said = "".join("".join(out["text"]) for out in outputs if out.get("name") == "stdout")
    assert wording(said) == wording(recorded.output(program))
    results = [out["data"] for out in outputs if out["output_type"] == "execute_result"]
    assert "image/png" in results[-1]
    assert results[-2]["text/plain"] == ["True"]  # the figure was reached
