"""Ensembles of trees that are grown by boosting, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import messages

Array = np.ndarray[Any, Any]

WEIGHT = 1.0  # of each tree: the learning rate is in its leaves
NO_PRUNING, BEFORE, AFTER = range(3)  # when splits that gain nothing are left out


def message(name: str) -> Any:
    """One of TensorFlow's messages of boosted trees."""
    return getattr(messages("boosted_trees_pb2", "kernels.boosted_trees"), name)


class Split(NamedTuple):
    """How a node may be split.

    Attributes:
        feature: the number of the feature.
        gain: what it brings.
        threshold: the greatest bucket that goes to the left.
        left, right: what the children add to the node's value.
    """

    feature: int
    gain: Any
    threshold: int
    left: Any
    right: Any


class Nodes:
    """A tree's nodes as columns."""

    def __init__(self, tree: Any) -> None:
        splits = [node.bucketized_split for node in tree.nodes]
        self.is_leaf = np.array([is_leaf(node) for node in tree.nodes])
        self.features = np.array([each.feature_id for each in splits])
        self.thresholds = np.array([each.threshold for each in splits])
        self.children = np.array([[each.left_id, each.right_id] for each in splits])
        self.values = np.array([value_of(node) for node in tree.nodes], np.float32)

    def following(self, nodes: Array, buckets: Array) -> Array:
        """The next node of each example, whose buckets are a row; a leaf stays."""
        given = buckets[np.arange(len(nodes)), self.features[nodes]]
        side = (given > self.thresholds[nodes]).astype(np.int64)
        return np.where(self.is_leaf[nodes], nodes, self.children[nodes, side])

    def leaves(self, nodes: Array, buckets: Array) -> Array:
        """The leaf of each example, from a node on."""
        while not self.is_leaf[nodes].all():
            nodes = self.following(nodes, buckets)
        return nodes


def is_leaf(node: Any) -> bool:
    """Whether a node isn't split."""
    return bool(node.WhichOneof("node") == "leaf")


def value_of(node: Any) -> float:
    """What a node predicts; of one that is split, what it did before."""
    leaf = node.leaf if is_leaf(node) else node.metadata.original_leaf
    return float(leaf.scalar)


