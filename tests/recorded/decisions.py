"""Calls whose results the originals didn't agree on, or that are at the edge of what is defined.

    KERAS_BACKEND=tensorflow python decisions.py    # or theano, cntk: writes to decisions.json

Run by Keras 2.3.1 on each of its engines. `docs/numerics.md` shows the calls, and what each gave.
"""

import json
import os
import subprocess
import sys

import numpy as np

NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def call(expression, **given):
    """A call, and the variables that it's given: a list is one of floats, an array says its dtype."""
    return {"call": expression, "given": given}


def fed(expression, **given):
    """A call whose x is a placeholder: CNTK's windows and loops need a batch that isn't known."""
    return dict(call(expression, **given), fed=True)


def slope(expression, **given):
    """The gradient of the sum of an expression with respect to x."""
    return call("K.gradients(K.sum(%s), [x])[0]" % expression, **given)


ENDED = "the process ends"
INTS = "np.array(%s, 'int32')"
TOPICS = {
    "round": [call("K.round(x)", x="[0.5, 1.5, 2.5, -0.5]")],
    "sqrt": [call("K.sqrt(x)", x="[-1, 0, inf, nan]")],
    "log": [call("K.log(x)", x="[0, -1, inf, nan]")],
    "exp": [call("K.exp(x)", x="[88, 89, -104, nan]")],
    "pow": [
        call("K.pow(x, 0.5)", x="[-4, 0, 4, nan]"),
        call("K.pow(x, 0)", x="[0, nan, inf]"),
    ],
    "div": [
        call("x / y", x="[1, -1, 0]", y="[0, 0, 0]"),
        call("x / y", x=INTS % "[7, -7]", y=INTS % "[2, 2]"),
    ],
    "floor": [
        call("x // y", x="[7, -7, 1]", y="[2, 2, 0]"),
        call("x % y", x="[7, -7, 1]", y="[2, 2, 0]"),
        call("x // y", x=INTS % "[7, -7]", y=INTS % "[2, 2]"),
        call("x % y", x=INTS % "[7, -7]", y=INTS % "[2, 2]"),
    ],
    "zero": [call("x // y", x=INTS % "[7]", y=INTS % "[0]")],
    "cast": [
        call("K.cast(x, 'int32')", x="[1.9, -1.9]"),
        call("K.cast(x, 'int32')", x="[3e9, nan]"),
        call("K.cast(x, 'uint8')", x="[300, -1]"),
        call("K.cast(x, 'bool')", x="[0.5, 0, nan]"),
        call("K.cast(x, 'float16')", x="[70000, 1e-8]"),
    ],
    "wrap": [call("x + 1", x=INTS % "[2147483647]")],
    "mean": [
        call("K.mean(x)", x=INTS % "[1, 2]"),
        call("K.var(x)", x=INTS % "[1, 2, 4]"),
        call("K.mean(x)", x="np.array([True, False])"),
    ],
    "maximum": [
        call("K.maximum(x, y)", x="[nan, 1]", y="[1, nan]"),
        call("K.max(x)", x="[1, nan, 2]"),
        call("K.min(x)", x="[1, nan, 2]"),
    ],
    "argmax": [
        call("K.argmax(x)", x="[1, nan, 2]"),
        call("K.argmax(x)", x="[1, 2, 2]"),
        call("K.argmin(x)", x="[1, 1, nan]"),
    ],
    "sign": [
        call("K.sign(x)", x="[nan, -0.0, -inf]"),
        call("K.equal(x, x)", x="[nan, inf]"),
        call("K.abs(x)", x="[nan, -0.0, -inf]"),
    ],
    "clip": [
        call("K.clip(x, 0, 1)", x="[nan, inf, -inf]"),
        call("K.clip(x, 1, 0)", x="[-1, 0.5, 2]"),
        call("K.relu(x)", x="[nan, inf, -inf]"),
        call("K.relu(x, max_value=6)", x="[nan, inf, -inf]"),
    ],
    "dot": [call("K.dot(x, y)", x="[[0, 1]]", y="[[inf], [2]]")],
    "logsumexp": [
        call("K.logsumexp(x)", x="[1000, 1000]"),
        call("K.logsumexp(x)", x="[-inf, -inf]"),
        call("K.softmax(x)", x="[[1000, 0, -1000]]"),
        call("K.softmax(x)", x="[[inf, 0]]"),
        call("K.softplus(x)", x="[-200, 100, 1000]"),
        call("K.sigmoid(x)", x="[-200, 200, nan]"),
        call("K.elu(x)", x="[-1000, inf, nan]"),
    ],
    "empty": [
        call("K.sum(x)", x="np.zeros((0,), 'float32')"),
        call("K.prod(x)", x="np.zeros((0,), 'float32')"),
        call("K.mean(x)", x="np.zeros((0,), 'float32')"),
        call("K.max(x)", x="np.zeros((0,), 'float32')"),
        call("K.argmax(x)", x="np.zeros((0,), 'float32')"),
        call("K.all(x)", x="np.zeros((0,), 'bool')"),
    ],
    "std": [
        call("K.std(x)", x="[3, 3]"),
        slope("K.std(x)", x="[3, 3]"),
        call("K.l2_normalize(x, 0)", x="[0, 0]"),
        slope("K.l2_normalize(x, 0)", x="[0, 0]"),
    ],
    "relu": [
        slope("K.relu(x)", x="[-1, 0, 1]"),
        slope("K.relu(x, 0.25)", x="[-1, 0, 1]"),
        slope("K.relu(x, max_value=1)", x="[0, 0.5, 1]"),
        slope("K.elu(x)", x="[-1, 0, 1]"),
    ],
    "abs": [slope("K.abs(x)", x="[-2, 0, 2]")],
    "clip_slope": [
        slope("K.clip(x, 0, 1)", x="[-1, 0, 0.5, 1, 2]"),
        slope("K.hard_sigmoid(x)", x="[-2.5, 0, 2.5]"),
    ],
    "ties": [
        slope("K.max(x)", x="[2, 2, 1]"),
        slope("K.maximum(x, y)", x="[1, 2]", y="[1, 1]"),
        slope("K.pool2d(K.reshape(x, (1, 2, 2, 1)), (2, 2))", x="[5, 5, 5, 5]"),
    ],
    "root": [slope("K.sqrt(x)", x="[0, 4]")],
    "prod": [
        slope("K.prod(x)", x="[2, 0, 3]"),
        slope("K.cumprod(x)", x="[2, 0, 3]"),
    ],
    "none": [call("K.gradients(K.sum(y), [x])[0]", x="[1, 2]", y="[3, 4]")],
    "flat": [slope("K.round(x)", x="[1, 2]")],
    "certain": [
        call("K.binary_crossentropy(x, y)", x="[0, 1, 1]", y="[1, 0, 1]"),
        call("K.categorical_crossentropy(x, y)", x="[[0, 1]]", y="[[1, 0]]"),
        call("K.categorical_crossentropy(x, K.softmax(y))", x="[[0, 1]]", y="[[60, 0]]"),
        call("K.binary_crossentropy(x, K.sigmoid(y))", x="[0]", y="[60]"),
        call("K.categorical_crossentropy(x, y)", x="[[0, 1]]", y="[[1, 3]]"),
        call("K.sparse_categorical_crossentropy(x, y)", x="[1]", y="[[1, 3]]"),
    ],
    "in_top_k": [
        call("K.in_top_k(x, y, 1)", x="[[1, 1]]", y=INTS % "[1]"),
        call("K.in_top_k(x, y, 1)", x="[[1, nan]]", y=INTS % "[1]"),
    ],
    "variance": [
        call(
            "K.normalize_batch_in_training(x, y, z, [0])[2]",
            x="[[1], [2], [3], [4]]",
            y="[1]",
            z="[0]",
        ),
        call(
            "K.normalize_batch_in_training(K.reshape(x, (4, 1, 1, 1)), y, z, [0, 1, 2])[2]",
            x="[[1], [2], [3], [4]]",
            y="[1]",
            z="[0]",
        ),
        call("K.var(x)", x="[1, 2, 3, 4]"),
    ],
    "dropout": [call("K.max(K.dropout(x, 0.2, seed=1))", x="np.ones((100,), 'float32')")],
    "mirrored": [
        fed(
            "K.conv1d(x, y, padding='same')",
            x="np.reshape([0, 1, 0], (1, 3, 1))",
            y="np.reshape([1, 2, 3], (3, 1, 1))",
        ),
        fed(
            "K.conv2d_transpose(x, y, (1, 1, 5, 1))",
            x="np.reshape([0, 1, 0], (1, 1, 3, 1))",
            y="np.reshape([1, 2, 3], (1, 3, 1, 1))",
        ),
        fed(
            "K.depthwise_conv2d(x, y)",
            x="np.reshape([0, 1, 10, 100], (1, 1, 4, 1))",
            y="np.reshape([1, 2, 3], (1, 3, 1, 1))",
        ),
    ],
    "same": [
        fed(
            "K.conv2d(x, y, padding='same')",
            x="np.reshape([1, 10, 100, 1000], (1, 1, 4, 1))",
            y="np.ones((1, 2, 1, 1), 'float32')",
        ),
        fed(
            "K.conv2d(x, y, strides=(2, 2), padding='same')",
            x="np.reshape([1, 10, 100, 1000], (1, 1, 4, 1))",
            y="np.ones((1, 3, 1, 1), 'float32')",
        ),
        fed(
            "K.pool2d(x, (1, 2), (1, 2), 'same', pool_mode='avg')",
            x="np.reshape([2, 4, 6, 8, 10], (1, 1, 5, 1))",
        ),
        fed(
            "K.pool2d(x, (1, 2), (1, 2), 'same', pool_mode='max')",
            x="np.reshape([-2, -4, -6, -8, -10], (1, 1, 5, 1))",
        ),
    ],
    "resize": [
        fed(
            "K.resize_images(x, 1, 2, 'channels_last')",
            x="np.reshape([0, 1], (1, 1, 2, 1))",
        ),
        fed(
            "K.resize_images(x, 1, 2, 'channels_last', interpolation='bilinear')",
            x="np.reshape([0, 1], (1, 1, 2, 1))",
        ),
    ],
    "gather": [
        call("K.gather(x, y)", x="[1, 2]", y=INTS % "[5]"),
        call("K.gather(x, y)", x="[1, 2]", y=INTS % "[-1]"),
        call("K.one_hot(x, 2)", x=INTS % "[0, 5, -1]"),
    ],
    "slice": [call("K.slice(x, [1], [-1])", x="[1, 2, 3]")],
    "rnn": [
        fed(
            "K.rnn(lambda i, s: (i + s[0], [i + s[0]]), x, [z], mask=y)[1]",
            x="np.reshape([1, 2, 3, 4], (1, 4, 1))",
            y="np.reshape([0, 1, 0, 1], (1, 4))",
            z="[[10]]",
        )
    ],
    "ctc": [
        call(
            "K.ctc_batch_cost(x, y, z, w)",
            x=INTS % "[[0, 0]]",
            y="[[[0.7, 0.2, 0.1]]]",
            z=INTS % "[[1]]",
            w=INTS % "[[1]]",
        ),
        call(
            "K.ctc_batch_cost(x, y, z, w)",
            x=INTS % "[[0, 0]]",
            y="[[[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]]]",
            z=INTS % "[[2]]",
            w=INTS % "[[1]]",
        ),
        call(
            "K.ctc_decode(y, z)[0][0]",
            y="[[[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.7, 0.2, 0.1]]]",
            z="np.array([3], 'int32')",
        ),
    ],
    "seed": [
        call("K.random_uniform((3,), seed=1)"),
        call("K.random_normal((3,), seed=1)"),
    ],
    "truncated": [call("K.max(K.abs(K.truncated_normal((10000,), seed=1))) <= 2")],
}


