"""A call of each function of K that computes, over operands that may be of any dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kameleon import backend as K

Shape = tuple[int, ...]


class Call(NamedTuple):
    """A call.

    Attributes:
        call: operands of one dtype -> the result, or several.
        shapes: of the operands.
        functions: the names in K that it's about, if there are others than its own.
    """

    call: Callable[..., Any]
    shapes: tuple[Shape, ...] = ((3, 4),)
    functions: tuple[str, ...] = ()


LENGTHS = [[3], [3]]
PAIR = ((3, 4), (3, 4))
ELEMENTWISE = (
    "abs cos elu exp hard_sigmoid identity log relu round sigmoid sign sin softplus softsign sqrt"
    " square tanh softmax l2_normalize stop_gradient ones_like zeros_like transpose flatten"
    " batch_flatten shape cumsum cumprod argmax argmin to_dense"
).split()
PAIRS = "equal greater greater_equal less less_equal maximum minimum not_equal pow".split()
REDUCTIONS = "all any max mean min prod std sum var logsumexp".split()
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "**": lambda x, y: x**y,
    "number": lambda x, y: 1 + x * 2 - y,
    "neg": lambda x, y: -x,
    "&": lambda x, y: x & y,
    "~": lambda x, y: ~x,
    "index": lambda x, y: [x[1], y[:, ::2], x[..., None], y[:, -1]],
}
CREATED: list[Callable[[Any], Any]] = [
    lambda dtype: K.arange(1, 5, 2, dtype),
    lambda dtype: K.constant([[1, 0]], dtype),
    lambda dtype: K.eye(3, dtype),
    lambda dtype: K.ones((2, 3), dtype),
    lambda dtype: K.zeros((2, 3), dtype),
]
RANDOM = (K.random_uniform, K.random_normal, K.truncated_normal, K.random_binomial)
KERNELS: dict[str, tuple[Callable[..., Any], Shape, Shape]] = {
    "conv1d": (K.conv1d, (2, 5, 3), (2, 3, 4)),
    "conv2d": (K.conv2d, (2, 4, 5, 3), (2, 2, 3, 4)),
    "conv3d": (K.conv3d, (1, 3, 4, 3, 2), (2, 2, 2, 2, 3)),
    "depthwise_conv2d": (K.depthwise_conv2d, (2, 4, 5, 3), (2, 2, 3, 2)),
    "conv2d_transpose": (
        lambda x, k: K.conv2d_transpose(x, k, (2, 5, 6, 3)), (2, 4, 5, 4), (2, 2, 3, 4),
    ),
    "conv3d_transpose": (
        lambda x, k: K.conv3d_transpose(x, k, (1, 4, 5, 4, 2)), (1, 3, 4, 3, 3), (2, 2, 2, 2, 3),
    ),
    "local_conv1d": (lambda x, k: K.local_conv1d(x, k, (2,), (1,)), (2, 4, 3), (3, 6, 2)),
    "local_conv2d": (
        lambda x, k: K.local_conv2d(x, k, (2, 2), (1, 1), (2, 3)), (2, 3, 4, 2), (6, 8, 2),
    ),
    "conv1d-same": (lambda x, k: K.conv1d(x, k, 2, "same"), (2, 5, 3), (3, 3, 4)),
    "conv1d-causal": (
        lambda x, k: K.conv1d(x, k, 1, "causal", dilation_rate=2), (2, 5, 3), (3, 3, 4),
    ),
    "conv2d-same": (
        lambda x, k: K.conv2d(x, k, (2, 2), "same", "channels_first"), (2, 3, 4, 5), (3, 3, 3, 4),
    ),
    "conv3d-same": (
        lambda x, k: K.conv3d(x, k, (2, 2, 2), "same"), (1, 3, 4, 3, 2), (2, 2, 2, 2, 3),
    ),
}  # fmt: skip


def pooled(rank: int, mode: str, padding: str) -> Call:
    pool, shape = (K.pool2d, (2, 5, 4, 3)) if rank == 2 else (K.pool3d, (1, 4, 5, 4, 2))
    window, strides = (2,) * rank, (2,) + (1,) * (rank - 1)
    return Call(lambda x: pool(x, window, strides, padding, pool_mode=mode), (shape,))


def recurrent(x: Any) -> Any:
    last, outputs, states = K.rnn(
        lambda y, states: (y + states[0], [y + states[0]]), x, [x[:, 0] * 2], go_backwards=True
    )
    return [last, outputs, *states]


CALLS: dict[str, Call] = {
    **{name: Call(getattr(K, name)) for name in ELEMENTWISE},
    **{name: Call(getattr(K, name), PAIR) for name in PAIRS},
    **{f"{name}-{axis}": Call(lambda x, name=name, a=axis: getattr(K, name)(x, a, True))
       for name in REDUCTIONS for axis in (None, 0)},
    **{name: Call(f, PAIR, ("pow",)) for name, f in OPERATORS.items()},
    **{name: Call(f, shapes) for name, (f, *shapes) in KERNELS.items()},
    **{f"pool{rank}d-{mode}-{padding}": pooled(rank, mode, padding)
       for rank in (2, 3) for mode in ("max", "avg") for padding in ("valid", "same")},
    "batch_dot": Call(lambda x, y: K.batch_dot(x, y, (2, 1)), ((2, 3, 4), (2, 4, 3))),
    "batch_dot-vectors": Call(lambda x, y: K.batch_dot(x, y, 1), PAIR),
    "batch_normalization": Call(
        lambda x, m, v, b, g: K.batch_normalization(x, m, v + 1, b, g), ((3, 4), *[(4,)] * 4)),
    "bias_add": Call(K.bias_add, ((3, 4), (4,))),
    "binary_crossentropy": Call(lambda t, x: K.binary_crossentropy(t, K.sigmoid(x)), PAIR),
    "binary_crossentropy-p": Call(lambda t, x: K.binary_crossentropy(t, x / 4), PAIR),
    "cast": Call(lambda x: [K.cast(x, d) for d in ("float16", "float32", "int8", "bool")]),
    "categorical_crossentropy": Call(
        lambda t, x: [K.categorical_crossentropy(t, x, True), K.categorical_crossentropy(t, x / 4)],
        PAIR),
    "clip": Call(lambda x: K.clip(x, 1, 2)),
    "concatenate": Call(lambda x, y: K.concatenate([x, y], 0), PAIR),
    "ctc_batch_cost": Call(
        lambda p: K.ctc_batch_cost(K.constant([[0, 1], [1, 0]], "int32"), K.softmax(p),
                                   K.constant(LENGTHS, "int32"), K.constant([[2], [1]], "int32")),
        ((2, 5, 4),)),
    "ctc_decode": Call(
        lambda p: [*K.ctc_decode(K.softmax(p), K.constant([3, 3], "int32"))[0],
                   *K.ctc_decode(K.softmax(p), K.constant([3, 3], "int32"), False, 4)[0]],
        ((2, 5, 4),)),
    "ctc_label_dense_to_sparse": Call(
        lambda x: K.to_dense(K.ctc_label_dense_to_sparse(K.cast(x, "int32"), [2, 3, 4]))),
    "dot": Call(K.dot, ((3, 4), (4, 2))),
    "dot-1": Call(K.dot, ((3, 1), (1, 2))),
    "dot-3": Call(K.dot, ((2, 3, 4), (2, 4, 3))),
    "dropout": Call(lambda x: K.dropout(x, 0.5, seed=3)),
    "expand_dims": Call(lambda x: K.squeeze(K.expand_dims(x, 1), 1), functions=("squeeze",)),
    "foldl": Call(lambda x: K.foldl(lambda a, b: a + b, x)),
    "foldr": Call(lambda x: K.foldr(lambda a, b: a * b, x)),
    "map_fn": Call(lambda x: K.map_fn(lambda row: row * row, x)),
    "gather": Call(lambda x: K.gather(x, K.constant([[2, 0], [1, 1]], "int32"))),
    "gather-by": Call(lambda x: K.gather(K.constant([[1.0], [2.0], [3.0], [4.0]]), x)),
    "in_top_k": Call(lambda x: K.in_top_k(x, K.constant([0, 1, 2], "int32"), 2)),
    "in_train_phase": Call(
        lambda x, y: [K.in_train_phase(x, y), K.in_test_phase(x, y)], PAIR, ("in_test_phase",)),
    "normalize_batch_in_training": Call(
        lambda x, g, b: [*K.normalize_batch_in_training(x, g, b, [0])], ((3, 4), (4,), (4,))),
    "one_hot": Call(lambda x: K.one_hot(x, 4)),
    "permute_dimensions": Call(lambda x: K.permute_dimensions(x, (2, 0, 1)), ((2, 3, 4),)),
    "creation": Call(
        lambda x: [f(K.dtype(x)) for f in CREATED],
        functions=tuple("arange constant eye ones zeros".split())),
    "random": Call(
        lambda x: [f((3, 4), dtype=K.dtype(x), seed=1) for f in RANDOM],
        functions=tuple(f.__name__ for f in RANDOM)),
    "repeat": Call(lambda x: K.repeat(x, 2)),
    "repeat_elements": Call(lambda x: K.repeat_elements(x, 2, 1)),
    "reshape": Call(lambda x: K.reshape(x, (2, -1))),
    "resize_images": Call(
        lambda x: [K.resize_images(x, 2, 3, "channels_last"),
                   K.resize_images(x, 2, 3, "channels_last", "bilinear")], ((2, 3, 2, 3),)),
    "resize_volumes": Call(
        lambda x: K.resize_volumes(x, 2, 1, 2, "channels_last"), ((1, 2, 2, 2, 3),)),
    "reverse": Call(lambda x: K.reverse(x, (0, 1))),
    "rnn": Call(recurrent, ((2, 3, 4),)),
    "separable_conv1d": Call(K.separable_conv1d, ((2, 5, 3), (2, 3, 2), (1, 6, 4))),
    "separable_conv2d": Call(K.separable_conv2d, ((2, 4, 5, 3), (2, 2, 3, 2), (1, 1, 6, 4))),
    "slice": Call(lambda x: K.slice(x, (0, 1), (2, 2))),
    "sparse_categorical_crossentropy": Call(
        lambda x: [K.sparse_categorical_crossentropy([0, 1, 2], x, True),
                   K.sparse_categorical_crossentropy([0, 1, 2], K.softmax(x)),
                   K.sparse_categorical_crossentropy([0, 1, 2], x / 4)]),
    "sparse_categorical_crossentropy-by": Call(
        lambda t: K.sparse_categorical_crossentropy(t, K.constant([[1.0, 2.0, 3.0]] * 3), True),
        ((3,),)),
    "spatial_2d_padding": Call(K.spatial_2d_padding, ((2, 3, 2, 3),)),
    "spatial_3d_padding": Call(K.spatial_3d_padding, ((1, 2, 2, 2, 3),)),
    "stack": Call(lambda x, y: K.stack([x, y], 1), PAIR),
    "switch": Call(lambda x, y: K.switch(K.equal(x, y), x, y), PAIR),
    "switch-scalar": Call(lambda x, y: K.switch(K.equal(x[0, 0], y[0, 0]), x, y), PAIR),
    "switch-row": Call(lambda x, y: K.switch(x[:, 0], x, y), PAIR),
    "temporal_padding": Call(K.temporal_padding, ((2, 3, 4),)),
    "tile": Call(lambda x: K.tile(x, (2, 1))),
    "relu-leaky": Call(lambda x: K.relu(x, 0.5, 2, 1)),
    "elu-alpha": Call(lambda x: K.elu(x, 0.5)),
}  # fmt: skip
