"""What one operation does, built by its type alone: static shapes, values, gradients, errors.

    kameleon run running.py < cases.jsonl > found.jsonl
    kameleon run running.py eagerly < cases.jsonl > found.jsonl

A case has the type, the attributes, and the inputs: by name, one or a list, each with its type,
its numbers, and how the graph knows it (`constant`, `shape`, `rank` or `nothing`). This file runs
on TensorFlow 1.15, in Python 3.7, and here.
"""

import inspect
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from arrays import packed, unpacked
from tensorflow.python.framework import op_def_library, op_def_registry

tf.logging.set_verbosity("ERROR")
DEFINITIONS = op_def_registry.get_registered_ops()
MAKER = op_def_library.OpDefLibrary()
for _definition in DEFINITIONS.values():
    MAKER.add_op(_definition)
CPU = "/device:CPU:0"  # not the compiler's device, which has other operations


def attribute(value):
    """An attribute as `apply_op` takes it."""
    if isinstance(value, list):
        return [attribute(each) for each in value]
    if not isinstance(value, dict):
        return value
    [(kind, told)] = value.items()
    makers = {"type": tf.as_dtype, "shape": tf.TensorShape, "text": str.encode}
    return makers[kind](told)


def static(tensor):
    """The sizes that the graph knows of a tensor; None for what it doesn't."""
    if tensor.shape.ndims is None:
        return None
    return [None if size is None else int(size) for size in tensor.shape.as_list()]


def told(error):
    """The class of an error, and the first line of its message."""
    return [type(error).__name__, str(getattr(error, "message", error)).split("\n")[0][:200]]


def done(case):
    """What the operation of a case does."""
    graph, feeds, floats = tf.Graph(), {}, []

    def given(each):
        if isinstance(each, list):
            return [given(part) for part in each]
        kind, array, how = each["type"], unpacked(each["value"]), each["known"]
        if how == "constant":
            tensor = tf.constant(array, kind)
        else:
            shape = {"shape": array.shape, "rank": [None] * array.ndim, "nothing": None}[how]
            tensor = tf.placeholder(kind, shape)
            feeds[tensor] = array
        if kind in ("float32", "float64"):
            floats.append(tensor)
        return tensor

    with graph.as_default(), graph.device(CPU):
        inputs = {name: given(each) for name, each in case["inputs"]}
        attributes = {name: attribute(value) for name, value in case["attributes"].items()}
        try:
            MAKER.apply_op(case["type"], name="it", **inputs, **attributes)
        except Exception as error:
            return {"not built": told(error)}
        outputs = graph.get_operation_by_name("it").outputs
        found = {"static": [static(x) for x in outputs], "types": [x.dtype.name for x in outputs]}
        with tf.Session() as session:
            try:
                found["values"] = [packed(x) for x in session.run(list(outputs), feeds)]
            except Exception as error:
                return dict(found, failed=told(error))
            sums = [x for x in outputs if x.dtype in (tf.float32, tf.float64)]
            if sums and floats:
                found.update(_slopes(session, sums, floats, feeds))
    return found


def _slopes(session, sums, floats, feeds):
    try:
        slopes = tf.gradients(sums, floats)
        there = [tf.convert_to_tensor(x) for x in slopes if x is not None]
        values = session.run(there, feeds) if there else []
    except Exception as error:
        return {"no slopes": told(error)}
    return {"connected": [x is not None for x in slopes], "slopes": [packed(x) for x in values]}


# In eager mode -----------------------------------------------------------------------------------


def done_eagerly(case):
    """What the operation of a case gives in eager mode; None where it has other names of inputs."""
    floats, outputs = [], []

    def given(each):
        if isinstance(each, list):
            return [given(part) for part in each]
        tensor = tf.constant(unpacked(each["value"]), each["type"])
        if each["type"] in ("float32", "float64"):
            floats.append(tensor)
        return tensor

    taken = {name: given(each) for name, each in case["inputs"]}
    taken.update((name, attribute(value)) for name, value in case["attributes"].items())
    make = getattr(tf.raw_ops, case["type"], None)
    if make is None or not taken.keys() <= set(inspect.signature(make).parameters):
        return None
    with tf.device(CPU), tf.GradientTape() as tape:
        for tensor in floats:
            tape.watch(tensor)
        try:
            outputs = tf.nest.flatten(make(**taken))
        except Exception as error:
            return {"failed": told(error)}
    outputs = [x for x in outputs if x is not None and not isinstance(x, tf.Operation)]
    found = {"values": [packed(x.numpy()) for x in outputs]}
    sums = [x for x in outputs if x.dtype in (tf.float32, tf.float64)]
    if sums and floats:
        try:
            slopes = tape.gradient(sums, floats)
        except Exception as error:
            return dict(found, **{"no slopes": told(error)})
        there = [tf.convert_to_tensor(x) for x in slopes if x is not None]
        found["slopes"] = [packed(x.numpy()) for x in there]
    return found


def main():
    """Read cases, one a line, and write what each does."""
    run = done
    if "eagerly" in sys.argv:
        tf.enable_eager_execution()
        run = done_eagerly
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
