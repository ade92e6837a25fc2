"""Linear-chain conditional random fields."""

STEPS = "tf.reshape(tf.range(16.) % 5., [4, 4]) / 3."
CASES = [
    case % STEPS
    for case in (
        *("tf.contrib.crf.crf_log_norm(t, %s, %%s)" % n for n in ([3, 1], [2, 3], [0, 3])),
        *("tf.contrib.crf.crf_decode(t, %%s, %s)" % n for n in ([3, 3], [1, 3], [2, 1])),
        "tf.contrib.crf.crf_decode(t[:, :1], %s, [1, 1])",
        "tf.contrib.crf.crf_decode(potentials=t, transition_params=%s, sequence_length=[3, 2])[1]",
        "tf.contrib.crf.crf_log_likelihood(t, tf.constant([[0, 1, 2], [3, 3, 0]]), tf.constant([3, 2]), %s)[0]",
        "tf.contrib.crf.crf_log_likelihood(t, tf.constant([[0, 1, 2], [3, 3, 0]]), tf.constant([1, 3]), %s)[0]",
        "tf.contrib.crf.crf_sequence_score(t, tf.constant([[0, 1, 2], [3, 3, 0]]), tf.constant([2, 3]), %s)",
        "tf.contrib.crf.crf_binary_score(tf.constant([[0, 1, 2], [3, 3, 0]]), tf.constant([3, 2]), %s)",
    )
] + ["tf.contrib.crf.crf_unary_score(tf.constant([[0, 1, 2], [3, 3, 0]]), tf.constant([3, 1]), t)"]
ERRORS = ["tf.contrib.crf.crf_log_norm(t)"]
