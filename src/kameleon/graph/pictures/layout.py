"""Where boxes go: in rows, from operands to results; a small layered layout.

Boxes get ranks, edges over several ranks get bends in each rank between, boxes and bends of a rank
are ordered by where their neighbours are (the barycentre), and then moved towards them as far as
the order and the gaps allow. It's the same for the same graph, and linear in all but sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Edge = tuple[int, int]  # from a box to one with a larger number
Point = tuple[float, float]

GAP, ROW_GAP = 18.0, 34.0  # between boxes of a row; between rows
BENDS = 10  # at most so many for each box; the longest edges get none, and go straight
SWEEPS = 6


class Placed(NamedTuple):
    """Where boxes are.

    Attributes:
        corners: of each box, left and top.
        paths: of each edge, from the lower side of a box to the upper side of the other one.
        size: of the whole.
    """

    corners: list[Point]
    paths: list[list[Point]]
    size: Point


def placed(sizes: Sequence[Point], edges: Sequence[Edge]) -> Placed:
    """Place boxes.

    Args:
        sizes: width and height of each.
        edges: from operands to results; those into one box arrive in this order.

    >>> found = placed([(40, 20), (40, 20)], [(0, 1)])
    >>> found.corners, found.paths, found.size
    ([(0.0, 0.0), (0.0, 54.0)], [[(20.0, 20.0), (20.0, 54.0)]], (40.0, 74.0))
    """
    if not sizes:
        return Placed([], [], (0.0, 0.0))
    ranks = ranked(len(sizes), edges)
    chains, ranks = _bent(ranks, edges)
    above: list[list[int]] = [[] for _ in ranks]
    below: list[list[int]] = [[] for _ in ranks]
    for a, b in dict.fromkeys(step for chain in chains for step in pairwise(chain)):
        if ranks[b] == ranks[a] + 1:
            above[b].append(a)
            below[a].append(b)
    widths = [*(w for w, _ in sizes), *[0.0] * (len(ranks) - len(sizes))]
    rows: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for i, rank in enumerate(ranks):
        rows[rank].append(i)
    _order(rows, above, below)
    middles = _middles(rows, above, below, widths)
    left = min(x - w / 2 for x, w in zip(middles, widths, strict=True))
    middles = [x - left for x in middles]
    tops, heights, height = _heights(rows, sizes)
    corners = [
        (middles[i] - w / 2, tops[ranks[i]] + (heights[ranks[i]] - h) / 2)
        for i, (w, h) in enumerate(sizes)
    ]
    arriving = [0] * len(sizes)  # how many edges have arrived at each box
    into = [0] * len(sizes)
    for _, b in edges:
        into[b] += 1
    paths = []
    for (a, b), chain in zip(edges, chains, strict=True):
        arriving[b] += 1
        start = (middles[a], corners[a][1] + sizes[a][1])
        end = (corners[b][0] + sizes[b][0] * arriving[b] / (into[b] + 1), corners[b][1])
        bends = [
            (middles[i], tops[ranks[i]] + part * heights[ranks[i]])
            for i in chain[1:-1]
            for part in (0, 1)
        ]
        # Out of the row, and into the other one, straight down: boxes beside may be higher.
        leaving = (start[0], tops[ranks[a]] + heights[ranks[a]])
        paths.append([*dict.fromkeys([start, leaving, *bends, (end[0], tops[ranks[b]]), end])])
    width = max(x + w / 2 for x, w in zip(middles, widths, strict=True))
    return Placed(corners, paths, (width, height))


def ranked(count: int, edges: Sequence[Edge]) -> list[int]:
    """The row of each box: below all its operands; a leaf's is just above what takes it."""
    ranks, leaves = [0] * count, [True] * count
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        ranks[b], leaves[b] = max(ranks[b], ranks[a] + 1), False
    nearest: dict[int, int] = {}
    for a, b in edges:
        nearest[a] = min(nearest.get(a, ranks[b]), ranks[b])
    return [nearest[i] - 1 if leaves[i] and i in nearest else r for i, r in enumerate(ranks)]


def _bent(ranks: list[int], edges: Sequence[Edge]) -> tuple[list[list[int]], list[int]]:
    """For each edge what it goes through: boxes, and bends, which get numbers behind theirs; and
    the ranks of all. Edges from one box share their bends.
    """
    bends: dict[Edge, int] = {}
    found, chains = list(ranks), [[a, b] for a, b in edges]
    for i in sorted(range(len(edges)), key=lambda i: ranks[edges[i][1]] - ranks[edges[i][0]]):
        a, b = edges[i]
        if len(bends) + ranks[b] - ranks[a] <= BENDS * len(ranks):
            chain = [a]
            for rank in range(ranks[a] + 1, ranks[b]):
                if (a, rank) not in bends:
                    bends[a, rank] = len(found)
                    found.append(rank)
                chain.append(bends[a, rank])
            chains[i] = [*chain, b]
    return chains, found


def _order(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort each row by the middle of the neighbours' places, from above and from below in turn."""
    place = {i: at / len(row) for row in rows for at, i in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours = below if sweep % 2 else above
        for row in reversed(rows) if sweep % 2 else rows:
            wish = {
                i: sum(place[n] for n in found) / len(found)
                if (found := neighbours[i])
                else place[i]
                for i in row
            }
            row.sort(key=wish.__getitem__)
            place.update((i, (at + 0.5) / len(row)) for at, i in enumerate(row))


def _middles(
    rows: list[list[int]], above: list[list[int]], below: list[list[int]], widths: list[float]
) -> list[float]:
    """The middle of each box and bend, as near to its neighbours' as its row allows."""
    middles = [0.0] * len(widths)
    for sweep in range(SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for row in reversed(rows) if sweep % 2 else rows:
            wishes = [
                sum(middles[n] for n in found) / len(found)
                if (found := neighbours[i])
                else middles[i]
                for i in row
            ]
            apart = [(widths[a] + widths[b]) / 2 + GAP for a, b in pairwise(row)]
            for i, x in zip(row, _spread(wishes, apart), strict=True):
                middles[i] = x
    return middles


def _spread(wishes: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Places in this order, at least so far apart, with the least squares of what they differ from
    the wishes: neighbours that come too near move together, to the mean of their wishes.

    >>> _spread([0.0, 0.0, 9.0], [2.0, 2.0])
    [-1.0, 1.0, 9.0]
    """
    offsets = [0.0]
    for gap in apart:
        offsets.append(offsets[-1] + gap)
    blocks: list[list[float]] = []  # sum of wishes, count
    for wish, offset in zip(wishes, offsets, strict=True):
        blocks.append([wish - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] > blocks[-1][0] * blocks[-2][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    starts = [total / count for total, count in blocks for _ in range(int(count))]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]


def _heights(
    rows: list[list[int]], sizes: Sequence[Point]
) -> tuple[list[float], list[float], float]:
    """The upper end of each row, its height, and the height of all."""
    heights = [max((sizes[i][1] for i in row if i < len(sizes)), default=0.0) for row in rows]
    tops, y = [], 0.0
    for height in heights:
        tops.append(y)
        y += height + ROW_GAP
    return tops, heights, y - ROW_GAP
