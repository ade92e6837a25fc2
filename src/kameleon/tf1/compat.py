"""`tf.compat.v2` in TensorFlow 1: its names, with the parameters that they have there.

A function takes what was recorded as its parameters, and hands it on, by name, to the function of
version 1 that computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.node import new_serial
from .calling import Signature, bound, order_of
from .conventions import named
from .installed.names import found as found_installed
from .names import NAMES
from .public import public, rows_of
from .signatures import recorded, signed

PATH = "compat.v2"

# The function of version 1 that computes it, where that isn't the one of the same name.
OTHERS = {
    "where": "where_v2",
    "nn.softmax_cross_entropy_with_logits": "nn.softmax_cross_entropy_with_logits_v2",
    "nn.ctc_loss": "nn.ctc_loss_v2",
    "nn.avg_pool": "nn.avg_pool_v2",
    "nn.max_pool": "nn.max_pool_v2",
}
# Version 1's names of parameters, where it doesn't take the newer ones, too.
RENAMED = {
    "ones_like": {"input": "tensor"},
    "zeros_like": {"input": "tensor"},
    "device": {"device_name": "device_name_or_function"},
    "nn.erosion2d": {"filters": "kernel", "dilations": "rates"},
}
# The one value of a required parameter that version 1 hasn't got.
ALONE = {name: {"data_format": "NHWC"} for name in ("nn.dilation2d", "nn.erosion2d")} | {
    "image.extract_glimpse": {"noise": "uniform"}
}
# Of these modules, names are those of Keras alone.
OF_KERAS = ("losses", "metrics", "initializers", "optimizers")


def newer(path: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a module in `tf.compat.v2`.

    Args:
        path: the module's dotted name behind that.
        names: what the module of that name has in version 1.
    """
    start = f"{path}." if path else ""
    found = {} if path in OF_KERAS else {k: as_newer(f"{start}{k}", v) for k, v in names.items()}
    own = f"{PATH}.{start}"
    return found | {
        key.removeprefix(own): value
        for key, value in NAMES.items()
        if key.startswith(own) and "." not in key.removeprefix(own)
    }


def as_newer(name: str, function: Any) -> Any:
    """What `tf.compat.v2` has under a name, where version 1 has this.

    >>> as_newer("shape", NAMES["shape"])([[1.0]], "int64").dtype
    'int64'
    """
    if name in public().second:
        return _calling(name, public().second[name])
    return _older(OTHERS[name]) if name in OTHERS else function


def _older(name: str) -> Callable[..., Any]:
    """The function of version 1, over K or of an installed TensorFlow."""
    return NAMES[name] if name in NAMES else found_installed(name)  # type: ignore[no-any-return]


def _calling(name: str, rows: Sequence[Sequence[Any]]) -> Callable[..., Any]:
    """The function of version 1, called by newer parameters."""
    older = OTHERS.get(name, name)
    known, older_defaults = order_of(rows_of(older))
    order, defaults = order_of(rows)
    signature = Signature(f"tf.{PATH}.{name}", order, defaults, frozenset(order))
    # What isn't given counts as given where version 1 has another default.
    differing = {
        key: value
        for key, value in defaults.items()
        if value is not None and key != "name" and older_defaults.get(key, value) != value
    }
    renamed, alone = RENAMED.get(name, {}), defaults | ALONE.get(name, {})

    def call(*args: Any, **kwargs: Any) -> Any:
        given = {
            renamed.get(key, key): value
            for key, value in (differing | bound(signature, args, kwargs)).items()
        }
        title = None if "name" in known else given.pop("name", None)
        for key in given.keys() - set(known):
            if given[key] != alone[key]:
                raise ArgumentError(f"{signature.what}: {key}={given[key]!r} isn't there")
            del given[key]
        before = new_serial()
        result = _older(older)(**given)
        return result if title is None else named(result, str(title), before)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = NAMES[older].__doc__ if older in NAMES else None
    signed(call, lambda: recorded(rows))
    return call