def text_of(question):
    """A question on one line: the variables it's given, and the call."""
    given = ["%s = %s" % item for item in question["given"].items()]
    return "; ".join(given + [question["call"]])


def questions():
    """All questions, in order."""
    return [question for topic in TOPICS.values() for question in topic]


def shown(value):
    """A value as text, with up to six digits, without axes of size 1."""
    if value is None:
        return "None"
    found = np.squeeze(np.asarray(value))
    if found.ndim:
        return "[%s]" % ", ".join(shown(x) for x in found)
    return "%.6g" % found if found.dtype.kind == "f" else str(found.item())


def is_float(text):
    return text.startswith(("[", "np.reshape"))


def values_of(question):
    """The values of the variables, by name."""
    names = dict(NUMBERS, np=np)
    found = {name: np.array(eval(text, names)) for name, text in question["given"].items()}
    return {
        name: value.astype("float32") if is_float(question["given"][name]) else value
        for name, value in found.items()
    }


def built(K, question):
    """What a call gives, and the placeholder with its value, if there is one."""
    names, feed = dict(NUMBERS, K=K, np=np), {}
    for name, value in values_of(question).items():
        if name == "x" and question.get("fed"):
            names[name] = K.placeholder((None,) + value.shape[1:])
            feed = {names[name]: value}
        else:
            names[name] = K.variable(value, dtype=value.dtype.name)
    return eval(question["call"], names), feed


