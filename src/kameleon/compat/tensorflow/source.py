"""What today's Python, NumPy and protobuf want otherwise in TensorFlow 1.15's Python files.

The files stay as they were published; a file's text is changed when it's compiled: by the patterns
here, and in single files as `changes.txt` lists it. Imports of `tensorflow` go to
`tensorflow_core`, so that a TensorFlow that is installed is left alone, and old packages that clash
with newer ones of the same name have names of their own.
"""

from __future__ import annotations

import ast
import re
import zlib
from pathlib import Path
from string import Template

# Packages in these files, by the names that imports in them say.
RENAMED = {"tensorflow": "tensorflow_core", "gast": "tensorflow_gast"}

_NAMES = "|".join(RENAMED)
_OLD_NUMPY = {
    "object": "object_", "float": "float64", "int": "int_", "complex": "complex128", "str": "str_",
    "bool": "bool_", "bool8": "bool_", "unicode_": "str_", "string_": "bytes_", "Inf": "inf",
    "infty": "inf", "product": "prod", "asscalar": "ndarray.item",
}  # fmt: skip


def _renamed(match: re.Match[str]) -> str:
    return f"{match[1]}{RENAMED[match[2]]}"


def _plain_import(match: re.Match[str]) -> str:
    """`import tensorflow.a.b` binds `tensorflow`."""
    old, path, alias = match[2], match[3], match[4]
    new = RENAMED[old]
    if alias or not path:
        return f"{match[1]}import {new}{path}{alias or f' as {old}'}"
    return f"{match[1]}import {new}{path}; import {new} as {old}"


# Abstract classes, which lie in `collections.abc` today.
_ABSTRACT = re.compile(
    r"\b(_?collections(?:_lib)?)\.(?=(?:Mutable)?(?:Mapping|Sequence|Set)\b|Iterable\b|Iterator\b"
    r"|Callable\b|Hashable\b|Sized\b|Container\b|MappingView\b|Generator\b)"
)

# In each file: a pattern, and what takes the place of a match.
EVERYWHERE = (
    (re.compile(rf"^(\s*from )({_NAMES})(?=[. ])", re.M), _renamed),
    (re.compile(rf"^(\s*)import ({_NAMES})\b([\w.]*)( as \w+)?", re.M), _plain_import),
    # Modules that are loaded late are named by strings.
    (re.compile(r"""(["'])(tensorflow)(?=\.(?:python|contrib|_api|compat|tools)\b)"""), _renamed),
    (re.compile(r"\.tostring\(\)"), lambda match: ".tobytes()"),
    (
        re.compile(rf"\bnp\.({'|'.join(_OLD_NUMPY)})\b(?!\.)"),
        lambda match: f"np.{_OLD_NUMPY[match[1]]}",
    ),
    (re.compile(r"\.notifyAll\(\)"), ".notify_all()"),  # warned about since Python 3.10
    (_ABSTRACT, lambda match: f"{match[1]}.abc."),
    (re.compile(r"^(\s*)import (collections)( as \w+)?$", re.M), r"\1import \2.abc, \2\3"),
    (re.compile(r"^(\s*)import imp$", re.M), rf"\1import {__package__}.dropped as imp"),
    # Packages of the API that many programs do without.
    (
        re.compile(r"^  from (tensorflow_\w+\.python\.(\w+)\.api\._v\d) import \2$", re.M),
        lambda match: f"  {match[2]} = {_LATE}.package('{match[1]}.{match[2]}')",
    ),
    (re.compile(r"\b_?inspect\.(getargspec|ArgSpec)\b"), lambda match: f"{_DROPPED}.{match[1]}"),
)  # fmt: skip
_DROPPED = "__import__('kameleon.compat.tensorflow.dropped', fromlist='*')"
_LATE = "__import__('kameleon.compat.tensorflow.late', fromlist='*')"
_MODULES = "__import__('kameleon._utils.late', fromlist='*')"
_FILE = re.compile(r"^(\S+\.py)\n((?:[-+#].*\n)+)", re.M)
_CHANGE = re.compile(r"((?:^-.*\n)+)((?:^\+.*\n)+)", re.M)


