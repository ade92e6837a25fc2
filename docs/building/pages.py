"""The pages of functions, as Markdown: what is said of each stands in the code.

Headings, and sentences that stand on many pages, are the same words everywhere, so that they are
translated once. Names, numbers and code stand in code, or alone in their cells: they aren't
translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from docs.building import drawings, functions, graphs, support
from docs.building.formulas import FORMULAS
from docs.building.functions import Chapter
from docs.building.places import FUNCTIONS

Lines = Iterator[str]
FEW = 3  # primitives that a cell of the table of engines names instead of "all others"


def write() -> None:
    """Write the page of each function and the index."""
    texts = {f"{name}.md": page(name) for name in functions.names()}
    texts["index.md"] = index()
    texts.update({f"chapter_{c.name}.md": chapter(c) for c in functions.chapters()})
    write_changed(FUNCTIONS, texts)


def write_changed(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files of these names; others in the folder go. Files that are right already stay as
    they are, so that Sphinx reads the others alone.
    """
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in texts:
            path.unlink()
    for file, text in texts.items():
        path = folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page(name: str) -> str:
    """The page of a function."""
    return "\n\n".join(line for section in SECTIONS for line in section(name)) + "\n"


# Sections -----------------------------------------------------------------------------------------


def head(name: str) -> Lines:
    doc = functions.doc(name)
    yield f"# {name}"
    call = f"```{{py:function}} {functions.signature(name)}"
    yield f"{call}\n:module: kameleon.backend\n```"
    yield doc.summary
    if name in FORMULAS:
        yield fenced(FORMULAS[name].tex, "{math}")
        if FORMULAS[name].where:
            yield FORMULAS[name].where
    yield from doc.body


def figure(name: str) -> Lines:
    if name in drawings.DRAWINGS:
        yield fenced(drawings.DRAWINGS[name].caption, f"{{drawing}} {drawings.DRAWINGS[name].file}")


def arguments(name: str) -> Lines:
    doc = functions.doc(name)
    if doc.arguments:
        yield "## Arguments"
        yield from (f"{codes(a.name)}\n: {a.text}" for a in doc.arguments)


def returns(name: str) -> Lines:
    doc = functions.doc(name)
    if doc.returns:
        yield "## Returns"
        yield from doc.returns


def raises(name: str) -> Lines:
    doc = functions.doc(name)
    if doc.raises:
        yield "## Errors"
        yield from (f"{codes(e.name)}\n: {e.text}" for e in doc.raises)


def examples(name: str) -> Lines:
    doc = functions.doc(name)
    if doc.examples:
        yield "## Example"
        yield from (fenced(example, "pycon") for example in doc.examples)


def gradient(name: str) -> Lines:
    flows = graphs.built()[name].gradients
    if not flows:
        return
    yield "## Gradient"
    ordered = [p.name for p in functions.parameters(name) if p.name in flows]
    words = {True: "yes, to any order", False: "none"}
    yield table(["argument", "gradient"], ([code(a), words[flows[a]]] for a in ordered))
    flat = [p for p in sorted(graphs.built()[name].floats) if support.slope(p) == "flat"]
    if flat:
        yield "Of its primitives these are flat: their gradient is 0 wherever there is one."
        yield " ".join(map(code, flat))


def engines(name: str) -> Lines:
    yield "## Engines"
    primitives = graphs.built()[name].primitives
    if not primitives:
        yield "This function builds no graph: it is the same on every engine."
        return
    ways = support.ways(primitives)
    columns = [
        w for w in dict.fromkeys(support.WAYS.values()) if any(w in of for of in ways.values())
    ]
    if columns == ["native"]:
        yield "Every engine has operations of its own for all of its primitives:"
        yield " ".join(map(code, sorted(primitives)))
        return
    yield "Calls of this function build these primitives:"
    yield " ".join(map(code, sorted(primitives)))
    yield "How each engine does them:"
    rows = ([title, *(cell(of, column) for column in columns)] for title, of in ways.items())
    yield table(["engine", *columns], rows)
    yield "What the columns mean: [which engine does what](../../support.md)."


