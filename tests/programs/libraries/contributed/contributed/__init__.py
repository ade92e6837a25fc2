"""Layers that Keras hasn't."""
from . import backend, layers

__version__ = '0.1.0'
