"""What networks are made of in TensorFlow 1: layers, cells and loops over time, losses, metrics."""
