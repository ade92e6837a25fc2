"""What is wrong with a program, and what Kameleon says of names that are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kameleon._utils.suggestions import suggestion
from kameleon.compat.keras2.layers import CUDNN

CANT, CHANGE, NOTE, SERVED = "can't run", "change a line", "note", "served"
SEVERITIES = (CANT, CHANGE, NOTE, SERVED)
STOPPING = frozenset({CANT, CHANGE})


class Said(NamedTuple):
    """What there is to say of a name.

    Args:
        severity: one of the four above.
        name: the part of a full name that it's about.
        why, remedy: in words.
        is_absent: whether it's an error to ask for the name; else it's one to use it, or none.
    """

    severity: str
    name: str
    why: str
    remedy: str = ""
    is_absent: bool = True


def said(severity: str, name: str, message: str) -> Said:
    """What a message says of a name: what is wrong, and, behind a semicolon, what to do."""
    why, _, remedy = message.partition("; ")
    return Said(severity, name, why, remedy)


def lacks(holder: str, name: str, full: str, known: Iterable[str]) -> Said:
    """A name isn't there.

    Args:
        holder: what hasn't got it, in words.
        name, full: the name, by itself and in full.
        known: those that are there.

    >>> lacks("keras has", "laiers", "keras.laiers", ["layers"])[1:4]
    ('keras.laiers', 'keras has no laiers', "did you mean 'layers'?")
    """
    return said(CANT, full, f"{holder} no {name}{suggestion(name, known)}")


class Finding(NamedTuple):
    """Something to know about a line of a program.

    Args:
        file, line, column: where; from 1.
        severity: `can't run`, `change a line`, `note`, or `served`.
        what: the text there.
        why, remedy: in words.
    """

    file: str
    line: int
    column: int
    severity: str
    what: str
    why: str
    remedy: str


_PLACES = "a hint: the engine places its own work"
_CLUSTER = "clusters of several processes aren't served"
_LIBRARY = "operations in C++ of a library's own don't run"
_ANY_ENGINE = "no cuDNN is needed: it's {0} with the same mathematics, on any engine"

# By the full name of a definition, or of a module around it, what there is to say of it.
ABOUT: dict[str, tuple[str, str, str]] = {
    "tensorflow.python.framework.load_library.load_op_library": (
        CANT, _LIBRARY, "write them in TensorFlow's own operations",
    ),
    "tensorflow.python.training.server_lib.Server": (
        CANT, _CLUSTER, "kameleon run --devices N shares the work of Keras's models",
    ),
    "tensorflow_estimator.python.estimator.canned.boosted_trees": (
        CANT, "operations of boosted trees aren't implemented", "",
    ),
    "tensorflow.python.framework.ops.device": (NOTE, _PLACES, ""),
    "tensorflow.python.framework.ops.device_v2": (NOTE, _PLACES, ""),
    "keras.utils.multi_gpu_utils.multi_gpu_model": (
        NOTE, "it gives the model itself: the engine places its own work",
        "kameleon run --devices N spreads batches",
    ),
    **{
        f"keras.layers.cudnn_recurrent.{name}": (NOTE, _ANY_ENGINE.format(same), "")
        for name, (same, _) in CUDNN.items()
    },
}  # fmt: skip

# What Python 2 had built in, and what is written for it.
PYTHON_2 = {
    "basestring": "str", "cmp": "(a > b) - (a < b)", "execfile": "exec(open(path).read())",
    "file": "open", "long": "int", "raw_input": "input", "reduce": "functools.reduce",
    "reload": "importlib.reload", "unichr": "chr", "unicode": "str", "xrange": "range",
}  # fmt: skip
PYTHON_2_MODULES = {
    "ConfigParser": "configparser", "Queue": "queue", "StringIO": "io", "Tkinter": "tkinter",
    "__builtin__": "builtins", "cPickle": "pickle", "cStringIO": "io", "commands": "subprocess",
    "copy_reg": "copyreg", "httplib": "http.client", "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
}  # fmt: skip
