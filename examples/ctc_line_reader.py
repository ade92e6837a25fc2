"""Read lines of digits of any length: a convolutional and recurrent network trained by CTC.

A strip of 8 x 40 pixels holds two to five digits, drawn by a small font at uneven distances, in
noise. Where a digit stands is never told: connectionist temporal
classification (CTC) sums over all ways to lay the line's digits along the columns. The loss is
computed inside of the model, by a Lambda layer that calls K.ctc_batch_cost; to read, K.ctc_decode
searches for the likeliest line.

Reached: at least 95 % of new strips are read without a single mistake.

Source: A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist Temporal
Classification: Labelling Unsegmented Sequence Data with Recurrent Neural Networks", ICML 2006.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import (
    GRU,
    Bidirectional,
    Conv2D,
    Dense,
    Input,
    Lambda,
    MaxPooling2D,
    Permute,
    Reshape,
)
from keras.models import Model
from keras.optimizers import Adam

HEIGHT, WIDTH = 8, 40
SHORTEST, LONGEST = 2, 5  # digits in a strip
CLASSES = 10 + 1  # the digits, and CTC's blank, which is the last
WANTED = 0.95

# Each digit as seven rows of five pixels; a row is a number whose bits are the pixels.
FONT = [
    [14, 17, 19, 21, 25, 17, 14],
    [4, 12, 4, 4, 4, 4, 14],
    [14, 17, 1, 2, 4, 8, 31],
    [31, 2, 4, 2, 1, 17, 14],
    [2, 6, 10, 18, 31, 2, 2],
    [31, 16, 30, 1, 1, 17, 14],
    [6, 8, 16, 30, 17, 17, 14],
    [31, 1, 2, 4, 8, 8, 8],
    [14, 17, 17, 14, 17, 17, 14],
    [14, 17, 17, 15, 1, 2, 12],
]
GLYPHS = np.array([[[row >> bit & 1 for bit in (4, 3, 2, 1, 0)] for row in rows] for rows in FONT])


def draw_strips(count, random):
    """Return strips (count, height, width, 1), their digits padded with -1, and how many."""
    strips = random.normal(0.0, 0.2, (count, HEIGHT, WIDTH, 1))
    lengths = random.randint(SHORTEST, LONGEST + 1, (count, 1))
    labels = np.full((count, LONGEST), -1)
    for strip, label, (length,) in zip(strips, labels, lengths):
        label[:length] = random.randint(0, 10, length)
        left = random.randint(0, WIDTH - 8 * length + 1)
        for digit in label[:length]:
            top = random.randint(0, HEIGHT - 6)
            strip[top : top + 7, left : left + 5, 0] += GLYPHS[digit]
            left += random.randint(6, 9)
    return strips.astype("float32"), labels, lengths


def ctc_loss(arguments):
    """What the Lambda layer computes: the cost of each strip."""
    probabilities, labels, input_lengths, label_lengths = arguments
    return K.ctc_batch_cost(labels, probabilities, input_lengths, label_lengths)


def build():
    """Return the model that reads, the one that trains it, and a function that decodes."""
    strips = Input(shape=(HEIGHT, WIDTH, 1), name="strips")
    x = Conv2D(12, 3, padding="same", activation="relu")(strips)
    x = MaxPooling2D(2)(x)
    x = Conv2D(24, 3, padding="same", activation="relu")(x)
    x = MaxPooling2D((2, 1))(x)
    x = Permute((2, 1, 3))(x)  # columns become time steps
    steps = WIDTH // 2
    x = Reshape((steps, HEIGHT // 4 * 24))(x)
    x = Dense(32, activation="relu")(x)
    x = Bidirectional(GRU(32, return_sequences=True))(x)
    probabilities = Dense(CLASSES, activation="softmax", name="digits")(x)
    reader = Model(strips, probabilities)

    labels = Input(shape=(LONGEST,), name="labels")
    input_lengths = Input(shape=(1,), dtype="int32", name="input_lengths")
    label_lengths = Input(shape=(1,), dtype="int32", name="label_lengths")
    loss = Lambda(ctc_loss, output_shape=(1,), name="ctc")(
        [probabilities, labels, input_lengths, label_lengths]
    )
    trainer = Model([strips, labels, input_lengths, label_lengths], loss)
    trainer.compile(Adam(lr=0.01, clipnorm=5.0), loss={"ctc": lambda truth, computed: computed})

    (best,), _ = K.ctc_decode(
        probabilities, K.flatten(input_lengths), greedy=False, beam_width=10, top_paths=1
    )
    return reader, trainer, K.function([strips, input_lengths], [best])


def text(digits):
    """Return labels as text; -1 is padding."""
    return "".join(str(digit) for digit in digits if digit >= 0)


def draw(path, strips, readings, truths, probabilities, losses):
    """Left, three strips that are new to the network. Middle, the probabilities of the digits at
    each step along the strip: where one digit ends, the network says blank. Right, the loss.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 3, figsize=(12, 5.5), layout="constrained")
    for row in range(3):
        axes[row, 0].imshow(strips[row, :, :, 0], cmap="gray_r", aspect="auto")
        axes[row, 0].set_title("read as %s, is %s" % (readings[row], truths[row]))
        axes[row, 0].axis("off")
        axes[row, 1].imshow(probabilities[row].T, cmap="viridis", aspect="auto")
        axes[row, 1].set_xticks(range(0, WIDTH // 2, 5))
        axes[row, 1].set_yticks(range(CLASSES))
        axes[row, 1].set_yticklabels(list("0123456789-"), fontsize=8)
        axes[row, 2].remove()
    axes[0, 1].set_title("probability of each digit (-: blank)")
    axes[2, 1].set_xlabel("step along the strip")
    ax = figure.add_subplot(axes[0, 0].get_gridspec()[:, 2])
    ax.plot(range(1, len(losses) + 1), losses)
    ax.set_xlabel("epoch")
    ax.set_ylabel("CTC loss")
    figure.savefig(path)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="ctc_line_reader.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    np.random.seed(options.seed)
    random = np.random.RandomState(options.seed)

    reader, trainer, decode = build()
    strips, labels, lengths = draw_strips(1024, random)
    steps = np.full_like(lengths, WIDTH // 2)
    history = trainer.fit(
        [strips, labels, steps, lengths], np.zeros(len(strips)), 32, epochs=12, verbose=2
    )

    strips, labels, lengths = draw_strips(200, random)
    (read,) = decode([strips, steps[:200]])
    readings, truths = [text(row) for row in read], [text(row) for row in labels]
    right = np.mean([readings[i] == truths[i] for i in range(len(truths))])
    draw(options.out, strips, readings, truths, reader.predict(strips[:3]), history.history["loss"])
    print("strips read without a mistake: %.4f (wanted: %.2f)" % (right, WANTED))
    return 0 if right >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
