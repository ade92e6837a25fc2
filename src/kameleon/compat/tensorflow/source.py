"""What today's Python, NumPy and protobuf want otherwise in TensorFlow 1.15's Python files.

The files stay as they were published; a file's text is changed when it's compiled. Imports of
`tensorflow` go to `tensorflow_core`, so that a TensorFlow that is installed is left alone, and
old packages that clash with newer ones of the same name have names of their own.
"""

from __future__ import annotations

import ast
import re
import zlib
from pathlib import Path

from . import late

# Packages in these files, by the names that imports in them say.
RENAMED = {"tensorflow": "tensorflow_core", "gast": "tensorflow_gast"}

_NAMES = "|".join(RENAMED)
_OLD_NUMPY = {
    "object": "object_", "float": "float64", "int": "int_", "complex": "complex128", "str": "str_",
    "unicode": "str_", "bool": "bool_", "bool8": "bool_", "float_": "float64",
    "complex_": "complex128", "unicode_": "str_", "string_": "bytes_", "Inf": "inf", "NaN": "nan",
    "infty": "inf", "product": "prod", "alltrue": "all", "sometrue": "any", "in1d": "isin",
    "cumproduct": "cumprod", "asscalar": "ndarray.item",
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
    (re.compile(r"\b_?inspect\.(getargspec|ArgSpec)\b"), lambda match: f"{_DROPPED}.{match[1]}"),
)  # fmt: skip
_DROPPED = "__import__('kameleon.compat.tensorflow.dropped', fromlist='*')"
_LATE = "__import__('kameleon.compat.tensorflow.late', fromlist='*')"
_MODULES = "__import__('kameleon._utils.late', fromlist='*')"
_PACKAGES = tuple(
    (
        f"  from {module.rpartition('.')[0]} import {name}\n",
        f"  {name} = {_LATE}.package('{module}')\n",
    )
    for name, path in (("estimator", late.ESTIMATOR), ("keras", late.KERAS))
    for module in (path.format("v1"), path.format("v2"))
)
_IS_SPARSE = (
    (
        "  from scipy.sparse import issparse  # pylint: disable=g-import-not-at-top\n",
        f"  issparse = {_MODULES}.is_sparse\n",
    ),
)
_YAML = (("  import yaml\n", f"  yaml = {_MODULES}.library('yaml')\n"),)

