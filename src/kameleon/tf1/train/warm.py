"""`tf.train.warm_start`: variables begin with a checkpoint's values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import ArgumentError, UnsupportedError
from ..graph import GraphKeys, get_collection
from .checkpoints import init_from_checkpoint
from .slots import plain_name


def warm_start(
    ckpt_to_initialize_from: str, vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Any = None, var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Let variables begin with the values of a checkpoint.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder with some.
        vars_to_warm_start: a regular expression, which the names of trainable variables begin
            with; or a list of such, for all variables, or of variables.
        var_name_to_vocab_info: not there; None.
        var_name_to_prev_var_name: by a variable's name, its name in the checkpoint.

    Raises:
        UnsupportedError: vocabularies are given.
        ArgumentError: (a ValueError) a name that is told isn't that of a chosen variable.
    """
    if var_name_to_vocab_info:
        raise UnsupportedError(
            "tf.train.warm_start: var_name_to_vocab_info isn't there; assign the rows of the new"
            " vocabulary by tf.gather of tf.train.load_variable's array"
        )
    earlier = dict(var_name_to_prev_var_name or {})
    chosen = {plain_name(v): v for v in _chosen(vars_to_warm_start)}
    if unknown := [name for name in earlier if name not in chosen]:
        raise ArgumentError(
            f"You provided the following variables in var_name_to_prev_var_name that were not"
            f" used: {unknown}. Perhaps you misspelled them?"
        )
    init_from_checkpoint(
        ckpt_to_initialize_from, {earlier.get(name, name): v for name, v in chosen.items()}
    )


def _chosen(wanted: Any) -> list[Any]:
    if wanted is None:
        return []
    if isinstance(wanted, str):
        known = get_collection(GraphKeys.TRAINABLE_VARIABLES)
        return [v for v in known if re.match(wanted, plain_name(v))]
    known = get_collection(GraphKeys.GLOBAL_VARIABLES)
    found = [x for x in wanted if not isinstance(x, str)]
    patterns = [x for x in wanted if isinstance(x, str)]
    return found + [v for v in known if any(re.match(p, plain_name(v)) for p in patterns)]


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"train.warm_start": warm_start}
