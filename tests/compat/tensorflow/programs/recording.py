"""Programs of TensorFlow 1, by topic: each builds a graph of its own, runs it, and returns numbers.

    python basics.py > basics.json                    # on TensorFlow 1.15, in Python 3.7
    kameleon run basics.py      # here

A topic is a file beside this one. It prints JSON: by name, what each program returned. Where a
topic has enabled eager execution, its programs run without a graph. The topics of Keras want the
original Keras 2.3.1 beside TensorFlow.
"""

import contextlib
import json
import sys

import numpy as np
import tensorflow as tf

CASES = []


def case(function):
    """A program of the topic."""
    CASES.append(function)
    return function


def started():
    """A session whose variables have their first values."""
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def run(fetches, feeds=None, session=None):
    """What the fetches are, in a session of their own."""
    return (session or started()).run(fetches, feeds)


def leaves(nest):
    """The tensors in a nest, in order; of sparse ones, their parts."""
    if isinstance(nest, (list, tuple)) and not hasattr(nest, "dense_shape"):
        return [x for part in nest for x in leaves(part)]
    if hasattr(nest, "dense_shape"):
        return [nest.indices, nest.values, nest.dense_shape]
    return [] if nest is None else [nest]


def told(nest, feeds=None, over=(), session=None):
    """Of each tensor its static shape, data type and value; and gradients of their sines."""
    tensors = leaves(nest)
    floats = [x for x in tensors if x.dtype.is_floating]
    slopes = [None] * len(over)
    if over and floats:
        total = tf.add_n([tf.reduce_sum(tf.cast(tf.sin(x), tf.float64)) for x in floats])
        try:
            slopes = tf.gradients(total, list(over))
        except (
            NotImplementedError,
            LookupError,
            TypeError,
        ) as error:  # the original has no gradient either
            slopes = [tf.constant(type(error).__name__)]
    found = run([tensors, leaves(slopes)], feeds, session)
    kinds = [[str(x.shape), x.dtype.name] for x in tensors]
    return [kinds[at] + [y] for at, y in enumerate(found[0])] + found[1]


def error_of(function, feeds=None):
    """The class of the error that something raises, while it's built or run."""
    try:
        run(leaves(function()), feeds)
    except Exception as error:
        return type(error).__name__
    return "none"


def raised(function):
    """The class and the message of the error that something raises."""
    try:
        function()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["none", ""]


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return plain(value.numpy())
    return plain(value.tolist()) if isinstance(value, (np.ndarray, np.generic)) else value


def main():
    """Run the programs that are named, or all, and print what they return."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for each in CASES:
        if sys.argv[1:] and each.__name__ not in sys.argv[1:]:
            continue
        eager = tf.executing_eagerly()
        with contextlib.nullcontext() if eager else tf.Graph().as_default():
            found[each.__name__] = plain(each())
    json.dump(found, sys.stdout, indent=1)
