"""Where what is given here differs from TensorFlow 1.15 for a reason: by expression."""

OPERATORS = "operators are K's: integers are divided as floats of the default dtype"
OVERWRITTEN = "a slice that another one replaces has no gradient"
LABELS = "the gradient in logits is p - t: its slope in t is -1, which TensorFlow leaves out"
FLAT = "gradients that are zero everywhere are None"

SOFTMAX = "tf.nn.softmax_cross_entropy_with_logits_v2(labels=p, logits=m)"

DIFFERENCES = {
    f"tf.gradients({SOFTMAX} * v[:3], m)": LABELS,
    f"tf.gradients(tf.sin(tf.gradients({SOFTMAX}, m)[0]), m)": LABELS,
    "whole / 2": OPERATORS,
    "tf.sign(m)": FLAT,
    "tf.sign(d)": FLAT,
    "tf.math.sign(x=m)": FLAT,
    "tf.math.nextafter(m, q)": FLAT,
    "tf.math.nextafter(t, m)": FLAT,
    "tf.dynamic_stitch([0, [[2, 1], [1, 3]]], [v[0], tf.reshape(w[:4], [2, 2])])": OVERWRITTEN,
    "tf.saturate_cast(m * 1e12, tf.int32)": "floats above the range become its end, not its start",
}
