"""Names of TensorFlow 1."""
