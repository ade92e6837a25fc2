"""Loops put together at random: with arrays, branches, loops, assertions in them, and gradients."""

import numpy as np
import tensorflow as tf
from recording import case, main

KIND = tf.float64
SEEDS = range(6)


class Program:
    """A loop, what it gives for some feeds, and what training on it changes."""

    def __init__(self, seed, kind):
        self.draw, self.kind = np.random.RandomState(seed), kind
        self.x = tf.placeholder(KIND, [None, 3])
        self.n, self.lengths = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
        self.w = tf.Variable(0.8, dtype=KIND)
        self.v = tf.Variable(np.full(3, 0.5), use_resource=self.chance(2))
        self.rows = tf.shape(self.x)[0]
        self.bound = {
            "count": self.n,
            "value": tf.constant(20),
            "lengths": tf.reduce_max(self.lengths),
            "rows": self.rows,
        }[kind]
        self.read, self.branch, self.loop = self.chance(2), self.chance(2), self.chance(4)
        self.part, self.check, self.write = (self.draw.randint(3) for _ in range(3))
        self.turned, self.bent = self.chance(2), self.chance(2)
        given = tf.TensorArray(KIND, self.rows, element_shape=[3], clear_after_read=False)
        self.given = given.unstack(self.x)

    def chance(self, of):
        return self.draw.randint(of) == 0

    def goes_on(self, i, h, total, out):
        within = i < self.bound
        if self.kind == "value":
            return tf.logical_and(within, tf.reduce_sum(tf.abs(h)) < 3.0)
        return within

    def body(self, i, h, total, out):
        y = h * self.w + self.v
        at = tf.minimum(i, self.rows - 1)
        if self.read:
            y += self.given.read(at)
        if self.part:
            y += self.x[at] * 0.5 if self.part == 1 else self.x[at, 0] * self.v
        if self.branch:
            far = tf.reduce_sum(y) > 0.5 + 0.1 * tf.cast(i, KIND)
            y = tf.cond(far, lambda: tf.sin(y) * self.w, lambda: y * 0.7 + self.x[0])
        if self.loop:
            first = [0, y]
            y += tf.while_loop(
                lambda j, z: j < 1 + i % 3, lambda j, z: (j + 1, tf.tanh(z * self.w + 0.1)), first
            )[1]
        if self.check:
            holds = [
                tf.assert_less(tf.reduce_max(tf.abs(y)), tf.constant(1e6, KIND))
                if self.check == 1
                else tf.assert_equal(tf.shape(y)[0], 3)
            ]
            with tf.control_dependencies(holds):
                y = tf.identity(y)
        if self.write:
            turned = self.write == 1 and self.turned and self.kind != "value"
            out = out.write(self.bound - 1 - i if turned else i, y)
        grown = tf.tanh(y) if self.bent else y * 0.9
        return i + 1, grown, total + tf.reduce_sum(y) * tf.cast(i + 1, KIND) * 0.1, out

    def run(self):
        grows = self.write == 2
        out = tf.TensorArray(KIND, 0 if grows else self.bound, dynamic_size=grows,
                             element_shape=[3], clear_after_read=False)  # fmt: skip
        zero = tf.constant(0.0, KIND)
        first = [0, self.v * 1.0 if self.turned else tf.reduce_sum(self.x, 0), zero, out]
        turns, h, total, out = tf.while_loop(self.goes_on, self.body, first)
        loss = total + tf.reduce_sum(h)
        if self.write == 2 or (self.write and self.kind != "value"):
            loss += tf.reduce_sum(tf.sqrt(tf.abs(out.stack()) + 1.0))
        over = [self.w, self.v, self.x]
        slopes = [0 if each is None else each for each in tf.gradients(loss, over)]
        slopes = [tf.convert_to_tensor(each) for each in slopes]
        train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss, var_list=over[:2])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [self.stepped(session, [turns, loss, *slopes], train) for _ in range(7)]

    def stepped(self, session, outs, train):
        draw = self.draw
        feeds = {
            self.x: draw.randn(draw.randint(1, 8), 3) / 2,
            self.n: draw.randint(int(self.write > 0), 9),
            self.lengths: draw.randint(1, 7, size=3),
        }
        found = session.run(outs, feeds)
        session.run(train, feeds)
        return [*found[:4], float(np.sin(found[4]).sum())]


def programs(kind):
    """What a program of each seed gives, in a graph of its own."""
    found = []
    for seed in SEEDS:
        with tf.Graph().as_default():
            found.append(Program(seed, kind).run())
    return found


@case
def by_counts():
    return programs("count")


@case
def by_values():
    return programs("value")


@case
def by_lengths():
    return programs("lengths")


@case
def by_rows():
    return programs("rows")


if __name__ == "__main__":
    main()
