"""The page of a function holds all of it, in one file that needs no other."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph.pictures.graphs import looped, trained

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import DTypeError, TargetError
from kameleon.graph.ir.program import Program
from kameleon.graph.passes.pipeline import PIPELINE
from kameleon.graph.pictures.boxes import every_box, sheet_of
from kameleon.graph.pictures.looks import LOOKS
from kameleon.runtime.engines import load
from kameleon.runtime.explorer import page
from kameleon.runtime.function import Function


def compiled(program: Program) -> Function:
    return Function(program.inputs, program.outputs, program.updates)


def embedded(text: str) -> dict[str, Any]:
    """What the page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


def keys(boxes: list[dict[str, Any]]) -> list[str]:
    """The keys of boxes, and of those in their bodies."""
    found = []
    for box in boxes:
        inner = [b for body in box.get("bodies", {}).values() for b in body]
        found += [box["key"], *keys(inner)]
    return found


def drawn(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The boxes of each stage that has changed the graph."""
    return [stage["boxes"] for stage in content["stages"] if "boxes" in stage]


@pytest.mark.parametrize("program", [trained, looped])
def test_the_page_has_every_node_of_every_stage(program: Any, tmp_path: Path) -> None:
    function = compiled(program())
    path = tmp_path / "page.html"
    page.write(function, path)
    content = embedded(path.read_text("utf-8"))
    titles = [stage["title"].removesuffix(" (unchanged)") for stage in content["stages"]]
    engine = function.engine
    assert titles == ["as it was built", *(p.name for p in PIPELINE if p.wanted(engine))]
    built = [box.key for box in every_box(sheet_of(function.program))]
    assert keys(content["stages"][0]["boxes"]) == built
    for stage in filter(lambda stage: "boxes" in stage, content["stages"]):
        assert all(0 <= i < j for j, b in enumerate(stage["boxes"]) for i in b.get("operands", ()))
        assert {b["kind"] for b in stage["boxes"]} <= LOOKS.keys() <= content["looks"].keys()
    assert content["code"] == function.source()


def test_what_a_pass_leaves_alone_is_there_once() -> None:
    x = K.placeholder((2,))
    built, simplified, *others = page.content(K.function([x], [K.exp(x)]).compiled)["stages"]
    assert built["boxes"] and simplified["boxes"] and others
    assert all("boxes" not in s and s["title"].endswith(" (unchanged)") for s in others)


def test_places_have_the_text_of_the_line() -> None:
    x = K.placeholder((2,))
    y = K.exp(x) + 1.0  # a line of the user's
    content = page.content(K.function([x], [y]).compiled)
    [box] = [b for b in content["stages"][0]["boxes"] if b["title"] == "Exp"]
    file, line, name, text = content["places"][box["source"]]
    assert (file, name) == (__file__, "test_places_have_the_text_of_the_line")
    assert line == y.source.line and text == "y = K.exp(x) + 1.0  # a line of the user's"
    assert len({tuple(place) for place in content["places"]}) == len(content["places"])


def test_the_page_needs_nothing_else_and_no_name_breaks_it() -> None:
    x = K.placeholder((2,), name="</script><b>{{data}}")
    text = page.page(Function([x], [K.exp(x)], name="<i>{{script}}"))
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(text)
    assert not [tag for tag, attrs in tags if {"src", "href"} & attrs.keys()]
    assert [tag for tag, _ in tags].count("script") == 3 and "b" not in dict(tags)
    assert "i" not in dict(tags) and "import(" not in text and "fetch(" not in text
    assert embedded(text)["stages"][0]["boxes"][0]["name"] == "</script><b>{{data}}:0"


def test_the_layout_s_library_is_named_with_its_licence() -> None:
    head = page._file("dagre.js")[:1500]
    assert "dagre 3.1.3" in head and "Permission is hereby granted, free of charge" in head


def test_the_same_function_gives_the_same_page() -> None:
    function = compiled(trained())
    assert page.page(function) == page.page(function)


def test_a_profile_is_handed_on() -> None:
    x = K.placeholder((2,))
    profile = {"%1": {"seconds": 0.25, "bytes": 8}}
    content = page.content(K.function([x], [K.exp(x)]).compiled, profile)
    assert content["profile"] == profile
    assert content["stages"][1]["boxes"][1]["key"] == "%1"
    assert page.content(K.function([x], [K.exp(x)]).compiled)["profile"] == {}


def test_a_profile_is_shown_with_the_graph_that_ran() -> None:
    x = K.placeholder((4, 3))
    y = K.exp(K.in_train_phase(K.tanh(x), K.sin(x)))
    f = K.function([x, K.learning_phase()], [y])
    profile = f.profile([np.ones((4, 3)), 1])
    content = page.content(f.compiled, profile)
    boxes = {box["key"]: box for box in drawn(content)[-1]}
    took = {boxes[key]["title"]: told["seconds"] for key, told in content["profile"].items()}
    assert took == {e.name.title(): e.seconds for e in profile.entries if e.type}
    assert took.keys() == {"Tanh", "Exp"}  # what was computed in training


def test_boxes_stay_in_their_scopes_behind_passes() -> None:
    built, *passed = drawn(page.content(compiled(trained())))
    unnamed = [box for box in passed[-1] if "name" not in box]
    assert {box.get("scope") for box in unnamed} >= {"dense"}
    assert {box["scope"] for box in built if box.get("name", "").startswith("dense/")} == {"dense"}
    slopes = [box for box in unnamed if box.get("is_gradient")]
    assert "dense" in {box.get("scope") for box in slopes}


def test_functions_write_their_page(tmp_path: Path) -> None:
    x = K.placeholder((2,))
    f = K.function([x], [K.exp(x)])
    f.explore(tmp_path / "a.html", profile={"%1": {"seconds": 1.0}})
    assert embedded((tmp_path / "a.html").read_text("utf-8"))["profile"]
    with pytest.raises(TargetError, match="is a folder: it isn't replaced"):
        f.explore(f"{tmp_path}/")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        f.explore(tmp_path / "absent" / "a.html")


def test_what_an_engine_lacks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(load("numpy")), "lacks", {"int16": "there is none"})
    x = K.placeholder((2,), dtype="int16")
    with pytest.raises(DTypeError, match="doesn't compute with int16: there is none"):
        page.page(K.function([x], [x + x], engine="numpy").compiled)


# What the page says of a node of each engine: a text that its name stands in.
TELLING = {
    "numpy": "exp(", "torch": "exp(", "onnxruntime": "Exp(", "tensorflow": "Exp(", "jax": "exp",
    "cntk": "exp", "theano": "exp",
}  # fmt: skip


def test_what_the_engine_makes_of_a_node(engine: Engine) -> None:
    x = K.placeholder((2, 3))
    total = K.foldl(lambda total, row: K.tanh(total + row), K.exp(x), K.zeros((3,)))
    found = page.content(K.function([x], [total]).compiled)
    boxes = {box["title"]: box["key"] for box in drawn(found)[-1]}
    made = found["made"]
    assert TELLING[engine.name] in made[boxes["Exp"]]
    inside = " ".join(text.lower() for key, text in made.items() if ".body." in key)
    assert "tanh" in inside or engine.name == "theano"  # whose loops are one operation
