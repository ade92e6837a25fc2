"""Ragged tensors: rows of their own lengths, and what is made of them."""

import tensorflow as tf
from recording import case, error_of, main, told
from tensorflow.python.ops.ragged import ragged_map_ops


def both(x):
    """The values and the splits of a ragged tensor."""
    return [x.flat_values, *x.nested_row_splits]


def given():
    """A ragged tensor whose values and splits are fed, and the feeds."""
    values, splits = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])
    x = tf.RaggedTensor.from_row_splits(values, splits)
    return x, values, {values: [1.0, 2.0, 3.0, 4.0, 5.0], splits: [0, 2, 2, 5]}


def check(function):
    """What a function of it tells, with the gradient of the values."""
    x, values, feeds = given()
    return told(function(x), feeds, [values])


NESTED = [[[1, 2], []], [], [[3], [4, 5, 6]]]


@case
def ranges():
    a = tf.placeholder(tf.int32, [None])
    return [
        told(both(tf.ragged.range([0, 5, 8], [3, 3, 12]))), told(both(tf.ragged.range(4))),
        told(both(tf.ragged.range([1, 2], 9, [3, 2]))), told(both(tf.ragged.range(a)), {a: [2, 0]}),
        told(both(tf.ragged.range([1.0], [2.0], [0.25]))),
        error_of(lambda: both(tf.ragged.range([1], [2], [0]))),
        error_of(lambda: both(tf.ragged.range([1, 2], [2, 3, 4]))),
    ]  # fmt: skip


@case
def conversions():
    nested = tf.ragged.constant(NESTED)
    return [
        check(lambda x: x.to_tensor(-1.0)), check(lambda x: x.to_sparse()),
        told(nested.to_sparse()), told(nested.to_tensor(9)),
        told(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1).to_sparse()),
        told(both(tf.RaggedTensor.from_sparse(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [7, 8, 9], [4, 3])))),
        told(both(tf.RaggedTensor.from_tensor([[1, 0, 0], [2, 3, 0]], padding=0))),
        told(both(tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[0, 2]))),
        told(both(tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 3], 5))),
        told(tf.raw_ops.RaggedTensorToTensor(
            shape=tf.constant([3, 2], tf.int64), values=[1, 2, 3, 4], default_value=-1,
            row_partition_tensors=[tf.constant([0, 1, 1, 4], tf.int64)],
            row_partition_types=["ROW_SPLITS"])) if hasattr(tf.raw_ops, "RaggedTensorToTensor")
        else [],
    ]  # fmt: skip


@case
def parts():
    nested = tf.ragged.constant(NESTED)
    return [
        check(lambda x: both(tf.gather(x, [2, 0, 2]))), check(lambda x: x[2]),
        check(lambda x: both(x[1:])), check(lambda x: both(x[:, :1])),
        check(lambda x: both(x[:, -2:])),
        told(both(tf.gather(nested, [[2, 1], [0, 0]]))), told(both(nested[2])),
        told(both(tf.gather_nd(nested, [[2, 1], [0, 0]]))), told(both(nested[:, 1:])),
        error_of(lambda: both(tf.gather(tf.ragged.constant([[1], [2, 3]]), [2]))),
        check(lambda x: both(tf.ragged.boolean_mask(x, x > 2.0))),
    ]  # fmt: skip


@case
def sums():
    return [
        check(lambda x: tf.reduce_sum(x, axis=1)), check(lambda x: tf.reduce_mean(x, axis=1)),
        check(lambda x: tf.reduce_max(x, axis=1)), check(lambda x: tf.reduce_sum(x, axis=0)),
        check(lambda x: both(x * 2.0 + tf.ragged.map_flat_values(tf.square, x))),
        check(lambda x: both(tf.concat([x, x], axis=1))), check(lambda x: both(tf.stack([x, x]))),
        check(lambda x: both(tf.concat([x, x], axis=0))),
        check(lambda x: both(tf.expand_dims(x, 1))),
        check(lambda x: [x.row_lengths(), x.nrows(), x.bounding_shape(), x.value_rowids()]),
        check(lambda x: both(tf.tile(x, [1, 2]))),
    ]  # fmt: skip


@case
def as_one_value():
    nested = tf.ragged.constant(NESTED)
    ops = tf.raw_ops
    whole = ops.RaggedTensorToVariant(
        rt_nested_splits=nested.nested_row_splits, rt_dense_values=nested.flat_values,
        batched_input=False)  # fmt: skip
    rows = ops.RaggedTensorToVariant(
        rt_nested_splits=nested.nested_row_splits, rt_dense_values=nested.flat_values,
        batched_input=True)  # fmt: skip
    again = lambda x, inner, outer: tf.nest.flatten(list(ops.RaggedTensorFromVariant(  # noqa: E731
        encoded_ragged=x, input_ragged_rank=inner, output_ragged_rank=outer, Tvalues=tf.int32,
        Tsplits=tf.int64)))  # fmt: skip
    return [
        told(again(whole, 2, 2)),
        told(again(rows, 1, 2)),
        told(again(rows[2], 1, 1)),
        told(again(tf.stack([whole, whole]), 2, 3)),
    ]


@case
def functions_of_rows():
    return [
        check(lambda x: ragged_map_ops.map_fn(tf.reduce_sum, x, dtype=tf.float32)),
        check(lambda x: [tf.ragged.stack([x, x]).nested_row_splits[0], x.row_starts()]),
        check(lambda x: both(x.with_row_splits_dtype(tf.int32))),
    ]


if __name__ == "__main__":
    main()
