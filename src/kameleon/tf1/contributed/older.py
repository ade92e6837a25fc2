"""Names of TensorFlow before 1.0, which programs of 2016 say, and `tf.contrib.deprecated`."""

from __future__ import annotations

from typing import Any

from .. import summaries


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    return summaries.scalar(str(tags), values, collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: Any = None) -> Any:
    return summaries.histogram(str(tag), values, collections)


def image_summary(
    tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: Any = None
) -> Any:
    return summaries.image(str(tag), tensor, max_images, collections)


SUMMARIES: dict[str, Any] = {
    "scalar_summary": scalar_summary, "histogram_summary": histogram_summary,
    "image_summary": image_summary, "merge_summary": summaries.merge,
    "merge_all_summaries": summaries.merge_all,
}  # fmt: skip

# By the older name, the newer one, which takes the same arguments in the same order.
RENAMED = {
    "mul": "multiply", "sub": "subtract", "neg": "negative", "inv": "reciprocal",
    "complex_abs": "abs", "batch_matmul": "matmul", "listdiff": "setdiff1d",
    "concat_v2": "concat", "select": "where", "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_transpose": "matrix_transpose", "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part", "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant", "batch_cholesky": "cholesky",
    "batch_matrix_solve": "matrix_solve", "batch_matrix_set_diag": "matrix_set_diag",
    "batch_matrix_triangular_solve": "matrix_triangular_solve", "batch_svd": "svd",
    "nn.rnn": "nn.static_rnn", "nn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "nn.deconv2d": "nn.conv2d_transpose", "train.SummaryWriter": "summary.FileWriter",
    "initializers.xavier_initializer": "contrib.layers.xavier_initializer",
    "contrib.rnn.core_rnn_cell.BasicLSTMCell": "nn.rnn_cell.BasicLSTMCell",
    "contrib.rnn.core_rnn_cell.MultiRNNCell": "nn.rnn_cell.MultiRNNCell",
    "contrib.rnn.core_rnn_cell.RNNCell": "nn.rnn_cell.RNNCell",
}  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **SUMMARIES,
    **{f"contrib.deprecated.{name}": function for name, function in SUMMARIES.items()},
}
