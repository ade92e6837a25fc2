"""Steps of optimizers: of whole variables, of rows, by reference and by handle."""

import numpy as np
import tensorflow as tf
from recording import case, main, started

train = tf.train
OPTIMIZERS = {
    "descent": lambda: train.GradientDescentOptimizer(0.1),
    "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: train.AdagradOptimizer(0.1),
    "dual": lambda: train.AdagradDAOptimizer(
        0.1,
        train.get_or_create_global_step(),
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
    ),
    "adadelta": lambda: train.AdadeltaOptimizer(0.5, rho=0.9),
    "adam": lambda: train.AdamOptimizer(0.1),
    "rmsprop": lambda: train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda: train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "shrunk": lambda: train.FtrlOptimizer(
        0.1, learning_rate_power=-0.7, l2_shrinkage_regularization_strength=0.2
    ),
    "proximal": lambda: train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "add_sign": lambda: tf.contrib.opt.AddSignOptimizer(0.1),
    "power_sign": lambda: tf.contrib.opt.PowerSignOptimizer(0.1),
    "adamax": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "lazy_adam": lambda: tf.contrib.opt.LazyAdamOptimizer(0.1),
    "keras_sgd": lambda: tf.keras.optimizers.SGD(0.1, 0.9, nesterov=True),
    "keras_adam": lambda: tf.keras.optimizers.Adam(0.1, amsgrad=True),
    "keras_adagrad": lambda: tf.keras.optimizers.Adagrad(0.1),
    "keras_adamax": lambda: tf.keras.optimizers.Adamax(0.1),
    "keras_nadam": lambda: tf.keras.optimizers.Nadam(0.1),
    "keras_ftrl": lambda: tf.keras.optimizers.Ftrl(0.1),
    "keras_adadelta": lambda: tf.keras.optimizers.Adadelta(0.5),
    "keras_rmsprop": lambda: tf.keras.optimizers.RMSprop(0.1, centered=True),
}
WITHOUT_ROWS = ("add_sign", "power_sign")


def trained(make, rows, by_handle):
    """A variable after three steps."""
    with tf.Graph().as_default():
        start = np.linspace(-1, 1, 8).reshape(4, 2).astype("float32")
        w = tf.get_variable("w", initializer=start, use_resource=by_handle)
        x = tf.nn.embedding_lookup(w, [0, 2, 0]) if rows else w
        loss = tf.reduce_sum(tf.square(x - 0.3) * np.float32(1.5))
        optimizer = make()
        if isinstance(optimizer, tf.keras.optimizers.Optimizer):
            step = optimizer.get_updates(loss, [w])
        else:
            step = optimizer.minimize(loss, var_list=[w], global_step=train.get_global_step())
        session = started()
        for _ in range(3):
            session.run(step)
        return session.run(w)


def all_trained(rows, by_handle):
    names = [name for name in sorted(OPTIMIZERS) if not rows or name not in WITHOUT_ROWS]
    if not by_handle:
        names = [name for name in names if not name.startswith("keras")]
    return [[name, trained(OPTIMIZERS[name], rows, by_handle)] for name in names]


@case
def variables_by_reference():
    return all_trained(rows=False, by_handle=False)


@case
def variables_by_handle():
    return all_trained(rows=False, by_handle=True)


@case
def rows_by_reference():
    return all_trained(rows=True, by_handle=False)


@case
def rows_by_handle():
    return all_trained(rows=True, by_handle=True)


@case
def rows_are_changed():
    names = "update add sub mul div min max nd_update nd_add nd_sub".split()
    found = []
    for by_handle in (False, True):
        for name in names:
            start = np.arange(1.0, 7.0).reshape(3, 2).astype("float32")
            w = tf.get_variable(name + str(by_handle), initializer=start, use_resource=by_handle)
            places = [[0], [2]] if name.startswith("nd") else [0, 2, 0][: 2 + (name != "update")]
            values = np.linspace(1.5, 4.0, 2 * len(places)).reshape(-1, 2)
            changed = getattr(tf, "scatter_" + name)(w, places, values.astype("float32"))
            session = started()
            session.run(changed)
            found.append(session.run(w))
    v = tf.get_variable("v", initializer=np.arange(6.0).reshape(2, 3), use_resource=True)
    taken = [v.sparse_read([1, 0]), v.gather_nd([[0, 2], [1, 1]]), tf.gather_nd(v, [[1]])]
    whole = tf.scatter_update(v, [1], 7.0)
    session = started()
    return [found, session.run(taken), session.run([whole, v])[0]]


@case
def clipped_gradients():
    w = tf.get_variable("w", initializer=[1.0, -2.0])
    optimizer = train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(tf.reduce_sum(w**4))
    slopes, norm = tf.clip_by_global_norm([slope for slope, _ in pairs], 1.0)
    step = optimizer.apply_gradients([(slopes[0], w)])
    session = started()
    return [session.run([norm, step])[0], session.run(w)]


@case
def averages_of_variables():
    w = tf.get_variable("w", initializer=1.0)
    average = train.ExponentialMovingAverage(0.9, num_updates=tf.constant(3), zero_debias=True)
    update = average.apply([w])
    session = started()
    found = []
    for value in (2.0, 3.0):
        w.load(value, session)
        session.run(update)
        found.append(session.run(average.average(w)))
    return found


@case
def optimizers_of_scipy():
    x = tf.Variable([1.0, 2.0, 3.0])
    loss = tf.reduce_sum(tf.square(x - [3.0, 1.0, 2.0]) * [1.0, 2.0, 3.0])
    make = tf.contrib.opt.ScipyOptimizerInterface
    free = make(loss, options={"maxiter": 50})
    bound = make(loss, method="SLSQP", inequalities=[x[0] - 1.0], equalities=[x[1] - x[2]])
    found = []
    with tf.Session() as session:
        for optimizer in (free, bound):
            session.run(x.initializer)
            optimizer.minimize(session)
            found += np.round(session.run(x), 3).tolist()
    return found


@case
def a_rate_by_steps_that_are_counted_beside_it():
    step, w = tf.train.get_or_create_global_step(), tf.get_variable("w", initializer=0.0)
    steps, warm = tf.cast(step, tf.int32), tf.constant(4, dtype=tf.int32)
    done = tf.cast(steps, tf.float32) / tf.cast(warm, tf.float32)
    is_warming = tf.cast(steps < warm, tf.float32)
    rate = (1.0 - is_warming) * 0.5 + is_warming * 0.5 * done
    train = tf.group(w.assign(w - rate * (w + 1.0)), step.assign(step + 1))
    session = started()
    return [session.run([train, w.op.outputs[0]])[1] for _ in range(6)]


@case
def values_beside_assignments():
    w, found = tf.get_variable("w", initializer=[1.0, 1.0]), []
    session = started()
    for value in (tf.tanh(w), tf.tanh(w) + tf.sqrt(w)):
        found.append(session.run([value, w.assign_add([1.0, 1.0]).op])[0])
    found.append(session.run([w.assign_add([1.0, 1.0]).op, tf.tanh(w)])[1])
    return [*found, session.run(w)]


if __name__ == "__main__":
    main()
