"""Engines as a parameter of tests."""

from __future__ import annotations

import pytest

from kameleon.engines._base import Engine
from kameleon.runtime import engines


@pytest.fixture(params=sorted(engines.MODULES))
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine that Kameleon has."""
    return engines.load(request.param)
