"""One image in the style of another: neural style transfer, with SciPy's L-BFGS.

Three images run through one convolutional network at once: the content, the style, and the
combination, which is a placeholder. The combination should have the deep features of the content
and, at each layer, the style's correlations between features (Gram matrices). The loss and its
gradient with respect to the placeholder are one `K.function`; SciPy's L-BFGS does the rest.

The network isn't trained: random filters have been found good enough for textures, and here
nothing can be downloaded. Both images are drawn by the program.

Reached: the combination starts as the content; when it's done, what separates it from the style
(the style loss) is at most 5 % of what it was, and its luminance still correlates with the
content's, 0.3 or more.

Sources: Gatys, Ecker and Bethge, "Image style transfer using convolutional neural networks",
CVPR 2016; Ustyuzhaninov, Brendel, Gatys and Bethge, "Texture synthesis using shallow convolutional
networks with random filters", 2016.
"""

import argparse
import sys

import numpy as np
from keras import backend as K
from keras.layers import AveragePooling2D, Conv2D, Input
from keras.models import Model
from scipy.optimize import fmin_l_bfgs_b

SIZE = 48  # rows and columns of the images
ROUNDS = 4  # of the optimizer, each of at most 40 evaluations
STYLE_LAYERS = ("conv_1", "conv_2", "conv_3")
CONTENT_LAYER = "conv_3"
CONTENT_WEIGHT, STYLE_WEIGHT, SMOOTHNESS_WEIGHT = 0.5, 1.0, 1e-4
STYLE_WANTED = 0.05  # at most
CORRELATION_WANTED = 0.3  # at least


def content_image():
    """A red disc and a dark tower before a pale sky; shape (1, 48, 48, 3), values in 0 ... 1."""
    row, column = np.mgrid[0:SIZE, 0:SIZE] / float(SIZE)
    image = np.stack([0.9 - 0.3 * row, 0.9 - 0.2 * row, 1.0 - 0.1 * row], axis=-1)
    image[(row - 0.3) ** 2 + (column - 0.35) ** 2 < 0.03] = (0.9, 0.25, 0.15)
    image[(row > 0.35) & (np.abs(column - 0.75) < 0.1)] = (0.15, 0.15, 0.3)
    image[row > 0.85] = (0.2, 0.4, 0.15)
    return image[np.newaxis].astype("float32")


def style_image():
    """Waves in blue, ochre and white."""
    row, column = np.mgrid[0:SIZE, 0:SIZE] / float(SIZE)
    wave = np.sin(2 * np.pi * (5 * row + 0.7 * np.sin(2 * np.pi * 2 * column)))
    fine = np.sin(2 * np.pi * (9 * column + 3 * row))
    image = np.stack([0.5 + 0.4 * wave, 0.5 + 0.25 * wave + 0.1 * fine, 0.5 - 0.35 * wave], -1)
    return np.clip(image, 0.0, 1.0)[np.newaxis].astype("float32")


def build_features(images):
    """A convolutional network with random weights on a tensor of images."""
    layer_input = Input(tensor=images)
    options = dict(padding="same", activation="relu", kernel_initializer="he_normal")
    x = Conv2D(32, (7, 7), name="conv_1", **options)(layer_input)
    x = AveragePooling2D((2, 2))(x)
    x = Conv2D(48, (5, 5), name="conv_2", **options)(x)
    x = AveragePooling2D((2, 2))(x)
    x = Conv2D(64, (3, 3), name="conv_3", **options)(x)
    return Model(layer_input, x)


def gram_matrix(features):
    """Mean products of each pair of features over an image of shape (rows, columns, features)."""
    flat = K.batch_flatten(K.permute_dimensions(features, (2, 0, 1)))
    pixels = K.cast(K.shape(flat)[1], K.floatx())
    return K.dot(flat, K.transpose(flat)) / pixels


def style_loss(style, combination):
    """How far two Gram matrices are from each other, as a share of the style's own."""
    difference = K.sum(K.square(gram_matrix(style) - gram_matrix(combination)))
    return difference / K.sum(K.square(gram_matrix(style)))


def roughness(image):
    """The total variation of an image: neighbouring pixels should be alike."""
    down = K.square(image[:, 1:, :-1, :] - image[:, :-1, :-1, :])
    right = K.square(image[:, :-1, 1:, :] - image[:, :-1, :-1, :])
    return K.sum(K.pow(down + right + K.epsilon(), 0.75))


class Evaluator(object):
    """What L-BFGS asks for in two calls, loss and gradient, computed in one."""

    def __init__(self, fetch, shape):
        self.fetch = fetch
        self.shape = shape
        self.gradient = None

    def loss(self, x):
        loss, gradient = self.fetch([x.reshape(self.shape)])
        self.gradient = gradient.flatten().astype("float64")
        return float(loss)

    def gradients(self, x):
        return self.gradient


def luminance(image):
    """The brightness of each pixel, for eyes, as a list."""
    return image[0].dot([0.299, 0.587, 0.114]).ravel()


def draw(images, path):
    """The content, the style, and the combination, which has the content's places (the disc, the
    tower, the ground) and the style's waves and colours.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(images), figsize=(9, 3.3), layout="constrained")
    for axis, (name, image) in zip(axes, images):
        axis.imshow(np.clip(image[0], 0.0, 1.0))
        axis.set_title(name)
        axis.axis("off")
    figure.savefig(path, dpi=100)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="style_transfer.png", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    np.random.seed(args.seed)

    content, style = content_image(), style_image()
    combination = K.placeholder(shape=(1, SIZE, SIZE, 3))
    images = K.concatenate([K.constant(content), K.constant(style), combination], axis=0)
    features = build_features(4.0 * (images - 0.5))
    outputs = dict((layer.name, layer.output) for layer in features.layers)

    loss_of_style = K.variable(0.0)
    for name in STYLE_LAYERS:
        part = style_loss(outputs[name][1], outputs[name][2])
        loss_of_style = loss_of_style + part / len(STYLE_LAYERS)
    deep = outputs[CONTENT_LAYER]
    loss_of_content = K.mean(K.square(deep[0] - deep[2])) / K.mean(K.square(deep[0]))
    loss = CONTENT_WEIGHT * loss_of_content + STYLE_WEIGHT * loss_of_style
    loss = loss + SMOOTHNESS_WEIGHT * roughness(combination)
    gradient = K.gradients(loss, combination)[0]

    measure = K.function([combination], [loss_of_style])
    evaluator = Evaluator(K.function([combination], [loss, gradient]), content.shape)
    x = content.copy()
    first = measure([x])[0]
    for number in range(ROUNDS):
        x, value, _ = fmin_l_bfgs_b(
            evaluator.loss,
            x.flatten().astype("float64"),
            fprime=evaluator.gradients,
            maxfun=40,
            bounds=[(0.0, 1.0)] * x.size,
        )
        print("round %d: loss %.5f" % (number + 1, value))
    x = x.reshape(content.shape)
    draw([("content", content), ("style", style), ("combination", x)], args.out)

    left = measure([x])[0] / first
    correlation = np.corrcoef(luminance(x), luminance(content))[0, 1]
    print("style loss left: %.4f (wanted: at most %.2f)" % (left, STYLE_WANTED))
    print("correlation with the content: %.4f (wanted: %.2f)" % (correlation, CORRELATION_WANTED))
    return 0 if left <= STYLE_WANTED and correlation >= CORRELATION_WANTED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