# By the end of a file's path: a text that is in it, and what takes its place.
IN_FILES = {
    "tensorflow_core/__init__.py": (
        *_PACKAGES,
        # It asked where libraries are installed, and took setuptools along.
        ("import distutils as _distutils\n", "_distutils = None\n"),
        # Names of two modules are set in others; those have them among their own.
        ("import flags  # pylint: disable=g-import-not-at-top\n", "import flags\n"),
        ("_current_module.app.flags = flags ", "pass "),
        ('setattr(_current_module, "flags", flags)', "pass"),
        ("_current_module.compat.v2.compat.v1 = _current_module.compat.v1", "pass"),
    ),
    "tensorflow_core/_api/v1/app/__init__.py": (
        (
            "from tensorflow_core.python.platform.app import run\n",
            "from tensorflow_core.python.platform.app import run\n"
            "from tensorflow_core.python.platform import flags\n",
        ),
    ),
    "tensorflow_core/_api/v1/compat/v2/compat/__init__.py": (
        (
            "from tensorflow_core.python.compat.compat import forward_compatible\n",
            "from tensorflow_core.python.compat.compat import forward_compatible\n"
            "from tensorflow_core._api.v1.compat import v1\n",
        ),
    ),
    "tensorflow_core/_api/v1/v1.py": _PACKAGES,
    "tensorflow_core/_api/v1/compat/v1/__init__.py": _PACKAGES,
    # Libraries that few programs need.
    "tensorflow_core/python/framework/meta_graph.py": (
        ("from distutils import version as distutils_version", ""),
        (
            "distutils_version.LooseVersion(tf_version)\n"
            '          >= distutils_version.LooseVersion("1.9"))',
            r"[*map(int, re.findall(r'\d+', tf_version))] >= [1, 9])",
        ),
    ),
    # What modules register when they're loaded: they're loaded when something isn't registered.
    "tensorflow_core/python/framework/registry.py": (
        (
            "    if name in self._registry:\n      return",
            f"    if name in self._registry or (\n        {_LATE}.register(self._name) "
            "and name in self._registry):\n      return",
        ),
    ),
    "tensorflow_core/python/framework/op_def_registry.py": (
        ("  return _registered_ops\n", "  return _all\n"),
        (
            "_registered_ops = {}\n",
            f"_registered_ops = {{}}\n_all = {_LATE}.Definitions(_registered_ops)\n",
        ),
    ),
    "tensorflow_core/python/ops/resource_variable_ops.py": (
        (
            'pywrap_tensorflow.RegisterType("ResourceVariable", ResourceVariable)\n',
            'pywrap_tensorflow.RegisterType("ResourceVariable", ResourceVariable)\n'
            'pywrap_tensorflow.RegisterType("Tensor", ops.Tensor)\n'
            'pywrap_tensorflow.RegisterType("IndexedSlices", ops.IndexedSlices)\n',
        ),
    ),
    "tensorflow_core/python/ops/linalg/linear_operator_algebra.py": (
        (
            'finds the most specific function registered."""\n',
            'finds the most specific function registered."""\n'
            "  import tensorflow_core.python.ops.linalg.linalg\n",
        ),
    ),
    "tensorflow_core/python/saved_model/revived_types.py": (
        (
            "  _, type_registrations = _REVIVED",
            f"  {_LATE}.everything()\n  _, type_registrations = _REVIVED",
        ),
    ),
    "tensorflow_core/python/ops/nn.py": (
        ("import sys as _sys\n", f"import sys as _sys\n__getattr__ = {_LATE}.missing(globals())\n"),
    ),
    # Keras's own modules need this one whole.
    "tensorflow_core/python/ops/rnn_cell_wrapper_impl.py": (
        (
            "from tensorflow_core.python.keras.utils import generic_utils\n",
            f"generic_utils = {_MODULES}.Late("
            "'tensorflow_core.python.keras.utils.generic_utils')\n",
        ),
    ),
    "tensorflow_core/python/keras/callbacks.py": (
        ("  import requests\n", f"  requests = {_MODULES}.library('requests')\n"),
    ),
    "tensorflow_core/python/keras/engine/training.py": _IS_SPARSE,
    "tensorflow_core/python/keras/engine/training_arrays.py": _IS_SPARSE,
    "tensorflow_core/python/keras/preprocessing/image.py": (
        ("  from scipy import linalg  # pylint: disable=unused-import\n", "  pass\n"),
        ("  from scipy import ndimage  # pylint: disable=unused-import\n", ""),
    ),
    "tensorflow_core/python/keras/saving/model_config.py": _YAML,
    "tensorflow_core/python/keras/engine/network.py": _YAML,
    # Today's protobuf writes numbers short without being told.
    "tensorflow_core/python/framework/graph_io.py": ((", float_format=''", ""),),
    "tensorflow_core/python/platform/tf_logging.py": (
        (
            "_logger_find_caller(stack_info=False)",
            "_logger_find_caller(stack_info=False, stacklevel=1)",
        ),
    ),
    # Today's NumPy lets through what a tensor raises that is asked for its array.
    "tensorflow_core/python/ops/array_ops.py": (
        ("if np.prod(shape) < 1000", f"if {_DROPPED}.product(shape) < 1000"),
    ),
    "tensorflow_core/python/ops/script_ops.py": (
        (
            "  token = _py_funcs.insert(func)\n",
            f"  func = {_DROPPED}.referable(func)\n  token = _py_funcs.insert(func)\n",
        ),
    ),
    # The summaries of a TensorBoard that is installed are TensorFlow 2's, and import it.
    "tensorflow_core/_api/v1/compat/v2/summary/__init__.py": (
        (
            "import sys as _sys\n",
            f"import sys as _sys\n\nfrom {__package__}.summaries import *\n",
        ),
    ),
    "tensorflow_core/_api/v1/compat/v2/__init__.py": (
        *_PACKAGES,
        ("  from tensorboard.summary._tf import summary\n", "  raise ImportError\n"),
        (
            '  _logging.warning(\n      "Limited tf.compat',
            '  _logging.debug(\n      "Limited tf.compat',
        ),
    ),
    # A TensorFlow that is installed defines the same flag.
    "tensorflow_core/python/ops/parallel_for/pfor.py": (
        (
            '    "which a converter is not defined.")',
            '    "which a converter is not defined.", allow_override=True)',
        ),
    ),
    # Each operation is made by a function some of whose arguments are deprecated: what it's called
    # with is known without asking for its parameters again.
    "tensorflow_core/python/util/deprecation.py": (
        (
            "invalid_args = []\n        named_args = tf_inspect.getcallargs(func, *args, **kwargs)",
            "invalid_args = []\n        named_args = dict(zip(arg_spec.args[::-1],"
            " (arg_spec.defaults or ())[::-1]))\n"
            "        named_args.update(arg_spec.kwonlydefaults or ())\n"
            "        named_args.update(zip(arg_spec.args, args))\n"
            "        named_args.update(kwargs)",
        ),
    ),
    # Today's `object` has `__eq__` and others that the graph's tensors override.
    "tensorflow_core/python/framework/ops.py": (
        ("getattr(clazz_object, operator, None)", "clazz_object.__dict__.get(operator)"),
    ),
    # Names of modules whose functions AutoGraph leaves alone.
    "tensorflow_core/python/autograph/core/config.py": (
        (
            "    DoNotConvert('tensorflow'),\n",
            "    DoNotConvert('tensorflow'),\n    DoNotConvert('tensorflow_core'),\n"
            "    DoNotConvert('kameleon'),\n",
        ),
    ),
    # Trees are written as today's Python has them; what wrote them knows an older one.
    "tensorflow_core/python/autograph/pyct/compiler.py": (
        ("import astor\n", ""),
        (
            "astor.code_gen.SourceGenerator(indentation, False,\n"
            + " " * 45
            + "astor.string_repr.pretty_string)",
            "__import__('kameleon.compat.tensorflow.syntax', fromlist='*').Writer()",
        ),
    ),
    # A TensorFlow that is installed leaves names on objects of others, such as `unittest.mock`.
    "tensorflow_core/python/util/tf_export.py": (("'_tf_api_", "'_tf1_api_"),),
    # A TensorFlow 2 that is installed sets this variable, for itself and all that it starts.
    "tensorflow_core/python/tf2.py": (('os.getenv("TF2_BEHAVIOR", "0") != "0"', "False"),),
    # A docstring's indentation, which Python 3.13 takes away.
    "tensorflow_core/python/keras/layers/normalization.py": (("    assert old in string\n", ""),),
}


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


# Byte code that another version of this file had a part in is made anew.
REVISION = zlib.crc32(Path(__file__).read_bytes()) & 0xFFFF

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
