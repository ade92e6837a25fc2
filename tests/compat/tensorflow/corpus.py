"""Expressions whose results TensorFlow 1.15 recorded (`recorded/tf1`), held against the records.

    kameleon run corpus.py RECORDED_FOLDER SUBJECT [constants]

The inputs are fed; or they are constants, of which values and shapes follow while the graph is
built. It prints JSON: by subject, how many cases there are, and by expression what differs.
Expressions that raise are held against the classes of their errors.
"""

import json
import os
import runpy
import sys
import time

import numpy as np
import tensorflow as tf

EXACT = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-6, "complex64": 1e-4, "complex128": 1e-6}


def read(path):
    """The cases of a subject, and its expressions that raise, each with the class."""
    with np.load(path) as file:
        arrays = dict(file)
    index = json.loads(str(arrays.pop("index")))

    def unpacked(kind, shape, start):
        return arrays[kind][start : start + int(np.prod(shape))].reshape(shape)

    cases = [
        (text, shapes, {key: unpacked(*place) for key, place in row.items()})
        for text, shapes, row in index["cases"]
    ]
    return cases, index["errors"], index.get("failures", [])


def complaints(script, given, text, shapes, values, inputs):
    """What differs from the record of a case."""
    with tf.Graph().as_default(), tf.Session() as session:
        fed = script[inputs](tf, given)
        space = dict(fed, tf=tf, np=np, inside=script["inside"])
        used = [n for n in compile(text, text, "eval").co_names if n in given]
        results = [tf.convert_to_tensor(y) for y in script["flat"](eval(text, space))]
        found = script["slopes_of"](tf, results, [fed[n] for n in used])
        slopes = dict(zip(used, found, strict=False))
        wanted = {str(i): y for i, y in enumerate(results)}
        wanted.update({n: s for n, s in slopes.items() if s is not None})
        feeds = {fed[name]: given[name] for name in given} if inputs == "inputs" else {}
        found = session.run(wanted, feeds)
    known = [None if y.shape.ndims is None else y.shape.as_list() for y in results]
    if known != shapes:
        yield f"static shapes {known}, not {shapes}"
    for key, want in values.items():
        got = found.get(key)
        if got is None:
            yield f"{key}: nothing"
            continue
        got = np.asarray(got)
        if want.dtype.kind == "V":  # NumPy's files know nothing of bfloat16 but its bytes
            got = got.view(f"V{got.dtype.itemsize}")
        if (got.dtype, got.shape) != (want.dtype, want.shape):
            yield f"{key}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
            continue
        near = EXACT.get(want.dtype.name, 0.0)
        if want.dtype.kind in "fc":
            apart = ~np.isclose(got, want, rtol=near, atol=near / 10, equal_nan=True)
        else:
            apart = got != want
        if np.any(apart):
            yield f"{key}: {got[apart][:4]}, not {want[apart][:4]}"


def over_constants(folder, subject, cases):
    """The cases, with the static shapes that they have where the inputs are constants."""
    with open(os.path.join(folder, "constants.json"), encoding="utf-8") as file:
        left_open = json.load(file).get(subject, {})
    for text, shapes, values in cases:
        known = [list(values[str(i)].shape) for i in range(len(shapes))]
        yield text, left_open.get(text, known), values


def main(folder, subject, inputs="inputs"):
    tf.logging.set_verbosity(tf.logging.ERROR)
    script = runpy.run_path(os.path.join(folder, "record.py"))
    given, began, failed = script["given"](), time.time(), {}
    cases, *errors = read(os.path.join(folder, subject + ".npz"))
    if inputs == "constants":
        cases, errors = list(over_constants(folder, subject, cases)), []
    for text, shapes, values in cases:
        try:
            told = list(complaints(script, given, text, shapes, values, inputs))
        except Exception as error:
            told = [f"{type(error).__name__}: {str(error)[:200]}"]
        if told:
            failed[text] = told
    for while_built, rows in zip((True, False), errors, strict=False):
        for text, name in rows:
            got = script["raised"](tf, text, given)
            if got != (while_built, name):
                failed[text] = [f"raises {got}, not {(while_built, name)}"]
    count = len(cases) + sum(map(len, errors))
    found = {"cases": count, "seconds": time.time() - began, "failed": failed}
    json.dump({subject: found}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
