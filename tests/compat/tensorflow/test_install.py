"""`kameleon tensorflow install` where the files are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kameleon.cli import tensorflow
from kameleon.compat.tensorflow import location, source


def compiled(folder: Path) -> bytes:
    """The byte code of the one file."""
    [file] = (folder / location.PACKAGE / "__pycache__").glob("__init__.*.pyc")
    return file.read_bytes()


def test_byte_code_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(location.VARIABLE, str(tmp_path))
    package = tmp_path / location.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("import tensorflow\n", "utf-8")
    (package / location.COMPLETE).touch()
    tensorflow.install([])
    first = compiled(tmp_path)
    assert "Nothing else to do" in capsys.readouterr().out
    tensorflow.install([])
    assert compiled(tmp_path) == first
    monkeypatch.setattr(source, "REVISION", source.REVISION ^ 1)
    tensorflow.install([])
    assert compiled(tmp_path) != first
