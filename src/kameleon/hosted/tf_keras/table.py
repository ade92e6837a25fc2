"""All names of `tf.keras` that aren't the hosted Keras's, by dotted name without `tf.keras.`."""

from __future__ import annotations

from typing import Any

from . import (
    arrays,
    base,
    callbacks,
    clones,
    files,
    functions,
    layers,
    logs,
    losses,
    metrics,
    models,
    optimizers,
    schedules,
    time_axes,
    utilities,
    variants,
)

SUBJECTS: tuple[Any, ...] = (
    *(callbacks, clones, files, functions, layers, losses, metrics, models),
    *(optimizers, schedules, time_axes, utilities, variants),
)

NAMES: dict[str, Any] = {}
HINTS: dict[str, str] = {}
for _subject in SUBJECTS:
    NAMES |= _subject.NAMES
    HINTS |= getattr(_subject, "HINTS", {})


def install() -> None:
    """Give the hosted Keras's layers and callbacks what those of `tf.keras` have."""
    arrays.install()
    base.install()
    metrics.install()
    logs.install()
