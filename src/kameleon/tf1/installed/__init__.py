"""Names of TensorFlow 1 that are there where TensorFlow 2 is installed: its own functions."""
