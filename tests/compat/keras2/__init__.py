"""The original Keras, hosted."""
