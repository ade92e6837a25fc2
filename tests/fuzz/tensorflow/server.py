"""Runs programs for TensorFlow 1, on the original or on Kameleon; it knows of neither.

    python server.py PROGRAM            # prints what a program gives
    kameleon run server.py              # programs come as lines of JSON, answers go back so

A program is lines of Python over the names below. A statement that fails makes nothing, and those
that need it fail, too: what fails, and how, is a part of the answer.
"""

import base64
import json
import os
import re
import sys
import warnings

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import function, ops  # noqa: E402, F401

# All operations of a program, those in functions, too.
MADE = []
_made = ops.Graph._create_op_internal


def _noted(*given, **named):
    MADE.append(_made(*given, **named))
    return MADE[-1]


ops.Graph._create_op_internal = _noted
TEXTS = [b"", b"a", b"bc", b"Def g", b"-7"]


def v(shape, dtype, seed, below=None):
    """Numbers that a seed tells, sometimes with ties; whole ones below some number, if given."""
    random = np.random.RandomState(seed)
    if dtype == "string":
        return np.asarray(np.array(TEXTS, object)[random.randint(0, len(TEXTS), shape)], object)
    if dtype == "bool":
        return np.asarray(random.rand(*shape) < 0.5)
    if below is not None or dtype.startswith(("int", "uint")):
        lowest = 0 if below is not None or dtype.startswith("u") else -4
        return np.asarray(random.randint(lowest, 9 if below is None else below, shape), dtype)
    found = random.randint(-2, 3, shape) / 2.0 if seed % 5 == 0 else random.randn(*shape)
    return np.asarray(found + (1j * random.randn(*shape) if "complex" in dtype else 0), dtype)


def within(context, build):
    """What a function gives in a context."""
    with context:
        return build()


def after(before, build):
    """What a function makes, that runs after some operations."""
    return within(tf.control_dependencies(before), build)


def shaped(tensor, shape):
    """A tensor whose shape is told."""
    tensor.set_shape(shape)
    return tensor


def small(x, dtype):
    """A small number of some type that hangs on a tensor."""
    if dtype == "bool":
        return tf.reduce_any(tf.cast(x, tf.bool))
    factor = 1 if dtype.startswith("float") else 2.5
    return tf.cast(tf.tanh(tf.reduce_mean(tf.cast(x, tf.float64))) * factor, dtype)


def sparse(x):
    """The elements that aren't 0."""
    at = tf.where(tf.not_equal(x, 0))
    return tf.SparseTensor(at, tf.gather_nd(x, at), tf.shape(x, out_type=tf.int64))


def slopes(y, xs):
    """The gradients, zeros where there are none."""
    found = zip(tf.gradients(y, xs), xs)  # noqa: B905  an older Python
    return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g) for g, x in found]


def unhashed(name):
    """A name without what Defun makes of a function's content."""
    return re.sub(r"(?:\b|(?<=_))(f\d+)_\w+", r"\1", name)


class Program:
    """Runs the statements of a program; the answer is in `told`."""

    def __init__(self, text):
        self.told = {"failed": {}, "names": {}, "graph": [], "runs": []}
        self.session, first = None, list(globals().items())
        self.names = dict(first, run=self.run)
        for number, statement in enumerate(statements(text)):
            try:
                exec(compile(statement, "<program>", "exec"), self.names)
            except Exception as error:
                self.told["failed"][number] = type(error).__name__ + "\n" + str(error)[:300]
        for name, x in self.names.items():
            if isinstance(x, tf.Tensor):
                self.told["names"][name] = [unhashed(x.name), x.dtype.name, str(x.shape)]
        for each in MADE:
            told = [x.name for x in each.inputs], sorted(x.name for x in each.control_inputs)
            names = [[unhashed(x) for x in each] for each in ([each.name, each.type], *told)]
            shapes = [str(x.shape) for x in each.outputs]
            self.told["graph"].append([*names[0], each.device, *names[1:], shapes])

    def run(self, fetches, feeds=()):
        """Run what is named, of what there is; then tell the variables' values."""
        if self.session is None:
            self.session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1))
            self.session.run(tf.global_variables_initializer())
        found = {name: self.names[name] for name in fetches.split() if name in self.names}
        feeds = {self.names[name]: x for name, x in dict(feeds).items() if name in self.names}
        made = len(MADE)
        try:
            told = {name: coded(x) for name, x in self.session.run(found, feeds).items()}
        except Exception as error:
            told = {"error": type(error).__name__ + "\n" + str(error)[:300]}
        del MADE[made:]  # whatever a session makes for itself
        state = self.session.run({x.op.name: x for x in tf.global_variables()})
        told.update((name, coded(x)) for name, x in state.items())
        self.told["runs"].append(told)


def statements(text):
    """The statements of a program, each with the lines that are a part of it."""
    return re.findall(r"^\S.*(?:\n .*)*", text, re.M)


def coded(value):
    """A value as JSON has it: dtype, shape, bytes or texts."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        texts = [x.decode("latin1") for x in np.asarray(value, object).ravel()]
        return ["string", list(array.shape), texts]
    return [str(array.dtype), list(array.shape), base64.b64encode(array.tobytes()).decode()]


def answer(text):
    """What a program gives, in a graph of its own."""
    del MADE[:]
    tf.compat.v1.disable_control_flow_v2()
    with tf.Graph().as_default():
        return Program(text).told


def operation_by_operation():
    """Let Kameleon compile each operation alone, and no loop and no choice."""
    from kameleon.compat.tensorflow.operations.table import is_kept
    from kameleon.compat.tensorflow.running import plan

    def cut(self, left):
        self._levels = {element: place for place, element in enumerate(self._needed.elements)}

    plan.structure = lambda *given: None
    compiled = plan.Plan._is_compiled
    plan.Plan._is_compiled = lambda self, each: compiled(self, each) and not is_kept(each)
    plan.Plan._find_levels = cut


def main():
    tf.logging.set_verbosity(tf.logging.FATAL)
    if sys.argv[1:] == ["executor"]:
        operation_by_operation()
    elif sys.argv[1:]:
        with open(sys.argv[1]) as file:
            print(json.dumps(answer(file.read()), indent=1))
        return
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the libraries print, too
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
