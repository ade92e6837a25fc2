"""Deliberate faults, and who finds them."""
