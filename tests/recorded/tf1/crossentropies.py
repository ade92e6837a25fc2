"""Softmax cross-entropies whose labels sum to anything: gradients of the first and second order."""

VERSIONS = ("", "_v2")
SOFTMAX = "tf.nn.softmax_cross_entropy_with_logits%s(labels=%s, logits=%s)"
CASES = [
    *(SOFTMAX % (v, t, x) for v in VERSIONS for t, x in (("p * 3.0", "m"), ("q", "m"), ("d", "d * 0.5"))),
    *("tf.nn.softmax_cross_entropy_with_logits_v2(q, m, axis=%s)" % a for a in ("0", "1")),
    "tf.nn.softmax_cross_entropy_with_logits(labels=q, logits=m, dim=0)",
    *("tf.gradients(%s * v[:3], m)" % (SOFTMAX % (v, "p", "m")) for v in VERSIONS),
    "tf.gradients(%s, p)" % (SOFTMAX % ("_v2", "p", "m")),
    *("tf.gradients(tf.sin(tf.gradients(%s, m)[0]), m)" % (SOFTMAX % (v, "p", "m")) for v in VERSIONS),
    "tf.losses.softmax_cross_entropy(p, m)", "tf.losses.softmax_cross_entropy(p, m, weights=v[:3])",
    "tf.losses.softmax_cross_entropy(p, m, label_smoothing=0.1)",
]  # fmt: skip
