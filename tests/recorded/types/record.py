"""Records what types of operations give in TensorFlow 1.15, as `../tf1/record.py` does: the
subjects are the files beside this one.

    python record.py            # all subjects
    python record.py matrices   # one of them
"""

import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
script = runpy.run_path(os.path.join(os.path.dirname(HERE), "tf1", "record.py"))
globals().update({name: found for name, found in script.items() if not name.startswith("__")})

if __name__ == "__main__":
    script["main"].__globals__["HERE"] = os.path.dirname(os.path.abspath(__file__))
    script["main"](sys.argv[1:])
