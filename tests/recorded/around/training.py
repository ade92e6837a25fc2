"""Programs that train: schedules, norms, optimizers over steps, averages."""

import numpy as np

SCHEDULES = {
    "exponential": "exponential_decay(0.5, {}, 4, 0.7)",
    "exponential staircase": "exponential_decay(0.5, {}, 4, 0.7, staircase=True)",
    "natural": "natural_exp_decay(0.5, {}, 4, 0.7)",
    "natural staircase": "natural_exp_decay(0.5, {}, 4, 0.7, True)",
    "inverse": "inverse_time_decay(0.5, {}, 4, 0.7)",
    "inverse staircase": "inverse_time_decay(0.5, {}, 4, 0.7, True)",
    "polynomial": "polynomial_decay(0.5, {}, 6, 0.1)",
    "polynomial power": "polynomial_decay(0.5, {}, 6, 0.1, power=2.0)",
    "polynomial cycle": "polynomial_decay(0.5, {}, 6, 0.1, 0.5, cycle=True)",
    "cosine": "cosine_decay(0.5, {}, 6, 0.1)",
    "cosine restarts": "cosine_decay_restarts(0.5, {}, 3)",
    "cosine restarts alike": "cosine_decay_restarts(0.5, {}, 3, t_mul=1.0, m_mul=0.5)",
    "cosine restarts lower": "cosine_decay_restarts(0.5, {}, 3, 1.5, 0.9, alpha=0.1)",
    "linear cosine": "linear_cosine_decay(0.5, {}, 6)",
    "linear cosine periods": "linear_cosine_decay(0.5, {}, 6, 1.5, 0.1, 0.01)",
    "piecewise": "piecewise_constant({}, [2, 5, 6], [1.0, 0.5, 0.25, 0.125])",
    "piecewise decay": "piecewise_constant_decay({}, [2, 5], [1.0, 0.5, 0.25])",
}

OPTIMIZERS = {
    "descent": "train.GradientDescentOptimizer(0.1)",
    "momentum": "train.MomentumOptimizer(0.1, 0.9)",
    "momentum nesterov": "train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)",
    "adam": "train.AdamOptimizer()",
    "adam fast": "train.AdamOptimizer(0.1, 0.8, 0.9, epsilon=0.1)",
    "rmsprop": "train.RMSPropOptimizer(0.01)",
    "rmsprop momentum": "train.RMSPropOptimizer(0.01, 0.8, momentum=0.7, epsilon=0.01)",
    "rmsprop centered": "train.RMSPropOptimizer(0.01, momentum=0.5, centered=True)",
    "adagrad": "train.AdagradOptimizer(0.1)",
    "adagrad start": "train.AdagradOptimizer(0.1, initial_accumulator_value=1.0)",
    "adadelta": "train.AdadeltaOptimizer(1.0)",
    "adadelta epsilon": "train.AdadeltaOptimizer(0.5, 0.9, 1e-4)",
    "ftrl": "train.FtrlOptimizer(0.1)",
    "ftrl l1": "train.FtrlOptimizer(0.1, l1_regularization_strength=0.1)",
    "ftrl l1 l2": "train.FtrlOptimizer(0.1, -0.5, 0.2, 0.05, 0.1)",
    "ftrl power": "train.FtrlOptimizer(0.1, learning_rate_power=-0.7)",
    "ftrl shrinkage":
        "train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)",
    "proximal descent": "train.ProximalGradientDescentOptimizer(0.1, 0.05, 0.1)",
    "proximal descent l2": "train.ProximalGradientDescentOptimizer(0.1, 0.0, 0.1)",
    "proximal adagrad": "train.ProximalAdagradOptimizer(0.1, 0.1, 0.05, 0.1)",
    "proximal adagrad l2": "train.ProximalAdagradOptimizer(0.1, 0.1, 0.0, 0.1)",
    "adagrad dual averaging":
        "train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), 0.1, 0.01, 0.1)",
    "adagrad dual averaging alone":
        "train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step())",
    "lazy adam": "contrib.opt.LazyAdamOptimizer(0.05)",
    "nadam": "contrib.opt.NadamOptimizer(0.05)",
    "adamax": "contrib.opt.AdaMaxOptimizer(0.05)",
    "powersign": "contrib.opt.PowerSignOptimizer(0.01)",
    "addsign": "contrib.opt.AddSignOptimizer(0.01)",
    "by a schedule": "train.AdamOptimizer(tf.train.exponential_decay("
    "0.1, tf.train.get_or_create_global_step(), 5, 0.5))",
    "by a function": "train.MomentumOptimizer(lambda: 0.05, lambda: 0.5)",
    "by a tensor": "train.GradientDescentOptimizer(tf.constant(0.05))",
}  # fmt: skip

