"""Graphs as PyTensor's own: symbolic operations that its rewrites, gradients and compilers know."""
