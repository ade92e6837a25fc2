"""Many devices and processes: distributions, their pictures, checkpoints.

What it takes from there is loaded when it's asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..config.layouts import Distribution as Distribution
    from .distribution import Machine as Machine
    from .distribution import distribute as distribute
    from .distribution import from_first as from_first
    from .distribution import local as local
    from .distribution import picture as picture
    from .distribution import use_devices as use_devices

__all__ = ["Distribution", "Machine", "distribute", "from_first", "local", "picture", "use_devices"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.distribution"), name)
