"""Where does a network look? Grad-CAM, on images whose answer is known.

Each image holds two different shapes out of four (a disc, a ring, a cross, a square) somewhere on
a noisy ground. The network is told only which shapes there are, never where. Grad-CAM then asks for
the places that count: the gradient of a class's score with respect to the maps of the last
convolution says how much each map speaks for that class, and the maps so weighted, summed and cut
at zero are a heat map over the image: another one for each class.

Reached: of the shapes in held-out images, at least 95 % are named rightly, and in at least 80 % the
hottest place lies in the box of the shape asked for, which is a tenth of the image.

Source: Selvaraju, Cogswell, Das, Vedantam, Parikh and Batra, "Grad-CAM: visual explanations from
deep networks via gradient-based localization", ICCV 2017; the pointing game is of Zhang, Lin,
Brandt, Shen and Sclaroff, "Top-down neural attention by excitation backprop", ECCV 2016.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import Activation, Conv2D, Dense, GlobalMaxPooling2D, Input, MaxPooling2D
from keras.models import Model
from keras.optimizers import Adam
from keras.utils import to_categorical

SIZE = 28  # rows and columns of an image
SHAPE = 9  # rows and columns of a shape in it
NAMES = ("disc", "ring", "cross", "square")
ACCURACY_WANTED = 0.95
POINTED_WANTED = 0.8


def stencils():
    """Return the shapes, as an array of shape (4, 9, 9) of zeros and ones."""
    row, column = np.mgrid[-4:5, -4:5]
    radius = np.sqrt(row**2 + column**2)
    disc = radius <= 4.2
    ring = disc & (radius >= 2.5)
    cross = (np.abs(row) <= 1) | (np.abs(column) <= 1)
    square = np.maximum(np.abs(row), np.abs(column)) >= 3
    return np.array([disc, ring, cross, square], dtype="float32")


def make_images(count):
    """Return images, shape (count, 28, 28, 1), and of the two shapes in each, labels and corners.

    Labels have shape (count, 2); corners, (count, 2, 2), are rows and columns.
    """
    shapes = stencils()
    images = np.random.normal(0.0, 0.25, (count, SIZE, SIZE, 1)).astype("float32")
    labels = np.array([np.random.permutation(len(NAMES))[:2] for _ in range(count)])
    corners = np.random.randint(0, SIZE - SHAPE + 1, (count, 2, 2))
    corners[:, :, 1] = np.random.randint(0, SIZE // 2 - SHAPE + 1, (count, 2))
    corners[:, 1, 1] += SIZE // 2  # one in the left half, one in the right
    for image, pair, places in zip(images, labels, corners):
        for label, (top, left) in zip(pair, places):
            image[top : top + SHAPE, left : left + SHAPE, 0] += shapes[label]
    return images, labels, corners


def build_model():
    """Return the network: each of its outputs says whether an image holds that shape."""
    image = Input(shape=(SIZE, SIZE, 1))
    x = Conv2D(8, (3, 3), padding="same", activation="relu")(image)
    x = MaxPooling2D((2, 2))(x)
    x = Conv2D(16, (3, 3), padding="same", activation="relu")(x)
    x = Conv2D(32, (3, 3), padding="same", activation="relu", name="last_conv")(x)
    x = GlobalMaxPooling2D()(x)
    x = Dense(len(NAMES), name="scores")(x)
    model = Model(image, Activation("sigmoid")(x))
    model.compile(optimizer=Adam(lr=5e-3), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def heat_function(model):
    """Return a function of images and one-hot classes that gives heat maps, one per image."""
    maps = model.get_layer("last_conv").output
    chosen = K.placeholder(shape=(None, len(NAMES)))
    # The scores before the sigmoid: the probability of a class that's sure has no slope left.
    score = K.sum(model.get_layer("scores").output * chosen)
    gradient = K.gradients(score, maps)[0]
    weights = K.mean(gradient, axis=(1, 2), keepdims=True)
    return K.function([model.input, chosen], [K.relu(K.sum(weights * maps, axis=-1))])


def enlarge(heat):
    """Return the heat maps in the size of the images, each 1 where it's hottest."""
    heat = np.kron(heat, np.ones((1, 2, 2)))
    return heat / (heat.max(axis=(1, 2), keepdims=True) + K.epsilon())


def on_the_shape(heat, corners):
    """Return for each heat map whether its hottest place lies in the box of the shape."""
    places = heat.reshape(len(heat), -1).argmax(axis=1)
    found = np.stack(np.unravel_index(places, heat.shape[1:]), axis=1)
    return np.all((found >= corners) & (found < corners + SHAPE), axis=1)


def draw(images, labels, heats, path):
    """Above, eight images. Below each, where the network sees the one shape, and where it sees the
    other: red is hottest. The network was never told where a shape is.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (1.3 * len(images), 4.8)
    figure, axes = plt.subplots(3, len(images), figsize=size, layout="constrained")
    for column, image in enumerate(images):
        for axis in axes[:, column]:
            axis.imshow(image[:, :, 0], cmap="gray")
            axis.axis("off")
        for which in (0, 1):
            axes[1 + which, column].imshow(heats[which][column], cmap="jet", alpha=0.5)
            axes[1 + which, column].set_title(NAMES[labels[column, which]])
    figure.suptitle("Images, and where the network sees the shape named")
    figure.savefig(path, dpi=100)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="grad_cam.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    np.random.seed(args.seed)

    x_train, labels, _ = make_images(1600)
    y_train = to_categorical(labels, len(NAMES)).sum(axis=1)
    model = build_model()
    model.fit(x_train, y_train, batch_size=32, epochs=6, verbose=2)

    x_test, labels, corners = make_images(400)
    y_test = to_categorical(labels, len(NAMES)).sum(axis=1)
    accuracy = model.evaluate(x_test, y_test, verbose=0)[1]

    heat_of = heat_function(model)
    heats = [
        enlarge(heat_of([x_test, to_categorical(labels[:, which], len(NAMES))])[0])
        for which in (0, 1)
    ]
    pointed = np.mean([on_the_shape(heats[which], corners[:, which]) for which in (0, 1)])
    draw(x_test[:8], labels, heats, args.out)

    print("accuracy on held-out images: %.4f (wanted: %.2f)" % (accuracy, ACCURACY_WANTED))
    print("hottest place on the shape: %.4f (wanted: %.2f)" % (pointed, POINTED_WANTED))
    return 0 if accuracy >= ACCURACY_WANTED and pointed >= POINTED_WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
