"""Programs whose results TensorFlow 1.15 recorded (`recorded/around`), held against the records.

    kameleon run around.py RECORDED_FOLDER SUBJECT ...

It prints JSON: by subject, how many cases there are, and by case what differs.
"""

import importlib
import json
import os
import sys
import time

import numpy as np
import tensorflow as tf


def complaints(found, wanted, near):
    """What differs from the record of a case."""
    if len(found) != len(wanted):
        yield f"{len(found)} arrays, not {len(wanted)}"
    for place, (got, want) in enumerate(zip(found, wanted, strict=False)):
        if want.dtype.kind == "S":
            if got.tolist() != want.tolist():
                yield f"{place}: {got.tolist()}, not {want.tolist()}"
        elif (got.dtype, got.shape) != (want.dtype, want.shape):
            yield f"{place}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        elif not np.allclose(got, want, rtol=near, atol=near, equal_nan=True):
            yield f"{place}: {got.ravel()[:4]}, not {want.ravel()[:4]}"


def main(folder, subjects):
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.path.insert(0, folder)
    record, found = importlib.import_module("record"), {}
    for subject in subjects:
        cases = importlib.import_module(subject)
        wanted = record.load(os.path.join(folder, subject + ".npz"))
        began, failed = time.time(), {}
        for name, source in cases.CASES.items():
            near = getattr(cases, "TOLERANCES", {}).get(name, 1e-5)
            try:
                arrays = record.run(tf, source, cases.given())
                told = list(complaints(arrays, wanted[name], near))
            except Exception as error:
                told = [f"{type(error).__name__}: {str(error)[:200]}"]
            if told:
                failed[name] = told
        seconds = time.time() - began
        found[subject] = {"cases": len(cases.CASES), "seconds": seconds, "failed": failed}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
