"""A stand-in for TensorFlow's C API: the module that its Python files call.

exports      the table of functions, and what is missing
constants    numbers of the C headers
nests        structures of Python values
graphs       making, reading and changing graphs
fitting      whether inputs fit what a type of operation takes
graph_defs   graphs as messages, both ways
functions    graphs as functions of a library
sessions     running what is fetched
servers      clusters in one process
files        the file system
checkpoints  reading checkpoints
records      files of records and of events
others       what has no effect here
profiles     counting what a graph holds and computes
stack        where an operation was made
"""

from __future__ import annotations

from types import ModuleType


def module() -> ModuleType:
    """The module `pywrap_tensorflow_internal`."""
    from ..eager import context, execution, followers, tapes, tensors  # noqa: F401
    from . import (  # noqa: F401
        checkpoints,
        files,
        functions,
        graph_defs,
        graphs,
        nests,
        others,
        profiles,
        records,
        sessions,
    )
    from .exports import as_module

    return as_module()
