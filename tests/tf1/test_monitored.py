"""Sessions with hooks, as programs of TensorFlow 1 train by them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from kameleon import backend as K
from kameleon import events
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


@pytest.fixture
def training() -> Any:
    """A loss, an operation that makes it smaller, and the global step."""
    tf.reset_default_graph()
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
    loss = tf.square(w, name="loss")
    return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step), step


class Heard(tf.train.SessionRunHook):  # type: ignore[misc]
    """Notes what it's told."""

    def __init__(self, fetches: Any, feeds: Any = None):
        self.said: list[Any] = []
        self.fetches, self.feeds = fetches, feeds

    def begin(self) -> None:
        self.said.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.said.append("created")

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self.fetches, self.feeds)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.said.append(float(run_values.results))

    def end(self, session: Any) -> None:
        self.said.append("end")


def test_training_stops_at_a_step_and_goes_on_from_its_checkpoint(
    training: Any, tmp_path: Path
) -> None:
    loss, op, step = training
    heard = Heard(loss)
    tf.summary.scalar("shown", loss)
    hooks = [heard, tf.train.StopAtStepHook(last_step=3)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=2
    ) as session:
        while not session.should_stop():
            session.run(op)
    assert [*heard.said[:2], *heard.said[5:]] == ["begin", "created", "end"]
    assert heard.said[2:5] == pytest.approx([9.0, 9.0 * 0.64, 9.0 * 0.64**2], rel=1e-5)
    written = {p.name for p in tmp_path.iterdir()}
    assert {f"model.ckpt-{i}.index" for i in (0, 2, 3)} < written
    assert any(name.startswith("events.out") for name in written) == events.is_there()
    K.batch_set_value([(v, 0 * K.get_value(v)) for v in tf.global_variables()])
    again = Heard(step)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path),
        hooks=[again, tf.train.StopAtStepHook(num_steps=2)],
        save_checkpoint_secs=None,
        save_summaries_steps=None,
    ) as session:
        while not session.should_stop():
            value = session.run([op, loss])[1]
    assert value == pytest.approx(9.0 * 0.64**4, rel=1e-5)
    assert again.said == ["begin", "created", 4.0, 5.0, "end"]  # as each run leaves it
    with pytest.raises(RuntimeError, match="should_stop"):
        session.run(op)


def test_variables_begin_anew_without_a_checkpoint(training: Any) -> None:
    loss, op, _ = training
    for _ in range(2):
        with tf.train.SingularMonitoredSession() as session:
            assert session.run([loss, op])[0] == 9.0
            assert session.raw_session().run(loss) == pytest.approx(9.0 * 0.64)
            assert loss.eval() == pytest.approx(9.0 * 0.64)


def test_the_end_of_inputs_ends_the_block_and_errors_leave_it(training: Any) -> None:
    heard = Heard(training[0])
    data = tf.data.Dataset.range(2).make_one_shot_iterator().get_next()
    found = []
    with tf.train.MonitoredSession(hooks=[heard]) as session:
        while not session.should_stop():
            found.append(int(session.run(data)))
    assert (found, heard.said[-1]) == ([0, 1], "end")
    other = Heard(training[0])
    with pytest.raises(KeyError), tf.train.MonitoredSession(hooks=[other]):
        raise KeyError("x")
    assert other.said == ["begin", "created"]


def test_hooks_feed_log_and_fail(training: Any, caplog: pytest.LogCaptureFixture) -> None:
    loss, op, _ = training
    x = tf.placeholder(tf.float32, [])
    final = tf.train.FinalOpsHook(loss)
    hooks = [
        tf.train.FeedFnHook(lambda: {x: 2.0}),
        tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=2),
        tf.train.LoggingTensorHook([loss], at_end=True, formatter=lambda values: "the end"),
        final,
    ]
    with caplog.at_level(logging.INFO, "tensorflow"), tf.train.MonitoredSession(hooks=hooks) as s:
        assert [s.run([x * 3.0, op])[0] for _ in range(3)] == [6.0] * 3
        assert s.run_step_fn(lambda step_context: step_context.session.run(loss)) < 9.0
        with pytest.raises(RuntimeError, match="Same tensor is fed"):
            s.run(x, {x: 1.0})
    assert final.final_ops_values == pytest.approx(9.0 * 0.64**3, rel=1e-5)
    told = [r.message for r in caplog.records if "loss" in r.message or "end" in r.message]
    assert [text.split(" (")[0][:8] for text in told] == ["loss = 9", "loss = 3", "the end"]
    wrong = tf.train.NanTensorHook(tf.log(x))
    with (
        pytest.raises(tf.train.NanLossDuringTrainingError),
        tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: -1.0}), wrong]) as session,
    ):
        session.run(op)


def test_wrong_settings_are_refused() -> None:
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="Exactly one"):
        tf.train.StopAtStepHook()
    with pytest.raises(ValueError, match="exactly one"):
        tf.train.SecondOrStepTimer()
    with pytest.raises(ValueError, match="at_end"):
        tf.train.LoggingTensorHook([])
    with pytest.raises(RuntimeError, match="Global step should be created"):
        tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=3)])
