"""Arithmetic of operations, on arrays or on tensors of K: it knows nothing of their graphs."""
