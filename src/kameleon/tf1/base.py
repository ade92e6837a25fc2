"""The first names of TensorFlow 1 that programs took from the backend module (`K.tf`)."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float
from ..backend.operators import divide
from ..ir.node import Node
from ..ir.types import DType, as_dtype
from ..prims import elementwise as ew
from . import algebra, images
from . import networks as nn
from . import tensors as ts

Named = dict[str, Callable[..., Any]]

FLOATING: Named = {  # these take floats: integers are cast to floats first
    "exp": ew.exp, "log": ew.log, "sqrt": ew.sqrt, "sin": ew.sin, "cos": ew.cos,
    "tanh": ew.tanh, "floor": ew.floor, "ceil": ew.ceil, "is_nan": ew.is_nan,
    "log1p": ew.log1p, "expm1": ew.expm1,
}  # fmt: skip
UNARY: Named = {
    **{name: lambda x, f=f: f(as_float(x, "K.tf")) for name, f in FLOATING.items()},
    "abs": K.abs, "sign": K.sign, "square": K.square, "round": K.round, "sigmoid": K.sigmoid,
    "softplus": K.softplus, "negative": operator.neg, "logical_not": ew.logical_not,
    "rsqrt": lambda x: 1.0 / K.sqrt(x), "reciprocal": lambda x: 1.0 / x, "is_inf": nn.is_inf,
    "is_finite": lambda x: K.less(K.abs(x), np.inf),
}  # fmt: skip
BINARY: Named = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": divide,
    "div": divide, "truediv": divide, "realdiv": divide, "floordiv": operator.floordiv,
    "mod": operator.mod, "floormod": operator.mod, "pow": operator.pow, "maximum": K.maximum,
    "minimum": K.minimum, "equal": K.equal, "not_equal": K.not_equal, "greater": K.greater,
    "greater_equal": K.greater_equal, "less": K.less, "less_equal": K.less_equal,
    "logical_and": ew.logical_and, "logical_or": ew.logical_or,
    "squared_difference": lambda x, y: K.square(x - y),
}  # fmt: skip
REDUCTIONS: Named = {
    "sum": K.sum, "mean": K.mean, "max": K.max, "min": K.min, "prod": K.prod, "any": K.any,
    "all": K.all, "logsumexp": K.logsumexp, "std": K.std, "variance": K.var,
}  # fmt: skip
ACTIVATIONS: Named = {
    "relu": K.relu, "elu": K.elu, "sigmoid": K.sigmoid, "tanh": K.tanh, "softplus": K.softplus,
    "softsign": K.softsign, "relu6": lambda x: K.relu(x, max_value=6.0),
}  # fmt: skip

MATH: Named = {
    **{name: ts.unary(function) for name, function in UNARY.items()},
    **{name: ts.binary(function) for name, function in BINARY.items()},
    **{f"reduce_{name}": ts.reduction(function) for name, function in REDUCTIONS.items()},
    "argmax": ts.index(K.argmax),
    "argmin": ts.index(K.argmin),
    "cumsum": ts.without_name(K.cumsum),
    "cumprod": ts.without_name(K.cumprod),
    "count_nonzero": nn.count_nonzero,
    "top_k": ts.top_k,
    "in_top_k": nn.in_top_k,
    "l2_normalize": nn.l2_normalize,
    "add_n": algebra.add_n,
    "accumulate_n": algebra.add_n,
    "scalar_mul": algebra.scalar_mul,
    "segment_sum": algebra.segment_sum,
    "segment_mean": algebra.segment_mean,
    "unsorted_segment_sum": algebra.unsorted_segment_sum,
}

PRODUCTS: Named = {
    "matmul": nn.matmul,
    "einsum": algebra.einsum,
    "tensordot": algebra.tensordot,
    "norm": nn.norm,
    "diag": algebra.diag,
    "diag_part": algebra.diag_part,
}

NETWORKS: Named = {
    **{name: ts.unary(function) for name, function in ACTIVATIONS.items()},
    "leaky_relu": nn.leaky_relu,
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "l2_normalize": nn.l2_normalize,
    "dropout": nn.dropout,
    "swish": nn.swish,
    "selu": nn.selu,
    "l2_loss": algebra.l2_loss,
    "batch_normalization": nn.batch_normalization,
    "lrn": nn.local_response_normalization,
    "local_response_normalization": nn.local_response_normalization,
    "xw_plus_b": nn.xw_plus_b,
    "space_to_depth": images.space_to_depth,
    "depth_to_space": images.depth_to_space,
    "bias_add": ts.without_name(K.bias_add),
    "conv2d": nn.conv2d,
    "max_pool": nn.pool("max"),
    "avg_pool": nn.pool("avg"),
    "moments": nn.moments,
    "top_k": ts.top_k,
    "in_top_k": nn.in_top_k,
    "embedding_lookup": nn.look_up,
    "sigmoid_cross_entropy_with_logits": nn.sigmoid_loss,
    "softmax_cross_entropy_with_logits": nn.softmax_loss,
    "softmax_cross_entropy_with_logits_v2": nn.softmax_loss,
    "sparse_softmax_cross_entropy_with_logits": nn.sparse_loss,
}

SHAPES: dict[str, Any] = {
    "shape": lambda input, name=None, out_type="int32": K.cast(K.shape(input), out_type),
    "rank": lambda input, name=None: K.ndim(input),
    "size": lambda input, name=None, out_type="int32": K.cast(K.size(input), out_type),
    "reshape": ts.reshape,
    "expand_dims": ts.expand_dims,
    "squeeze": ts.squeeze,
    "transpose": ts.transpose,
    "tile": ts.tile,
    "concat": ts.concat,
    "stack": ts.stack,
    "unstack": ts.unstack,
    "split": ts.split,
    "slice": ts.slice_,
    "pad": ts.pad,
    "reverse": ts.reverse,
    "where": ts.where,
    "gather": ts.gather,
    "gather_nd": ts.gather_nd,
    "boolean_mask": ts.boolean_mask,
    "one_hot": ts.one_hot,
    "select": ts.where,
    "pack": ts.stack,
    "unpack": ts.unstack,
    "scatter_nd": algebra.scatter_nd,
    "argsort": algebra.argsort_,
    "meshgrid": algebra.meshgrid,
    "space_to_depth": images.space_to_depth,
    "depth_to_space": images.depth_to_space,
    "extract_image_patches": images.extract_image_patches,
    "random_shuffle": algebra.random_shuffle,
    "sparse_tensor_to_dense": lambda sp_input, *rest, **options: K.to_dense(sp_input),
}

IMAGES: dict[str, Any] = {
    "resize_images": images.resize_images,
    "resize": images.resize_images,
    "resize_bilinear": images.resize(images.ResizeMethod.BILINEAR),
    "resize_nearest_neighbor": images.resize(images.ResizeMethod.NEAREST_NEIGHBOR),
    "flip_left_right": images.flip(-2),
    "flip_up_down": images.flip(-3),
    "transpose_image": images.transpose_image,
    "per_image_standardization": images.per_image_standardization,
    "rgb_to_grayscale": images.rgb_to_grayscale,
    "grayscale_to_rgb": images.grayscale_to_rgb,
    "adjust_brightness": images.adjust_brightness,
    "adjust_contrast": images.adjust_contrast,
    "extract_image_patches": images.extract_image_patches,
    "crop_and_resize": images.crop_and_resize,
    "non_max_suppression": images.non_max_suppression,
}

MAKING: dict[str, Any] = {
    "constant": ts.constant,
    "convert_to_tensor": ts.convert,
    "fill": ts.fill,
    "range": ts.range_,
    "linspace": algebra.linspace,
    "lin_space": algebra.linspace,
    "zeros": ts.zeros,
    "ones": ts.ones,
    "zeros_like": ts.like(K.zeros_like),
    "ones_like": ts.like(K.ones_like),
    "eye": lambda num_rows, dtype="float32", name=None: K.eye(num_rows, dtype),
    "random_uniform": ts.without_name(K.random_uniform),
    "random_normal": ts.without_name(K.random_normal),
    "truncated_normal": ts.without_name(K.truncated_normal),
}

CONTROL: dict[str, Any] = {
    "stop_gradient": ts.unary(K.stop_gradient),
    "identity": ts.without_name(K.identity),
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
    "as_dtype": as_dtype,
    "cast": lambda x, dtype, name=None: K.cast(x, dtype),
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

# Functions of networks that stand at the top, too.
ROOT_NETWORKS = frozenset({"sigmoid", "tanh"})

TYPES = "bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16"

HINTS: Mapping[str, str] = {
    "contrib": "layers and functions of Keras",
    "summary": "a callback of Keras",
    "keras": "keras",
    "layers": "keras.layers",
    "losses": "keras.losses",
    "data": "keras.utils.Sequence",
    "SparseTensor": "K.placeholder(sparse=True)",
    "ctc_loss": "K.ctc_batch_cost",
    "max_pool_with_argmax": "K.pool2d, whose gradient knows the places",
}


def _under(path: str, *tables: Named) -> Named:
    return {f"{path}.{name}": value for table in tables for name, value in table.items()}


NAMES: dict[str, Any] = {
    **MATH,
    **PRODUCTS,
    **SHAPES,
    **MAKING,
    **CONTROL,
    **{name: value for name, value in NETWORKS.items() if name in ROOT_NETWORKS},
    **_under("math", MATH),
    **_under("linalg", PRODUCTS),
    **_under("nn", NETWORKS),
    **_under("image", IMAGES),
    "to_int32": ts.casting("int32"), "to_int64": ts.casting("int64"),
    "to_float": ts.casting("float32"), "to_double": ts.casting("float64"),
    "clip_by_value": nn.clip,
    "sparse.to_dense": SHAPES["sparse_tensor_to_dense"],
}  # fmt: skip
PLAIN: dict[str, Any] = {
    **SESSIONS,
    **SCOPES,
    **_under("logging", LOGGING),
    **{name: as_dtype(name) for name in TYPES.split()},
    "newaxis": None,
    "image.ResizeMethod": images.ResizeMethod,
}
