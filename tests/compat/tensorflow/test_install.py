"""`kameleon tensorflow install` where the files are there; what is changed in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.originals import needs_tensorflows_files

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


@needs_tensorflows_files
@pytest.mark.parametrize("path", source.IN_FILES)
def test_what_is_changed_in_a_file_is_there(path: str) -> None:
    text = Path(location.find(), path).read_text("utf-8")
    for pattern, instead in source.EVERYWHERE:
        text = pattern.sub(instead, text)
    missing = []
    for old, new in source.IN_FILES[path]:  # one may change what another one made
        missing += [old] if old not in text else []
        text = text.replace(old, new)
    assert missing == []
