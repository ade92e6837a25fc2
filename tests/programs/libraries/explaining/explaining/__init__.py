"""What networks look at."""
__version__ = '0.1.0'
