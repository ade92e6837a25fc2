"""Writes `protocol/signatures.txt`: the definitions of the types in the table of operations.

kameleon run definitions.py               # where TensorFlow's Python files are installed
"""

from pathlib import Path

import tensorflow.contrib.factorization
import tensorflow.contrib.framework
import tensorflow.contrib.image
import tensorflow.contrib.layers
import tensorflow.contrib.resampler
import tensorflow.contrib.seq2seq  # noqa: F401 (these register types of their own)
from writing import line_of

from kameleon.compat.tensorflow import graph
from kameleon.compat.tensorflow.loading.built import TABLES
from kameleon.compat.tensorflow.protocol import signatures

if __name__ == "__main__":
    registered = graph.definitions()
    kinds = sorted({kind for table in TABLES for kind in table} & set(registered))
    lines = [line_of(registered[kind]) for kind in kinds]
    path = Path(signatures.__file__).with_name("signatures.txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} definitions in {path}")
