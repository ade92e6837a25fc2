"""What all things that live on the host have in common."""

from __future__ import annotations


class Resource:
    """What operations keep or hand on that is no array: regions hand it on as it is."""
