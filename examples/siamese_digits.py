"""Which digits are alike? A siamese network lays handwritten digits out on a plane.

Both images of a pair go through the same layers, to two points on a plane; a Lambda layer
measures the distance between them. The contrastive loss pulls pairs of the same digit together
and pushes others apart, out to a margin. The network is told of pairs alone, never which digit an
image shows; and yet, on the plane, each digit gets a place of its own.

Reached: "nearer than half of the margin" says rightly in at least 95 % of pairs of held-out images
whether they show the same digit.

Source: R. Hadsell, S. Chopra, Y. LeCun, "Dimensionality Reduction by Learning an Invariant
Mapping", CVPR 2006.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import Dense, Dropout, Input, Lambda
from keras.models import Model, Sequential
from keras.optimizers import Adam
from sklearn.datasets import load_digits

SIDE = 8
DIGITS = 6  # a plane has room for so many at a margin's distance from each other
HELD_OUT = 300
MARGIN = 1.0
EPOCHS, BATCH = 20, 64
WANTED = 0.95


def euclidean_distance(points):
    """Return the distance between two points, for each pair of a batch."""
    a, b = points
    squares = K.sum(K.square(a - b), axis=1, keepdims=True)
    return K.sqrt(K.maximum(squares, K.epsilon()))  # a root's slope at 0 would be infinite


def distance_shape(shapes):
    """The shape of what the layer gives, which Keras 2 asks for."""
    return (shapes[0][0], 1)


def contrastive_loss(same, distance):
    """Return the loss: like pairs should be near, others at least the margin apart."""
    near = K.square(distance)
    far = K.square(K.maximum(MARGIN - distance, 0.0))
    return K.mean(same * near + (1.0 - same) * far)


def accuracy(same, distance):
    """Return the share of pairs that are told rightly by half of the margin."""
    said = K.cast(distance < 0.5 * MARGIN, K.dtype(same))
    return K.mean(K.equal(same, said))


def build():
    """Return the network that is shared by both sides, and the model of pairs."""
    place = Sequential(name="place")
    place.add(Dense(64, activation="relu", input_shape=(SIDE * SIDE,)))
    place.add(Dropout(0.1))
    place.add(Dense(64, activation="relu"))
    place.add(Dropout(0.1))
    place.add(Dense(2))

    left = Input(shape=(SIDE * SIDE,), name="left")
    right = Input(shape=(SIDE * SIDE,), name="right")
    distance = Lambda(euclidean_distance, output_shape=distance_shape, name="distance")(
        [place(left), place(right)]
    )
    pairs = Model([left, right], distance)
    pairs.compile(loss=contrastive_loss, optimizer=Adam(lr=0.002), metrics=[accuracy])
    return place, pairs


def make_pairs(images, labels, per_image):
    """Return two stacks of images, and whether they show the same: as often as not."""
    members = [np.flatnonzero(labels == digit) for digit in range(DIGITS)]
    first = np.tile(np.arange(len(images)), per_image)
    same = np.arange(len(first)) % 2
    others = (labels[first] + np.random.randint(1, DIGITS, len(first))) % DIGITS
    wanted = np.where(same, labels[first], others)
    second = np.array([np.random.choice(members[digit]) for digit in wanted])
    return images[first], images[second], same.astype("float32")


def draw(path, points, labels, distances, same):
    """Left, each held-out digit where the network puts it on the plane. Right, how far the two
    images of a pair are from each other: pairs of the same digit lie left of the line.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (plane, histogram) = pyplot.subplots(1, 2, figsize=(11, 5))
    for digit in range(DIGITS):
        x, y = points[labels == digit].T
        plane.scatter(x, y, s=12, label=str(digit))
    plane.set_title("held-out digits on the plane")
    plane.set_aspect("equal", "datalim")
    plane.legend(title="digit", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    bins = np.linspace(0, distances.max(), 40)
    histogram.hist(distances[same == 1], bins, alpha=0.7, label="the same digit")
    histogram.hist(distances[same == 0], bins, alpha=0.7, label="different digits")
    histogram.axvline(0.5 * MARGIN, color="black", label="half of the margin")
    histogram.set_title("held-out pairs")
    histogram.set_xlabel("distance in a pair")
    histogram.set_ylabel("pairs")
    histogram.legend()
    figure.tight_layout()
    figure.savefig(path)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="siamese_digits.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    np.random.seed(options.seed)

    images, labels = load_digits(n_class=DIGITS, return_X_y=True)
    order = np.random.permutation(len(images))
    images, labels = (images[order] / 16.0).astype("float32"), labels[order]
    left, right, same = make_pairs(images[HELD_OUT:], labels[HELD_OUT:], per_image=4)

    place, pairs = build()
    pairs.fit([left, right], same, batch_size=BATCH, epochs=EPOCHS, verbose=2)

    images, labels = images[:HELD_OUT], labels[:HELD_OUT]
    left, right, same = make_pairs(images, labels, per_image=4)
    loss, right_pairs = pairs.evaluate([left, right], same, batch_size=300, verbose=0)
    distances = pairs.predict([left, right])[:, 0]
    draw(options.out, place.predict(images), labels, distances, same)
    print("loss on held-out pairs: %.4f" % loss)
    print("pairs told rightly: %.4f (wanted: %.2f)" % (right_pairs, WANTED))
    return 0 if right_pairs >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