TRAINED = """
w = tf.Variable(start, name='w')
b = tf.Variable([0.1, -0.1], name='b')
loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(tf.constant(inputs), w)) + b - targets))
step = tf.train.get_or_create_global_step()
optimizer = tf.{}
train = optimizer.minimize(loss, global_step=step)
slots = [optimizer.get_slot(v, n) for n in optimizer.get_slot_names() for v in (w, b)]
result = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(20):
        session.run(train)
        if i % 5 == 4:
            result.append(session.run([w, b, loss, step, slots]))
"""

# Weights may shrink before or after a gradient reads them: here the gradient is given.
DECAYING = {
    "adam": "contrib.opt.AdamWOptimizer(0.01, 0.05)",
    "momentum": "contrib.opt.MomentumWOptimizer(0.01, 0.05, 0.9)",
    "momentum nesterov": "contrib.opt.MomentumWOptimizer(0.01, 0.05, 0.9, use_nesterov=True)",
    "descent": "contrib.opt.extend_with_decoupled_weight_decay("
    "tf.train.GradientDescentOptimizer)(0.01, learning_rate=0.1)",
}
DECAYED = """
w = tf.Variable(start, name='w')
b = tf.Variable([0.1, -0.1], name='b')
optimizer = tf.{}
pairs = [(tf.constant(inputs[:3, :2]), w), (tf.constant([0.5, -0.25]), b)]
train = optimizer.apply_gradients(pairs, decay_var_list=[w])
result = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(10):
        session.run(train)
        result.append(session.run([w, b]))
"""

