"""Passes: graphs to equal graphs. Simplification, loops, and what an engine lacks."""
