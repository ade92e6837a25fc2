"""Golden cases that Kameleon answers differently from the original, on purpose.

The list is strict. A case listed here fails the tests where it matches the record, and where it
differs in another way than its row says. At most a share of `LIMIT` of all cases differs.
"""

from __future__ import annotations

from typing import NamedTuple

LIMIT = 0.006
# … and of `ENGINE_LIMIT` on one engine.
ENGINE_LIMIT = 0.01


class Difference(NamedTuple):
    """Why a case differs, and what the report of the difference has to say."""

    reason: str
    shows: str


DIFFERENCES: dict[str, Difference] = {
    "count_params-004": Difference(
        "The original counts one parameter in a scalar as the float 1.0; documented is an integer.",
        "dtype int64, recorded is float64",
    ),
    "ctc_label_dense_to_sparse-007": Difference(
        "The original fails on a single column by a shape accident. Kameleon takes it.",
        "a value came back, recorded is ValueError",
    ),
    "cumprod-011": Difference(
        "The original's gradient of a cumulative product is NaN at a zero; Kameleon's is right.",
        "gradient of x",
    ),
    "function-005": Difference(
        "Fed with nested lists instead of an array, the original computes with their first number"
        " alone. Kameleon takes lists for the array that they spell, as the other originals do.",
        "shape (1, 3), recorded is ()",
    ),
    "function-009": Difference(
        "The original lets a (2, 3) array into a placeholder of shape (None, 4) and returns a"
        " value. Kameleon refuses a wrong shape and names the placeholder.",
        "Placeholder",
    ),
    "int_shape-028": Difference(
        "The original forgets the second size of a flattened (None, 3) tensor. Kameleon knows it.",
        "output 1 is 3, recorded is None",
    ),
    "set_value-005": Difference(
        "The original lets a (3, 2) array into a variable of shape (2, 2), whose graphs then fail."
        " Documented are values of the same shape; Kameleon refuses others.",
        "variable 'Variable:0' has shape (2, 2), the value given for it (3, 2)",
    ),
    "update-003": Difference(
        "The original can't call a function that has updates and no outputs. Kameleon can.",
        "a value came back, recorded is IndexError",
    ),
}

# Beside these: what differs on one engine only.
BY_ENGINE: dict[str, dict[str, Difference]] = {
    "tensorflow": {},
    "theano": {},
    "jax": {
        name: Difference(
            "At x = -2.5 exactly, where the slope jumps, XLA computes 0.2 * x + 0.5 with one"
            " rounding and finds a number below 0; the original rounds twice and finds 0.",
            "gradient of x",
        )
        for name in ("hard_sigmoid-002", "hard_sigmoid-008")
    },
    "torch": {},
    "onnxruntime": {},
}

# What comes of calls that the reference refused in its engine, or by a bare assertion: an error of
# this class. Where only that engine has a limit, and another one returned a value: a value.
OUTCOMES: dict[str, str] = {
    name: outcome
    for outcome, names in {
        "ShapeError": """
            bias_add-041 categorical_crossentropy-023 concatenate-011 constant-012 conv1d-048
            conv2d-048 conv2d-049 conv2d_transpose-040 count_params-002 count_params-003 dot-020
            permute_dimensions-010 pool2d-042 random_binomial-009 random_normal-008
            random_uniform-009 repeat-006 reverse-011 rnn-067 sparse_categorical_crossentropy-027
            squeeze-004 squeeze-005 stack-010 truncated_normal-007""",
        "ArgumentError": """
            categorical_crossentropy-018 categorical_crossentropy-020 conv2d_transpose-042
            ctc_decode-013 dropout-008 dropout-009 dropout-010 spatial_2d_padding-018""",
        "DTypeError": "concatenate-012",
        "FeedError": "eval-006 function-010 get_value-005",
        "EvaluationError": """
            ctc_batch_cost-009 gather-012 gather-013 sparse_categorical_crossentropy-013""",
        "value": "conv2d-044 ctc_batch_cost-005 dot-021 relu-025 std-022",
    }.items()
    for name in names.split()
}


class Value(NamedTuple):
    """What the reference returns for the same call in other words, which its engine takes."""

    instead: str
    value: object


# By case whose outcome is a value, that value.
VALUES: dict[str, Value] = {
    "conv2d-044": Value(
        "K.conv2d(x, kernel, dilation_rate=(2, 2))[:, ::2, ::2]",
        [[[[-4.926234245300293], [1.403151512145996]], [[3.805008888244629], [2.723513603210449]]]],
    ),
    "ctc_batch_cost-005": Value(
        "K.ctc_batch_cost(K.concatenate([y_true, y_true], 1), y_pred, input_length, label_length)",
        [[0.6590799689292908]],
    ),
    "dot-021": Value("K.dot(K.reshape(x, (1, 3)), K.reshape(y, (3, 1)))[0, 0]", 4.291619300842285),
    "relu-025": Value(
        "K.relu(K.cast(x, 'float32'), 0.3, 1.5, 0.25)",
        [
            [-0.275390625, -0.2850586175918579, -0.01904296875, -0.4722656309604645],
            [-0.28535157442092896, -0.298828125, -0.46171876788139343, -0.18105469644069672],
            [-0.134765625, 1.224609375, -0.3583008050918579, -0.6216797232627869],
        ],
    ),
    "std-022": Value(
        "K.std(K.cast(x, 'float32'), axis=1)", [2.8674418926239014, 3.265986442565918]
    ),
}
