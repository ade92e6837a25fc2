"""Decoding of connectionist temporal classification (CTC) outputs.

A CTC network gives a distribution over labels and a *blank* (the last class) at every time
step. An alignment, one class per step, spells a label sequence: repeats are merged, then
blanks dropped. Decoding looks for the most probable sequences.

Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification" (2006);
for the prefix beam search also Graves, "Supervised sequence labelling with recurrent neural
networks" (2012), section 7.5.3.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .arrays import log_softmax
from .quiet import quiet

Array: TypeAlias = npt.NDArray[Any]

_log_softmax = quiet(log_softmax)
_WHOLE_ALPHABET = 256  # of up to so many labels none is left out before the search


def greedy_decode(log_probs: Array, lengths: Array) -> tuple[Array, Array]:
    """Spell the most probable class of every step (best path decoding).

    Args:
        log_probs: `(batch, time, classes)`, floating; scores that need not be normalised.
        lengths: `(batch,)` integers, steps in use; at most `time`, below 0 counts as 0.

    Returns:
        The sequences, int64 `(batch, longest)`, filled up with -1, and minus the sum of the
        chosen scores, `(batch, 1)` in the dtype of `log_probs`. Of equal classes the first is
        taken; a NaN wins its step and makes the sum NaN.

    Raises:
        ValueError: shapes that don't fit together, or a length beyond `time`.

    Example:
        >>> p = np.array([[[0.9, 0.05, 0.05], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.7, 0.2, 0.1]]])
        >>> labels, cost = greedy_decode(np.log(p), np.array([4]))
        >>> labels.tolist(), float(cost[0, 0].round(4))
        ([[0, 0]], 0.9083)
    """
    used = _used_steps("greedy_decode", log_probs, lengths)
    best = log_probs.argmax(axis=2)
    scores = np.take_along_axis(log_probs, best[:, :, None], axis=2)[:, :, 0]
    spelled = used & (best != log_probs.shape[2] - 1)
    spelled[:, 1:] &= best[:, 1:] != best[:, :-1]
    sums = np.where(used, scores, 0).sum(axis=1, keepdims=True, dtype=log_probs.dtype)
    return _left_aligned(best, spelled), 0 - sums  # 0 - x: an empty sum is 0, not -0


def beam_search(
    log_probs: Array, lengths: Array, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Array], Array]:
    """Find probable label sequences, each summed over its alignments (prefix beam search).

    Every step is normalised (log-softmax) first, then the `beam_width` most probable prefixes
    are kept; with a wide enough beam the result is exact.

    Args:
        log_probs: `(batch, time, classes)`, floating.
        lengths: `(batch,)` integers, steps in use; at most `time`, below 0 counts as 0.
        beam_width: how many prefixes survive a step.
        top_paths: how many sequences to return, at most `beam_width`.

    Returns:
        `top_paths` int64 arrays `(batch, longest of that rank)`, filled up with -1, the most
        probable first, and the log-probabilities `(batch, top_paths)` in the dtype of
        `log_probs`. Of equals a prefix already in the beam wins, then the better ranked, then
        the one with the smaller label. A row with a NaN in use has empty sequences of
        log-probability NaN.

    Raises:
        ValueError: shapes that don't fit together, a length beyond `time`, `beam_width` below
            `top_paths`, or a row too short to have `top_paths` sequences.

    Example:
        >>> p = np.array([[[0.45, 0.1, 0.45], [0.4, 0.15, 0.45]]])
        >>> paths, scores = beam_search(np.log(p), np.array([2]), beam_width=10, top_paths=2)
        >>> [path.tolist() for path in paths], np.exp(scores).round(4).tolist()
        ([[[0]], [[]]], [[0.5625, 0.2025]])
    """
    used = _used_steps("beam_search", log_probs, lengths)
    if not 1 <= top_paths <= beam_width:
        raise ValueError(
            f"beam_search: top_paths={top_paths} must lie between 1 and beam_width={beam_width}; "
            f"widen the beam or ask for fewer paths"
        )
    scores = _log_softmax(log_probs, 2)  # NaN where a step has no finite largest score
    spoiled: Array = np.logical_and(np.isnan(scores).any(axis=2), used).max(axis=1, initial=False)
    used &= ~spoiled[:, None]
    # Longest first, so that the rows still running are always the leading ones.
    order = np.argsort(-used.sum(axis=1), kind="stable")
    totals, labels = _search(scores[order], used[order].sum(axis=0), beam_width, top_paths)
    back = np.argsort(order, kind="stable")
    totals, labels = totals[back], labels[back]
    totals[spoiled] = np.nan
    _check_enough_paths(totals, top_paths)
    return [_left_aligned(labels[:, k], labels[:, k] >= 0) for k in range(top_paths)], totals


class _Beams(NamedTuple):
    """The prefixes in the race, the most probable first; every array is `(rows, width)`.

    A prefix is known by a 64-bit hash, so that looking up parents is one sort: two of the
    prefixes alive in one step meet with a chance of about width² · rows² / 2⁶⁵.
    """

    blank: Array  # log-probability of the alignments that end in blank
    label: Array  # log-probability of the alignments that end in the last label
    last: Array  # last label, -1 for the empty prefix
    key: Array  # hash of the prefix, 0 for an empty slot
    parent: Array  # hash of the prefix without its last label, 0 for none


class _Move(NamedTuple):
    """How the prefixes of one step came about; every array is `(rows, width)`."""

    source: Array  # slot in the step before
    label: Array  # label appended, -1 for none


def _search(scores: Array, running: Array, beam_width: int, top_paths: int) -> tuple[Array, Array]:
    """Run the beam over rows of falling length, `running[t]` of which have a step `t`.

    Returns the log-probabilities `(rows, top_paths)`, -inf where there are too few sequences,
    and the labels appended per step `(rows, top_paths, time)`, -1 for none.
    """
    rows = scores.shape[0]
    beams = _start(rows, scores.dtype)
    totals = np.full((rows, top_paths), -np.inf, scores.dtype)
    totals[:, 0] = 0
    moves: list[_Move] = []
    for t, n in enumerate(running):
        if n == 0:
            break
        beams = _Beams(*(part[:n] for part in beams))
        beams, move = _step(beams, scores[:n, t], beam_width)
        moves.append(move)
        ranked = np.logaddexp(beams.blank, beams.label)[:, :top_paths]
        totals[:n, : ranked.shape[1]] = ranked
    return totals, _trace(moves, totals.shape, scores.shape[1])


def _start(rows: int, dtype: np.dtype[Any]) -> _Beams:
    """One empty prefix per row, with a hash of its own: rows never share a key."""
    shape = (rows, 1)
    seed = np.arange(1, rows + 1, dtype=np.uint64).reshape(shape)
    return _Beams(
        blank=np.zeros(shape, dtype),
        label=np.full(shape, -np.inf, dtype),
        last=np.full(shape, -1),
        key=_extended(seed, np.zeros(shape, np.int64)),
        parent=np.zeros(shape, np.uint64),
    )


def _step(beams: _Beams, scores: Array, beam_width: int) -> tuple[_Beams, _Move]:
    """Advance all prefixes by one step: each stays as it is or grows by a label."""
    total = np.logaddexp(beams.blank, beams.label)
    family = _families(beams)
    blank = total + scores[:, -1:]
    label = np.logaddexp(beams.label, _from_parents(beams, total, family))
    # The empty prefix has last == -1, the blank's column; its label part is -inf anyway.
    label += np.take_along_axis(scores, beams.last, axis=1)
    labels = _worthwhile(scores, beam_width)
    grown = _grown(beams, total, scores, labels, family)
    stayed = np.logaddexp(blank, label)
    picked = _largest(_pool(stayed, grown), beam_width)
    shut = _shut_out(stayed, grown, picked, beam_width, _Turns.of(beams, labels, family))
    if shut.any():
        grown[shut] = -np.inf
        picked = _largest(_pool(stayed, grown), beam_width)
    best = np.take_along_axis(_pool(stayed, grown), picked, axis=1)
    move = _moves(picked, labels, total.shape[1])
    return _advanced(beams, blank, label, best, move), move


def _pool(stayed: Array, grown: Array) -> Array:
    """All that may be kept of a step, in the order of turns: `(rows, width + width * fan)`."""
    return np.concatenate([stayed, grown.reshape(len(grown), -1)], axis=1)


def _moves(picked: Array, labels: Array, width: int) -> _Move:
    """Read indices into the pool as slot and label."""
    fan = labels.shape[1]
    if fan == 0:
        return _Move(picked.astype(np.int32), np.full(picked.shape, -1, np.int32))
    stays, child = picked < width, np.maximum(picked - width, 0)
    appended = np.take_along_axis(labels, child % fan, axis=1)
    return _Move(
        source=np.where(stays, picked, child // fan).astype(np.int32),
        label=np.where(stays, -1, appended).astype(np.int32),
    )


def _advanced(beams: _Beams, blank: Array, label: Array, best: Array, move: _Move) -> _Beams:
    """The beam after a move; `blank` and `label` are the parts of the prefixes that stay."""
    stays, holds = move.label < 0, best > -np.inf
    blank, label, last, key, parent = (
        np.take_along_axis(part, move.source, axis=1)
        for part in (blank, label, beams.last, beams.key, beams.parent)
    )
    nothing, nobody = best.dtype.type(-np.inf), np.uint64(0)
    return _Beams(
        blank=np.where(stays, blank, nothing),
        label=np.where(stays, label, best),
        last=np.where(stays, last, move.label),
        # A slot that holds nothing must be nobody's parent and nobody's child.
        key=np.where(holds, np.where(stays, key, _extended(key, move.label)), nobody),
        parent=np.where(holds, np.where(stays, parent, key), nobody),
    )


def _families(beams: _Beams) -> tuple[Array, Array, Array]:
    """Pairs of prefixes in the beam of which one is the other less its last label.

    Returns three index arrays of one length: row, slot of the longer, slot of the shorter.
    """
    width = beams.key.shape[1]
    keys, wanted = beams.key.ravel(), beams.parent.ravel()
    order = np.argsort(keys)
    place = np.searchsorted(keys, wanted, sorter=order)
    at = order[np.minimum(place, keys.size - 1)]
    child = np.flatnonzero((keys[at] == wanted) & (wanted != 0))
    return child // width, child % width, at[child] % width


def _from_parents(beams: _Beams, total: Array, family: tuple[Array, Array, Array]) -> Array:
    """Log-probability that reaches a prefix from its parent, before the label's own score."""
    row, child, parent = family
    reached = np.full_like(total, -np.inf)
    # A label that repeats the one before it is only a new label after a blank.
    repeats = beams.last[row, child] == beams.last[row, parent]
    reached[row, child] = np.where(repeats, beams.blank[row, parent], total[row, parent])
    return reached


