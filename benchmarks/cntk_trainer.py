"""A perceptron with CNTK's own trainer; runs in CNTK's environment, with Python 3.6.

Lines of JSON come over one descriptor, with the bytes of arrays behind them: a rate and weights,
then batches. Over another one a loss goes back for each batch, and the weights when asked for.
"""

import json
import os
import sys

import cntk as C
import numpy as np


def read(stream, shape, dtype="float32"):
    """An array of the stream."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return np.frombuffer(stream.read(size), dtype).reshape(shape)


def network(weights):
    """The input, the labels, the loss and the parameters."""
    parameters = [C.parameter(init=w) for w in weights]
    x = y = C.input_variable(weights[0].shape[0])
    labels = C.input_variable(weights[-1].shape[0])
    for layer in range(0, len(parameters), 2):
        y = C.times(y, parameters[layer]) + parameters[layer + 1]
        y = C.relu(y) if layer < len(parameters) - 2 else y
    return x, labels, C.cross_entropy_with_softmax(y, labels), parameters


def main():
    """Train as long as batches come."""
    C.cntk_py.set_max_num_cputhreads(1)
    source, sink = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
    told = json.loads(source.readline().decode())
    x, labels, loss, parameters = network([read(source, s) for s in told["shapes"]])
    rate = C.learning_parameter_schedule(told["rate"], minibatch_size=told["batch"])
    trainer = C.Trainer(loss, loss, [C.sgd(parameters, rate)])
    classes = np.eye(labels.shape[0], dtype="float32")
    for line in source:
        shape = json.loads(line.decode())
        if shape:
            images = read(source, shape)
            trainer.train_minibatch({x: images, labels: classes[read(source, shape[:1], "int32")]})
            sink.write(np.float64(trainer.previous_minibatch_loss_average).tobytes())
        else:
            for p in parameters:
                sink.write(np.ascontiguousarray(p.value, "float32").tobytes())
        sink.flush()


if __name__ == "__main__":
    main()
