"""Kameleon: the classic Keras backend API over one symbolic graph, on any engine.

    from kameleon import backend as K

Importing this package alone loads no engine, reads no settings and writes nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
