"""The programs of `examples/` as notebooks: the same text in cells, and `main` step by step."""

from __future__ import annotations

from itertools import takewhile

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from docs.building.programs import Program, main_of

SETUP = """\
This notebook needs the original Keras 2.3.1, which the command `kameleon keras2 install` brings.
The next cell lets `import keras` give it, hosted on Kameleon. It must come before any other that
imports Keras or TensorFlow. On Keras 2.3.1 with TensorFlow 1, leave it out.

An engine is chosen before that: `%env KERAS_BACKEND=jax`, say.\
"""
RUN = """\
## The run

The rest is what the program's function `main` does, step by step.\
"""


def notebook(program: Program) -> NotebookNode:
    """A program as a notebook without outputs."""
    cells = [new_markdown_cell(head(program)), new_markdown_cell(SETUP)]
    cells.append(new_code_cell("import kameleon.as_keras"))
    for part in takewhile(lambda part: part.name != "main", program.parts):
        if part.name:
            cells.append(new_markdown_cell(f"### {part.name}\n\n{part.prose}"))
        cells.append(new_code_cell(part.code))
    cells += run_of(program)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # not another one in each build
    return new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )


def head(program: Program) -> str:
    """The title, and what the program does."""
    return "\n\n".join(
        [f"# {program.title}", *program.paragraphs, f"**Reached:** {program.reached}"]
    )


def run_of(program: Program) -> list[NotebookNode]:
    """The cells of `main`, whether the figure was reached, and the picture."""
    (name, defaults), cells, reached = main_of(program)
    options = ", ".join(
        f"{option}={value!r}".replace("'", '"') for option, value in defaults.items()
    )
    first, *others = cells
    return [
        new_markdown_cell(RUN),
        new_code_cell(f"{name} = argparse.Namespace({options})\n{first}"),
        *map(new_code_cell, others),
        new_markdown_cell("Was the figure reached?"),
        new_code_cell(f"bool({reached})"),
        new_markdown_cell(program.caption),
        new_code_cell(f"from IPython.display import Image\n\nImage({name}.out)"),
    ]


def text(program: Program) -> str:
    """The file of a program's notebook."""
    return nbformat.writes(notebook(program)) + "\n"
