"""Which function's page has which figure. What a figure shows is computed by K when it's drawn."""

from __future__ import annotations

from typing import NamedTuple


class Drawing(NamedTuple):
    """A figure.

    Attributes:
        maker: the function of `docs.building.figures` that draws it: `module.function`.
        subject: what that function is told: mostly the name of a function of K.
        caption: what the figure shows, also to those who don't see it.
    """

    maker: str
    subject: str
    caption: str

    @property
    def file(self) -> str:
        """Its name."""
        return f"{self.maker.replace('.', '-')}-{self.subject}"


CURVE = "The function (solid) and its gradient (dashed)."
WINDOWS = (
    "Which cells of the input each place of the output sees, along one axis: for an input of six"
    " cells and a window of three, with both kinds of padding, and with strides 1 and 2. Dashed"
    " cells are padding."
)
TRANSPOSED = (
    "Where each cell of the input goes, along one axis, for a window of three and strides of 2."
    " Where windows overlap, the products are added."
)
LOSS = "The loss of one prediction, by the probability that it gives to the right answer."
HISTOGRAM = "A histogram of 20,000 numbers."
RESIZED = "A small image, and the same image with three times as many rows and columns."

DRAWINGS: dict[str, Drawing] = {
    **{
        name: Drawing("curves.activation", name, CURVE)
        for name in ("relu", "elu", "softplus", "softsign", "sigmoid", "hard_sigmoid", "tanh")
    },
    "softmax": Drawing(
        "curves.softmax",
        "softmax",
        "Three numbers (left), and their softmax (right): positive numbers with the sum 1.",
    ),
    "binary_crossentropy": Drawing(
        "curves.binary_loss",
        "binary_crossentropy",
        "The loss of one prediction by its probability, for the targets 1 (solid) and 0 (dashed).",
    ),
    **{
        name: Drawing("curves.categorical_loss", "categorical_crossentropy", LOSS)
        for name in ("categorical_crossentropy", "sparse_categorical_crossentropy")
    },
    "conv1d": Drawing(
        "windows.causal",
        "conv1d",
        "Which cells of the input each place of the output sees, for an input of six cells and a"
        " window of three: with each kind of padding, and with a dilation of 2. Dashed cells are"
        " padding.",
    ),
    **{
        name: Drawing("windows.strided", "conv", WINDOWS)
        for name in ("conv2d", "conv3d", "depthwise_conv2d", "separable_conv1d", "separable_conv2d")
    },
    **{name: Drawing("windows.strided", "conv", WINDOWS) for name in ("pool2d", "pool3d")},
    **{
        name: Drawing("windows.transposed", "conv", TRANSPOSED)
        for name in ("conv2d_transpose", "conv3d_transpose")
    },
    "resize_images": Drawing("images.resized", "resize_images", RESIZED),
    "dropout": Drawing(
        "images.dropped",
        "dropout",
        "What dropout makes of ones, at the level 0.5: for each element by itself (left), and with"
        " one decision for each row (right). Empty cells are 0, filled ones are 2.",
    ),
    "rnn": Drawing(
        "sequences.masked",
        "rnn",
        "A step function that adds its input to its state, over two sequences of six steps. Crossed"
        " steps are masked: the state stays, and the last output is repeated.",
    ),
    "ctc_batch_cost": Drawing(
        "sequences.alignments",
        "ctc_batch_cost",
        "All alignments of the labels a, b to five steps. Each path from the left to the right is"
        " an alignment; the probabilities of all paths are added. The sign for the blank is –.",
    ),
    "ctc_decode": Drawing(
        "sequences.decoded",
        "ctc_decode",
        "Probabilities of two labels and the blank in eight steps: the darker, the larger. Dots are"
        " the best class of each step. Repetitions are merged, then blanks are dropped: the text is"
        " a, b.",
    ),
    **{
        name: Drawing("samples.histogram", name, HISTOGRAM)
        for name in ("random_normal", "random_uniform", "truncated_normal", "random_binomial")
    },
    "random_normal_variable": Drawing("samples.histogram", "random_normal", HISTOGRAM),
    "random_uniform_variable": Drawing("samples.histogram", "random_uniform", HISTOGRAM),
}
