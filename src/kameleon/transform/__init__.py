"""Graphs to graphs: gradients, simplification, expansion of composites."""
