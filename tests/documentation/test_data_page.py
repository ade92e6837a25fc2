"""The page on feeding data: its examples for Keras run. Those for K are doctests."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.common import TESTS
from _support.originals import needs_original, run_hosted

PAGE = (TESTS.parent / "docs" / "data.md").read_text("utf-8")
BEGIN, *SECTIONS = PAGE.partition("## In programs for Keras 2")[2].split("\n### ")


def program(section: str) -> str:
    """The one program of a section."""
    (found,) = re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)
    return str(found)


EXAMPLES = {section.partition("\n")[0]: program(section) for section in SECTIONS}


def test_there_is_one_for_each() -> None:
    asked = ["torch.utils.data", "tf.data", "Grain", "Any iterable", "pandas", "polars"]
    assert list(EXAMPLES) == asked


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    for library in re.findall(r"^import (\w+)", example, re.M):
        if find_spec(library) is None:
            pytest.skip(f"the example needs {library}: pip install {library}")
    check = "assert model.history.epoch == [0, 1] and np.concatenate(found).size == len(x)\n"
    (tmp_path / "program.py").write_text(program(BEGIN) + example + check, "utf-8")
    settings = {"KAMELEON_KERAS_ON": "kameleon", "KAMELEON_TENSORFLOW": "installed"}
    done = run_hosted(["-m", "kameleon", "run", "program.py"], tmp_path, settings)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
