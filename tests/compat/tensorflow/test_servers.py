"""A session on a cluster that this process hasn't got whole is refused: it would wait for ever."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kameleon.compat.tensorflow.capi.servers import Cluster


@pytest.mark.parametrize(
    ("filters", "absent"),
    [
        ([], ["/job:ps/task:0", "/job:worker/task:10"]),
        (["/job:ps", "/job:worker/task:1"], ["/job:ps/task:0"]),
        (["/job:worker/task:1"], []),
    ],
)
def test_tasks_that_have_no_server(filters: Sequence[str], absent: list[str]) -> None:
    cluster = Cluster([("worker", 10), ("worker", 1), ("ps", 0)])
    cluster.started.add(("worker", 1))
    assert cluster.absent(filters) == absent
