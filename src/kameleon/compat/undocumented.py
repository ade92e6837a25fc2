"""Undocumented names that programs of the Keras 2 days take from the backend module.

The original's modules imported TensorFlow or Theano under names of their own (`K.tf`, `K.T`), and
kept private functions and globals; some public code uses these names. Here they're aliases where
there's something to point at; otherwise an error says what to use. Only the `__getattr__` of
`kameleon.backend` looks them up, so `dir` and `import *` show none of them.
"""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import config
from ..backend import configuration
from ..backend import surface as K
from ..backend._tensors import Tensor, as_tensor
from ..errors import ArgumentError, MissingNameError
from ..runtime.workspace import workspace
from . import keras2
from .theano.modules import Namespace, module

# Layouts ------------------------------------------------------------------------------------

# By number of spatial axes, TensorFlow's name of its layout.
CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def preprocess(rank: int) -> Callable[..., tuple[Tensor, str]]:
    """`_preprocess_conv1d_input` and its like, for `rank` spatial axes."""

    def input_(x: Tensor, data_format: str, force_transpose: bool = False) -> tuple[Tensor, str]:
        """The images with their channels last, and TensorFlow's name of that layout."""
        if data_format == "channels_first":
            x = K.permute_dimensions(x, (0, *range(2, rank + 2), 1))
        return x, CHANNELS_LAST[rank]

    return input_


def postprocess(rank: int) -> Callable[..., Tensor]:
    """`_postprocess_conv2d_output` and its like, for `rank` spatial axes."""

    def output(x: Tensor, data_format: str) -> Tensor:
        """Images whose channels are last, in the layout `data_format`."""
        if data_format == "channels_first":
            x = K.permute_dimensions(x, (0, rank + 1, *range(1, rank + 1)))
        return x

    return output


def padding(padding: str) -> str:
    """`_preprocess_padding`: TensorFlow's name for 'same' or 'valid'.

    Raises:
        ArgumentError: (a ValueError) another name.
    """
    if padding not in ("same", "valid"):
        raise ArgumentError(
            f"_preprocess_padding: padding is {padding!r}; expected 'same' or 'valid'"
        )
    return padding.upper()


# Aliases ------------------------------------------------------------------------------------


def _available_gpus() -> list[str]:
    """No device that the original could copy a model to: the engine places its own work."""
    return []


def _to_tensor(x: Any, dtype: Any) -> Any:
    return as_tensor(x, "_to_tensor", dtype)


def _normalize_axis(axis: Any, ndim: int | None) -> Any:
    if isinstance(axis, (list, tuple)):
        return [_normalize_axis(a, ndim) for a in axis]
    return axis % ndim if axis is not None and ndim and axis < 0 else axis


def _name_of_dtype(dtype: Any) -> Any:
    return K.dtype(K.zeros((), dtype))


def _no_initializing(*args: Any, **kwargs: Any) -> None:
    """Nothing to do: variables have their values from the beginning."""


ALIASES: dict[str, Any] = {
    # libraries
    "np": np,
    "os": os,
    "sys": sys,
    "warnings": warnings,
    "defaultdict": defaultdict,
    "theano": module("theano"),
    "T": module("theano.tensor"),
    "ctc": Namespace(
        "K.ctc",
        "that's the library itself, which isn't behind Kameleon",
        {
            "ctc_loss": "K.ctc_batch_cost",
            "ctc_greedy_decoder": "K.ctc_decode(greedy=True)",
            "ctc_beam_search_decoder": "K.ctc_decode(greedy=False)",
        },
    ),
    # Python's functions, which the original renamed because K functions have their names
    "py_all": builtins.all,
    "py_any": builtins.any,
    "py_sum": builtins.sum,
    "py_slice": builtins.slice,
    # older and private names of functions
    "Function": K.function,
    "lesser": K.less,
    "lesser_equal": K.less_equal,
    "pattern_broadcast": lambda x, broadcastable: x,
    "addbroadcast": lambda x, *axes: x,
    "_get_session": K.get_session,
    "_get_available_gpus": _available_gpus,
    "_has_nchw_support": lambda: False,
    "_is_tf_1": lambda: True,
    "_initialize_variables": _no_initializing,
    "_to_tensor": _to_tensor,
    "_normalize_axis": _normalize_axis,
    "_convert_string_dtype": _name_of_dtype,
    "_convert_dtype_string": _name_of_dtype,
    "_regular_normalize_batch_in_training": K.normalize_batch_in_training,
    "_broadcast_normalize_batch_in_training": K.normalize_batch_in_training,
    "_fused_normalize_batch_in_training": K.normalize_batch_in_training,
    # to TensorFlow's layout of images, and back
    "_preprocess_padding": padding,
    **{f"_preprocess_conv{n}d_input": preprocess(n) for n in CHANNELS_LAST},
    **{f"_postprocess_conv{n}d_output": postprocess(n) for n in (2, 3)},
}


