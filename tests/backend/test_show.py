"""`K.show`, and what notebooks show."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError, DTypeError


@pytest.fixture
def tensors() -> dict[str, Any]:
    x = K.placeholder((None, 3), name="x")
    y = K.exp(x)
    return {"tensor": y, "list": [y, K.log(x)], "function": K.function([x], [y]), "number": 2.0}


@pytest.mark.parametrize("kind", ["tensor", "list", "function", "number"])
def test_what_can_be_shown(kind: str, tensors: dict[str, Any]) -> None:
    shown = K.show(tensors[kind])
    ElementTree.fromstring(shown.svg)
    assert shown.svg in shown._repr_html_() and shown.mermaid.startswith("flowchart TD\n")
    assert str(shown) == shown.text and "return" in shown.text
    assert ("exp(" in shown.text) == (kind != "number")


def test_updates_that_a_tensor_carries_are_shown() -> None:
    v = K.variable(1.0, name="v")
    assert "new v" in K.show(K.update_add(v, 2.0)).svg


def test_files(tmp_path: Path, tensors: dict[str, Any]) -> None:
    shown = K.show(tensors["tensor"])
    for name, text in {"a.svg": shown.svg, "a.mmd": shown.mermaid, "a.txt": shown.text}.items():
        shown.save(tmp_path / name)
        assert (tmp_path / name).read_text("utf-8").rstrip() == text.rstrip()


def test_mistakes(tmp_path: Path, tensors: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"ends with none of \.svg, \.mmd, \.txt"):
        K.show(tensors["tensor"]).save(tmp_path / "a.png")
    with pytest.raises(ArgumentError, match="show: limit is a number of nodes"):
        K.show(tensors["tensor"], limit=0)
    with pytest.raises(DTypeError, match=r"show: .* is no tensor"):
        K.show(object())  # type: ignore[arg-type]


def test_notebooks_show_tensors_and_functions(tensors: dict[str, Any]) -> None:
    assert "Exp" in tensors["tensor"]._repr_html_()
    assert "Exp" in tensors["function"]._repr_html_()
    y = tensors["tensor"]
    for _ in range(100):
        y = K.exp(y)
    assert "62 more nodes" in y._repr_html_() and "62 more nodes" not in K.show(y).svg
