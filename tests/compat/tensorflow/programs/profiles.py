"""What graphs hold and compute, counted; TensorRT, which isn't there.

The original prints a line of its own for each profile:

    python profiles.py | grep -v Parsing > profiles.json
"""

import tensorflow as tf
from recording import case, main
from tensorflow.contrib import tensorrt, tfprof
from tensorflow.python.compiler.tensorrt import trt_convert

Builder = tf.profiler.ProfileOptionBuilder
COMPUTED, HELD = Builder.float_operation(), Builder.trainable_variables_parameter()


def network():
    """Variables of all kinds, in scopes."""
    x = tf.placeholder(tf.float32, [2, 8, 8, 3])
    with tf.variable_scope("net"):
        y = tf.layers.conv2d(x, 4, 3, name="first")
        with tf.variable_scope("inner"):
            table = tf.get_variable("table", [144, 5], use_resource=True)
            tf.get_variable("kept", [7], trainable=False)
            y = tf.matmul(tf.layers.flatten(y), table, name="product")
    return tf.nn.softmax(y, name="shares")


def tree(node):
    """Names and counts, as they're nested."""
    fields = ("parameters", "total_parameters", "float_ops", "total_float_ops")
    counts = [getattr(node, field) for field in fields]
    return [node.name, counts, sorted(map(tree, node.children))]


def profile(options, **changes):
    """What is counted in the network; nothing is printed."""
    network()
    return tree(tf.profiler.profile(options={**options, "output": "none", **changes}))


@case
def computed_by_scopes():
    return profile(COMPUTED)


@case
def held_by_scopes():
    return profile(HELD)


@case
def hidden():
    return profile(HELD, hide_name_regexes=[".*inner"], min_params=5)


@case
def all_variables():
    return profile(HELD, account_type_regexes=["Variable.*", "VarHandleOp"])


@case
def as_of_contrib():
    network()
    options = tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    options = {**options, "output": "none"}
    found = tfprof.model_analyzer.print_model_analysis(
        tf.get_default_graph(), tfprof_options=options
    )
    return tree(found)


@case
def in_all():
    network()
    options = {**COMPUTED, "output": "none"}
    found = [tf.profiler.profile(options=options, cmd=each) for each in ("op", "graph")]
    return [each.total_float_ops for each in found]


@case
def no_tensorrt():
    asked = trt_convert.wrap_py_utils
    return [
        asked.is_tensorrt_enabled(),
        asked.get_linked_tensorrt_version(),
        asked.get_loaded_tensorrt_version(),
        callable(tensorrt.create_inference_graph),
    ]


if __name__ == "__main__":
    main()
