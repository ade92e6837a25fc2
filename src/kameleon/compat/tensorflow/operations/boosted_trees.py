"""Trees that are grown by boosting, by their operations."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from ..arithmetic import quantiles as Q
from ..failures import failure, invalid
from ..graph import Operation
from ..resources.base import Resource
from ..resources.ensembles import Ensemble, Split, message
from ..variables import Store
from .keeping import keeps, on_handles
from .table import fold, host
from .values import data_in, scalar

Array = np.ndarray
T = TypeVar("T")


class Slot(Resource, Generic[T]):
    """What a handle stands for, once it's created."""

    def __init__(self, name: str) -> None:
        self._name, self.held = name, None

    held: T | None

    def begin(self, value: T) -> None:
        """Create it; a second time changes nothing."""
        if self.held is None:
            self.held = value

    def get(self) -> T:
        """What was created."""
        if self.held is None:
            raise failure("NOT_FOUND", f"Resource {self._name} does not exist.")
        return self.held


@keeps("boosted trees", "BoostedTreesEnsembleResourceHandleOp")
@keeps("quantile streams", "BoostedTreesQuantileStreamResourceHandleOp")
def _slot(store: Store, operation: Operation) -> Slot[Any]:
    return Slot(operation.name)


def _is_created(slot: Slot[Any]) -> np.bool_:
    return np.bool_(slot.held is not None)


# Statistics -------------------------------------------------------------------------------------


@fold("BoostedTreesMakeStatsSummary")
def _statistics(
    nodes: Array, gradients: Array, hessians: Array, *buckets: Array, max_splits: int,
    num_buckets: int,
) -> Array:  # fmt: skip
    """By feature, node and bucket the sums of gradients, and of second derivatives."""
    found = np.zeros((len(buckets), max_splits, num_buckets, 2), np.float32)
    both = np.concatenate([gradients, hessians], 1)
    for at, each in enumerate(buckets):
        np.add.at(found[at], (nodes, each), both)
    return found


def _best(gradients: Array, hessians: Array, l1: Any, l2: Any) -> tuple[Array, Array]:
    """The weight of a leaf that is best for sums of derivatives, and what it gains."""
    shrunk = np.where(
        np.abs(gradients) > l1, gradients - np.sign(gradients) * l1, np.float32(0)
    ).astype(np.float32)
    curved = hessians + l2
    with np.errstate(all="ignore"):
        weights = np.where(curved <= 1e-15, np.float32(0), -shrunk / curved).astype(np.float32)
    return weights, -shrunk * weights


@fold("BoostedTreesCalculateBestGainsPerFeature")
def _best_gains(operation: Operation, layer: Any, *given: Any) -> list[Array]:
    """By feature, the nodes of the layer, the best split's gain, threshold and leaves."""
    *summaries, l1, l2, complexity, least = given
    columns = [
        _best_splits(each, layer, *map(np.float32, (l1, l2, complexity, least)))
        for each in summaries
    ]
    return [each for column in zip(*columns, strict=True) for each in column]


def _best_splits(
    summary: Array, layer: Any, l1: Any, l2: Any, complexity: Any, least: Any
) -> list[Array]:
    nodes = np.arange(int(layer[0]), int(layer[1]), dtype=np.int32)
    below = np.cumsum(summary[nodes], axis=1, dtype=np.float32)
    kept = below[:, -1, 1] >= least
    nodes, below = nodes[kept], below[kept]
    total = below[:, -1:]
    _, parent = _best(total[:, 0, 0], total[:, 0, 1], l1, l2)
    left, gain = _best(below[..., 0], below[..., 1], l1, l2)
    rest = total - below
    right, more = _best(rest[..., 0], rest[..., 1], l1, l2)
    gains = gain + more
    at = gains.argmax(1) if len(nodes) else np.zeros(0, np.int64)
    rows = np.arange(len(nodes))
    leaves = [each[rows, at][:, None] for each in (left, right)]
    return [nodes, gains[rows, at] - parent - complexity, at.astype(np.int32), *leaves]


