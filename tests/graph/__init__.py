"""Graphs: passes, analyses, gradients, and what holds for every graph."""
