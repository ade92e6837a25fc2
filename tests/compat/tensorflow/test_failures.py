"""What the system refuses is told by TensorFlow's error classes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from kameleon.compat.tensorflow import failures
from kameleon.compat.tensorflow.capi.constants import CONSTANTS
from kameleon.compat.tensorflow.operations.files import contents

CLASSES: dict[object, type[failures.PlainError]] = {
    CONSTANTS[f"TF_{code}"]: type(code, (failures.PlainError,), {})
    for code in ("NOT_FOUND", "FAILED_PRECONDITION")
}
ERRORS = SimpleNamespace(
    OpError=failures.PlainError, exception_type_from_error_code=CLASSES.__getitem__
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", "NOT_FOUND"),
        (".", "FAILED_PRECONDITION"),
        ("file/below", "FAILED_PRECONDITION"),
    ],
)
def test_each_has_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(failures, "_module", lambda: ERRORS)
    with pytest.raises(CLASSES[CONSTANTS[f"TF_{expected}"]], match=str(tmp_path / name)):
        contents(str(tmp_path / name))
