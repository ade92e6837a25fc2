"""Functions of TensorFlow 1 that are told by the names of their parameters alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ..backend import surface as K
from ..ir.node import Node
from ..ir.types import DTYPES, DType, as_dtype
from . import algebra, arrays
from . import networks as nn
from . import tensors as ts
from .calling import called

Named = dict[str, Callable[..., Any]]

REDUCTIONS: Named = {
    "sum": K.sum, "mean": K.mean, "max": ts.largest_of, "min": ts.least_of, "prod": K.prod,
    "any": K.any, "all": K.all, "logsumexp": K.logsumexp,
}  # fmt: skip
ACTIVATIONS: Named = {
    "relu": K.relu, "elu": K.elu, "softplus": K.softplus, "softsign": K.softsign,
    "relu6": lambda x: K.relu(x, max_value=6.0),
}  # fmt: skip

MATH: Named = {
    **{f"reduce_{name}": ts.reduction(function) for name, function in REDUCTIONS.items()},
    "math.reduce_std": ts.reduction(K.std),
    "math.reduce_variance": ts.reduction(K.var),
    "argmax": ts.index(K.argmax),
    "argmin": ts.index(K.argmin),
    "add_n": algebra.add_n,
    "segment_sum": algebra.segment_sum,
    "segment_mean": algebra.segment_mean,
    "unsorted_segment_sum": algebra.unsorted_segment_sum,
    "einsum": algebra.einsum,
    "tensordot": algebra.tensordot,
    "diag": algebra.diag,
    "diag_part": algebra.diag_part,
}
# These are called by TensorFlow's parameters, of which they take a part.
CALLED: Named = {
    "nn.embedding_lookup": nn.look_up,
    "linalg.diag": algebra.matrix_diag,
    "linalg.diag_part": algebra.diag_part,
    "matmul": nn.matmul,
    "count_nonzero": nn.count_nonzero,
    "accumulate_n": algebra.add_n,
    "nn.log_softmax": nn.log_softmax,
    "nn.softmax_cross_entropy_with_logits_v2": nn.softmax_loss_v2,
    "cumsum": ts.running(K.cumsum, 0),
    "cumprod": ts.running(K.cumprod, 1),
    "gather": ts.gather,
    "boolean_mask": ts.boolean_mask,
}

NETWORKS: Named = {
    **{name: ts.unary(function) for name, function in ACTIVATIONS.items()},
    "leaky_relu": nn.leaky_relu,
    "softmax": nn.softmax,
    "l2_normalize": nn.l2_normalize,
    "dropout": nn.dropout,
    "swish": nn.swish,
    "selu": nn.selu,
    "l2_loss": algebra.l2_loss,
    "batch_normalization": nn.batch_normalization,
    "lrn": nn.local_response_normalization,
    "xw_plus_b": nn.xw_plus_b,
    "bias_add": nn.bias_add,
    "moments": nn.moments,
    "top_k": ts.top_k,
    "in_top_k": nn.in_top_k,
    "sigmoid_cross_entropy_with_logits": nn.sigmoid_loss,
    "softmax_cross_entropy_with_logits": nn.softmax_loss,
    "sparse_softmax_cross_entropy_with_logits": nn.sparse_loss,
}

SHAPES: Named = {
    "where": ts.where,
    "gather_nd": ts.gather_nd,
    "one_hot": ts.one_hot,
    "select": ts.where,
    "scatter_nd": algebra.scatter_nd,
    "argsort": algebra.argsort_,
    "random_shuffle": algebra.random_shuffle,
    "random_uniform": ts.drawn(K.random_uniform),
    "random_normal": ts.drawn(K.random_normal),
    "truncated_normal": ts.drawn(K.truncated_normal),
    "Print": nn.print_,
}

SCOPES: dict[str, Any] = {
    "placeholder": ts.placeholder,
    "placeholder_with_default": ts.placeholder_with_default,
    "device": lambda device_name_or_function=None: nullcontext(),
}

SESSIONS: dict[str, Any] = {
    "executing_eagerly": lambda: False,
    "disable_eager_execution": lambda: None,
    "disable_v2_behavior": lambda: None,
    "set_random_seed": ts.set_random_seed,
    "get_logger": lambda: logging.getLogger("tensorflow"),
    "Tensor": Node,
    "DType": DType,
    "as_dtype": lambda type_value: as_dtype(type_value),
    "__version__": "1.15.0",
    "VERSION": "1.15.0",
    "GIT_VERSION": "kameleon",
    "COMPILER_VERSION": "none",
    "version.VERSION": "1.15.0",
    "version.GIT_VERSION": "kameleon",
}

_logger = logging.getLogger("tensorflow")
LOGGING: dict[str, Any] = {
    **{name: getattr(logging, name) for name in ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")},
    **{name: getattr(_logger, name) for name in ("debug", "info", "error", "fatal")},
    "warn": _logger.warning,
    "warning": _logger.warning,
    "set_verbosity": _logger.setLevel,
    "get_verbosity": _logger.getEffectiveLevel,
}

TYPES = "bool bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
OTHER_TYPE_NAMES = {"half": "float16", "double": "float64"}


def _under(path: str, *tables: Named) -> Named:
    return {f"{path}.{name}": value for table in tables for name, value in table.items()}


NAMES: dict[str, Any] = {
    **MATH,
    **SHAPES,
    **_under("nn", NETWORKS),
}
PLAIN: dict[str, Any] = {
    **called(CALLED),
    "pack": arrays.PLAIN["stack"],  # as they were called before TensorFlow 1.0
    "unpack": arrays.PLAIN["unstack"],
    **SESSIONS,
    **SCOPES,
    **_under("logging", LOGGING),
    **{name: DTYPES[name] for name in TYPES.split()},
    **{name: as_dtype(dtype) for name, dtype in OTHER_TYPE_NAMES.items()},
    **{f"dtypes.{name}": DTYPES[name] for name in TYPES.split()},
    **{f"dtypes.{name}": as_dtype(dtype) for name, dtype in OTHER_TYPE_NAMES.items()},
    "dtypes.DType": DType,
    "newaxis": None,
}
