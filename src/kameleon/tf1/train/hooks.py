"""`tf.train`: hooks, which see each run of a session, and ask it to stop."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..summaries import FileWriter
from .averages import get_global_step
from .checkpoints import Saver

LOGGER = logging.getLogger("tensorflow")


class SessionRunArgs:
    """What a hook adds to a run: more to fetch, and to feed."""

    def __init__(self, fetches: Any, feed_dict: Any = None, options: Any = None):
        self.fetches, self.feed_dict, self.options = fetches, feed_dict, options


class SessionRunValues(NamedTuple):
    """What came of a hook's fetches."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """A run, as hooks are told of it."""

    def __init__(self, original_args: Any, session: Any):
        self.original_args, self.session = original_args, session
        self._stops = False

    @property
    def stop_requested(self) -> bool:
        """Whether somebody has asked to stop."""
        return self._stops

    def request_stop(self) -> None:
        """Let the session stop after this run."""
        self._stops = True


class SessionRunHook:
    """What's called around a session's runs: the base of all hooks, which does nothing."""

    def begin(self) -> None:
        """Before the session is made; the graph may still grow."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """When the session is there, and its variables have values."""

    def before_run(self, run_context: Any) -> Any:
        """Before a run; a `SessionRunArgs` adds to it."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """After a run, with the values of what was added."""

    def end(self, session: Any) -> None:
        """At the end, where nothing has failed."""


class SecondOrStepTimer:
    """Says when so many steps, or seconds, have passed since it last did."""

    def __init__(self, every_secs: Any = None, every_steps: Any = None):
        if (every_secs is None) is (every_steps is None):
            raise ValueError("exactly one of every_secs and every_steps should be provided.")
        self._seconds, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._last: tuple[int, float] | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it's time, at this step."""
        if self._last is None:
            return True
        if self._last[0] == step:
            return False
        if self._seconds is not None:
            return bool(time.time() >= self._last[1] + self._seconds)
        return bool(step >= self._last[0] + self._steps)

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        """Note that it was time; gives the seconds and steps since it was before."""
        now, before = time.time(), self._last
        self._last = (step, now)
        return (None, None) if before is None else (now - before[1], step - before[0])

    def last_triggered_step(self) -> int | None:
        """The step at which it was time."""
        return None if self._last is None else self._last[0]


class _Stepwise(SessionRunHook):
    """A hook that asks for the global step."""

    def begin(self) -> None:
        self._step = get_global_step()
        if self._step is None:
            name = type(self).__name__
            raise RuntimeError(f"Global step should be created to use {name}.")

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._step)