def cell(of: dict[str, list[str]], column: str) -> str:
    """Which primitives an engine does in one way: most of them need no names."""
    names = of.get(column, [])
    if len(of) == 1 and names:
        return "all of them"
    if len(names) > FEW and names is max(of.values(), key=len):
        return "all others"
    return " ".join(map(code, names))


def originals(name: str) -> Lines:
    compared = graphs.comparison(name)
    own = functions.own_arguments(name)
    if not (compared.recorded or own or name not in functions.signatures().newest):
        return
    yield "## Compared with the original"
    if name not in functions.signatures().newest:
        yield "The original's documentation doesn't have this function."
    if own:
        yield "Arguments that are Kameleon's own:"
        yield " ".join(map(code, own))
    if compared.recorded and not compared.differences:
        yield (
            "Recorded calls of Keras 2.3.1 on TensorFlow 1.15 give the same here, on every engine:"
            " values, gradients, shapes, dtypes and errors."
        )
    elif compared.differences:
        yield "Recorded calls of Keras 2.3.1 on TensorFlow 1.15 give the same here, but for these:"
        yield "\n".join(
            f"- {reason}" if not engine else f"- {TITLES[engine]}: {reason}"
            for engine, reason in compared.differences
        )

    errors = [outcome for outcome in compared.outcomes if outcome != "value"]
    if errors:
        yield "Calls that the original refused in its engine, or by an assertion, are errors here:"
        yield " ".join(map(code, errors))
    if "value" in compared.outcomes:
        yield "A call that only one engine of the original refused gives a value here."


def older(name: str) -> Lines:
    calls = functions.signatures().older.get(name)
    if calls:
        yield "## Older calls"
        yield "Older versions were called so, and such calls work where they can be told apart:"
        yield fenced("\n".join(name + call for call in calls), "python")


def sources(name: str) -> Lines:
    doc = functions.doc(name)
    if doc.sources:
        yield "## Source"
        yield from doc.sources


def place(name: str) -> Lines:
    found = functions.chapter_of(name)
    yield "## See also"
    yield f"[{found.title}](chapter_{found.name}.md)"
    if others := [code(f"K.{other}") for other in found.names if other != name]:
        yield named(others)


SECTIONS: tuple[Callable[[str], Lines], ...] = (
    head,
    figure,
    arguments,
    returns,
    raises,
    examples,
    gradient,
    engines,
    originals,
    older,
    sources,
    place,
)
TITLES = {"jax": "JAX", "torch": "PyTorch", "onnxruntime": "ONNX Runtime"}


# Indexes ------------------------------------------------------------------------------------------


def chapter(found: Chapter) -> str:
    """The page of a chapter: its functions and what they do."""
    rows = (
        [f"[`{name}`]({name}.md)", functions.doc(name).summary.replace("|", "\\|")]
        for name in found.names
    )
    parts = [
        f"# {found.title}",
        table(["function", "meaning"], rows),
        toctree(found.names),
    ]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The index of all functions, by chapter and by alphabet."""
    parts = ["# All functions", "## By chapter"]
    for found in functions.chapters():
        parts.append(f"### {found.title}")
        parts.append(named(f"[`{name}`]({name}.md)" for name in found.names))
    parts.append("## By alphabet")
    for letter, group in by_letter(functions.names()).items():
        links = (f"[`{name}`]({name}.md)" for name in group)
        parts.append(named([f"**{letter.upper()}**", *links]))
    parts.append(toctree([f"chapter_{c.name}" for c in functions.chapters()]))
    return "\n\n".join(parts) + "\n"


def by_letter(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by their first letters, in order."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=str.lower):
        found.setdefault(name[0].lower(), []).append(name)
    return found


# Markdown -----------------------------------------------------------------------------------------


def code(text: str) -> str:
    return f"`{text}`"


def codes(text: str) -> str:
    """Names that stand in one entry of a docstring."""
    return ", ".join(map(code, re.split(r",\s*", text)))


def fenced(text: str, kind: str) -> str:
    return f"```{kind}\n{text}\n```"


def named(links: Iterable[str]) -> str:
    """A list of functions that is read as one line of text."""
    return f":::{{container}} names\n{' '.join(links)}\n:::"


def table(header: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def toctree(pages: Iterable[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])
