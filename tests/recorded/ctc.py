"""Records what `K.ctc_batch_cost` of the original returns for random samples.

    python ctc.py ctc.npz

Samples come in groups of one shape; the names of a group's arrays begin with its number. Each
sample is computed by a call of its own, since one bad sample makes the whole call fail; the good
samples are computed together once more, to see that they don't depend on each other.

| array | of each sample of the group |
|---|---|
| `pred` | (steps, classes) uint8; predictions are `pred / 255` in float32, not normalised |
| `labels` | (longest,) |
| `steps`, `counts` | the input length and the label length |
| `outcome` | a number in `OUTCOMES` |
| `cost`, `slope` | the cost, and its gradient with respect to the predictions; 0 where it raised |
"""

import os
import sys

import numpy as np

# What the original did: it returned a value, or raised an error that has these words.
OUTCOMES = (
    "",
    "following a null label",
    "nonnegative",
    "Not enough time",
    "Labels length is zero",
    "sequence_length",  # the input length is beyond the steps
    "seq_len",  # or negative
)
EACH = 160
GROUPS = (  # steps, classes, longest sequence of labels
    (1, 2, 1), (1, 3, 2), (2, 2, 2), (2, 3, 2), (3, 2, 3), (3, 3, 2), (3, 3, 3), (4, 3, 2),
    (4, 5, 3), (5, 2, 2), (5, 3, 3), (5, 5, 4), (6, 3, 3), (6, 5, 3), (7, 3, 4), (7, 5, 4),
    (8, 3, 3),
)  # fmt: skip


def random_labels(rng, longest, blank):
    """Labels with many repeats; often blanks follow, seldom a blank or no label is among them."""
    labels = rng.randint(0, blank, longest)
    for i in range(1, longest):
        if rng.rand() < 0.4:
            labels[i] = labels[i - 1]
    kind = rng.rand()
    if kind < 0.4:
        labels[rng.randint(longest) :] = blank + (0 if rng.rand() < 0.9 else rng.randint(5))
    elif kind < 0.5:
        labels[rng.randint(longest)] = rng.choice([blank, blank, -1, -7])
    return labels


def random_length(rng, most, least):
    """Mostly from `least` to `most`, and often one of the two; seldom out of bounds."""
    kind = rng.rand()
    if kind < 0.03:
        return rng.choice([-1, -2])
    if kind < 0.4:
        return most
    return rng.randint(0 if kind < 0.5 else min(least, most), most + 1)


def random_sample(rng, time, classes, longest):
    """Arguments of one sample; a label length is never beyond the labels."""
    labels = random_labels(rng, longest, classes - 1)
    count = random_length(rng, longest, 1)
    steps = random_length(rng, time, count)
    if rng.rand() < 0.02:
        steps = time + 1
    pred = 255 * rng.dirichlet(np.full(classes, rng.choice([0.3, 1.0, 5.0])), time)
    return labels, np.ceil(pred).astype("uint8"), steps, count


def recorder():
    """A function of arrays with a first axis of samples, that returns the cost and its gradient."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from keras import backend as K

    y = K.placeholder((None, None, None))
    labels = K.placeholder((None, None), dtype="int32")
    lengths = [K.placeholder((None, 1), dtype="int32") for _ in range(2)]
    cost = K.ctc_batch_cost(labels, y, *lengths)
    fetched = [cost, K.gradients(cost, [y])[0]]

    def record(labels_, pred, steps, counts):
        fed = {y: np.float32(pred) / np.float32(255), labels: labels_}
        fed.update(zip(lengths, (np.reshape(steps, (-1, 1)), np.reshape(counts, (-1, 1)))))
        # K.function mixes up its inputs here, as TensorFlow takes them out of the graph.
        return K.get_session().run(fetched, fed)

    return record


def outcome(record, sample):
    """The number in `OUTCOMES` and the results of one sample."""
    try:
        cost, slope = record(*(np.asarray(x)[None] for x in sample))
    except Exception as error:
        first = str(error).partition("\n")[0]
        (number,) = [n for n, words in enumerate(OUTCOMES) if words and words in first]
        return number, np.float32(0), np.zeros(sample[1].shape, "float32")
    return 0, cost[0, 0], slope[0]


def record_group(record, rng, shape):
    """The arrays of one group."""
    samples = [random_sample(rng, *shape) for _ in range(EACH)]
    labels, pred, steps, counts = (np.array(x) for x in zip(*samples))
    steps[(steps == 1) & (labels[:, 0] >= shape[1] - 1)] = 0  # else Keras writes out of bounds
    samples = list(zip(labels, pred, steps, counts))
    number, cost, slope = (np.array(x) for x in zip(*(outcome(record, s) for s in samples)))
    fine = number == 0
    together = record(labels[fine], pred[fine], steps[fine], counts[fine])
    np.testing.assert_allclose(together[0][:, 0], cost[fine], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(together[1], slope[fine], rtol=1e-5, atol=1e-6)
    small = {"labels": labels, "steps": steps, "counts": counts, "outcome": number}
    arrays = {name: x.astype("int8") for name, x in small.items()}
    return dict(arrays, pred=pred, cost=cost, slope=slope)


def main(path):
    """Record all groups into a file; say how often the original did what."""
    record, rng = recorder(), np.random.RandomState(0)
    arrays, seen = {}, np.zeros(len(OUTCOMES), int)
    for i, shape in enumerate(GROUPS):
        group = record_group(record, rng, shape)
        seen += np.bincount(group["outcome"], minlength=len(OUTCOMES))
        arrays.update({f"{i}_{name}": x for name, x in group.items()})
    np.savez_compressed(path, **arrays)
    print(dict(zip(OUTCOMES, seen)), seen.sum())


if __name__ == "__main__":
    main(sys.argv[1])
