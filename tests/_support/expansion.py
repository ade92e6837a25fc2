"""The NumPy engine without some of its native rules: composites run as their expansions."""

from __future__ import annotations

from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.engines.numpy.rules import RULES


def expanded_numpy(*names: str) -> NumpyEngine:
    """An engine that expands the composite primitives of these names into simpler ones."""
    unknown = set(names) - set(RULES)
    assert not unknown, f"the NumPy engine has no rule for {unknown}"
    engine = NumpyEngine()
    engine.name = f"numpy without {', '.join(names)}"
    engine.rules = {name: rule for name, rule in RULES.items() if name not in names}
    return engine
