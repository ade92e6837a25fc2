"""Passes, each from a graph to an equal one: simplification, loops, and what an engine lacks."""
