"""Recurrent networks of TensorFlow 1: cells, wrappers around them, and loops that run them."""
