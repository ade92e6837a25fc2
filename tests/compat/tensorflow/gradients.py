"""A program whose first use of gradients is a look into the registry, where it replaces one.

It prints what a gradient was and what it is then, as JSON.
"""

import json

import tensorflow as tf
from tensorflow.python.framework import ops


def main() -> None:
    known = ops._gradient_registry._registry
    was = known["Sigmoid"]["type"]
    x, found = tf.constant([0.0, 1e3]), {}
    for name, gradient in ("replaced", lambda op, grad: 2 * was(op, grad)), ("was", was):
        known["Sigmoid"]["type"] = gradient
        with tf.Session() as session:
            found[name] = session.run(tf.gradients(tf.sigmoid(x), x)[0]).tolist()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