class Ensemble:
    """Trees that are grown.

    Attributes:
        stamp: which state it is.
        message: the trees, as they're stored.
    """

    def __init__(self, stamp: int, data: bytes) -> None:
        self.stamp, self.message = stamp, message("TreeEnsemble").FromString(data)

    @property
    def trees(self) -> Any:
        """The messages of the trees."""
        return self.message.trees

    def finished(self) -> int:
        """How many trees don't grow any more."""
        count = len(self.trees)
        is_growing = count > 0 and not self.message.tree_metadata[-1].is_finalized
        return count - is_growing

    def layer(self) -> list[int]:
        """The first node of the layer that grows, and the one behind its last one."""
        growing = self.message.growing_metadata
        return [growing.last_layer_node_start, max(1, growing.last_layer_node_end)]

    # Asking -------------------------------------------------------------------------------------

    def predicted(self, buckets: Array) -> Array:
        """What the trees predict for each example, whose buckets are a row."""
        found = np.zeros(len(buckets), np.float32)
        start = np.zeros(len(buckets), np.int64)
        for tree, weight in zip(self.trees, self.message.tree_weights, strict=True):
            nodes = Nodes(tree)
            found += np.float32(weight) * nodes.values[nodes.leaves(start, buckets)]
        return found

    def continued(self, buckets: Array, trees: Array, nodes: Array) -> tuple[Array, Array]:
        """What is to be added to predictions that were made up to a node of a tree, and the nodes
        of the last tree.
        """
        found, last = np.zeros(len(buckets), np.float32), np.zeros(len(buckets), np.int64)
        for at in range(int(trees.min(initial=0)), len(self.trees)):
            columns = Nodes(self.trees[at])
            begins, goes_on = trees == at, trees <= at
            starts, parts = self._corrected(at, columns, np.where(begins, nodes, -1))
            last = columns.leaves(starts, buckets)
            parts += columns.values[last]
            found += np.where(goes_on, np.float32(self.message.tree_weights[at]) * parts, 0)
        return found, last

    def _corrected(self, at: int, columns: Nodes, nodes: Array) -> tuple[Array, Array]:
        """Nodes as they are now that the tree is pruned, and what to take back; -1 is the root,
        of which nothing was predicted.
        """
        metadata = self.message.tree_metadata[at]
        found, parts = nodes.copy(), np.zeros(len(nodes), np.float32)
        cached = nodes >= 0
        if metadata.is_finalized and metadata.post_pruned_nodes_meta:
            kept = metadata.post_pruned_nodes_meta
            new = np.array([each.new_node_id for each in kept])
            changes = np.array([each.logit_change[0] for each in kept], np.float32)
            found[cached], parts[cached] = new[nodes[cached]], changes[nodes[cached]]
        parts[cached] -= columns.values[found[cached]]
        return np.maximum(found, 0), parts

    def path(self, buckets: Array) -> tuple[list[int], list[Any]]:
        """The features that an example is split by, and what is predicted after each split."""
        value = np.float32(self.message.tree_weights[0]) * np.float32(
            value_of(self.trees[0].nodes[0])
        )
        features, values, past = list[int](), [value], np.float32(0)
        for at, tree in enumerate(self.trees):
            number = 0
            while not is_leaf(tree.nodes[number]):
                split = tree.nodes[number].bucketized_split
                features.append(split.feature_id)
                is_left = buckets[split.feature_id] <= split.threshold
                number = split.left_id if is_left else split.right_id
                weight = np.float32(self.message.tree_weights[at])
                value = weight * np.float32(value_of(tree.nodes[number]))
                values.append(value + past)
            if at == 0 or number > 0:
                past = past + value
        return features, values

    # Growing ------------------------------------------------------------------------------------

    def add_tree(self, value: Any = 0.0) -> int:
        """Add a tree of one leaf: its number."""
        tree = self.trees.add()
        tree.nodes.add().leaf.scalar = value
        self.message.tree_weights.append(WEIGHT)
        self.message.tree_metadata.add()
        return len(self.trees) - 1

    def _attempt(self) -> int:
        """Count an attempt to grow a layer: the number of the tree that grows."""
        growing, count = self.message.growing_metadata, len(self.trees)
        growing.num_layers_attempted += 1
        is_first = count <= 1 or self.message.tree_metadata[count - 2].is_finalized
        if not count or (is_first and len(self.trees[-1].nodes) == 1):
            growing.num_trees_attempted += 1
        return count - 1 if count else self.add_tree()

    def grow(self, splits: dict[int, Split], depth: int, pruning: int) -> None:
        """Grow a layer.

        Args:
            splits: the best one of each node.
            depth: how many layers a tree has at most.
            pruning: when splits that gain nothing are left out.
        """
        at = self._attempt()
        kept = {
            node: split for node, split in sorted(splits.items())
            if pruning != BEFORE or split.gain >= 0
        }  # fmt: skip
        if not kept:
            return
        tree, metadata = self.trees[at], self.message.tree_metadata[at]
        start = len(tree.nodes)
        for node, split in kept.items():
            _split(tree, node, split)
        end = len(tree.nodes)
        metadata.num_layers_grown += 1
        if metadata.num_layers_grown >= depth:
            start, end = 0, 1
            metadata.is_finalized = True
            if pruning == AFTER:
                _prune(tree, metadata)
            self.add_tree()
        growing = self.message.growing_metadata
        growing.last_layer_node_start, growing.last_layer_node_end = start, end


def _split(tree: Any, number: int, split: Split) -> None:
    node, left = tree.nodes[number], len(tree.nodes)
    before = np.float32(node.leaf.scalar)
    if number or before:
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain
    choice = node.bucketized_split
    choice.feature_id, choice.threshold = split.feature, split.threshold
    choice.left_id, choice.right_id = left, left + 1
    for change in (split.left, split.right):
        tree.nodes.add().leaf.scalar = before + change


def _prune(tree: Any, metadata: Any) -> None:
    """Take back splits that gain nothing, from the leaves on; what is predicted of nodes that are
    gone is kept, for who has it.
    """
    parents = {number: (parent, change) for number, parent, change in _pruned(tree, 0)}
    if not parents:
        return
    kept = [number for number in range(len(tree.nodes)) if number not in parents]
    new = {number: at for at, number in enumerate(kept)}
    for number in range(len(tree.nodes)):
        change, parent = np.float32(0), number
        while parent in parents:
            parent, more = parents[parent]
            change = change + more
        metadata.post_pruned_nodes_meta.add(new_node_id=new[parent], logit_change=[change])
    nodes = [tree.nodes[number] for number in kept]
    for node in nodes:
        if not is_leaf(node):
            split = node.bucketized_split
            split.left_id, split.right_id = new[split.left_id], new[split.right_id]
    copied = message("Tree")(nodes=nodes)
    tree.CopyFrom(copied)


def _pruned(tree: Any, number: int) -> Iterator[tuple[int, int, Any]]:
    """The nodes that go, their parents, and how predictions change by that."""
    node = tree.nodes[number]
    if is_leaf(node):
        return
    children = node.bucketized_split.left_id, node.bucketized_split.right_id
    for child in children:
        yield from _pruned(tree, child)
    ends: Sequence[bool] = [is_leaf(tree.nodes[child]) for child in children]
    if node.metadata.gain >= 0 or not all(ends):
        return
    value = np.float32(node.metadata.original_leaf.scalar)
    for child in children:
        yield child, number, value - np.float32(value_of(tree.nodes[child]))
    node.leaf.CopyFrom(node.metadata.original_leaf)
    node.ClearField("metadata")