def _worthwhile(scores: Array, beam_width: int) -> Array:
    """Labels, in increasing order, among which are all that can enter the beam: `(rows, fan)`.

    Of the labels that may follow one prefix at most `beam_width` enter. They are among the
    best `2 * beam_width + 1`: `beam_width` of those may already be in the beam, and one
    repeats the last label. So a large alphabet costs little more than a small one. (Labels
    left out may still matter to `_shut_out`, so alphabets of usual size are kept whole.)
    """
    rows, labels = scores.shape[0], scores.shape[1] - 1
    spare = labels - max(2 * beam_width + 1, _WHOLE_ALPHABET)
    if spare <= 0:
        return np.broadcast_to(np.arange(labels), (rows, labels))
    best: Array = np.argpartition(scores[:, :-1], spare, axis=1)[:, spare:]
    best.sort(axis=1)
    return best


def _grown(
    beams: _Beams,
    total: Array,
    scores: Array,
    labels: Array,
    family: tuple[Array, Array, Array],
) -> Array:
    """Log-probability of each prefix followed by each of `labels`: `(rows, width, fan)`.

    -inf where the longer prefix is in the beam already, and gets its share by `_from_parents`.
    """
    grown: Array = total[:, :, None] + np.take_along_axis(scores, labels, axis=1)[:, None, :]
    place = np.full(scores.shape, -1)  # of each class among `labels`; the blank has none
    np.put_along_axis(place, labels, np.arange(labels.shape[1])[None, :], axis=1)
    repeat = np.take_along_axis(place, beams.last, axis=1)
    row, slot = np.nonzero(repeat >= 0)
    again = beams.last[row, slot]
    grown[row, slot, repeat[row, slot]] = beams.blank[row, slot] + scores[row, again]
    row, child, parent = family
    known = place[row, beams.last[row, child]]
    listed = known >= 0
    grown[row[listed], parent[listed], known[listed]] = -np.inf
    return grown


