"""Programs on many devices: `kameleon.distribute` and what it takes."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Callable
from typing import Any

from .._utils import files
from .._utils.machines import Machine
from .._utils.reports import Report
from .._utils.scopes import Scope
from .._utils.tracebacks import boundary
from ..config.layouts import Distribution, Strategy, Table
from ..errors import ArgumentError, EngineError, KindError, MissingLibraryError
from ..runtime import engines

__all__ = ["Distribution", "Machine", "distribute", "from_first", "local", "picture", "use_devices"]


@boundary
def distribute(
    distribution: Distribution | None = None,
    *,
    devices: int | None = None,
    mesh: dict[str, int] | None = None,
    variables: Strategy | Table = "replicated",
    inputs: Table | None = None,
) -> Scope[Any]:
    """Run what runs inside on many devices, by JAX; in this thread (or asynchronous task) alone.

    Results are those of one device, up to the order in which floats are added: a distribution says
    where arrays lie. Batches of any size will do.

    Args:
        distribution: how arrays lie; else it's made of the other arguments.
        devices, mesh, variables, inputs: see `Distribution`. With none of them, batches are spread
            over all devices that JAX has.

    Returns:
        A context manager.

    Raises:
        ArgumentError: the arguments don't go together.
        EngineNotFoundError: JAX isn't installed.
        EngineError: JAX has fewer devices, and started before it could be asked for more. On a
            processor, virtual devices stand for real ones where JAX hasn't computed yet.

    >>> import kameleon
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2)), K.variable([[1.], [2.]])
    >>> f = K.function([x], [K.mean(K.dot(x, w))])
    >>> with kameleon.distribute(devices=1):
    ...     f([[[1., 2.], [3., 4.]]])[0].item()
    8.0
    """
    if distribution is None:
        distribution = Distribution(devices, mesh, variables, inputs)
    elif (devices, mesh, variables, inputs) != (None, None, "replicated", None):
        raise ArgumentError("distribute: give a Distribution or its arguments, not both")
    elif not isinstance(distribution, Distribution):
        raise KindError(
            f"distribute: distribution must be a kameleon.Distribution, not {distribution!r};"
            " distribute(devices=…) takes a number of devices"
        )
    return engines.using(engines.distributed(distribution), gives=False)


@boundary
def use_devices(distribution: Distribution) -> None:
    """Run all that names no engine on many devices, in all threads."""
    engines.use(engines.distributed(distribution))


@boundary
def local(rows: Any) -> Any:
    """A batch of which each process gives its own rows, as what calls take for the whole batch.

    To be called inside of `distribute`, by all processes, with equally many rows.

    Args:
        rows: of this process, an array of shape (rows, ...).

    Returns:
        JAX's array of all rows, in the order of the processes.

    Raises:
        EngineError: nothing is distributed here.
        ArgumentError: the devices don't divide the rows.
    """
    return _engine("local").joined(rows)


@boundary
def from_first(function: Callable[[], Any]) -> Any:
    """What a function gives in the first process, in all of them; for what each would read or draw
    otherwise.

    To be called inside of `distribute`, by all processes.

    Args:
        function: is called in the first process alone; its value can be pickled.

    Returns:
        Its value.

    Raises:
        EngineError: in the other processes, where it raised in the first one.

    >>> import kameleon
    >>> with kameleon.distribute(devices=1):
    ...     kameleon.distributed.from_first(lambda: "read once")
    'read once'
    """
    return _engine("from_first").from_first(function)


@boundary
def picture(report: Report, path: str | os.PathLike[str]) -> None:
    """Draw the mesh, and on which of its devices each array lies.

    Args:
        report: what `function.report()` gives.
        path: the file; its ending says the format, such as .svg or .png.

    Raises:
        MissingLibraryError: Matplotlib isn't installed.
    """
    name = files.checked("picture", path)
    try:
        figure = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise MissingLibraryError(
            "pictures are drawn by Matplotlib: pip install matplotlib"
        ) from None
    from .pictures import drawn

    drawing = io.BytesIO()
    kind = os.path.splitext(name)[1][1:] or "png"
    drawn(report, figure).savefig(drawing, format=kind)
    files.replace(name, drawing.getvalue())


def _engine(what: str) -> Any:
    engine = engines.current()
    if not engine.has_layout:
        raise EngineError(f"{what}: call it inside of kameleon.distribute(…)")
    return engine
