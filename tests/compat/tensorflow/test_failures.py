"""What the system refuses is told by TensorFlow's error classes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from kameleon.compat.tensorflow import failures
from kameleon.compat.tensorflow.operations.files import contents

CLASSES = {name: type(name, (failures.PlainError,), {}) for name in failures.CLASSES.values()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", "NotFoundError"),
        (".", "FailedPreconditionError"),
        ("file/below", "FailedPreconditionError"),
    ],
)
def test_each_has_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(failures, "_module", lambda: SimpleNamespace(**CLASSES))
    with pytest.raises(CLASSES[expected], match=str(tmp_path / name)):
        contents(str(tmp_path / name))