class _Turns(NamedTuple):
    """When prefixes are met again as children of another prefix: index arrays of one length."""

    row: Array
    child: Array  # slot of the prefix
    parent: Array  # slot of its parent, which has a better rank
    before: Array  # how many of the parent's labels come before the prefix's last

    @classmethod
    def of(cls, beams: _Beams, labels: Array, family: tuple[Array, Array, Array]) -> "_Turns":
        """Those of the pairs of `family` in which the parent's turn comes first."""
        row, child, parent = (part[family[2] < family[1]] for part in family)
        last = beams.last[row, child]
        return cls(row, child, parent, (labels[row] < last[:, None]).sum(axis=1))


def _shut_out(stayed: Array, grown: Array, picked: Array, beam_width: int, turns: _Turns) -> Array:
    """Prefixes that have lost their turn to grow: bool `(rows, width)`.

    Prefixes grow in order of rank into a beam of limited size. A prefix that has been pushed out
    of the beam, by the time its parent's turn to grow comes to the prefix's last label, is dropped
    for good, so it doesn't grow when its own turn comes. This is how TensorFlow's search behaves,
    and shows in the results. Only rows in which such a prefix has `picked` children need a look.
    """
    width, fan = grown.shape[1:]
    shut = np.zeros(stayed.shape, bool)
    kept, grew = shut.copy(), shut.copy()
    row, place = np.arange(len(picked))[:, None], np.maximum(picked - width, 0)
    kept[np.broadcast_to(row, picked.shape)[picked < width], picked[picked < width]] = True
    child = place[picked >= width] // max(fan, 1)
    grew[np.broadcast_to(row, picked.shape)[picked >= width], child] = True
    out = ~kept[turns.row, turns.child]
    concerned = np.zeros(len(picked), bool)
    concerned[turns.row[out & grew[turns.row, turns.child]]] = True
    turns = _Turns(*(part[out & concerned[turns.row]] for part in turns))
    if turns.row.size == 0:
        return shut
    above = _above(stayed, grown, turns)
    for _ in range(width):  # each round settles one more rank at least
        rivals = above[:, 0] + (above[:, 1:] * ~shut[turns.row]).sum(axis=1)
        now = np.zeros_like(shut)
        lost = (rivals >= beam_width) & ~shut[turns.row, turns.parent]
        now[turns.row[lost], turns.child[lost]] = True
        if np.array_equal(now, shut):
            break
        shut = now
    return shut


