"""Runs several of the programs in one process and prints what each gives, as JSON.

    kameleon run many.py NAME …
    python many.py NAME … | tail -1 > ../recorded.json    # on the original
"""
import importlib
import json
import os
import sys
import traceback

import numpy as np
from keras import backend as K


def short(values):
    """Lists of numbers with eight digits each."""
    return [short(v) for v in values] if isinstance(values, list) else float('%.8g' % values)


def result_of(name):
    """The numbers that a program gives, as lists; text where it fails."""
    K.clear_session()
    try:
        found = importlib.import_module(name).main()
    except Exception:
        return traceback.format_exc()
    return {key: short(np.asarray(value, dtype='float64').tolist())
            for key, value in found.items()}


if __name__ == '__main__':
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    results = dict((name, result_of(name)) for name in sys.argv[1:])
    print('\n' + json.dumps(results, sort_keys=True))