def _changes(path: Path) -> dict[str, list[tuple[str, str]]]:
    """What a list of changes tells: by the end of a path, texts and what takes their place."""
    ours = Template(path.read_text("utf-8"))
    text = ours.substitute(dropped=_DROPPED, late=_LATE, modules=_MODULES)

    def plain(lines: str) -> str:
        return re.sub(r"^[-+]", "", lines, flags=re.M).removesuffix("\n")

    return {
        file: [(plain(old), plain(new)) for old, new in _CHANGE.findall(lines)]
        for file, lines in _FILE.findall(text)
    }


CHANGES = Path(__file__).with_name("changes.txt")
IN_FILES = _changes(CHANGES)


def adapted(text: str, path: str) -> str:
    """The text of a file, as it's compiled.

    >>> adapted("from tensorflow.python import keras\\nimport tensorflow as tf\\n", "x.py")
    'from tensorflow_core.python import keras\\nimport tensorflow_core as tf\\n'
    >>> adapted("import tensorflow.contrib\\nx = np.object\\n", "x.py")
    'import tensorflow_core.contrib; import tensorflow_core as tensorflow\\nx = np.object_\\n'
    """
    text = changed(text, path)
    return _looking_up(text) if _AT_ONCE in text else text


def changed(text: str, path: str) -> str:
    """The text of a file, as `adapted`, where a module's names are still imported at once."""
    for pattern, instead in EVERYWHERE:
        text = pattern.sub(instead, text)
    for end, pairs in IN_FILES.items():
        if path.replace("\\", "/").endswith(end):
            for old, new in pairs:
                text = text.replace(old, new)
    return text


_AT_ONCE = "public_apis=None, deprecation="  # in a module that the API's generator wrote
_OF_API = re.compile(r"\b(_api\.v|api\._v)\d\b")
_EXPOSED = re.compile(
    r"^from (tensorflow_core\.[\w.]*) import ([^\W_]\w*)(?: as ([^\W_]\w*))?$\n", re.M
)


def _looking_up(text: str) -> str:
    """A module of the API, that gives its names to what looks them up in it.

    >>> _looking_up("from tensorflow_core.a import b as c\\nf(public_apis=None, deprecation=1)")
    "f(public_apis={'c': ('tensorflow_core.a', 'b')}, deprecation=1)"
    """
    names: dict[str, tuple[str, str]] = {}

    def exposed(match: re.Match[str]) -> str:
        module, name, alias = match.groups()
        is_module = _OF_API.search(module) is not None
        names[alias or name] = ("", f"{module}.{name}") if is_module else (module, name)
        return ""

    text = _EXPOSED.sub(exposed, text)
    return text.replace(_AT_ONCE, _AT_ONCE.replace("None", repr(names)))


# Byte code that another version of these files had a part in is made anew.
REVISION = zlib.crc32(Path(__file__).read_bytes() + CHANGES.read_bytes()) & 0xFFFF

_SERIALIZED = re.compile(r"serialized_pb=(?:_b\((.*?)\)\n|(b'.*?')\n)", re.S)
_IMPORTS = re.compile(r"^from (?!google\.protobuf)\S+ import \w+_pb2.*$", re.M)


def is_of_early_compiler(text: str) -> bool:
    """Whether a module is of protobuf's compiler before its version 3.20: today's protobuf makes no
    classes of it.
    """
    return "_descriptor.FileDescriptor(" in text and _SERIALIZED.search(text) is not None


def descriptor(text: str) -> tuple[bytes, list[str]]:
    """What a module that protobuf's compiler wrote holds: a file's descriptor, and its imports."""
    found = _SERIALIZED.search(text)
    assert found is not None, "a module of protobuf's compiler"
    held: str | bytes = ast.literal_eval(found[1] or found[2])
    return held if isinstance(held, bytes) else held.encode("latin-1"), _IMPORTS.findall(text)
