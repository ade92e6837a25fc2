"""Records what programs in TensorFlow 1.15 compute.

    python record.py training training.npz
    python record.py training training.npz "a case" "another"    # these anew, the others stay

A module beside this one has `CASES`: by name an expression over `tf` and the arrays of `given`,
or a program that leaves its arrays in `result`. The record has, by the case's name, these values;
behind those of an expression the gradients of the sum of their sines.
"""

import importlib
import json
import os
import sys

import numpy as np


def leaves(found):
    """What nests of lists, tuples and dicts hold, in their order; None is left out."""
    if isinstance(found, dict):
        return [x for key in sorted(found) for x in leaves(found[key])]
    if isinstance(found, (list, tuple)):
        return [x for item in found for x in leaves(item)]
    return [] if found is None else [found]


def flat(found):
    """The arrays in a nest."""
    return [np.asarray(x) for x in leaves(found)]


def is_float(x):
    """Whether a tensor holds floats."""
    return "float" in str(getattr(x, "dtype", ""))


def run(tf, source, given):
    """The arrays that a case gives."""
    tf.reset_default_graph()
    names = dict(tf=tf, np=np, given_arrays=given, **given)
    if "result" in source:
        exec(source, names)
        return flat(names["result"])
    tensors = {name: tf.constant(array) for name, array in given.items()}
    found = leaves(eval(source, dict(names, **tensors)))
    over = [x for x in tensors.values() if is_float(x)]
    floats = [x for x in found if is_float(x)]
    if over and floats:
        slopes = tf.gradients(tf.add_n([tf.reduce_sum(tf.sin(x)) for x in floats]), over)
        found += [tf.convert_to_tensor(slope) for slope in leaves(slopes)]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return flat(session.run(found))


def save(path, found):
    """Write the arrays by case: one row of numbers for each dtype, and where they belong."""
    index = {name: [(x.dtype.str, x.shape) for x in arrays] for name, arrays in found.items()}
    rows = {}
    for array in (x for arrays in found.values() for x in arrays):
        rows.setdefault(array.dtype.str, []).append(array.ravel())
    rows = {"row " + kind: np.concatenate(parts) for kind, parts in rows.items()}
    np.savez_compressed(path, index=np.array(json.dumps(index)), **rows)


def load(path):
    """What `save` wrote."""
    with np.load(path) as file:
        index, used = json.loads(str(file["index"])), {}
        rows = {name: file[name] for name in file.files if name.startswith("row ")}
    found = {}
    for name, parts in index.items():
        found[name] = []
        for kind, shape in parts:
            at, size = used.get(kind, 0), int(np.prod(shape))
            found[name].append(rows["row " + kind][at : at + size].reshape(shape))
            used[kind] = at + size
    return found


def main(name, path, *only):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    cases = importlib.import_module(name)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    found, failed = load(path) if only else {}, []
    for case, source in cases.CASES.items():
        if only and case not in only:
            continue
        try:
            found[case] = run(tf, source, cases.given())
        except Exception as error:
            failed.append("%s: %r" % (case, error))
    save(path, {case: found[case] for case in cases.CASES if case in found})
    sys.exit("\n".join(failed) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
