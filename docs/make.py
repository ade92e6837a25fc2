"""Writes docs/primitives.md from the tables: `python docs/make.py`. A test holds it current."""

from __future__ import annotations

from pathlib import Path

import kameleon.prims
from kameleon.engines.numpy.rules import RULES
from kameleon.ir.primitive import ITEM, LEAVES, REGISTRY, ZERO, Primitive

HEAD = """# The primitives

Everything that a K function does is composed of these. A *core* primitive is one that every engine
must do; a *composite* has an expansion into simpler ones, for engines that have no kernel for it.
Gradient: `rule` (in terms of primitives, to any order), `flat` (zero wherever it is
differentiable), or the reason why there is none. NumPy: how the embedded engine does it.

This page is generated from the tables by `python docs/make.py`.

| primitive | tier | gradient | NumPy | meaning |
|---|---|---|---|---|
"""


def gradient_of(primitive: Primitive) -> str:
    """What the record says about the gradient."""
    if primitive.gradient is ZERO:
        return "flat"
    return primitive.gradient if isinstance(primitive.gradient, str) else "rule"


def page() -> str:
    """The whole page."""
    rows = []
    for primitive in REGISTRY.values():
        if primitive not in LEAVES and primitive is not ITEM:
            numpy = "native" if primitive.name in RULES else "expanded"
            meaning = primitive.doc.replace("|", "\\|")
            cells = [f"`{primitive.name}`", primitive.tier, gradient_of(primitive), numpy, meaning]
            rows.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(sorted(rows))


if __name__ == "__main__":
    assert kameleon.prims is not None  # importing it declares them all
    Path(__file__).with_name("primitives.md").write_text(page(), encoding="utf-8")
