"""Random K programs, as users write them, on every engine.

    python -m fuzz --minutes 5              # in tests/, or with tests/ on PYTHONPATH
    python -m fuzz --seed 17 --programs 1   # one program again

A program is Python text over `K`: inputs, some twenty to sixty calls, gradients, updates. Each
call's value is held against an oracle that knows no Kameleon while the program is drawn; then the
whole program runs on each engine. What is found is shrunk and written to a folder; programs that
found something once are kept in `corpus/`.
"""

import os
import tempfile

# Before the backend is imported, which reads settings, and writes them where there are none.
os.environ.setdefault("KERAS_BACKEND", "numpy")
os.environ.setdefault("KERAS_HOME", os.path.join(tempfile.gettempdir(), "kameleon-fuzz"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow logs what it refuses
