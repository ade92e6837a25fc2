"""Sessions: what is fetched is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..failures import invalid
from ..graph import DEVICE, Graph, Operation, Value, messages
from .exports import constantly, export
from .graph_defs import Buffer
from .graphs import Output
from .metadata import new_trace, tell
from .servers import cluster_of

constantly(None, "TF_SessionReleaseCallable")
export("TF_NewSessionOptions")(lambda target=None, config=None: (target, config))


@export("TF_NewSessionRef")
def _new(graph: Graph, options: tuple[Any, Any]) -> Any:
    from ..running.session import Session

    target, config = options
    seconds = getattr(config, "operation_timeout_in_ms", 0) / 1000
    cluster = cluster_of(target, config)
    if cluster is None:
        return Session(graph, seconds or None)
    return Session(graph, seconds or None, cluster.store, cluster.devices)


export("TF_CloseSession", "TF_DeleteSession")(lambda session: session.close())


def _numbers(value: Any) -> Any:
    """What is fed; of quantized numbers, which NumPy's type wraps in a field, the numbers."""
    kind = getattr(value, "dtype", None)
    name = kind.names[0] if kind is not None and kind.names else ""
    return value[name] if name.startswith(("qint", "quint")) else value


@export("TF_SessionRun_wrapper")
def _run(
    session: Any,
    options: Any,
    feeds: Mapping[Output, Any],
    fetches: Sequence[Output],
    targets: Sequence[Operation],
    metadata: Any,
) -> list[Any]:
    fed = {key.value: _numbers(value) for key, value in feeds.items()}
    wanted = [each.value for each in fetches]
    asked = _settings().RunOptions.FromString(options.data) if options else None
    trace = new_trace(metadata, asked)
    results: list[Any] = session.run(fed, wanted, list(targets), _seconds(asked), trace)
    tell(metadata, asked, session.graph, fed, [*(each.oper for each in fetches), *targets], trace)
    return results


@export("TF_SessionPRunSetup_wrapper")
def _set_up(
    session: Any, feeds: Sequence[Output], fetches: Sequence[Output], targets: Sequence[Operation]
) -> str:
    from ..running.partial import PartialRun

    fed, wanted = ([each.value for each in outputs] for outputs in (feeds, fetches))
    made = PartialRun(session, fed, wanted, targets)
    session.partial[handle := str(len(session.partial))] = made
    return handle


@export("TF_SessionPRun_wrapper")
def _run_partially(
    session: Any, handle: str, feeds: Mapping[Output, Any], fetches: Sequence[Output]
) -> list[Any]:
    if (made := session.partial.get(handle)) is None:
        raise invalid("Must run 'setup' before performing partial runs!")
    fed = {key.value: _numbers(value) for key, value in feeds.items()}
    results: list[Any] = made.run(fed, [each.value for each in fetches])
    if made.is_done:
        session.partial[handle] = None  # so that no other one gets this handle
    return results


def _settings() -> Any:
    """The module of the messages that hold options."""
    return messages("config_pb2", "protobuf")


def _seconds(options: Any) -> float | None:
    """How long a run may take; None: as long as it likes."""
    return None if options is None else options.timeout_in_ms / 1000 or None


@export("TF_SessionMakeCallable")
def _make_callable(session: Any, buffer: Any) -> Callable[..., list[Any]]:
    options = _settings().CallableOptions.FromString(buffer.data)
    by_name = session.graph.by_name

    def value(text: str) -> Value:
        name, _, index = text.partition(":")
        if name not in by_name:
            about = "specified in either feed_devices or fetch_devices was not found in the Graph"
            raise invalid(f"Tensor {text}, {about}")
        return by_name[name], int(index or 0)

    feeds = [value(text) for text in options.feed]
    fetches = [value(text) for text in options.fetch]
    targets = [by_name[text.lstrip("^")] for text in options.target]

    # What takes the place of a value as a feed does, and is itself a value of the graph.
    connected = {
        value(each.to_tensor): value(each.from_tensor) for each in options.tensor_connection
    }
    ends = [*(operation for operation, _ in fetches), *targets]

    def call(values: Sequence[Any], metadata: Buffer | None) -> list[Any]:
        fed = dict(zip(feeds, (_numbers(np.asarray(value)) for value in values), strict=True))
        if connected:
            first = session.run(fed, [*connected.values()], [])
            fed |= dict(zip(connected, first, strict=True))
        asked = options.run_options
        trace = new_trace(metadata, asked)
        results: list[Any] = session.run(fed, fetches, targets, _seconds(asked), trace)
        tell(metadata, asked, session.graph, fed, ends, trace)
        return results

    return call


export("TF_SessionRunCallable")(lambda session, call, values, metadata: call(values, metadata))


# Devices ----------------------------------------------------------------------------------------

_PROPERTIES = ("CPU", 256 << 20, 1)
_DEVICE = (DEVICE, *_PROPERTIES)

constantly([_DEVICE], "TFE_ContextListDevices")
export("TF_SessionListDevices")(lambda session: [(x, *_PROPERTIES) for x in session.devices])
constantly([b"/physical_device:CPU:0"], "TF_ListPhysicalDevices")
export("TF_DeviceListCount")(len)


@export("list_devices")
def _describe_devices(session_config: Any = None) -> list[bytes]:
    kind = messages("device_attributes_pb2")
    name, device, size, number = _DEVICE
    made = kind.DeviceAttributes(
        name=name[name.index("/device") :],
        device_type=device,
        memory_limit=size,
        incarnation=number,
    )
    return [made.SerializeToString()]


for _place, _name in enumerate(("Name", "Type", "MemoryBytes", "Incarnation")):
    export(f"TF_DeviceList{_name}")(lambda listed, number, place=_place: listed[number][place])
