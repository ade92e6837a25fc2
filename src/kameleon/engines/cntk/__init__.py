"""CNTK 2.7, the original, in a process of its own: it exists for Python 3.6 alone."""
