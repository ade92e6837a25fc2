"""Losses, normalization, dropout."""

from __future__ import annotations

from ..draft import Draft, Entry
from .table import Table, float_of

CALLS = Table()
call = CALLS.add


def _classes(d: Draft) -> tuple[Entry, bool]:
    """Probabilities or logits of some classes, and whether they're logits."""
    shape = (d.size(), *d.shape(0, 1), d.int(2, 4))
    logits = d.flag()
    return d.input(shape, "normal" if logits else "unit"), logits


def _distribution(d: Draft, x: Entry) -> str:
    """Targets that sum to 1: the gradient in logits, as TensorFlow's, takes it that they do."""
    return f"K.softmax({d.input(x.shape, 'unit').name})"


@call
def categorical_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    return f"K.categorical_crossentropy({_distribution(d, x)}, {x.name}, from_logits={logits})"


@call
def binary_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    target = d.input(x.shape, "bits")
    return f"K.binary_crossentropy({target.name}, {x.name}, from_logits={logits})"


@call
def sparse_categorical_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    target = d.input(x.shape[:-1], f"index {x.shape[-1]}", "'int32'")
    return f"K.sparse_categorical_crossentropy({target.name}, {x.name}, from_logits={logits})"


@call
def softmax_loss(d: Draft) -> str:
    """A crossentropy of a softmax, which the original traces back to its logits."""
    x, _ = _classes(d)
    return f"K.categorical_crossentropy({_distribution(d, x)}, K.softmax({x.name}))"


@call
def batch_normalization(d: Draft) -> str:
    x = d.float(2, 4)
    mean, gamma, beta = (float_of(d, (x.shape[-1],)).name for _ in range(3))
    var = d.input((x.shape[-1],), "positive").name
    beta, gamma = (d.choice([name, name, "None"]) for name in (beta, gamma))
    return f"K.batch_normalization({x.name}, {mean}, {var}, {beta}, {gamma}, epsilon=0.01)"


@call
def normalize_batch(d: Draft) -> str:
    x = d.float(2, 4, filled=True)
    gamma, beta = (float_of(d, (x.shape[-1],)).name for _ in range(2))
    axes = list(range(x.ndim - 1))
    return (
        f"K.normalize_batch_in_training({x.name}, {gamma}, {beta}, {axes}, epsilon=0.01)"
        f"[{d.choice([0, 0, 1])}]"
    )


@call
def in_top_k(d: Draft) -> str:
    x = d.input((d.size(), d.int(2, 5)), d.choice(["normal", "ties"]))
    target = d.input(x.shape[:1], f"index {x.shape[1]}", "'int32'")
    return f"K.cast(K.in_top_k({x.name}, {target.name}, {d.int(1, 3)}), F)"


@call
def ctc(d: Draft) -> str:
    rows, steps, classes, longest = d.int(1, 3), d.int(4, 6), d.int(3, 4), 2
    labels = d.input((rows, longest), f"index {classes - 1}")
    scores = d.input((rows, steps, classes), "unit")
    lengths = f"K.constant([[{steps}]] * {rows}, dtype='int32')"
    sizes = f"K.constant({[[d.int(1, longest)] for _ in range(rows)]}, dtype='int32')"
    return f"K.ctc_batch_cost({labels.name}, {scores.name}, {lengths}, {sizes})"
