"""Distinct elements, parts, orders, sequences, assertions."""

SEGMENTS = "segment_max segment_min segment_prod segment_sum segment_mean".split()
UNSORTED = ["unsorted_segment_%s" % name for name in ("max", "min", "prod", "sum")]
CASES = [
    "tf.unique(counts)", "tf.unique(six).y", "tf.unique(counts, tf.int64)", "tf.unique(six)[1]",
    "tf.unique_with_counts(counts)", "tf.unique_with_counts(six, out_idx=tf.int64)",
    "tf.setdiff1d(counts, six)", "tf.setdiff1d([1, 5, 2, 5], [2, 7])", "tf.setdiff1d(six, counts).out",
    "tf.setdiff1d(counts, [1], index_dtype=tf.int64)",
    "tf.sequence_mask(counts)", "tf.sequence_mask(counts, 4)", "tf.sequence_mask([1, 3, 2], 5)",
    "tf.sequence_mask(counts, 6, tf.float32)", "tf.sequence_mask(whole + 2, maxlen=3)",
    "tf.sequence_mask([[1, 2], [0, 3]], dtype=tf.int32)", "tf.sequence_mask(counts, tf.shape(v)[0])",
    "tf.reverse_sequence(t, [2, 1], 1)", "tf.reverse_sequence(t, [2, 4], seq_axis=2)",
    "tf.reverse_sequence(t, [1, 2, 0], seq_axis=0, batch_axis=1)",
    "tf.reverse_sequence(m, [2, 4, 1], seq_dim=1, batch_dim=0)",
    "tf.reverse_sequence(x, [3, 5], 1)",
    "tf.invert_permutation([2, 0, 1])", "tf.invert_permutation([1, 3, 0, 2])",
    "tf.sort(m)", "tf.sort(t, axis=1)", "tf.sort(m, 0, 'DESCENDING')", "tf.sort(v)", "tf.sort(m, -1)",
    "tf.sort(whole)", "tf.sort(t, axis=0, direction='DESCENDING')",
    "tf.confusion_matrix(six, six)", "tf.confusion_matrix(six, counts, 6)",
    "tf.confusion_matrix(six, six, 3, tf.float32)", "tf.math.confusion_matrix([1, 2], [2, 2], 4)",
    "tf.confusion_matrix(six, [0, 0, 1, 2, 2, 1], dtype=tf.int64)",
    "tf.confusion_matrix(six, six, weights=counts)",
    "tf.bincount(counts)", "tf.bincount(six, minlength=5)", "tf.bincount(counts, maxlength=3)",
    "tf.bincount(six, v)", "tf.math.bincount(six, dtype=tf.int64)",
    "tf.dynamic_partition(v, six, 3)", "tf.dynamic_partition(t, [1, 0], 2)",
    "tf.dynamic_partition(m, [0, 1, 0], num_partitions=2)", "tf.dynamic_partition(v, six, 4)[3]",
    *("tf.%s(m, ids)" % name for name in SEGMENTS if name != "segment_mean"),
    *("tf.%s(m, [0, 0, 1])" % name for name in SEGMENTS),
    *("tf.%s(tf.cast(whole, tf.float32), [0, 1])" % name for name in SEGMENTS),
    *("tf.math.%s(p, [0, 0, 0])" % name for name in SEGMENTS),
    *("tf.%s(p, [1, 0, 1], 2)" % name for name in UNSORTED),
    *("tf.math.%s(v, six, 3)" % name for name in UNSORTED),
    "tf.batch_gather(m, [[0, 2], [1, 1], [3, 0]])", "tf.batch_gather(v, [3, 0])",
    "tf.batch_gather(t, [[[0], [1], [2]], [[3], [2], [1]]])",
    "tf.is_tensor(m)", "tf.is_tensor(3)", "tf.is_numeric_tensor(yes)", "tf.is_numeric_tensor(m)",
    "tf.check_numerics(m, 'm')", "tf.verify_tensor_all_finite(m, 'm')",
    "tf.assert_scalar(m[0, 0])", "tf.debugging.check_numerics(p, message='p')",
]  # fmt: skip
ERRORS = [
    "tf.assert_rank(m, 3)", "tf.assert_rank_at_least(m, 3)", "tf.assert_rank_in(m, [1, 3])",
    "tf.assert_scalar(m)", "tf.assert_integer(m)", "tf.assert_type(m, tf.int32)",
    "tf.unique()", "tf.sequence_mask()", "tf.batch_gather(m)",
]  # fmt: skip
