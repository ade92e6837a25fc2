"""Analyses: what can be told of a graph without running or changing it."""
