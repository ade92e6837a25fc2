"""Costs and decoders of sequences, and costs over sampled classes."""

import numpy as np

S, L = "tf.contrib.seq2seq.sequence_loss", "tf.contrib.legacy_seq2seq"
SPARSE = "tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 2]], {v}, [3, 3])"
LABELS = "tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 1, 0], tf.int32), [2, 2])"
DRAWN = (
    "(tf.constant([0, 2, 5], tf.int64), tf.constant([[0.5], [0.2]]), tf.constant([0.4, 0.3, 0.1]))"
)
TWO = "(tf.constant([1, 4], tf.int64), tf.constant([[0.5, 0.1], [0.2, 0.3]]), tf.constant([0.4, 0.3]))"
DENSE = "[tf.sparse_tensor_to_dense(p, default_value=-1) for p in {d}[0]], {d}[1]"
CASES = {
    "sequences": S + "(z, y, w)",
    "sequences over steps": S + "(z, y, w, average_across_batch=False)",
    "sequences over samples": S + "(z, y, w, False)",
    "sequences, each": S + "(z, y, w, False, False)",
    "sequences, sums": S + "(z, y, w, False, False, True, True)",
    "sequences, sums over steps": S + "(z, y, w, False, False, sum_over_timesteps=True)",
    "sequences, sums over samples": S + "(z, y, w, False, False, sum_over_batch=True)",
    "sequences by a cost": S + "(z, y, w, softmax_loss_function=lambda labels, logits:"
    " tf.reduce_sum(logits, 1) * tf.cast(labels, tf.float32))",
    "lists": L + ".sequence_loss(tf.unstack(z, 3, 1), tf.unstack(y, 3, 1), tf.unstack(w, 3, 1))",
    "lists, whole": L + ".sequence_loss(tf.unstack(z, 3, 1), tf.unstack(y, 3, 1),"
    " tf.unstack(w, 3, 1), False, False)",
    "lists, each": L + ".sequence_loss_by_example(tf.unstack(z, 3, 1), tf.unstack(y, 3, 1),"
    " tf.unstack(w, 3, 1))",
    "lists, each, sums": L + ".sequence_loss_by_example(tf.unstack(z, 3, 1), tf.unstack(y, 3, 1),"
    " tf.unstack(w, 3, 1), False)",
    "contrast": "tf.nn.nce_loss(m, b, tf.constant([[1], [3]]), x, 3, 6, sampled_values=%s)" % DRAWN,
    "contrast of two": "tf.nn.nce_loss(m, b, tf.constant([[1, 0], [3, 4]]), x, 2, 6, 2, %s)" % TWO,
    "contrast without hits": "tf.nn.nce_loss(m, b, tf.constant([[2], [3]], tf.int64), x, 3, 6,"
    " sampled_values=%s, remove_accidental_hits=True)" % DRAWN,
    "sampled softmax": "tf.nn.sampled_softmax_loss(weights=m, biases=b, labels=tf.constant([[1], [3]]),"
    " inputs=x, num_sampled=3, num_classes=6, sampled_values=%s)" % DRAWN,
    "sampled softmax with hits": "tf.nn.sampled_softmax_loss(m, b, tf.constant([[2], [5]]), x, 3, 6,"
    " sampled_values=%s, remove_accidental_hits=False)" % DRAWN,
    "sampled softmax without hits": "tf.nn.sampled_softmax_loss(m, b, tf.constant([[2], [5]]), x, 3, 6,"
    " sampled_values=%s)" % DRAWN,
    "sampled softmax of two": "tf.nn.sampled_softmax_loss(m, b, tf.constant([[1, 0], [3, 4]]), x, 2, 6, 2, %s)"
    % TWO,
    "expected": "tf.nn.log_uniform_candidate_sampler([[0, 3]], 2, 4, False, 9)[1]",
    "expected alike": "tf.nn.uniform_candidate_sampler([[0], [3]], 1, 4, False, 9)[1]",
    "expected by weights": "tf.nn.fixed_unigram_candidate_sampler([[0], [2]], 1, 4, False, 3,"
    " distortion=0.5, unigrams=[1, 4, 9])[1]",
    "rows": "tf.nn.embedding_lookup_sparse(m, %s, None)" % SPARSE.format(v="[0, 2, 5, 2, 1]"),
    "rows summed": "tf.nn.embedding_lookup_sparse(m, %s, None, combiner='sum')"
    % SPARSE.format(v="[0, 2, 5, 2, 1]"),
    "rows weighted": "tf.nn.embedding_lookup_sparse(m, %s, %s, combiner='sqrtn')"
    % (SPARSE.format(v="[0, 2, 5, 2, 1]"), SPARSE.format(v="[0.5, 1.0, 2.0, 0.1, 0.3]")),
    "rows weighted, mean": "tf.nn.embedding_lookup_sparse(m, %s, %s, combiner='mean')"
    % (SPARSE.format(v="[0, 2, 5, 2, 1]"), SPARSE.format(v="[0.5, 1.0, 2.0, 0.1, 0.3]")),
    "CTC": "tf.nn.ctc_loss(%s, t, [5, 4])" % LABELS,
    "CTC, samples first": "tf.nn.ctc_loss(%s, tf.transpose(t, [1, 0, 2]), [5, 3],"
    " time_major=False)" % LABELS,
    "CTC that is too long": "tf.nn.ctc_loss(%s, t, [1, 4],"
    " ignore_longer_outputs_than_inputs=True)" % LABELS,
    "best path": DENSE.format(d="tf.nn.ctc_greedy_decoder(3.0 * t, [5, 4])"),
    "best of beams": DENSE.format(
        d="tf.nn.ctc_beam_search_decoder(3.0 * t, [5, 4], 20, 2, merge_repeated=False)"
    ),
    "best of beams, merged": DENSE.format(d="tf.nn.ctc_beam_search_decoder(3.0 * t, [5, 4])"),
    "distances": "tf.edit_distance(%s, %s)"
    % (SPARSE.format(v="[0, 2, 5, 2, 1]"), SPARSE.format(v="[0, 3, 5, 1, 2]")),
    "distances, whole": "tf.edit_distance(%s, %s, normalize=False)"
    % (SPARSE.format(v="[0, 2, 5, 2, 1]"), SPARSE.format(v="[2, 3, 4, 1, 1]")),
}


def given():
    wave = lambda *shape: np.sin(1.3 * np.arange(np.prod(shape))).reshape(shape)  # noqa: E731
    return {
        "z": wave(2, 3, 4).astype("float32"), "y": np.array([[0, 3, 1], [2, 2, 0]], "int32"),
        "w": np.array([[1, 0.5, 0], [1, 1, 1]], "float32"), "m": wave(6, 4).astype("float32"),
        "b": wave(6).astype("float32"), "x": wave(2, 4).astype("float32"),
        "t": wave(5, 2, 3).astype("float32"),
    }  # fmt: skip
