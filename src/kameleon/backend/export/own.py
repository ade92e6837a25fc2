"""Kameleon's own format, among the others: what `save` writes and `kameleon.load` reads."""

from __future__ import annotations

from ...runtime import saving
from ..interop.pure import Stateless

RELOAD = '''
import kameleon
from kameleon import backend as K


def load(path):
    """A callable: arrays for the inputs in order -> outputs, then new values."""
    function = kameleon.load(path)
    written = [variable for variable, _ in function.program.updates]
    return lambda arrays: [*function(arrays), *map(K.get_value, written)]
'''


def write(program: Stateless, path: str) -> None:
    """Write a function as `save` does: all that a function can hold, for any engine."""
    saving.save(program.function, path)
