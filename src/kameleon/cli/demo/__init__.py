"""A network that learns to read handwritten digits, in the K API alone: see `digits.py`."""