# Ensembles --------------------------------------------------------------------------------------


def _features(given: Any) -> Array:
    """The buckets of all examples as rows."""
    return np.stack([np.ravel(each) for each in given], 1)


def _demand_one(operation: Operation) -> None:
    if operation.attribute("logits_dimension") != 1:
        raise invalid("Currently only one dimensional outputs are supported.")


@host("BoostedTreesPredict")
def _predict(operation: Operation, slot: Slot[Ensemble], *buckets: Any) -> Array:
    _demand_one(operation)
    return slot.get().predicted(_features(buckets))[:, None]


@host("BoostedTreesTrainingPredict")
def _continue(
    operation: Operation, slot: Slot[Ensemble], trees: Array, nodes: Array, *buckets: Any
) -> list[Array]:
    _demand_one(operation)
    ensemble, rows = slot.get(), _features(buckets)
    last = len(ensemble.trees) - 1
    if last < 0:
        return [np.zeros((len(rows), 1), np.float32), trees, np.zeros_like(nodes)]
    found, places = ensemble.continued(rows, trees, nodes)
    return [found[:, None], np.full_like(trees, last), places.astype(np.int32)]


@host("BoostedTreesExampleDebugOutputs")
def _explain(operation: Operation, slot: Slot[Ensemble], *buckets: Any) -> Array:
    _demand_one(operation)
    paths = [slot.get().path(row) for row in _features(buckets)]
    found = np.empty(len(paths), object)
    for at, (features, values) in enumerate(paths):
        made = message("DebugOutput")(feature_ids=features, logits_path=values)
        found[at] = made.SerializeToString()
    return found


@host("BoostedTreesUpdateEnsemble")
def _update(operation: Operation, slot: Slot[Ensemble], features: Any, *given: Any) -> list[Any]:
    count, ensemble = operation.attribute("num_features"), slot.get()
    *lists, depth, rate = given
    columns = [lists[start : start + count] for start in range(0, 5 * count, count)]
    ensemble.stamp += 1
    best: dict[int, Split] = {}
    for number, *parts in zip(np.ravel(features).tolist(), *columns, strict=True):
        for node, gain, threshold, left, right in zip(*parts, strict=True):
            leaves = (np.float32(rate) * side[0] for side in (left, right))
            split = Split(number, gain, int(threshold), *leaves)
            if _is_better(split, best.get(int(node))):
                best[int(node)] = split
    ensemble.grow(best, int(depth), operation.attribute("pruning_mode"))
    return []


def _is_better(split: Split, other: Split | None) -> bool:
    if other is None or split.gain > other.gain:
        return True
    return bool(split.gain == other.gain and split.feature < other.feature)


LEAST_CHANGE = 0.01  # of a bias, in relation to it, that asks for one more step


@host("BoostedTreesCenterBias")
def _center(slot: Slot[Ensemble], gradients: Array, hessians: Array, l1: Any, l2: Any) -> np.bool_:
    """Move the first tree's root to what is best for all examples; whether to go on."""
    ensemble = slot.get()
    ensemble.stamp += 1
    weights, _ = _best(gradients.ravel()[:1], hessians.ravel()[:1], np.float32(l1), np.float32(l2))
    if not len(ensemble.trees):
        ensemble.add_tree(weights[0])
        return np.True_
    leaf = ensemble.trees[0].nodes[0].leaf
    bias = np.float32(leaf.scalar)
    leaf.scalar = bias + weights[0]
    with np.errstate(all="ignore"):
        return np.bool_(np.abs(weights[0] / bias) > LEAST_CHANGE)


def _states(slot: Slot[Ensemble]) -> list[Any]:
    ensemble = slot.get()
    counts = [
        len(ensemble.trees),
        ensemble.finished(),
        ensemble.message.growing_metadata.num_layers_attempted,
    ]
    layer = np.array(ensemble.layer(), np.int32)
    return [np.int64(ensemble.stamp), *map(np.int32, counts), layer]


