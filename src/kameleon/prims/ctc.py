"""CTC decoding: the shape of the result depends on values, so an engine runs it on the host."""

from __future__ import annotations

from ..errors import ShapeError
from ..ir.node import Node
from ..ir.primitive import ZERO, Primitive
from ..ir.types import INT64, TensorType


def _infer_greedy(log_probs: Node, lengths: Node) -> tuple[TensorType, TensorType]:
    if len(log_probs.shape) != 3:
        raise ShapeError(f"CTC needs (samples, time, classes), not shape {log_probs.shape}")
    batch = log_probs.shape[0]
    return TensorType((None, None), INT64), TensorType((batch, 1), log_probs.dtype)


ctc_greedy = Primitive(
    "ctc_greedy",
    _infer_greedy,
    ZERO,
    "best path of log_probs (samples, time, classes), repeats merged, blanks (the last class)"
    " dropped, filled with -1; and the negated sum of its scores",
)


def _infer_beam(
    log_probs: Node, lengths: Node, beam_width: int, top_paths: int
) -> tuple[TensorType, ...]:
    batch = log_probs.shape[0]
    path = TensorType((None, None), INT64)
    return (*(path for _ in range(top_paths)), TensorType((batch, top_paths), log_probs.dtype))


ctc_beam_search = Primitive(
    "ctc_beam_search",
    _infer_beam,
    ZERO,
    "the `top_paths` most probable labellings by prefix beam search, each filled with -1, and"
    " their log probabilities",
)
