"""Decoders of sequences with fixed weights: outputs, states, gradients, names of variables."""

import numpy as np

# `start` makes all weights numbers that depend on the place alone; `finish` runs a decoder.
PREFIX = """
def start(shape, dtype=None, partition_info=None):
    count = int(np.prod([int(n) for n in shape]))
    return tf.constant(np.sin(1.0 + np.arange(count)).reshape([int(n) for n in shape]) * 0.8, dtype)
c, q = tf.nn.rnn_cell, tf.contrib.seq2seq
x = tf.placeholder(tf.float32, [None, None, 3])
memory = tf.placeholder(tf.float32, [None, None, 4])
n = tf.placeholder(tf.int32, [None])
m = tf.placeholder(tf.int32, [None])
tf.get_variable_scope().set_initializer(start)
table = tf.get_variable('table', [6, 3])
size = tf.shape(n)[0]
cell = {cell}
layer = {layer}
helper = {helper}
first = {first}
decoder = q.BasicDecoder(cell, helper, first, layer)
outputs, state, lengths = q.dynamic_decode(decoder, {options})
def leaves(nest):
    if isinstance(nest, (list, tuple)):
        return [x for part in nest for x in leaves(part)]
    return [nest.stack() if isinstance(nest, tf.TensorArray) else nest]
parts = leaves(outputs) + leaves(state) + [lengths]
floats = [p for p in parts if p.dtype.is_floating]
total = tf.add_n([tf.reduce_sum(tf.sin(p)) for p in floats])
slopes = [g for g in tf.gradients(total, [x, memory] + tf.trainable_variables()) if g is not None]
slopes = [tf.convert_to_tensor(g) for g in slopes]
fed = {{x: given_arrays['s'], memory: given_arrays['r'], n: [2, 4, 3], m: [5, 2, 1]}}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    found = session.run(parts + slopes, fed)
names = sorted(v.name for v in tf.global_variables())
sizes = [len(p.get_shape()) for p in outputs] + [p.get_shape().as_list()[-1] or -1 for p in outputs[:1]]
result = found + [np.array(names, 'S'), np.array(sizes)]
"""
TRAINED, OWN = "q.TrainingHelper(x, n)", "q.GreedyEmbeddingHelper(table, tf.fill([size], 1), 2)"
DENSE, ZERO = "tf.layers.Dense(6, use_bias=False)", "cell.zero_state(size, tf.float32)"
BAHDANAU, LUONG = "q.BahdanauAttention(5, memory, m)", "q.LuongAttention(4, memory, m)"


def case(cell="c.GRUCell(4)", helper=TRAINED, layer="None", first=ZERO, options=""):
    return PREFIX.format(cell=cell, helper=helper, layer=layer, first=first, options=options)


def paying(mechanism, options="", cell="c.BasicLSTMCell(4)"):
    return "q.AttentionWrapper(%s, %s%s)" % (cell, mechanism, options)


