"""The PyTorch engine."""
