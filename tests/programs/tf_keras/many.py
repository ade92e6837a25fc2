"""Runs several of the programs in one process and prints what each gives, as JSON.

    kameleon run --tf-keras many.py NAME …
    kameleon run --tf-keras=2 many.py ../tf_keras_2 NAME …
    python many.py | tail -1 > ../recorded_tf_keras.json    # all of them, on TensorFlow 1.15
"""
import glob
import importlib
import json
import os
import sys
import traceback

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def short(values):
    """Lists of numbers with eight digits each."""
    return [short(v) for v in values] if isinstance(values, list) else float('%.8g' % values)


def result_of(name):
    """The numbers that a program gives, as lists; text where it fails."""
    tf.keras.backend.clear_session()
    np.random.seed(0)
    try:
        found = importlib.import_module(name).main()
    except Exception:
        return traceback.format_exc()
    return {key: short(np.asarray(value, dtype='float64').tolist())
            for key, value in found.items()}


def all_programs():
    names = [os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, '*.py'))]
    return sorted(set(names) - {'many', 'drawing'})


if __name__ == '__main__':
    names = sys.argv[1:] or all_programs()
    sys.path.insert(0, HERE)
    if os.sep in names[0]:
        sys.path.insert(0, os.path.join(HERE, names.pop(0)))
    results = dict((name, result_of(name)) for name in names)
    print('\n' + json.dumps(results, sort_keys=True))