AUXILIARY = "q.ScheduledOutputTrainingHelper(x[:, :, :2], n, {p}, auxiliary_inputs=x[:, :, 2:])"
CUSTOM = (
    "q.CustomHelper(lambda: (tf.fill([size], False), x[:, 0]),"
    " lambda time, outputs, state: tf.cast(tf.argmin(outputs, 1), tf.int32),"
    " lambda time, outputs, state, sample_ids: (tf.equal(sample_ids, time), outputs, state))"
)
INFERENCE = (
    "q.InferenceHelper(lambda y: tf.sin(y * 2.0), [3], tf.float32, x[:, 0],"
    " lambda y: y[:, 0] > 0.7)"
)
CASES = {
    "given inputs": case(),
    "given inputs, steps first": case(
        helper="q.TrainingHelper(tf.transpose(x, [1, 0, 2]), n, True)"
    ),
    "given inputs, outputs by steps": case(options="output_time_major=True"),
    "given inputs and a layer": case(layer=DENSE),
    "ended samples are zeros": case(options="impute_finished=True"),
    "ended states stay": case("c.BasicLSTMCell(4)", layer=DENSE, options="impute_finished=True"),
    "no more steps": case(options="maximum_iterations=2"),
    "no more steps, in a scope": case(options="maximum_iterations=tf.constant(3), scope='mine'"),
    "several cells": case("c.MultiRNNCell([c.GRUCell(4), c.BasicLSTMCell(3)])"),
    "own classes": case(helper=OWN, layer="tf.layers.Dense(6)", options="maximum_iterations=7"),
    "own classes by a function": case(
        helper="q.GreedyEmbeddingHelper(lambda i: tf.one_hot(i, 6), [1, 3, 5], 0)",
        layer="tf.layers.Dense(6)",
        options="False, True, 6",
    ),
    "a helper of functions": case("c.BasicRNNCell(3)", CUSTOM, options="maximum_iterations=5"),
    "a helper for numbers": case("c.BasicRNNCell(3)", INFERENCE, options="maximum_iterations=6"),
    "never drawn": case(helper="q.ScheduledEmbeddingTrainingHelper(x, n, table, 0.0)", layer=DENSE),
    "always fed back": case("c.BasicRNNCell(3)", "q.ScheduledOutputTrainingHelper(x, n, 1.0)"),
    "always fed back with others": case("c.BasicRNNCell(2)", AUXILIARY.format(p="1.0")),
    "never fed back": case("c.BasicRNNCell(2)", AUXILIARY.format(p="0.0")),
    "fed back by a function": case(
        "c.BasicRNNCell(3)",
        "q.ScheduledOutputTrainingHelper(x, n, 1.0, next_inputs_fn=lambda y: tf.sin(3.0 * y))",
    ),
    "attention": case(paying(BAHDANAU)),
    "attention normalized": case(paying("q.BahdanauAttention(5, memory, m, normalize=True)")),
    "attention to all": case(paying("q.BahdanauAttention(5, memory)", ", 3")),
    "attention by products": case(paying(LUONG, ", 5")),
    "attention by scaled products": case(paying("q.LuongAttention(4, memory, m, scale=True)")),
    "attention by another function": case(
        paying("q.LuongAttention(4, memory, m, probability_fn=tf.sigmoid, score_mask_value=-2.0)")
    ),
    "attention with history": case(paying(BAHDANAU, ", alignment_history=True")),
    "attention beside": case(paying(LUONG, ", 3, output_attention=False", "c.GRUCell(4)")),
    "attention of its own inputs": case(
        paying(LUONG, ", cell_input_fn=lambda x, a: x * tf.reduce_sum(a, 1, keepdims=True)")
    ),
    "attention by a layer": case(
        paying(LUONG, ", attention_layer=tf.layers.Dense(3, tf.tanh, name='mine')")
    ),
    "attention to two": case(paying("[%s, %s]" % (BAHDANAU, LUONG), ", [3, 2], True")),
    "attention to two without layers": case(paying("[%s, %s]" % (LUONG, BAHDANAU))),
    "attention, ended": case(
        paying(BAHDANAU, ", 3, True"), layer=DENSE, options="impute_finished=True"
    ),
    "attention of own classes": case(
        paying(LUONG, ", 4"), OWN, DENSE, options="maximum_iterations=6"
    ),
    "attention from a state": case(
        paying(BAHDANAU, ", 3", "c.GRUCell(4)"),
        first="cell.zero_state(size, tf.float32).clone(cell_state=tf.tile(x[:, :1, 0], [1, 4]))",
    ),
    "attention of several cells": case(
        paying(LUONG, ", 3", "c.MultiRNNCell([c.GRUCell(3), c.GRUCell(4)])")
    ),
    "attention along steps": PREFIX.partition("layer =")[0].format(cell=paying(BAHDANAU, ", 3"))
    + "y, _ = tf.nn.dynamic_rnn(cell, x, n, dtype=tf.float32)\n"
    "with tf.Session() as session:\n"
    "    session.run(tf.global_variables_initializer())\n"
    "    fed = {x: given_arrays['s'], memory: given_arrays['r'], n: [2, 4, 3], m: [5, 2, 1]}\n"
    "    result = [session.run(y, fed)]\n"
    "result += [np.array(sorted(v.name for v in tf.global_variables()), 'S')]\n",
}


def given():
    rng = np.random.RandomState(3)
    return {"s": rng.randn(3, 4, 3).astype("f"), "r": rng.randn(3, 5, 4).astype("f")}
