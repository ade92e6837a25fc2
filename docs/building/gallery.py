"""The pages of the programs of `examples/`, and their gallery, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from docs.building.pages import fenced, toctree, write_changed
from docs.building.places import DOCS, PROGRAMS
from docs.building.programs import Program, programs
from docs.building.recorded import output

RUN = """\
Here, on any engine, with the original Keras 2.3.1 hosted:

```console
$ kameleon keras2 install
$ kameleon run examples/{name}.py
$ kameleon run --engine jax examples/{name}.py --out picture.png --seed 1
```

On the original, with Python 3.7, TensorFlow 1.15 and Keras 2.3.1, without any change:

```console
$ python examples/{name}.py
```

To go through it step by step, download [the notebook]({name}.ipynb). It has the same text in cells,
and runs on Kameleon from a fresh kernel. [The program](../../examples/{name}.py) is one file.\
"""


def write() -> None:
    """Write the page and the notebook of each program, and the gallery."""
    from docs.building import notebooks  # needs a library, which pages don't

    texts = {f"{p.name}.md": page(p) for p in programs()}
    texts.update({f"{p.name}.ipynb": notebooks.text(p) for p in programs()})
    write_changed(PROGRAMS, texts | {"gallery.md": gallery()})


def page(program: Program) -> str:
    """The page of a program."""
    return "\n\n".join(sections(program)) + "\n"


def sections(program: Program) -> Iterator[str]:
    yield f"# {program.title}"
    yield from program.paragraphs
    yield figure(program)
    yield f"**Reached:** {program.reached}"
    yield f"**What it uses:** {program.row.uses}."
    yield "## Run it"
    yield RUN.format(name=program.name)
    yield "## What it prints"
    yield "On the NumPy engine; others round otherwise, and training makes that larger."
    yield fenced(output(program), "text")
    yield "## The program"
    for part in program.parts:
        if part.name:
            yield f"### {part.name}"
        if part.prose:
            yield part.prose
        yield fenced(part.code, "python")
    yield "## Source"
    yield program.source


def figure(program: Program) -> str:
    options = f":alt: {program.caption}\n:class: picture\n\n{program.caption}"
    return f"```{{figure}} ../pictures/{program.name}.png\n{options}\n```"


def gallery() -> str:
    """A card for each program: its picture, its title, and what it shows."""
    cards = "\n".join(card(program) for program in programs())
    pages = toctree(f"{PROGRAMS.relative_to(DOCS)}/{program.name}" for program in programs())
    return f"::::{{container}} gallery\n{cards}\n::::\n\n{pages}\n"


def card(program: Program) -> str:
    """The picture, the title and what follows it."""
    address = f"examples/{program.name}.md"
    picture = f"[![{program.caption}](pictures/{program.name}.png)]({address})"
    words = f"[**{program.title}**]({address})\n\n{program.paragraphs[0]}"
    return f":::{{container}} card\n{picture}\n\n{words}\n:::"
