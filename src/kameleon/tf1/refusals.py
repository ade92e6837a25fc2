"""Functions of TensorFlow 1 that programs find and can't call: a call says what to use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .advice import hint
from .failures import ERRORS

# By name, why it can't be done; what to use then is advice of the name.
REFUSED = {
    "enable_eager_execution": "a tensor has no value before its graph runs",
    "import_graph_def": "TensorFlow's graphs aren't read here",
    "train.import_meta_graph": "TensorFlow's graphs aren't read here",
    "train.export_meta_graph": "TensorFlow's graphs aren't written here",
}


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **options: Any) -> NoReturn:
        message = f"tf.{name}: {REFUSED[name]}; use {hint(name)}"
        raise ERRORS["UnimplementedError"](None, None, message)

    refused.__name__ = name.rpartition(".")[2]
    refused.__doc__ = f"An error that says what to use: {REFUSED[name]}."
    return refused


REFUSING = {name: _refusing(name) for name in REFUSED}

NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = dict(REFUSING)