def answer(K, question):
    """What a call gives, as text; of an error its class."""
    try:
        value, feed = built(K, question)
        if feed:
            return shown(K.function(list(feed), [value])(list(feed.values()))[0])
        return shown(value if value is None or isinstance(value, np.ndarray) else K.eval(value))
    except Exception as error:
        return type(error).__name__


def gradients_of_cntk(loss, variables):
    """Values of gradients: Keras's own are for optimizers alone there. CNTK wants an input."""
    import cntk

    one = cntk.input_variable(1)
    found = (cntk.reduce_sum(loss) + 0 * cntk.reduce_sum(one)).grad({one: [[0]]}, wrt=variables)
    return [np.asarray(found[x] if isinstance(found, dict) else found) for x in variables]


def ask(first):
    """Print the answers to the questions from the first one on: a line of JSON for each."""
    from keras import backend as K

    if K.backend() == "cntk":
        K.gradients = gradients_of_cntk
    for question in questions()[first:]:
        print("> " + json.dumps(answer(K, question)))
        sys.stdout.flush()


def answers():
    """All answers. Some calls end the process: then another one goes on behind them."""
    found = []
    while len(found) < len(questions()):
        command = [sys.executable, __file__, str(len(found))]
        lines = subprocess.run(command, stdout=subprocess.PIPE).stdout.decode().split("\n")
        found += [json.loads(line[2:]) for line in lines if line.startswith("> ")]
        if len(found) < len(questions()):
            print(text_of(questions()[len(found)]) + ": the process has ended")
            found.append(ENDED)
    return found


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decisions.json")
    with open(path) as file:
        known = json.load(file)
    found = {}
    for question, given in zip(questions(), answers()):
        text = text_of(question)
        found[text] = dict(known.get(text, {}), **{os.environ["KERAS_BACKEND"]: given})
        print("%s -> %s" % (text, given))
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    ask(int(sys.argv[1])) if sys.argv[1:] else main()
