"""Records what functions of TensorFlow 1.15 return: values, gradients, static shapes, errors.

    python record.py            # all subjects
    python record.py images     # one of them
    python record.py constants  # of all, the static shapes that constants leave open

Each subject is a file beside this one with a list `CASES` of expressions over `tf`, `np`, modules
`inside` of TensorFlow and the arrays of `given`, and perhaps `ERRORS`, expressions that raise,
while they are built or when they are run. What they give goes to a file `SUBJECT.npz`: an index in JSON, and all numbers of one dtype in one array.
"""

import importlib
import json
import os
import runpy
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def subjects():
    found = {}
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".py") and name not in ("record.py", "public.py", "modules.py"):
            found[name[:-3]] = runpy.run_path(os.path.join(HERE, name))
    return found


def given():
    """The arrays that the expressions are over; f: float32, i: int32, and their shapes in words."""
    rng = np.random.RandomState(0)
    f = lambda *shape: rng.randn(*shape).astype("float32")  # noqa: E731
    p = lambda *shape: (rng.rand(*shape) + 0.1).astype("float32")  # noqa: E731
    spread = rng.randn(3, 3, 3).astype("float32")
    corners = [[0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], [0.5, 0.5, 0.2, 0.1], [-0.2, 0.1, 1.3, 0.7]]
    return {
        "v": f(6), "w": f(6), "m": f(3, 4), "n": f(4, 5), "q": f(3, 4), "t": f(2, 3, 4),
        "u": f(2, 4, 5), "s": f(3, 3), "x": f(2, 5, 7, 3), "g": f(2, 6, 8, 4), "k": f(3, 2, 3, 4),
        "volume": f(1, 4, 5, 6, 2), "line": f(2, 9, 3),
        "p": p(3, 4), "r": p(6), "colours": rng.rand(2, 5, 7, 3).astype("float32"),
        "image": f(5, 7, 3), "unit": (rng.rand(3, 4) * 1.6 - 0.8).astype("float32"),
        "d": rng.randn(3, 4), "whole": np.array([[0, 1, -2], [5, -7, 3]], "int32"),
        "counts": np.array([3, 1, 0, 4, 1, 5], "int32"), "long": np.array([[7, -2], [3, 9]]),
        "ids": np.array([0, 0, 2], "int32"), "six": np.array([2, 0, 1, 1, 0, 2], "int32"),
        "yes": np.array([[True, False, True, True], [False] * 4, [True] * 4]),
        "no": np.array([True, False, True, False, False, True]),
        "definite": np.matmul(spread, spread.transpose(0, 2, 1)) + 2 * np.eye(3, dtype="float32"),
        "square": spread, "right": f(3, 3, 2),
        "boxes": np.array(corners, "float32"), "of_box": np.array([0, 1, 1, 0], "int32"),
        "many": (rng.rand(30, 4) * 10).astype("float32"), "of_many": rng.rand(30).astype("float32"),
        "half": f(3, 4).astype("float16"), "bytes": np.array([[0, 3, 250], [7, 128, 255]], "uint8"),
        "picture": rng.randint(0, 256, (4, 5, 3)).astype("uint8"),
    }  # fmt: skip


def flat(nest):
    """The tensors of a nest of lists and tuples."""
    if isinstance(nest, (list, tuple)) and not hasattr(nest, "dense_shape"):
        return [y for part in nest for y in flat(part)]
    if isinstance(nest, dict):
        return [y for key in sorted(nest) for y in flat(nest[key])]
    if hasattr(nest, "dense_shape"):
        return [nest.indices, nest.values, nest.dense_shape]
    return [nest]


class Packed:
    """Arrays, all elements of one dtype in one array."""

    def __init__(self):
        self.parts, self.sizes = {}, {}

    def add(self, array):
        array = np.asarray(array)
        kind = array.dtype.name
        start = self.sizes.get(kind, 0)
        self.parts.setdefault(kind, []).append(array.ravel())
        self.sizes[kind] = start + array.size
        return [kind, list(array.shape), start]

    def arrays(self):
        return {kind: np.concatenate(parts) for kind, parts in self.parts.items()}


