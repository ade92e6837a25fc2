"""Servers of clusters whose tasks all are in this process: their sessions keep the same values."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from kameleon._utils.locks import condition

from ..failures import failure, invalid
from ..graph import messages
from ..variables import Store
from .exports import as_text, constantly, export

PATIENCE = 10.0  # seconds, in which the servers of a cluster must have been started
_changed = condition()

Task = tuple[str, int]  # its job, and its number there


class Cluster:
    """What the tasks of a cluster have in common.

    Attributes:
        tasks: all of them.
        started: those whose server was started.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.tasks, self.started = sorted(tasks), set[Task]()

    @cached_property
    def store(self) -> Store:
        """What sessions keep."""
        from ..running.prepared import function  # late: it loads the K surface

        return Store(function, devices=self.devices)

    @property
    def devices(self) -> list[str]:
        """The names of all tasks' devices."""
        return [f"/job:{job}/replica:0/task:{task}/device:CPU:0" for job, task in self.tasks]

    def absent(self, filters: Sequence[str]) -> list[str]:
        """The tasks whose server wasn't started; where filters name tasks, of those."""
        wanted = tuple(f"{each}/" for each in filters) or ("/",)
        found = (f"/job:{job}/task:{at}" for job, at in self.tasks if (job, at) not in self.started)
        return [name for name in found if f"{name}/".startswith(wanted)]


class Server:
    """A server of a task.

    Attributes:
        task: the task.
        cluster: its cluster.
        target: what sessions call it.
    """

    def __init__(self, data: bytes) -> None:
        definition = messages("tensorflow_server_pb2", "protobuf").ServerDef.FromString(data)
        tasks = {job.name: dict(job.tasks) for job in definition.cluster.job}
        job, number = self.task = definition.job_name, definition.task_index
        if job not in tasks:
            raise failure("INTERNAL", f'Job "{job}" was not defined in cluster')
        if number not in tasks[job]:
            raise invalid(f'Task {number} was not defined in job "{job}"')
        port = tasks[job][number].rpartition(":")[2]
        if port == "0":  # any
            port = tasks[job][number] = f"{next(_ports)}"
        self.target = f"grpc://localhost:{port}"
        key = tuple((job, *pair) for job in tasks for pair in tasks[job].items())
        made = Cluster((job, at) for job, at, _ in key)
        self.cluster = _clusters.setdefault(frozenset(key), made)


_ports = itertools.count(50_000)  # nobody listens there
_clusters: dict[frozenset[tuple[str, int, str]], Cluster] = {}  # by their tasks' addresses
_started: dict[str, Server] = {}  # by target


@export("TF_ServerStart")
def _start(server: Server) -> None:
    with _changed:
        server.cluster.started.add(server.task)
        _started[server.target] = server
        _changed.notify_all()


export("TF_NewServer")(Server)
export("TF_ServerTarget")(lambda server: server.target)
export("TF_ServerJoin")(lambda server: threading.Event().wait())  # for ever, as in the original
constantly(None, "TF_ServerStop")  # the original's go on, too


def cluster_of(target: str | bytes, config: Any) -> Cluster | None:
    """The cluster of a session's target; None for a session by itself.

    Raises:
        NotFoundError: (TensorFlow's) there's no such server in this process.
        UnavailableError: (TensorFlow's) a task of the cluster has none.
    """
    if not target:
        return None
    name, until = as_text(target), time.monotonic() + PATIENCE
    filters = list(config.device_filters) if config is not None else []
    with _changed:
        server = _started.get(name)
        if server is None:
            about = "No session factory registered for the given session options"
            why = "Kameleon knows the servers of this process alone"
            raise failure("NOT_FOUND", f'{about}: {{target: "{name}"}} ({why})')
        while (absent := server.cluster.absent(filters)) and time.monotonic() < until:
            _changed.wait(until - time.monotonic())
    if absent:
        about = f"No server was started for {', '.join(absent)}"
        raise failure("UNAVAILABLE", f"{about}: on Kameleon, a cluster is in one process")
    return server.cluster


@export("TF_Reset")
def _reset(target: str | bytes, containers: Sequence[str] = (), config: Any = None) -> None:
    cluster = cluster_of(target, config)
    if cluster is not None:
        cluster.store.clear({as_text(each) for each in containers} or {""})
