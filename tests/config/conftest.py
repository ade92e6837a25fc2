"""What tests of the settings share."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.common import forget_settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fresh settings, a KERAS_HOME of the test's own, and nothing asked for."""
    forget_settings(monkeypatch.setattr)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    return tmp_path
