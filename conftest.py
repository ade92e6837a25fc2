"""Every test starts from a reset session, and no test touches the user's own keras.json."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

import pytest
from support import reset_session

# Set before any test module imports the backend, which reads (and may write) keras.json.
_HOME = tempfile.mkdtemp(prefix="kameleon-tests-")
os.environ["KERAS_HOME"] = _HOME
os.environ.pop("KERAS_BACKEND", None)  # tests choose their engines themselves


def pytest_unconfigure() -> None:
    """Remove the folder that stood in for the user's settings."""
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def _fresh_session() -> None:
    """Reset the session before each test, where the backend is in use at all."""
    backend = sys.modules.get("kameleon.backend")
    if backend is not None:
        reset_session(backend)
