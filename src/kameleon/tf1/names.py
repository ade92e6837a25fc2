"""Names of TensorFlow 1, each with what it is over K functions: the table of `tf.…`.

Every subject's file has a table `NAMES` of its own, by dotted name without `tf.`; here they
become one. The calling conventions are those of TensorFlow 1.15 (`axis` or `reduction_indices`,
strides with four elements, `name` everywhere); what a function computes is what K functions
compute.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from . import (
    arrays,
    assertions,
    base,
    blocks,
    boxes,
    checks,
    clipping,
    colours,
    constants,
    control,
    conversions,
    convolutions,
    crops,
    differentiation,
    distributions,
    elementwise,
    factors,
    failures,
    graph,
    host,
    initializers,
    inside,
    kernel_gradients,
    labellings,
    linear,
    measures,
    nests,
    neural,
    operators,
    other_types,
    overrides,
    platform,
    pools,
    queues,
    randomness,
    refusals,
    regularizers,
    resizing,
    sampling,
    scattering,
    scopes,
    second,
    sequences,
    sessions,
    sets,
    several,
    shapes,
    signals,
    summaries,
    tapes,
    templates,
    tracked,
    transcendental,
    utilities,
    variables,
)
from .contributed import digits, learning, model_variables, older, vocabularies
from .contributed import layers as layers_of_contrib
from .contributed import losses as losses_of_contrib
from .conventions import naming
from .data import dataset, iterators, more
from .estimators import accelerators, estimator, settings, specs
from .estimators import inputs as inputs_of_estimators
from .nets import (
    arguments,
    contrib,
    convolution,
    crf,
    layers,
    losses,
    metrics,
    streaming,
    thresholds,
)
from .nets import base as nets
from .public import endpoints, parameters_of, public
from .recurrent import (
    attention,
    beams,
    cells,
    contributed,
    costs,
    decoding,
    helpers,
    loops,
    raw,
    wrappers,
)
from .signatures import signed
from .sparse import movement, rows, sums, tensors
from .train import (
    averages,
    checkpoints,
    feeding,
    hooks,
    monitored,
    optimizer,
    optimizers,
    regularized,
    schedules,
    slots,
    supervisor,
    warm,
)

# Each has `NAMES`, functions whose result bears the name that the program gives; and perhaps
# `PLAIN`, all that names its results itself, or gives no tensors.
SUBJECTS: tuple[Any, ...] = (
    *(constants, other_types),  # what a room has of its own goes before these
    *(base, arrays, elementwise, transcendental, control, differentiation, graph, host, nests),
    *(checks, conversions, linear, overrides, scopes, sequences, sessions, shapes),
    *(variables, assertions, sets, clipping, failures, initializers, regularizers),
    *(nets, arguments, contrib, convolution, crf, layers, losses, metrics, streaming, thresholds),
    *(distributions, inside, kernel_gradients, platform, refusals, second, tapes, tracked),
    *(templates, utilities),
    *(blocks, convolutions, neural, pools),
    *(boxes, colours, crops, measures, resizing),
    *(cells, wrappers, contributed, loops, raw, costs, helpers, decoding, beams, attention),
    *(labellings, sampling),
    *(dataset, iterators, more),
    *(factors, operators, randomness, scattering, several, signals),
    *(movement, rows, sums, tensors),
    *(averages, optimizer, optimizers, regularized, schedules, slots, checkpoints, summaries),
    *(hooks, monitored, warm, queues, feeding, supervisor),
    *(settings, specs, inputs_of_estimators, estimator, accelerators),
    *(model_variables, layers_of_contrib, losses_of_contrib, learning, vocabularies, digits, older),
)


def _collected() -> dict[str, Any]:
    """What a subject writes under one name, under all names that TensorFlow has for it."""
    found: dict[str, Any] = {}
    for subject in SUBJECTS:
        named = {name: naming(value, name) for name, value in getattr(subject, "NAMES", {}).items()}
        for name, value in (named | getattr(subject, "PLAIN", {})).items():
            found |= dict.fromkeys(endpoints(name), value)
        _show_parameters(getattr(subject, "PLAIN", {}))
    for name, newer in older.RENAMED.items():
        if newer in found:
            found.setdefault(name, found[newer])
    return found


def _show_parameters(plain: Mapping[str, Any]) -> None:
    """Give functions that aren't called by others TensorFlow's signatures, too."""
    for name, value in plain.items():
        one = list(plain.values()).count(value) == 1
        if one and name in public().first and _is_written_here(value):
            signed(value, functools.partial(parameters_of, name))


def _is_written_here(value: Any) -> bool:
    ours = inspect.isfunction(value) and value.__module__.startswith(f"{__package__}.")
    return ours and "__signature__" not in vars(value)


NAMES = _collected()
