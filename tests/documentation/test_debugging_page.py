"""The page on debugging: what it shows of a command, that says. Its examples are doctests."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from _support.commands import kameleon
from _support.common import TESTS

pytest.importorskip("rich", reason="the command line needs Rich")

PAGE = (TESTS.parent / "docs" / "debugging.md").read_text("utf-8")


def test_the_check_says_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    network, _, rest = PAGE.partition("```console\n$ kameleon ")
    examples = doctest.DocTestParser().get_examples(network)
    Path("network.py").write_text("".join(example.source for example in examples), "utf-8")
    command, _, shown = rest.partition("```")[0].partition("\n")
    ended = kameleon(*command.split(), settings={"KAMELEON_AS": "", "KERAS_BACKEND": ""})
    assert (ended.out, ended.status) == (shown, 1)
