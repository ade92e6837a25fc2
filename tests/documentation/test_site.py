"""The site's pages: each function has one, each page is in the tree, old addresses lead somewhere.

What Sphinx finds (links, headings, syntax) is told by `python -m docs build`, which is strict.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import kameleon
from docs.building import (
    check,
    drawings,
    formulas,
    functions,
    gallery,
    graphs,
    pages,
    programs,
    redirects,
    sources,
    support,
    trial,
)
from docs.building.languages import LANGUAGES, SOURCE
from docs.building.places import DOCS, FUNCTIONS, PROGRAMS
from kameleon import backend as K
from kameleon.backend import surface
from kameleon.graph.gradients import GRADIENTS

COMMITTED = sorted(p for p in DOCS.rglob("*.md") if not {FUNCTIONS, PROGRAMS} & {*p.parents})


def page_names() -> set[str]:
    """All pages of the site: those that are committed, those of functions and of programs."""
    generated = [*functions.names(), "index", *(f"chapter_{c.name}" for c in functions.chapters())]
    committed = {path.relative_to(DOCS).with_suffix("").as_posix() for path in COMMITTED}
    examples = {f"examples/{program.name}" for program in programs.programs()}
    return committed | examples | {f"backend/functions/{name}" for name in generated}


def test_chapters_hold_all_functions_in_the_order_of_the_documentation() -> None:
    assert functions.names() == surface.NAMES
    assert set(functions.signatures().newest) <= set(functions.names())


@pytest.mark.parametrize("name", functions.names())
def test_the_page_says_what_the_docstring_says(name: str) -> None:
    text, doc = pages.page(name), functions.doc(name)
    assert text.startswith(f"# {name}\n")
    assert f"{{py:function}} {functions.signature(name)}\n:module: kameleon.backend\n" in text
    parts = [doc.summary, *doc.body, *doc.returns, *doc.examples, *doc.sources]
    items = [*doc.arguments, *doc.raises]
    for part in [*parts, *(item.text for item in items), *(item.name for item in items)]:
        assert all(word in text for word in part.split(", ")), part
    assert doc.examples, "an example"
    described = [name.strip("*") for a in doc.arguments for name in a.name.split(", ")]
    assert described == [p.name for p in functions.parameters(name)]


PUBLIC = [
    *((K, name) for name in functions.names()),
    *((kameleon, n) for n in kameleon.__all__ if n[0] != "_"),
]


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_the_first_line_is_words(module: ModuleType, name: str) -> None:
    first = (inspect.getdoc(getattr(module, name)) or "").split("\n")[0]
    assert re.match(r"[A-Z][a-z]*(-[a-z]+)?:? ([A-Za-z]|`\w+`)", first), first
    assert len(re.findall(r"[a-z]{2,}", re.sub("`.*?`", "", first))) >= 2, first


def test_gradients_and_engines_of_functions_are_told() -> None:
    text = pages.page("relu")
    assert "| `x` | yes, to any order |" in text
    assert "| ONNX Runtime | all of them |" in text and "`relu`" in text
    assert re.search(r"\| Theano \(PyTensor\) \| all others \|.* `size` \|", text)
    assert "PyTensor's graph" in support.table() and "PyTensor's graph" not in text
    assert "is the same on every engine" in pages.page("epsilon")
    assert "gives a value here" in pages.page("conv2d") and "`ShapeError`" in pages.page("squeeze")
    assert "the float 1.0" in pages.page("count_params")  # a difference on purpose
    assert "Older calls" not in pages.page("abs") and "(xs)" in pages.page("batch_get_value")


def test_what_functions_build_is_found() -> None:
    built = graphs.built()
    assert built["conv2d"].primitives >= {"conv"} and built["conv2d"].gradients["kernel"]
    assert not built["argmax"].gradients.get("x", False)
    without = {name for name in functions.names() if not built[name].primitives}
    assert without < {*functions.names()} and "epsilon" in without and "rnn" not in without


def test_the_table_of_support_is_understood() -> None:
    for title, cells in support.table().items():
        assert set(cells) <= set(GRADIENTS), title
        assert {support.way(cell) for cell in cells.values()} <= set(support.WAYS.values())


def test_every_page_is_in_the_tree_once() -> None:
    texts = {path.relative_to(DOCS).parent: [] for path in COMMITTED}
    for path in COMMITTED:
        texts[path.relative_to(DOCS).parent].append(path.read_text(encoding="utf-8"))
    found = [
        (folder / entry).as_posix()
        for folder, files in texts.items()
        for text in files
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
        for entry in tree.split("\n")
        if entry and not entry.startswith(":")
    ]
    found += tree_of(gallery.gallery())
    found += [f"backend/functions/{name}" for name in tree_of(pages.index())]
    for chapter in functions.chapters():
        found += [f"backend/functions/{name}" for name in tree_of(pages.chapter(chapter))]
    assert sorted(found) == sorted(page_names() - {"index"})


def tree_of(text: str) -> list[str]:
    [tree] = re.findall(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", text, re.DOTALL)
    return tree.split("\n")


def test_old_addresses_lead_to_pages() -> None:
    targets = redirects.anchors()
    assert set(targets.values()) <= page_names()
    assert {name.lower() for name in functions.signatures().newest} <= set(targets)
    assert redirects.pages() == {
        "backend": "en",
        "ko/backend": "ko",
        "ja/backend": "ja",
        "zh/backend": "zh_CN",
    }
    assert '"conv2d":"backend/functions/conv2d"' in redirects.old_page("zh/backend", "zh_CN")
    assert "../../zh_CN/" in redirects.old_page("zh/backend", "zh_CN")
    assert all(f"{folder}/index.html" in redirects.start() for folder in LANGUAGES)


def test_formulas_belong_to_functions() -> None:
    assert set(formulas.FORMULAS) <= set(functions.names())
    math = pytest.importorskip("docutils.utils.math.latex2mathml")
    for name, formula in formulas.FORMULAS.items():
        assert f"```{{math}}\n{formula.tex}\n```\n\n{formula.where}" in pages.page(name)
        assert math.tex2mathml(formula.tex, as_block=True).startswith("<math"), name


def test_figures_belong_to_functions() -> None:
    assert set(drawings.DRAWINGS) <= set(functions.names())
    for name, drawing in drawings.DRAWINGS.items():
        assert f"```{{drawing}} {drawing.file}\n{drawing.caption}\n```" in pages.page(name)


def test_figures_have_the_colours_of_the_page() -> None:
    pytest.importorskip("matplotlib")
    from docs.building import figures

    text = figures.svg(drawings.DRAWINGS["relu"])
    assert text.startswith("<svg") and "currentColor" in text and figures.INK not in text
    assert "<style" not in text and "<metadata" not in text
    assert text == figures.svg(drawings.DRAWINGS["relu"])  # not another one in each build


def test_pages_have_one_title_and_no_bare_prompts() -> None:
    for path in COMMITTED:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert ">>>" not in text, f"{path}: examples stand in fences"
        assert len(re.findall(r"^# ", text, re.MULTILINE)) <= 1, path


def test_the_language_of_the_sources_is_one_of_the_site() -> None:
    assert SOURCE in LANGUAGES
    assert (DOCS / "templates" / "sidebar" / "languages.html").exists()


def test_the_code_of_functions_is_found() -> None:
    address = sources.addresses("https://host/us/it/", "1.0")
    found = address("py", {"module": "kameleon.backend", "fullname": "relu"}) or ""
    place = r"https://host/us/it/blob/v1.0/(src/kameleon/backend/activations.py)#L(\d+)-L(\d+)"
    path, first, last = re.fullmatch(place, found).groups()  # type: ignore[union-attr]
    lines = (DOCS.parent / path).read_text(encoding="utf-8").splitlines()
    text = "\n".join(lines[int(first) - 1 : int(last)])
    assert "def relu(" in text and "def elu(" not in text
    for name in functions.names():
        assert address("py", {"fullname": name})
        assert sources.module_of(None, "kameleon.backend", name) != "kameleon.backend"
    assert address("py", {"fullname": "no_such_function"}) is None
    assert sources.module_of(None, None, "x") is None
    assert sources.module_of(None, "kameleon", "set_engine") == "kameleon.backend"


def test_links_of_a_built_site_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    text = (
        '<a href="b.html#here">1</a> <a href="c.html">2</a> <a href="../ko/a.html">3</a> <p id="x">'
    )
    (tmp_path / "en" / "a.html").write_text(text + '<p id="x"> <a href="#x">4</a>')
    about = '<meta name="description" content="All of it">'
    (tmp_path / "en" / "b.html").write_text(
        about + '<a href="a.html#x">5</a> <a href="https://a.b/">6</a>'
    )
    assert sorted(check.faults(tmp_path, ["en"])) == [
        "en/a.html: 'x' twice",
        "en/a.html: b.html#here has no such place",
        "en/a.html: c.html leads nowhere",
        "en/a.html: no description",
    ]


def test_a_site_without_network_does_without_the_network_that_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "PLACE", tmp_path / "try")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    (tmp_path / "try").mkdir()
    assert "can't be fetched" in trial.write(None)
    assert not (tmp_path / "try").exists()