def _stored(slot: Slot[Ensemble]) -> list[Any]:
    return [np.int64(slot.get().stamp), scalar(slot.get().message.SerializeToString())]


def _restore(slot: Slot[Ensemble], stamp: Any, data: Any) -> None:
    slot.get()
    slot.held = Ensemble(int(stamp), data_in(data))


# Quantiles --------------------------------------------------------------------------------------


class Streams:
    """Streams of numbers, one for each feature, and boundaries between their buckets."""

    def __init__(self, epsilon: float, most: int, count: int) -> None:
        if epsilon <= 0:
            raise invalid("An epsilon value of zero is not allowed.")
        self._settings = epsilon, most
        self.boundaries: list[Array] = [np.zeros(0, np.float32)] * count
        self.reset()

    def reset(self) -> None:
        """Begin anew; the boundaries stay."""
        self.streams = [Q.Stream(*self._settings) for _ in self.boundaries]

    def summaries(self) -> list[Array]:
        """What the streams had, as matrices; they begin anew."""
        found = [Q.as_rows(each.end()) for each in self.streams]
        self.reset()
        return found


@host("BoostedTreesCreateQuantileStreamResource")
def _create_streams(
    slot: Slot[Streams], epsilon: Any, count: Any, *, max_elements: int
) -> list[Any]:
    slot.begin(Streams(float(np.float32(epsilon)), max_elements, int(count)))
    return []


@fold("BoostedTreesMakeQuantileSummaries")
def _summaries(*given: Any) -> list[Array]:
    *features, weights, epsilon = given
    found = []
    for each in features:
        values, count = np.ravel(each), np.size(each)
        if np.size(weights) not in (1, count):
            raise invalid("Weights should be a single value or same size as features.")
        stream = Q.Stream(float(np.float32(epsilon)), count + 1)
        stream.add(values, np.broadcast_to(np.ravel(weights), (count,)))
        found.append(Q.as_rows(stream.end()))
    return found


def _add_summaries(slot: Slot[Streams], *summaries: Any) -> None:
    for stream, rows in zip(slot.get().streams, summaries, strict=True):
        stream.add_summary(Q.of_rows(rows))


@host("BoostedTreesQuantileStreamResourceFlush")
def _flush(slot: Slot[Streams], count: Any, *, generate_quantiles: bool) -> list[Any]:
    streams, divide = slot.get(), Q.quantiles if generate_quantiles else Q.boundaries
    streams.boundaries = [
        np.array(divide(each.end(), int(count)), np.float32) for each in streams.streams
    ]
    streams.reset()
    return []


def _set_boundaries(slot: Slot[Streams], *boundaries: Any) -> None:
    slot.get().boundaries = [np.array(each, np.float32) for each in boundaries]


@fold("BoostedTreesBucketize")
def _bucketize(operation: Operation, *given: Any) -> list[Array]:
    count = operation.attribute("num_features")
    found = []
    for values, limits in zip(given[:count], given[count:], strict=True):
        places = np.searchsorted(limits, np.ravel(values), "left")
        found.append(np.minimum(places, max(len(limits) - 1, 0)).astype(np.int32))
    return found


on_handles({
    "IsBoostedTreesEnsembleInitialized": _is_created,
    "IsBoostedTreesQuantileStreamResourceInitialized": _is_created,
    "BoostedTreesCreateEnsemble":
        lambda slot, stamp, data: slot.begin(Ensemble(int(stamp), data_in(data))),
    "BoostedTreesDeserializeEnsemble": _restore,
    "BoostedTreesSerializeEnsemble": _stored,
    "BoostedTreesGetEnsembleStates": _states,
    "BoostedTreesQuantileStreamResourceAddSummaries": _add_summaries,
    "BoostedTreesQuantileStreamResourceDeserialize": _set_boundaries,
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries": lambda slot: slot.get().boundaries,
    "BoostedTreesFlushQuantileSummaries": lambda slot: slot.get().summaries(),
})  # fmt: skip
