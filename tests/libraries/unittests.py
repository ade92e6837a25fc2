"""Runs modules of tests in one process, and writes what came of them.

kameleon run unittests.py RESULTS.json MODULE ...
"""

import importlib
import json
import sys
import unittest
import warnings

import tensorflow as tf
from absl import flags


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line and not line.startswith(" ")]
    return lines[-1][:300] if lines else ""


def main(path, names):
    warnings.simplefilter("ignore")
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.argv = sys.argv[:1]
    flags.FLAGS(sys.argv)
    found = {"run": 0, "skipped": 0, "wrong": {}}
    for name in names:
        result = unittest.TestResult()
        try:
            tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
        except Exception as error:
            found["wrong"][name] = f"{type(error).__name__}: {error}"
            continue
        tests.run(result)
        found["run"] += result.testsRun
        found["skipped"] += len(result.skipped)
        for test, text in result.failures + result.errors:
            found["wrong"][".".join(test.id().split(".")[-2:])] = last_line(text)
    with open(path, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
