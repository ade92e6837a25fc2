"""Costs over some of many classes: noise contrastive estimation, sampled softmax, samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..backend.calling import call
from ..compat.tensorflow.arithmetic import candidates
from ..compat.tensorflow.arithmetic.candidates import Sampler
from ..errors import ArgumentError
from .networks import look_up


class Candidates(NamedTuple):
    """Classes that were drawn, and how often the true ones and they were to be expected."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


# Samplers -----------------------------------------------------------------------------------


def _drawn(
    sampler: Sampler, true_classes: Any, num_sampled: int, unique: bool, seed: int | None
) -> Candidates:
    """Classes drawn on the host."""
    if unique and num_sampled > sampler.count:
        raise ArgumentError(
            f"{num_sampled} different classes can't be drawn of {sampler.count} (unique=True)"
        )
    generator: Any = np.random if seed is None else np.random.RandomState(seed)

    def run(true: Any) -> list[np.ndarray]:
        return sampler.drawn(generator, true, num_sampled, unique)

    classes = K.cast(as_tensor(true_classes, "true_classes"), "int64")
    made = call(
        run, [classes], "numpy", pure=False,
        shapes=[(num_sampled,), classes.type.shape, (num_sampled,)],
        dtypes=["int64", "float32", "float32"],
        gradient=lambda *given: [None],
    )  # fmt: skip
    return Candidates(*made)


def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int | None = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Classes drawn the more often, the smaller they are: by Zipf's law.

    The probability of class c is (log(c + 2) - log(c + 1)) / log(range_max + 1).
    """
    return _drawn(candidates.log_uniform(range_max), true_classes, num_sampled, unique, seed)


def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    seed: int | None = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Classes drawn with equal probability."""
    return _drawn(candidates.uniform(range_max), true_classes, num_sampled, unique, seed)


def fixed_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0,
    num_shards: int = 1, shard: int = 0, unigrams: Sequence[float] = (), seed: int | None = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Classes drawn by given weights, each to the power of `distortion`.

    Args:
        vocab_file, num_shards, shard: aren't there; give `unigrams`.
        num_reserved_ids: so many first classes, without a weight, are never drawn.
    """
    if vocab_file or num_shards != 1 or not len(unigrams):
        raise ArgumentError("fixed_unigram_candidate_sampler: give the weights as `unigrams`")
    try:
        sampler = candidates.unigrams(range_max, unigrams, distortion, num_reserved_ids)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return _drawn(sampler, true_classes, num_sampled, unique, seed)


# Costs --------------------------------------------------------------------------------------


def _logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int, sampled_values: Any, remove_accidental_hits: bool, strategy: str, what: str,
    seed: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The logits of the true and the sampled classes, less the logarithms of how often these were
    to be expected; and the distribution that they should have.
    """
    x = as_float(inputs, what)
    true = K.reshape(K.cast(as_tensor(labels, what), "int64"), (-1, num_true))
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_count, sampled_count = (K.stop_gradient(as_tensor(v, what))
                                          for v in sampled_values)  # fmt: skip
    sampled = K.cast(sampled, "int64")

    def rows(of: Any, ids: Any) -> Any:
        return look_up(of, ids, strategy, None, what)

    near = rows(weights, true)
    true_logits = K.sum(K.expand_dims(x, 1) * near, axis=2) + rows(biases, true)
    others = K.dot(x, K.transpose(rows(weights, sampled))) + rows(biases, sampled)
    if remove_accidental_hits:
        hit = K.any(K.equal(K.expand_dims(true, 2), K.reshape(sampled, (1, 1, -1))), axis=1)
        others = others + K.cast(hit, x.dtype) * float(np.finfo("float32").min)
    true_logits = true_logits - K.log(K.cast(true_count, x.dtype))
    others = others - K.log(K.cast(sampled_count, x.dtype))
    wanted = K.concatenate([K.ones_like(true_logits) / num_true, K.zeros_like(others)], axis=1)
    return K.concatenate([true_logits, others], axis=1), wanted


def nce_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
    partition_strategy: str = "mod", name: str = "nce_loss",
) -> Any:  # fmt: skip
    """The cost of noise contrastive estimation, for each sample.

    Source: Gutmann and Hyvärinen, "Noise-contrastive estimation" (2010).
    """
    logits, wanted = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy, "tf.nn.nce_loss",
    )  # fmt: skip
    return K.sum(K.binary_crossentropy(wanted, logits, from_logits=True), axis=1)


def sampled_softmax_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
    partition_strategy: str = "mod", name: str = "sampled_softmax_loss", seed: int | None = None,
) -> Any:  # fmt: skip
    """The softmax cost over the true and some sampled classes, for each sample.

    Source: Jean et al., "On using very large target vocabulary for neural machine translation"
    (2015).
    """
    logits, wanted = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy, "tf.nn.sampled_softmax_loss", seed,
    )  # fmt: skip
    wanted = K.stop_gradient(wanted)
    return K.categorical_crossentropy(wanted, logits, from_logits=True)


# Rows of several numbers --------------------------------------------------------------------


NAMES: dict[str, Any] = {
    "nn.nce_loss": nce_loss,
    "nn.sampled_softmax_loss": sampled_softmax_loss,
}
PLAIN: dict[str, Any] = {
    "random.log_uniform_candidate_sampler": log_uniform_candidate_sampler,
    "random.uniform_candidate_sampler": uniform_candidate_sampler,
    "random.fixed_unigram_candidate_sampler": fixed_unigram_candidate_sampler,
}
