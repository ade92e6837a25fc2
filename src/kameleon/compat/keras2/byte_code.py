"""Functions of `Lambda` layers that a model file holds as byte code: when they may run.

Keras 2 stores a function as marshalled byte code and runs it when the model is loaded. Here such a
model is refused, unless this process has stored the function itself, a function is given in its
place, or the user says that the file may run code.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from ..._utils.around import Function, around
from ..._utils.scopes import Scope
from ...errors import ByteCodeError

ALLOWED_BY = "KAMELEON_UNSAFE_LAMBDA"  # the variable that allows all byte code

# The arguments of `Lambda` that a configuration may hold as byte code.
FUNCTIONS = ("function", "output_shape")

_stored_here: set[bytes] = set()
_allowed: ContextVar[bool] = ContextVar("kameleon_byte_code_allowed", default=False)


# --- what may run --------------------------------------------------------------------------------


def allowed(yes: bool = True) -> Scope[bool]:
    """A block inside of which, in this thread (or task), byte code may run."""
    return Scope(_allowed, lambda outer: yes or outer)


def may_run(stored: Any) -> bool:
    """Whether a stored function may run: its code, or the triple that begins with it."""
    return (
        _allowed.get()
        or os.environ.get(ALLOWED_BY, "").strip() not in ("", "0")
        or _digest(_code_of(stored)) in _stored_here
    )


def _code_of(stored: Any) -> str:
    return str(stored[0] if isinstance(stored, (list, tuple)) else stored)


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()


@around
def noting(dump: Function, function: Any) -> Any:
    """Keras's `func_dump`, which also notes what this process stores and so may load again."""
    stored = dump(function)
    _stored_here.add(_digest(_code_of(stored)))
    return stored


# --- a layer from its configuration --------------------------------------------------------------


@around
def guarded(theirs: Function, cls: Any, config: Any, custom_objects: Any = None) -> Any:
    """`Lambda.from_config`, which takes functions by the layer's name, and refuses byte code."""
    config = replaced(config, custom_objects or {})
    for part in FUNCTIONS:
        if _is_byte_code(config, part) and not may_run(config[part]):
            raise ByteCodeError(_refusal(config, part))
    return theirs(cls, config, custom_objects)


def replaced(config: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's configuration without byte code, if a function is given by the layer's name.

    A function for the shape of the output is dropped, too: calling the given one tells the shape.
    """
    name, parts = config.get("name"), [part for part in FUNCTIONS if _is_byte_code(config, part)]
    if not parts or not callable(given.get(str(name))):
        return dict(config)
    changes = {
        "function": {"function": name, "function_type": "function"},
        "output_shape": {"output_shape": None, "output_shape_type": "raw"},
    }
    return dict(config) | {key: value for part in parts for key, value in changes[part].items()}


def _is_byte_code(config: Mapping[str, Any], part: str) -> bool:
    return config.get(f"{part}_type") == "lambda"


def _refusal(config: Mapping[str, Any], part: str) -> str:
    name = config.get("name")
    listing = described(config[part])
    remedies = (
        f"Give a function of yours in its place, custom_objects={{{name!r}: function}}; or build"
        " the model by its program and take its weights alone, model.load_weights(path)"
    )
    if listing is None:
        listing = "It's no byte code of this Python, so it can't be shown, and couldn't run either."
    else:
        remedies += (
            "; or, if you trust whoever wrote the model, load it with safe_mode=False, as in"
            f" load_model(path, safe_mode=False), or set {ALLOWED_BY}=1"
        )
    return (
        f"the Lambda layer {name!r} has its {part} as byte code, which would run with all that you"
        f" may do; it isn't loaded. {listing}\n{remedies}."
    )


# --- what the byte code is -----------------------------------------------------------------------

# Reading hostile byte code may crash a process, so another process does it.
_DESCRIBE = """
import dis, marshal, sys, types
def within(code):
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from within(value)
code = marshal.loads(sys.stdin.buffer.read())
names = sorted({name for part in within(code) for name in part.co_names + part.co_freevars})
print("Names that it uses:", ", ".join(map(ascii, names)) or "none")
dis.dis(code)
"""
MOST_LINES = 60


def described(stored: Any) -> str | None:
    """The names that a stored function uses, and its disassembly; none of its code runs.

    None where the function is no byte code of this Python.
    """
    import subprocess  # late, as it takes long to import

    try:
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _DESCRIBE],
            input=_raw(_code_of(stored)),
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, TypeError, subprocess.SubprocessError):
        return "It can't be shown here."
    if child.returncode:
        return None
    lines = child.stdout.decode("utf-8", "replace").splitlines()
    lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more lines"] * (len(lines) > MOST_LINES)
    return "\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)


def _raw(code: str) -> bytes:
    """The marshalled code, from base64, or as Keras wrote it before 2.1.2."""
    try:
        return codecs.decode(code.encode("ascii"), "base64")
    except ValueError:
        return code.encode("raw_unicode_escape")


# --- functions that load models ------------------------------------------------------------------

LOADERS = ("load_model", "model_from_config", "model_from_json", "model_from_yaml")


@around
def with_safe_mode(load: Function, *args: Any, safe_mode: bool = True, **kwargs: Any) -> Any:
    """One of these, with the argument `safe_mode`."""
    with allowed(not safe_mode):
        return load(*args, **kwargs)


@around
def trusting(load: Function, *args: Any) -> Any:
    """`unpickle_model`: to unpickle a model runs whatever the pickle says anyway."""
    with allowed():
        return load(*args)
