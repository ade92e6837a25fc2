"""The page about `kameleon check`: what it shows is what the command says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from _support.commands import kameleon
from _support.common import TESTS
from _support.originals import needs_original

pytest.importorskip("rich", reason="the command line needs Rich")

from kameleon.cli.check.findings import SEVERITIES

PAGE = (TESTS.parent / "docs" / "check.md").read_text("utf-8")
ON_K = {"KAMELEON_KERAS_ON": "kameleon", "KAMELEON_AS": "", "KERAS_BACKEND": ""}


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    assert found is not None
    return found[1]


@needs_original
def test_the_example_says_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(block("python"), "utf-8")
    line, _, shown = block("console").partition("\n")
    ended = kameleon(*line.removeprefix("$ kameleon ").split(), settings=ON_K)
    assert (ended.out, ended.status) == (shown, 1)


def test_severities_and_keys_are_described(tmp_path: Path) -> None:
    assert re.findall(r"^\| `([^`]+)` \|", PAGE, re.M) == list(SEVERITIES)
    (tmp_path / "program.py").write_text("xrange", "utf-8")
    found = json.loads(kameleon("check", "--json", str(tmp_path), settings=ON_K).out)
    described = PAGE.partition("## For programs")[2]
    keys = [*found, *found["findings"][0], "files", "not seen"]
    assert [key for key in keys if f"`{key}`" not in described] == []
