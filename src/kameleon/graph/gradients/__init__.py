"""Gradients: one rule for each primitive, and the reverse sweep that applies them.

A gradient is a graph like any other: it's simplified, runs on every engine, and has gradients.
"""

from . import control, elementwise, movement, reductions, rows, windows
from .rules import GRADIENTS, ZERO
from .sweep import gradients, pullback

SUBJECTS = (control, elementwise, movement, reductions, rows, windows)
for subject in SUBJECTS:
    GRADIENTS.update(subject.RULES)

__all__ = ["GRADIENTS", "SUBJECTS", "ZERO", "gradients", "pullback"]
