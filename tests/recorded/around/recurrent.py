"""Recurrent networks with fixed weights: values, states, gradients, names of variables."""

import numpy as np

# `start` makes all weights numbers that depend on the place alone; `finish` runs a network.
PREFIX = """
def start(shape, dtype=None, partition_info=None):
    count = int(np.prod([int(n) for n in shape]))
    return tf.constant(np.sin(1.0 + np.arange(count)).reshape([int(n) for n in shape]) / 2, dtype)
c, r = tf.nn.rnn_cell, tf.contrib.rnn
x = tf.placeholder(tf.float32, {shape})
n = tf.placeholder(tf.int32, [None])
tf.get_variable_scope().set_initializer(start)
def leaves(nest):
    return tf.contrib.framework.nest.flatten(nest) if isinstance(nest, (list, tuple)) else [nest]
def finish(y, state=()):
    parts = leaves(y) + leaves(state)
    total = tf.add_n([tf.reduce_sum(tf.sin(tf.cast(p, tf.float32))) for p in parts])
    slopes = [g for g in tf.gradients(total, [x] + tf.trainable_variables()) if g is not None]
    slopes = [tf.convert_to_tensor(g) for g in slopes]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(parts + slopes, {{x: given_arrays['s'], n: [2, 4]}})
    names = sorted(v.name for v in tf.global_variables())
    sizes = [-1 if d is None else d for p in parts for d in p.get_shape().as_list()]
    return found + [np.array(names, 'S'), np.array(sizes)]
"""
CELLS = {
    "simple": "c.BasicRNNCell(3)",
    "simple with relu": "c.BasicRNNCell(3, tf.nn.relu)",
    "simple by name": "r.BasicRNNCell(3, 'sigmoid', name='mine')",
    "GRU": "c.GRUCell(3)",
    "GRU of one": "r.GRUCell(1, tf.nn.elu, bias_initializer=start)",
    "basic LSTM": "c.BasicLSTMCell(3)",
    "basic LSTM side by side": "c.BasicLSTMCell(3, 0.5, state_is_tuple=False)",
    "LSTM": "c.LSTMCell(3)",
    "LSTM with peepholes": "c.LSTMCell(3, use_peepholes=True, forget_bias=0.0)",
    "LSTM that is limited": "c.LSTMCell(3, cell_clip=0.2, activation=tf.nn.softsign)",
    "LSTM with all": "c.LSTMCell(3, True, 0.3, start, 2, 0.1)",
    "LSTM projected": "c.LSTMCell(4, num_proj=2, state_is_tuple=False)",
    "LSTM as a block": "r.LSTMBlockCell(3)",
    "LSTM as a block with all": "r.LSTMBlockCell(3, 0.7, 0.2, True)",
    "GRU as a block": "r.GRUBlockCellV2(3)",
    "LSTM normalized": "r.LayerNormBasicLSTMCell(3)",
    "LSTM normalized otherwise": "r.LayerNormBasicLSTMCell(3, 0.5, norm_gain=0.8, norm_shift=0.1)",
    "LSTM not normalized": "r.LayerNormBasicLSTMCell(3, layer_norm=False)",
    "update gate": "r.UGRNNCell(3)",
    "several": "c.MultiRNNCell([c.BasicLSTMCell(3), c.GRUCell(2)])",
    "several side by side": "c.MultiRNNCell([c.BasicRNNCell(3), c.GRUCell(2)], False)",
    "several alike": "c.MultiRNNCell([c.BasicLSTMCell(n) for n in (3, 3)])",
    "kept": "c.DropoutWrapper(c.BasicLSTMCell(3), 1.0, output_keep_prob=1.0)",
    "residual": "c.ResidualWrapper(c.BasicLSTMCell(3))",
    "residual of its own": "c.ResidualWrapper(c.GRUCell(3), lambda a, b: a * b)",
    "with a device": "c.DeviceWrapper(c.GRUCell(3), '/cpu:0')",
    "output projected": "r.OutputProjectionWrapper(c.GRUCell(3), 2)",
    "input projected": "r.InputProjectionWrapper(c.BasicRNNCell(3), 2, tf.nn.relu)",
    "several wrapped": "c.MultiRNNCell([c.ResidualWrapper(c.DropoutWrapper(c.GRUCell(3)))] * 2)",
}
RUNS = {
    "": "result = finish(*tf.nn.dynamic_rnn({cell}, x, dtype=tf.float32))",
    ", lengths": "result = finish(*tf.nn.dynamic_rnn({cell}, x, n, dtype=tf.float32))",
    ", listed": "result = finish(*tf.nn.static_rnn({cell}, tf.unstack(x, 4, 1), dtype=tf.float32))",
}
USERS = """
class Fading(tf.nn.rnn_cell.RNNCell):
    state_size = property(lambda self: 3)
    output_size = property(lambda self: 2)
    def call(self, inputs, state):
        w = tf.get_variable('w', [3, 3])
        new = tf.tanh(tf.matmul(inputs, w)) + 0.5 * state
        return tf.layers.dense(new, 2, name='out'), new
class Old(tf.nn.rnn_cell.RNNCell):
    def __init__(self, size):
        self._size = size
    @property
    def state_size(self):
        return (self._size, 1)
    @property
    def output_size(self):
        return self._size
    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            a, b = state
            w = tf.get_variable('w', [3, self._size])
            new = tf.sigmoid(tf.matmul(inputs, w) + a + b)
            return new, (new, b + 1.0)
"""
PROGRAMS = {
    "time first": "result = finish(*tf.nn.dynamic_rnn(c.GRUCell(3), tf.transpose(x, [1, 0, 2]), n,"
    " time_major=True, dtype=tf.float32, scope='other'))",
    "from a state": "cell = c.BasicLSTMCell(3)\n"
    "first = cell.zero_state(tf.shape(x)[0], tf.float32)\n"
    "result = finish(*tf.nn.dynamic_rnn(cell, x, initial_state=c.LSTMStateTuple(first.c + 0.5,"
    " first.h - x[:, 0])))",
    "from a state, listed": "cell = c.MultiRNNCell([c.GRUCell(3), c.GRUCell(2)])\n"
    "first = cell.zero_state(tf.shape(x)[0], tf.float32)\n"
    "result = finish(*tf.nn.static_rnn(cell, tf.unstack(x, 4, 1), first, sequence_length=n))",
    "both ways": "result = finish(*tf.nn.bidirectional_dynamic_rnn(c.GRUCell(3), c.LSTMCell(2), x,"
    " dtype=tf.float32))",
    "both ways, lengths": "result = finish(*tf.nn.bidirectional_dynamic_rnn(c.BasicLSTMCell(3),"
    " c.BasicLSTMCell(3), x, n, dtype=tf.float32))",
    "both ways, time first": "result = finish(*tf.nn.bidirectional_dynamic_rnn(c.GRUCell(2),"
    " c.GRUCell(2), tf.transpose(x, [1, 0, 2]), n, dtype=tf.float32, time_major=True))",
    "both ways, listed": "o, a, b = tf.nn.static_bidirectional_rnn(c.GRUCell(3), c.GRUCell(2),"
    " tf.unstack(x, 4, 1), dtype=tf.float32)\nresult = finish(o, [a, b])",
    "both ways, listed, lengths": "o, a, b = r.static_bidirectional_rnn(c.GRUCell(3),"
    " c.BasicRNNCell(2), tf.unstack(x, 4, 1), dtype=tf.float32, sequence_length=n)\n"
    "result = finish(o, [a, b])",
    "both ways, layers": "o, a, b = r.stack_bidirectional_dynamic_rnn([c.GRUCell(3),"
    " c.GRUCell(2)], [c.BasicLSTMCell(2), c.BasicRNNCell(3)], x, dtype=tf.float32,"
    " sequence_length=n)\nresult = finish(o, list(a) + list(b))",
    "two in one scope": "cell = c.BasicLSTMCell(3)\n"
    "with tf.variable_scope('a'): y, s = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\n"
    "with tf.variable_scope('b'): z, t = tf.nn.dynamic_rnn(cell, y, initial_state=s)\n"
    "result = finish([y, z], [s, t])",
    "shared by scope": "def net(x):\n"
    "    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):\n"
    "        return tf.nn.dynamic_rnn(c.GRUCell(3), x, dtype=tf.float32)\n"
    "result = finish(list(net(x)) + list(net(2.0 * x)))",
    "one step": "cell = c.GRUCell(3)\n"
    "y, s = cell(x[:, 0], cell.zero_state(2, tf.float32))\n"
    "y, s = cell(x[:, 1], s)\nresult = finish(y, s)",
    "step by step": "cell, y = c.BasicLSTMCell(3), []\n"
    "state = cell.zero_state(tf.shape(x)[0], tf.float32)\n"
    "with tf.variable_scope('steps'):\n"
    "    for t in range(4):\n"
    "        if t > 0: tf.get_variable_scope().reuse_variables()\n"
    "        output, state = cell(x[:, t], state)\n        y.append(output)\n"
    "result = finish(y, state)",
    "of a user": USERS + "result = finish(*tf.nn.dynamic_rnn(Fading(), x, n, dtype=tf.float32))",
    "of a user, old": USERS + "result = finish(*tf.nn.dynamic_rnn(Old(2), x, n, dtype=tf.float32))",
    "of users, several": USERS + "cell = c.MultiRNNCell([Old(3), Fading()])\n"
    "result = finish(*tf.nn.dynamic_rnn(cell, x, n, dtype=tf.float32))",
    "of a user, listed": USERS + "result = finish(*tf.nn.static_rnn(Old(2), tf.unstack(x, 4, 1),"
    " dtype=tf.float32))",
    "of a user's variables": USERS + "cell = Fading()\n"
    "y, s = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\n"
    "names = np.array(sorted(v.name for v in cell.trainable_variables), 'S')\n"
    "result = finish(y, s) + [names]",
    "raw": "cell = c.GRUCell(3)\nturned = tf.transpose(x, [1, 0, 2])\n"
    "rows = tf.TensorArray(tf.float32, size=4).unstack(turned)\n"
    "def loop_fn(time, output, state, loop_state):\n"
    "    if output is None: state = cell.zero_state(tf.shape(x)[0], tf.float32)\n"
    "    done = time >= n\n"
    "    new = tf.cond(tf.reduce_all(done), lambda: tf.zeros_like(x[:, 0]),"
    " lambda: rows.read(time))\n"
    "    new.set_shape([None, 3])\n"
    "    return done, new, state, output, None\n"
    "y, s, _ = tf.nn.raw_rnn(cell, loop_fn)\nresult = finish(y.stack(), s)",
    "raw with its own output": "cell = c.BasicRNNCell(2)\n"
    "def loop_fn(time, output, state, count):\n"
    "    done = time >= n\n"
    "    if output is None:\n"
    "        return done, x[:, 0], cell.zero_state(tf.shape(x)[0], tf.float32), tf.zeros([3]), 0.0\n"
    "    new = tf.concat([output, output[:, :1]], 1)\n"
    "    return done, new, state, new * count, count + 1.0\n"
    "y, s, count = tf.nn.raw_rnn(cell, loop_fn)\nresult = finish(y.stack(), [s, count])",
}


LOOSE = "[None, None, 3]"


def _case(text, shape):
    return PREFIX.format(shape=shape) + text


CASES = {
    name + how: _case(run.format(cell=cell), "[None, 4, 3]" if "unstack" in run else LOOSE)
    for i, (name, cell) in enumerate(CELLS.items())
    for j, (how, run) in enumerate(RUNS.items())
    if j == 1 or i % 3 == j
}
CASES.update(
    {
        name: _case(text, "[None, 4, 3]" if "unstack" in text else LOOSE)
        for name, text in PROGRAMS.items()
    }
)
CASES["known sizes"] = _case(PROGRAMS["from a state"], "[2, 4, 3]")


def given():
    return {"s": np.sin(np.arange(24.0)).reshape(2, 4, 3).astype("float32")}


# Statistics over three numbers of float32 make differences of rounding larger, at each step.
TOLERANCES = {f"LSTM normalized{more}": 5e-5 for more in ("", ", lengths", " otherwise, lengths")}
