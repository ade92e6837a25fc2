"""Records which modules there are inside of TensorFlow 1.15: by package, their names.

    python modules.py ../../../src/kameleon/tf1/inside.json

Tests, examples and the generated packages of public names are left out, and so is all of Keras,
whose modules are those of the hosted Keras.
"""

import json
import os
import sys

import tensorflow as tf

TOPS = ("python", "core", "contrib", "tools")
APART = {"api", "_api", "tests", "testdata", "examples", "kernel_tests", "benchmarks"}
TESTS = ("_test", "test_lib", "_testing")


def modules(root):
    """The dotted names of all modules below a folder of TensorFlow's, as pairs of package, name."""
    for top in TOPS:
        for folder, below, files in os.walk(os.path.join(root, top)):
            path = os.path.relpath(folder, root).replace(os.sep, ".")
            below[:] = [name for name in below if name not in APART]
            if path.startswith("python.keras"):
                continue
            if "__init__.py" in files:
                yield path.rpartition(".")[::2]
            for name in (f[:-3] for f in files if f.endswith(".py") and f != "__init__.py"):
                if not name.endswith(TESTS):
                    yield path, name


if __name__ == "__main__":
    found = {}
    for package, name in modules(os.path.dirname(tf.python.__path__[0])):
        found.setdefault(package, set()).add(name)
    with open(sys.argv[1], "w") as file:
        json.dump({key: " ".join(sorted(found[key])) for key in sorted(found)}, file, indent=0)
        file.write("\n")