PROGRAMS = {
    "gradients clipped and applied": """
w = tf.Variable(start)
loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(inputs), w)))
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss, [w])
clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 0.5)
train = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result = [session.run([norm, train, w])[0] for _ in range(3)] + [session.run(w)]
""",
    "loss of gradients": """
w = tf.Variable(start)
y = tf.matmul(tf.constant(inputs), w)
pairs = tf.train.AdamOptimizer().compute_gradients(y, [w], grad_loss=tf.ones_like(y) * 2.0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result = session.run(pairs)
""",
    "names of slots": """
w = tf.Variable(start, name='w')
optimizer = tf.train.AdamOptimizer()
train = optimizer.minimize(tf.reduce_sum(tf.square(w)))
other = tf.train.RMSPropOptimizer(0.1, momentum=0.9, centered=True)
other.minimize(tf.reduce_sum(tf.square(w)))
names = optimizer.get_slot_names() + other.get_slot_names()
names += [v.name for v in tf.global_variables()] + [v.name for v in optimizer.variables()]
names += [optimizer.get_name(), other.get_name()]
result = [np.array(names, 'S'), np.array([v.name for v in tf.trainable_variables()], 'S')]
""",
    "average": """
w = tf.Variable(start, name='w')
average = tf.train.ExponentialMovingAverage(0.9)
keep = average.apply([w])
with tf.control_dependencies([tf.assign(w, w * 0.5)]):
    after = average.apply([w])
names = [average.average_name(w), average.average(w).name] + sorted(average.variables_to_restore())
result = [np.array(names, 'S')]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run(after)
        result += session.run([w, average.average(w)])
""",
    "average by updates": """
w = tf.Variable(start, name='w')
step = tf.Variable(0, trainable=False)
average = tf.train.ExponentialMovingAverage(0.99, num_updates=step)
keep = average.apply([w])
change = tf.group(tf.assign_add(w, w), tf.assign_add(step, 1))
result = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run(change)
        session.run(keep)
        result += session.run([w, average.average(w)])
""",
    "average of a tensor": """
x = tf.placeholder(tf.float32, [])
average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
plain = tf.train.ExponentialMovingAverage(0.9, name='plain')
keep, also = average.apply([x]), plain.apply([x])
result = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([keep, also], {x: i + 1.0})
        result += session.run([average.average(x), plain.average(x)])
""",
    "global step": """
step = tf.train.get_or_create_global_step()
again = tf.train.get_global_step()
add = tf.assign_add(step, 2)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(add)
    result = [tf.train.global_step(session, again), np.array([step.name], 'S')]
""",
    "an optimizer of the program's own": """
class Own(tf.train.Optimizer):
    def __init__(self, rate=0.1, use_locking=False, name='Own'):
        super(Own, self).__init__(use_locking, name)
        self._rate = rate
    def _prepare(self):
        self._rate_t = tf.convert_to_tensor(self._rate, name='rate')
    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, 'm', self._name)
    def _apply_dense(self, grad, var):
        rate = tf.cast(self._rate_t, var.dtype.base_dtype)
        m = self.get_slot(var, 'm')
        m_t = m.assign(tf.maximum(0.9 * m, tf.abs(grad)))
        var_update = tf.assign_sub(var, rate * grad / (m_t + 1e-3))
        return tf.group(*[var_update, m_t])
    def _resource_apply_dense(self, grad, var):
        return self._apply_dense(grad, var)
w = tf.Variable(start, name='w')
step = tf.Variable(0, trainable=False, name='step')
optimizer = Own()
train = optimizer.minimize(tf.reduce_sum(tf.square(w) * tf.constant(start)), step, [w])
result = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
        result += session.run([w, optimizer.get_slot(w, 'm'), step])
""",
}

STEPS = "tf.stack([tf.convert_to_tensor(tf.train.{}) for i in (0, 1, 2, 3, 5, 6, 9, 14)])"
CASES = dict(
    [("schedule " + k, STEPS.format(v.format("tf.constant(i)"))) for k, v in SCHEDULES.items()]
    + [("optimizer " + k, TRAINED.format(v)) for k, v in OPTIMIZERS.items()]
    + [("decay " + k, DECAYED.format(v)) for k, v in DECAYING.items()],
    **{
        "norm clipped": "tf.clip_by_norm(start, 0.7)",
        "norm small enough": "tf.clip_by_norm(start, 100.0)",
        "norm by rows": "tf.clip_by_norm(start, 0.7, axes=[1])",
        "norm of zeros": "tf.clip_by_norm(0.0 * start, 1.0)",
        "average norm": "tf.clip_by_average_norm(start, 0.1)",
        "global norm": "tf.global_norm([start, None, inputs])",
        "global norm clipped": "tf.clip_by_global_norm([start, None, inputs], 0.5)",
        "global norm kept": "tf.clip_by_global_norm([start, inputs], 500.0)",
        "global norm given": "tf.clip_by_global_norm([start, inputs], 0.5,"
        " use_norm=2.0 * start[0, 0])",
        "values clipped": "tf.clip_by_value(start, -0.3, 0.4)",
    },
    **PROGRAMS,
)


def given():
    """The arrays of the programs."""
    rng = np.random.RandomState(1)
    return {
        "start": rng.randn(3, 2).astype("float32"),
        "inputs": rng.randn(5, 3).astype("float32"),
        "targets": rng.randn(5, 2).astype("float32"),
    }
