"""What graphs hold and compute, counted; what ran when; TensorRT, which isn't there.

The original prints a line of its own for each profile:

    python profiles.py | grep -v Parsing > profiles.json
"""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main
from tensorflow.contrib import tensorrt, tfprof
from tensorflow.python.client import timeline
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


def traced(fetches, feeds=None, level=tf.RunOptions.FULL_TRACE):
    """The metadata of a run."""
    told = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        options = tf.RunOptions(trace_level=level)
        session.run(fetches, feeds, options=options, run_metadata=told)
    return told


def times(told):
    """By name, what is told of operations that ran."""
    return {
        node.node_name: node for device in told.step_stats.dev_stats for node in device.node_stats
    }


@case
def what_ran_when():
    x = tf.placeholder(tf.float32, [2])
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    y = tf.reduce_sum(tf.multiply(x, w, name="product"), name="total")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(y)
    step = tf.py_func(lambda: np.int32(1), [], tf.int32, name="step")
    loop = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.reshape(step, [])], name="loop")
    feeds = {x: [1.0, 2.0]}
    told = traced([y, train, loop], feeds)
    nodes = times(told)
    expected = ["product", "total", "step"]
    events = json.loads(timeline.Timeline(told.step_stats).generate_chrome_trace_format())
    return [
        [name in nodes for name in expected],
        [nodes[name].timeline_label.split("(")[0] for name in expected],
        all(node.all_start_micros > 10**15 for node in nodes.values()),
        all(node.all_end_rel_micros >= 0 for node in nodes.values()),
        {"Mul", "Sum"} <= {each.get("name") for each in events["traceEvents"]},
        len(times(traced(y, feeds, tf.RunOptions.NO_TRACE))),
    ]


@case
def written_by_a_hook():
    folder = tempfile.mkdtemp()
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=folder, show_memory=True)
    hooks = [hook, tf.train.StopAtStepHook(num_steps=5)]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(add)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    with open(os.path.join(folder, names[0])) as file:
        events = json.load(file)["traceEvents"]
    return [names, any(each.get("name") == "AssignAdd" for each in events)]


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