def _above(stayed: Array, grown: Array, turns: _Turns) -> Array:
    """How many prefixes score above each one of `turns` when its parent's turn comes to it.

    `(len, 1 + width)`: those that stay, then the children of each slot.
    """
    own = stayed[turns.row, turns.child]
    width, fan = grown.shape[1:]
    counts = np.zeros((own.size, 1 + width), np.int64)
    counts[:, 0] = (stayed[turns.row] > own[:, None]).sum(axis=1)
    due = (turns.parent * fan + turns.before)[:, None, None]
    order = np.arange(width * fan).reshape(width, fan)
    block = max(1, 2**22 // max(width * fan, 1))  # keeps the comparison within some megabytes
    for start in range(0, own.size, block):
        part = slice(start, start + block)
        higher = grown[turns.row[part]] > own[part, None, None]
        higher &= order < due[part]
        counts[part, 1:] = higher.sum(axis=2)
    return counts


def _largest(pool: Array, count: int) -> Array:
    """Indices of the `count` largest per row, largest first, of equals the first: `(rows, k)`."""
    size = pool.shape[1]
    if count < size:
        bound = np.partition(pool, size - count, axis=1)[:, size - count, None]
        above, level = pool > bound, pool == bound
        room = count - above.sum(axis=1, keepdims=True)
        level &= np.cumsum(level, axis=1) <= room
        picked = np.nonzero(above | level)[1].reshape(-1, count)
    else:
        picked = np.broadcast_to(np.arange(size), pool.shape)
    rank = np.argsort(-np.take_along_axis(pool, picked, axis=1), axis=1, kind="stable")
    return np.take_along_axis(picked, rank, axis=1)


def _extended(key: Array, label: Array) -> Array:
    """Hash of a prefix with a label appended, from the hash of the prefix.

    The mixing is SplitMix64's (Steele, Lea, Flood, "Fast splittable pseudorandom number
    generators", 2014).
    """
    z = key + (label + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = z ^ (z >> np.uint64(31))
    return mixed


def _trace(moves: list[_Move], shape: tuple[int, ...], steps: int) -> Array:
    """Follow the sources back from the first `shape[1]` slots: labels `(*shape, steps)`."""
    labels = np.full((*shape, steps), -1, np.int64)
    slot = np.tile(np.arange(shape[1]), (shape[0], 1))
    for t in range(len(moves) - 1, -1, -1):
        source, label = moves[t]
        n, width = source.shape
        # A row too short for so many paths is refused by the caller: any slot will do.
        here = np.minimum(slot[:n], width - 1)
        labels[:n, :, t] = np.take_along_axis(label, here, axis=1)
        slot[:n] = np.take_along_axis(source, here, axis=1)
    return labels


def _left_aligned(labels: Array, keep: Array) -> Array:
    """The labels kept of each row `(batch, time)`, moved to the left, filled up with -1."""
    counts = keep.sum(axis=1)
    out = np.full((len(labels), counts.max(initial=0)), -1, np.int64)
    out[np.arange(out.shape[1]) < counts[:, None]] = labels[keep]
    return out


def _used_steps(name: str, log_probs: Array, lengths: Array) -> Array:
    """Check the two operands of a decoder; return which steps are in use: `(batch, time)`."""
    if log_probs.ndim != 3 or log_probs.shape[2] == 0 or lengths.shape != log_probs.shape[:1]:
        raise ValueError(
            f"{name}: log_probs of shape {log_probs.shape} with lengths of shape "
            f"{lengths.shape}; expected (batch, time, classes >= 1) and (batch,)"
        )
    steps = log_probs.shape[1]
    if lengths.max(initial=0) > steps:
        row = int(lengths.argmax())
        raise ValueError(
            f"{name}: lengths[{row}] = {lengths[row]} goes beyond the {steps} time steps of "
            f"log_probs; pass lengths of at most {steps}"
        )
    return np.less(np.arange(steps), lengths[:, None])


def _check_enough_paths(totals: Array, top_paths: int) -> None:
    """Refuse rows that have fewer than `top_paths` possible sequences."""
    lacking = (totals == -np.inf).any(axis=1)
    if lacking.any():
        row = int(lacking.argmax())
        found = int((totals[row] > -np.inf).sum())
        raise ValueError(
            f"beam_search: top_paths={top_paths}, but row {row} has only {found} possible "
            f"sequence(s); ask for fewer paths or leave rows so short out"
        )
