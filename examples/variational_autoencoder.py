"""Handwritten digits laid out on a plane: a variational autoencoder.

An encoder gives each digit a cloud on the plane (a mean and a variance), a `Lambda` layer draws a
point from the cloud, and a decoder draws the digit from the point. The loss, added to the model by
`add_loss`, is the negative evidence lower bound: the cross-entropy of the pixels, and how far the
clouds are from a standard normal distribution (Kullback-Leibler).

Reached: a bound of at most 26 nats per held-out digit; and although no label was ever shown, like
digits lie together on the plane: what is nearest to a held-out digit among those trained on has the
same label in at least 55 % (10 % by chance).

Source: Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import Dense, Input, Lambda
from keras.losses import binary_crossentropy
from keras.models import Model
from scipy.stats import norm
from sklearn.datasets import load_digits

SIDE = 8
PIXELS = SIDE * SIDE
HELD_OUT = 360
EPOCHS, BATCH = 40, 32
BOUND_WANTED = 26.0  # nats, at most
ACCURACY_WANTED = 0.55  # at least


def sampling(arguments):
    """Draw a point from each cloud: mean + deviation * noise, so that gradients flow through."""
    z_mean, z_log_var = arguments
    noise = K.random_normal(shape=(K.shape(z_mean)[0], K.int_shape(z_mean)[1]))
    return z_mean + K.exp(0.5 * z_log_var) * noise


def build_models():
    """Return the autoencoder, its encoder (to the mean) and its decoder."""
    pixels = Input(shape=(PIXELS,), name="pixels")
    h = Dense(128, activation="relu")(pixels)
    h = Dense(64, activation="relu")(h)
    z_mean = Dense(2, name="z_mean")(h)
    z_log_var = Dense(2, name="z_log_var")(h)
    z = Lambda(sampling, output_shape=(2,), name="z")([z_mean, z_log_var])
    encoder = Model(pixels, z_mean, name="encoder")

    code = Input(shape=(2,), name="code")
    h = Dense(64, activation="relu")(code)
    h = Dense(128, activation="relu")(h)
    decoder = Model(code, Dense(PIXELS, activation="sigmoid")(h), name="decoder")

    drawn = decoder(z)
    vae = Model(pixels, drawn, name="vae")
    reconstruction = PIXELS * binary_crossentropy(pixels, drawn)
    divergence = -0.5 * K.sum(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1)
    vae.add_loss(K.mean(reconstruction + divergence))
    vae.compile(optimizer="adam")
    return vae, encoder, decoder


def same_as_nearest(codes, labels, known_codes, known_labels):
    """Return the share of codes whose nearest known code has the same label."""
    distances = ((codes[:, np.newaxis] - known_codes[np.newaxis]) ** 2).sum(axis=-1)
    return np.mean(known_labels[distances.argmin(axis=1)] == labels)


def draw(decoder, codes, labels, path):
    """Left, what the decoder draws for points of the plane, at equal steps of probability. Right,
    where the encoder puts held-out digits, in the colour of their labels, which it was never told.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # Points at equal steps of probability, so that each drawn digit stands for as many.
    steps = norm.ppf(np.linspace(0.03, 0.97, 11))
    grid = np.array([(x, y) for y in steps[::-1] for x in steps])
    digits = decoder.predict(grid).reshape(11, 11, SIDE, SIDE)
    apart = np.pad(digits, ((0, 0), (0, 0), (1, 1), (1, 1)))  # blank cells between them
    sheet = apart.transpose(0, 2, 1, 3).reshape(11 * (SIDE + 2), 11 * (SIDE + 2))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    left.imshow(sheet, cmap="gray_r")
    left.set_title("what the decoder draws over the plane")
    left.axis("off")
    points = right.scatter(
        codes[:, 0], codes[:, 1], c=labels, cmap="tab10", s=9, vmin=-0.5, vmax=9.5
    )
    right.set_title("where the encoder puts held-out digits")
    figure.colorbar(points, ticks=range(10), label="digit")
    figure.savefig(path, dpi=100)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", default="variational_autoencoder.png", help="where the picture goes"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    np.random.seed(args.seed)

    digits = load_digits()
    order = np.random.permutation(len(digits.data))
    x = (digits.data[order] / 16.0).astype("float32")
    y = digits.target[order]
    x_train, y_train, x_test, y_test = x[HELD_OUT:], y[HELD_OUT:], x[:HELD_OUT], y[:HELD_OUT]

    vae, encoder, decoder = build_models()
    vae.fit(
        x_train,
        epochs=EPOCHS,
        batch_size=BATCH,
        validation_data=(x_test, None),
        verbose=2,
    )
    # The bound is itself a matter of chance: a mean over several draws.
    bound = np.mean([vae.evaluate(x_test, None, verbose=0) for _ in range(10)])
    codes = encoder.predict(x_test)
    accuracy = same_as_nearest(codes, y_test, encoder.predict(x_train), y_train)
    draw(decoder, codes, y_test, args.out)

    print("same label as the nearest: %.4f (wanted: %.2f)" % (accuracy, ACCURACY_WANTED))
    print("bound on held-out digits: %.4f nats (wanted: at most %.1f)" % (bound, BOUND_WANTED))
    return 0 if accuracy >= ACCURACY_WANTED and bound <= BOUND_WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
