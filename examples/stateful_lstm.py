"""A memory that outlasts the call: an LSTM that counts modulo two, chunk after chunk.

Streams of bits come in chunks of uneven length, padded, and a Masking layer hides the padding.
After each bit, a stateful LSTM says whether the ones so far, of all chunks since reset_states,
are odd in number. It learns on streams of 16 bits, a chunk at a time, no gradient reaching back
into the chunks before. Then its weights go into a model for other batches, by set_weights, and
that reads streams of more than 100 bits.

Reached: at least 99 % of all answers on the long streams are right. With reset_states before
each chunk, no more than about half of the streams can end right: what was before is forgotten.

Source: S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997;
F. Gers, J. Schmidhuber, F. Cummins, "Learning to Forget: Continual Prediction with LSTM", Neural
Computation 12(10), 2000.
"""

import argparse
import sys

import numpy as np
from keras.layers import LSTM, Dense, Masking, TimeDistributed
from keras.models import Sequential
from keras.optimizers import Adam

PADDING = -1.0
CHUNK = 6  # bits at most in a chunk, at least one
BATCH, UNITS = 64, 16
STREAMS, CHUNKS = 80, 4  # learned from, each a batch of them
LONG_BATCH, LONG_CHUNKS = 20, 32
WANTED = 0.99


def make_chunks(streams, chunks):
    """Return bits and parities (chunks, streams, CHUNK, 1), and which are there at all."""
    shape = (chunks, streams, CHUNK, 1)
    lengths = np.random.randint(1, CHUNK + 1, (chunks, streams, 1, 1))
    there = np.arange(CHUNK)[None, None, :, None] < lengths
    bits = np.random.randint(0, 2, shape) * there
    # One stream is a column of chunks: its ones are counted through all of them.
    stream = bits.transpose(1, 0, 2, 3).reshape(streams, -1)
    odd = np.cumsum(stream, axis=1) % 2
    odd = odd.reshape(streams, chunks, CHUNK, 1).transpose(1, 0, 2, 3)
    return np.where(there, bits, PADDING).astype("float32"), odd.astype("float32"), there


def build(batch):
    """Return the model; its memory is kept from one call to the next."""
    model = Sequential()
    model.add(Masking(PADDING, batch_input_shape=(batch, CHUNK, 1)))
    model.add(LSTM(UNITS, return_sequences=True, stateful=True, name="memory"))
    model.add(TimeDistributed(Dense(1, activation="sigmoid")))
    model.compile(Adam(lr=0.02, clipvalue=1.0), loss="binary_crossentropy")
    return model


def learn(model):
    """Return the losses; a stream begins by reset_states."""
    losses = []
    for stream in range(1, STREAMS + 1):
        bits, odd, _ = make_chunks(BATCH, CHUNKS)
        model.reset_states()
        for chunk in range(CHUNKS):
            losses.append(model.train_on_batch(bits[chunk], odd[chunk]))
        if stream % 10 == 0:
            print("after %3d streams: loss %.4f" % (stream, np.mean(losses[-10 * CHUNKS :])))
    return losses


def read(model, chunks, forget=False):
    """Return what the model answers, chunk by chunk."""
    answers = []
    model.reset_states()
    for chunk in chunks:
        if forget:
            model.reset_states()
        answers.append(model.predict(chunk, batch_size=len(chunk)))
    return np.array(answers)


def draw(path, losses, right, right_forgetting, there):
    """Left, the loss while the model learns. Right, the share of right answers along streams that
    are much longer than those it learned from: with the state kept, and with reset_states before
    each chunk, where it can only guess.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle) = pyplot.subplots(1, 2, figsize=(11, 4))
    left.plot(losses)
    left.set_xlabel("chunk learned from")
    left.set_ylabel("loss")
    for name, which in (("state kept", right), ("forgetting", right_forgetting)):
        share = (which & there).sum(axis=(1, 2, 3)) / there.sum(axis=(1, 2, 3))
        middle.plot(np.arange(1, len(share) + 1), share, label=name)
    middle.set_xlabel("chunk of the long stream")
    middle.set_ylabel("right answers")
    middle.set_ylim(0.0, 1.05)
    middle.axvline(CHUNKS, linestyle=":", color="gray", label="as far as it was taught")
    middle.legend()
    figure.tight_layout()
    figure.savefig(path)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="stateful_lstm.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    np.random.seed(options.seed)

    student = build(BATCH)
    losses = learn(student)
    reader = build(LONG_BATCH)  # the size of a batch is part of a stateful model
    reader.set_weights(student.get_weights())

    bits, odd, there = make_chunks(LONG_BATCH, LONG_CHUNKS)
    right = (read(reader, bits) > 0.5) == (odd > 0.5)
    right_forgetting = (read(reader, bits, forget=True) > 0.5) == (odd > 0.5)
    draw(options.out, losses, right, right_forgetting, there)

    kept, forgetting = right[there].mean(), right_forgetting[there].mean()
    print("bits in a stream: %d on average" % there.sum(axis=(0, 2, 3)).mean())
    print("right answers when forgetting: %.4f" % forgetting)
    print("right answers: %.4f (wanted: %.2f)" % (kept, WANTED))
    return 0 if kept >= WANTED and forgetting < 0.7 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
