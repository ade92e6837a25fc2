"""`tf.train.Supervisor`, and sessions that fill the graph's queues; what TensorFlow 1.15 does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon import events
from kameleon.engines import Engine

tf: Any = K.tf


def counting() -> tuple[Any, Any, Any]:
    """A step that adds a row of numbers from a queue; the sum, and the number of steps."""
    tf.reset_default_graph()
    data = tf.constant(np.arange(24).reshape(2, 12))
    i = tf.train.range_input_producer(3, shuffle=False).dequeue()
    x = tf.strided_slice(data, [0, i * 4], [2, (i + 1) * 4])
    total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    adds = tf.assign_add(total, tf.cast(tf.reduce_sum(x), "float32"))
    tf.summary.scalar("total", total)
    return tf.group(adds, tf.assign_add(step, 1)), total, step


def test_a_program_goes_on_where_it_stopped(tmp_path: Path, engine: Engine) -> None:
    found = []
    for _ in range(2):
        train, total, step = counting()
        supervisor = tf.train.Supervisor(logdir=str(tmp_path))
        with supervisor.managed_session() as session:
            for _ in range(4):
                assert not supervisor.should_stop()
                session.run(train)
                found.append(tuple(map(int, session.run([total, step]))))
            supervisor.saver.save(session, supervisor.save_path, global_step=step)
        assert supervisor.should_stop()
    sums = (60, 152, 276, 336, 396, 488, 612, 672)
    assert found == list(zip(sums, range(1, 9), strict=True))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-8")
    assert len(list(tmp_path.glob("events*"))) == (2 if events.is_there() else 0)


def test_errors_of_the_block_come_out_and_the_end_of_inputs_does_not() -> None:
    tf.reset_default_graph()
    with (
        pytest.raises(ValueError, match="mine"),
        tf.train.Supervisor(summary_op=None).managed_session(),
    ):
        raise ValueError("mine")
    with tf.train.Supervisor().managed_session():
        raise tf.errors.OutOfRangeError(None, None, "the end")


def test_first_values_and_services_of_a_program() -> None:
    tf.reset_default_graph()
    v, calls, called = tf.Variable(1.0), [], []
    supervisor = tf.train.Supervisor(init_fn=calls.append, init_op=tf.assign(v, 5.0))
    assert supervisor.save_path is None and supervisor.summary_writer is None

    def step(session: Any, most: int) -> None:
        called.append(session.run(v))
        if len(called) == most:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step, [3])
    assert called == [5.0] * 3 and len(calls) == 1
    looped: list[int] = []
    session = supervisor.prepare_or_wait_for_session()
    supervisor.loop(None, lambda: (looped.append(1), supervisor.request_stop()))
    supervisor.wait_for_stop()
    supervisor.stop()
    assert looped == [1] and session.run(v) == 5.0
    with pytest.raises(RuntimeError, match="summary writer"):
        supervisor.summary_computed(session, b"")


def test_monitored_sessions_fill_queues() -> None:
    tf.reset_default_graph()
    [row] = tf.train.slice_input_producer([np.arange(3.0)], num_epochs=2, shuffle=False)
    batch, found = tf.train.batch([row], 2), []
    with tf.train.MonitoredTrainingSession() as session:
        while not session.should_stop():
            found.append(session.run(batch).tolist())
    assert found == [[0.0, 1.0], [2.0, 0.0], [1.0, 2.0]]
