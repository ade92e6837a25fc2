"""The generated pages are what the tables say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from _support.common import module_at

from kameleon.runtime import engines

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def make() -> ModuleType:
    """The module that writes the pages."""
    return module_at("docs/make.py")


@pytest.mark.parametrize(
    "name", ["exporting.md", "primitives.md", "names.md", "tensorflow.md", "graph.svg"]
)
def test_the_page_is_current(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == make().PAGES[name](), "run `python docs/make.py`"


def test_the_picture_of_the_packages_is_current() -> None:
    made = make()
    written = made.CONTRIBUTING.read_text(encoding="utf-8")
    assert written == made.contributing_page(), "run `python docs/make.py`"


@pytest.mark.skipif(
    not all(engines.runs_here(name) or name == "cntk" for name in engines.MODULES),
    reason="the tables of all engines are needed, and not all libraries are installed",
)
def test_the_page_of_support_is_current() -> None:
    written = (DOCS / "support.md").read_text(encoding="utf-8")
    assert written == make().support_page(), "run `python docs/make.py`"


# How the page on engines calls what the core and the engines need, by its name in `pyproject.toml`.
TITLES = {
    "numpy": "NumPy from",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "torch": "PyTorch",
    "pytensor": "PyTensor",
    "onnxruntime": "ONNX Runtime",
}


def test_the_page_on_engines_has_the_oldest_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = sum(project["optional-dependencies"].values(), project["dependencies"])
    oldest = dict(need.split(">=") for need in needs if ">=" in need)
    text = " ".join((DOCS / "choosing.md").read_text(encoding="utf-8").split())
    for name, title in TITLES.items():
        assert f"{title} {oldest[name]}" in text