class StopAtStepHook(_Stepwise):
    """Stops after so many steps, or at a global step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if (num_steps is None) is (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
        self._num_steps, self._last = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._num_steps is not None:
            self._last = int(session.run(self._step)) + self._num_steps

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # The global step may have been read before it was changed in the same run.
        if int(run_context.session.run(self._step)) >= (self._last or 0):
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """A loss is no number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops, or fails, where a loss is no number."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True):
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if np.isnan(run_values.results):
            LOGGER.error("Model diverged with loss = NaN.")
            if self._fails:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs, or seconds; and at the end, with `at_end`.

    Args:
        tensors: a list of tensors, or a dictionary of them by tag.
        every_n_iter, every_n_secs: how often.
        formatter: makes a text of the values by tag.
    """

    def __init__(
        self, tensors: Any, every_n_iter: int | None = None, every_n_secs: Any = None,
        at_end: bool = False, formatter: Callable[[Mapping[str, Any]], str] | None = None,
    ):  # fmt: skip
        if not at_end and (every_n_iter is None) is (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be"
                " provided."
            )
        named = isinstance(tensors, Mapping)
        self._tensors = dict(tensors) if named else {getattr(x, "name", x): x for x in tensors}
        self._formatter, self._at_end = formatter, at_end
        both = every_n_iter is None and every_n_secs is None
        self._timer = None if both else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._runs, self._before = 0, time.time()

    def before_run(self, run_context: Any) -> Any:
        self._now = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._tensors) if self._now else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._now and self._timer is not None:
            passed, _ = self._timer.update_last_triggered_step(self._runs)
            self._log(run_values.results, passed)
        self._runs += 1

    def end(self, session: Any) -> None:
        if self._at_end:
            self._log(session.run(self._tensors), None)

    def _log(self, values: Mapping[str, Any], passed: float | None) -> None:
        if self._formatter is not None:
            LOGGER.info(self._formatter(values))
            return
        text = ", ".join(f"{tag} = {value}" for tag, value in values.items())
        LOGGER.info(text if passed is None else f"{text} ({passed:.3f} sec)")


class CheckpointSaverListener:
    """What is told of checkpoints: the base, which does nothing."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """After a checkpoint was written; True asks to stop."""

    def end(self, session: Any, global_step_value: int) -> None:
        """At the end."""


class CheckpointSaverHook(_Stepwise):
    """Writes a checkpoint at the beginning, every so many steps or seconds, and at the end."""

    def __init__(
        self, checkpoint_dir: Any, save_secs: Any = None, save_steps: Any = None, saver: Any = None,
        checkpoint_basename: str = "model.ckpt", scaffold: Any = None, listeners: Any = None,
    ):  # fmt: skip
        self._folder, self._saver, self._scaffold = str(checkpoint_dir), saver, scaffold
        self._prefix = os.path.join(self._folder, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())

    def begin(self) -> None:
        super().begin()
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        os.makedirs(self._folder, exist_ok=True)
        self._save(session, int(session.run(self._step)))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step) and self._save(run_context.session, step):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Write a checkpoint; whether a listener asks to stop."""
        self._timer.update_last_triggered_step(step)
        if self._saver is None:
            self._saver = getattr(self._scaffold, "saver", None) or Saver()
        for listener in self._listeners:
            listener.before_save(session, step)
        self._saver.save(session, self._prefix, global_step=step)
        asked = [listener.after_save(session, step) for listener in self._listeners]
        return any(asked)


class SummarySaverHook(_Stepwise):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self, save_steps: Any = None, save_secs: Any = None, output_dir: Any = None,
        summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None,
    ):  # fmt: skip
        if (scaffold is None) is (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._op, self._scaffold = summary_op, scaffold
        self._folder, self._writer = output_dir, summary_writer
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        super().begin()
        self._owns = self._writer is None and bool(self._folder)
        if self._owns:
            self._writer = FileWriter(str(self._folder))
        self._next: int | None = None

    def before_run(self, run_context: Any) -> Any:
        op = self._op if self._scaffold is None else self._scaffold.summary_op
        self._asked = op is not None and (
            self._next is None or self._timer.should_trigger_for_step(self._next)
        )
        return SessionRunArgs([self._step, op] if self._asked else [self._step])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_context.session.run(self._step))
        if self._asked and self._writer is not None:
            self._timer.update_last_triggered_step(step)
            found = run_values.results[1]
            for summary in found if isinstance(found, (list, tuple)) else [found]:
                self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Any) -> None:
        if self._writer is not None:
            self._writer.flush()
        if self._owns:
            self._writer.close()
            self._writer = None


class StepCounterHook(_Stepwise):
    """Logs how many steps a second there are."""

    def __init__(
        self, every_n_steps: Any = 100, every_n_secs: Any = None, output_dir: Any = None,
        summary_writer: Any = None,
    ):  # fmt: skip
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results)
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                LOGGER.info("global_step/sec: %g", steps / seconds)


class FinalOpsHook(SessionRunHook):
    """Computes tensors at the end."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None):
        self._ops, self._feeds, self._values = final_ops, final_ops_feed_dict, None

    final_ops_values = property(lambda self: self._values)

    def end(self, session: Any) -> None:
        if self._ops is not None:
            self._values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives."""

    def __init__(self, feed_fn: Callable[[], Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


KINDS = (
    SessionRunArgs, SessionRunValues, SessionRunContext, SessionRunHook, SecondOrStepTimer,
    StopAtStepHook, NanTensorHook, NanLossDuringTrainingError, LoggingTensorHook,
    CheckpointSaverHook, CheckpointSaverListener, SummarySaverHook, StepCounterHook,
    FinalOpsHook, FeedFnHook,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"{space}.{kind.__name__}": kind for kind in KINDS for space in ("train", "estimator")
}
