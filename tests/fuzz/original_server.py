"""Runs programs on the original Keras 2.3.1; started with an older Python that has it.

Programs come as lines of JSON; the values of their outputs go back the same way. Nothing of
Kameleon is imported here, and nothing that this file's older Python doesn't have.
"""

import json
import os
import sys
import warnings

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")
from keras import backend as K  # noqa: E402


class Program:
    """What the lines of a program made."""

    def __init__(self, value):
        self.inputs, self.feeds, self.variables, self.outputs = [], [], [], []
        self.names = {
            "K": K, "np": np, "value": value, "given": self.given, "state": self.state,
            "give": lambda *tensors: self.outputs.extend(tensors), "update": lambda update: None,
        }  # fmt: skip

    def given(self, shape, array, dtype):
        self.inputs.append(K.placeholder(shape, dtype=dtype))
        self.feeds.append(array.astype(dtype))
        return self.inputs[-1]

    def state(self, array, dtype):
        return K.variable(array, dtype=dtype)

    def run(self, text):
        exec(compile(text, "<program>", "exec"), self.names)
        return K.function(self.inputs, self.outputs)(self.feeds)


def values_of(folder):
    """The function `value` of programs, whose numbers come from files of the other side."""

    def value(shape, kind, seed):
        name = "-".join(map(str, (*shape, kind.replace(" ", "_"), seed)))
        return np.load(os.path.join(folder, name + ".npy"))

    return value


def answer(request):
    K.clear_session()
    K.set_floatx("float32")
    try:
        made = Program(values_of(request["folder"])).run(request["text"])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    for i, array in enumerate(made):
        np.save(os.path.join(request["folder"], f"output-{i}.npy"), array)
    return {"outputs": len(made)}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the libraries print, too
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