def record(cases, errors):
    import tensorflow as tf

    arrays, packed, index = given(), Packed(), {"cases": [], "errors": [], "failures": []}
    for case in cases:
        with tf.Graph().as_default(), tf.Session() as session:  # a graph each: they start quickly
            found = record_case(tf, session, case, arrays)
            if found is not None:
                shapes, values = found
                row = {key: packed.add(value) for key, value in values.items()}
                index["cases"].append([case, shapes, row])
    for case in errors:
        while_built, name = raised(tf, case, arrays)
        if name is None:
            print("left out, for it raises nothing:", case)
        else:
            index["errors" if while_built else "failures"].append([case, name])
    return dict(packed.arrays(), index=np.array(json.dumps(index)))


def raised(tf, case, arrays):
    """The class of the error that an expression raises, and whether it's while it's built."""
    with tf.Graph().as_default(), tf.Session() as session:
        fed = inputs(tf, arrays)
        try:
            results = flat(eval(case, dict(fed, tf=tf, np=np, inside=inside)))
        except Exception as error:
            return True, type(error).__name__
        try:
            session.run(results, {fed[name]: a for name, a in arrays.items()})
        except Exception as error:
            return False, type(error).__name__
    return None, None


def inside(name):
    """A module inside of TensorFlow."""
    return importlib.import_module("tensorflow.python." + name)


def inputs(tf, arrays):
    return {name: tf.placeholder(a.dtype, (None,) + a.shape[1:]) for name, a in arrays.items()}


def constants(tf, arrays):
    return {name: tf.constant(array) for name, array in arrays.items()}


def left_open(cases):
    """By case, the static shapes over constants, where they tell less than the values."""
    import tensorflow as tf

    arrays, found = given(), {}
    for case in cases:
        with tf.Graph().as_default(), tf.Session() as session:
            shapes, values = record_case(tf, session, case, arrays, constants) or ([], {})
            if shapes != [list(np.shape(values[str(i)])) for i in range(len(shapes))]:
                found[case] = shapes
    return found


def record_case(tf, session, case, arrays, inputs=inputs):
    """Static shapes, and values by keys; None, where TensorFlow can't."""
    fed = inputs(tf, arrays)
    used = [n for n in compile(case, case, "eval").co_names if n in arrays]
    try:
        results = flat(eval(case, dict(fed, tf=tf, np=np, inside=inside)))
        results = [tf.convert_to_tensor(y) for y in results]
        shapes = [None if y.shape.ndims is None else y.shape.as_list() for y in results]
        slopes = slopes_of(tf, results, [fed[n] for n in used])
        wanted = {str(i): y for i, y in enumerate(results)}
        wanted.update({n: s for n, s in zip(used, slopes) if s is not None})
        return shapes, session.run(wanted, {fed[name]: a for name, a in arrays.items()})
    except Exception as error:
        print("left out:", case, repr(error))
        return None


def slopes_of(tf, results, tensors):
    """The gradients of the sum of the sines of all float results, where TensorFlow has them."""
    floats = [y for y in results if y.dtype.is_floating]
    xs = [x for x in tensors if x.dtype.is_floating]
    if not floats or not xs:
        return [None] * len(tensors)
    total = tf.add_n([tf.reduce_sum(tf.sin(tf.cast(y, tf.float64))) for y in floats])
    try:
        found = iter(tf.gradients(total, xs))
    except Exception:
        return [None] * len(tensors)
    found = [next(found) if x in xs else None for x in tensors]
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


def main(names):
    if names == ["constants"]:
        found = {name: left_open(subject["CASES"]) for name, subject in subjects().items()}
        with open(os.path.join(HERE, "constants.json"), "w") as file:
            json.dump({name: cases for name, cases in found.items() if cases}, file)
        return
    for name, subject in subjects().items():
        if not names or name in names:
            found = record(subject["CASES"], subject.get("ERRORS", []))
            np.savez_compressed(os.path.join(HERE, name + ".npz"), **found)
            print(name, len(subject["CASES"]), len(subject.get("ERRORS", [])))


if __name__ == "__main__":
    main(sys.argv[1:])
