"""Engines: what's their own, and what they have in common."""