def _common() -> Any:
    return sys.modules.get("keras.backend.common", configuration)


def _backend() -> Any:
    """The module that programs import as K."""
    return sys.modules["kameleon.backend"]


# Names whose value is found anew at each look-up.
VALUES: dict[str, Callable[[], Any]] = {
    "_BACKEND": lambda: config.known_as() if keras2.is_loading() else K.backend(),
    "_FLOATX": config.floatx,
    "_EPSILON": config.epsilon,
    "_IMAGE_DATA_FORMAT": config.image_data_format,
    "_IMAGE_DIM_ORDERING": config.image_dim_ordering,
    "_LEARNING_PHASE": K.learning_phase,
    "_SESSION": K.get_session,
    "_UID_PREFIXES": lambda: workspace.uids,
    "_MANUAL_VAR_INIT": lambda: False,
    "_LOCAL_DEVICES": _available_gpus,
    "common": _common,
    "tensorflow_backend": _backend,
    "theano_backend": _backend,
    "load_backend": _backend,
}

# TensorFlow, and what is in it, by the names under which the original's module imported them.
OF_TENSORFLOW = """
    tf nn get_graph control_flow_ops functional_ops math_ops tf_math_ops array_ops tf_image_ops
    image_ops random_ops state_ops tf_state_ops tensor_array_ops sparse_ops init_ops moving_averages
    device_lib context ops tf_ops
""".split()
# Names that stand for nothing here, and what to use instead.
INSTEAD = {
    **dict.fromkeys(
        OF_TENSORFLOW,
        "K functions; or `import tensorflow as tf`, with Keras on its own TensorFlow backend:"
        " `kameleon tensorflow install`, then `kameleon run script.py`",
    ),
    "C": "K functions: the engine has CNTK in another process",
    "cntk": "K functions: the engine has CNTK in another process",
    "tf_keras_backend": "K itself",
    "RandomStreams": "K.random_uniform, K.random_normal and K.truncated_normal",
    "_GRAPH_LEARNING_PHASES": "K.learning_phase() and K.set_learning_phase(value)",
    "_GRAPH_UID_DICTS": "K.get_uid(prefix) and K.reset_uids()",
    "_GRAPH_TF_OPTIMIZERS": "an optimizer of keras.optimizers",
    "_GRAPH_VARIABLES": "the variables that your program holds",
    "_preprocess_deconv_output_shape": "K.conv2d_transpose",
    "deconv2d": "K.conv2d_transpose",
    "asymmetric_temporal_padding": "K.temporal_padding(x, padding=(left, right))",
    "asymmetric_spatial_2d_padding": "K.spatial_2d_padding(x, padding=((top, bottom), …))",
    "learning_phase_scope": "K.set_learning_phase(value)",
    "local_conv": "K.local_conv1d and K.local_conv2d",
}


def look_up(name: str) -> Any:
    """What an undocumented name stands for.

    Raises:
        MissingNameError: (an AttributeError) the name stands for nothing; the message says what to
            use.
        KeyError: it's none of these names.

    >>> look_up("py_sum")([1, 2])
    3
    >>> look_up("deconv2d")
    Traceback (most recent call last):
      ...
    kameleon.errors.MissingNameError: K.deconv2d isn't a documented name, and Kameleon has \
nothing for it; use K.conv2d_transpose
    """
    if name in ALIASES:
        return ALIASES[name]
    if name in VALUES:
        return VALUES[name]()
    if name in INSTEAD:
        raise MissingNameError(
            f"K.{name} isn't a documented name, and Kameleon has nothing for it; "
            f"use {INSTEAD[name]}"
        )
    raise KeyError(name)
