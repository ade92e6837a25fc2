"""The page on the inside: its names are in the code, and its examples are what they say."""

from __future__ import annotations

import importlib
import re
import sys
from functools import reduce
from pathlib import Path
from types import ModuleType

import pytest
from _support.common import PACKAGE, run_python, shortened

from kameleon.testing import Check, conformance_checks

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "internals.md").read_text("utf-8")
NAMES = re.findall(r"`([a-z_/]+\.py): ([A-Za-z_.]+)`", PAGE)
FILES = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", PAGE)


def blocks(title: str) -> list[str]:
    """The code below a title."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.S)


@pytest.mark.parametrize(("path", "name"), NAMES)
def test_names_are_in_the_code(path: str, name: str) -> None:
    if "jax" in path:
        pytest.importorskip("jax")
    module = importlib.import_module("kameleon." + path.removesuffix(".py").replace("/", "."))
    reduce(getattr, name.split("."), module)


def test_files_are_there() -> None:
    assert len(NAMES) > 15 and len(FILES) >= 5
    for name in FILES:
        assert (PACKAGE / name).exists() or (PACKAGE.parents[1] / name).exists(), name


# What is declared in these two would stay declared for the tests that follow.
USE = """
import numpy as np
from kameleon import backend as K
from kameleon.engines.numpy.engine import engine
from kameleon.testing import check_case, check_case_gradient, check_expansion

x = K.placeholder((None, 3), dtype="float64")
y = log_cosh(x)
f = K.function([x], [y, *K.gradients(K.sum(y), [x])])
given = np.array([[0.0, -0.3, 40.0]])
value, slope = f([given])
np.testing.assert_allclose(value, np.logaddexp(given, -given) - np.log(2), atol=1e-15)
np.testing.assert_allclose(slope, np.tanh(given), atol=1e-15)
assert len(cases) > 10
for known in (True, False):
    check_case(engine, cases, known)
    check_expansion(engine, cases, known)
    check_case_gradient(engine, [c for c in cases if c.wrt], known)
"""


def test_the_function_and_the_primitive(tmp_path: Path) -> None:
    code = "\n".join([*blocks("A function"), *blocks("A primitive")])
    done = run_python(code + USE, tmp_path, {"KERAS_BACKEND": "numpy"})
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module that the page makes."""
    (text,) = blocks("An engine")
    assert sum(bool(line.strip()) for line in text.splitlines()) <= 150
    folder = tmp_path_factory.mktemp("engine")
    (folder / "engine_of_the_page.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("engine_of_the_page")
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("check", shortened(conformance_checks()))
def test_the_engine(engine: ModuleType, check: Check) -> None:
    check(engine.engine)
