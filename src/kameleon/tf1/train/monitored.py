"""`tf.train.MonitoredTrainingSession` and its kin: sessions with hooks that begin by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..failures import OutOfRangeError
from ..graph import get_collection
from ..platform import Coordinator
from ..sessions import Session
from ..summaries import merge_all
from ..variables import global_variables_initializer, local_variables_initializer
from .checkpoints import Saver, get_checkpoint_state, latest_checkpoint
from .feeding import start_queue_runners
from .hooks import (
    CheckpointSaverHook,
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
    StepCounterHook,
    SummarySaverHook,
)

DEFAULT = object()  # an argument that isn't given
CLEAN = (OutOfRangeError, StopIteration)  # what ends the inputs, and so the block


class Scaffold:
    """What a session needs to begin: operations that initialise, a saver, summaries."""

    def __init__(
        self, init_op: Any = None, init_feed_dict: Any = None,
        init_fn: Callable[..., Any] | None = None, ready_op: Any = None,
        ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
        saver: Any = None, copy_from_scaffold: Any = None,
    ):  # fmt: skip
        before = copy_from_scaffold
        self.init_feed_dict, self.init_fn = init_feed_dict, init_fn
        self.ready_op, self.ready_for_local_init_op = ready_op, ready_for_local_init_op
        self.init_op = init_op if before is None or init_op is not None else before.init_op
        self.local_init_op, self.summary_op, self.saver = local_init_op, summary_op, saver

    def finalize(self) -> Scaffold:
        """Make what the program hasn't given."""
        if self.init_op is None:
            self.init_op = global_variables_initializer()
        if self.local_init_op is None:
            self.local_init_op = local_variables_initializer()
        if self.summary_op is None:
            self.summary_op = merge_all()
        if self.saver is None:
            self.saver = next(iter(get_collection("savers")), None)
            self.saver = self.saver or Saver(allow_empty=True)
        return self


class SessionCreator:
    """What makes a session: the base."""

    def create_session(self) -> Any:
        """A session that's ready."""
        raise NotImplementedError


class ChiefSessionCreator(SessionCreator):
    """Makes a session whose variables have the values of the newest checkpoint, else new ones."""

    def __init__(
        self, scaffold: Any = None, master: str = "", config: Any = None,
        checkpoint_dir: Any = None, checkpoint_filename_with_path: Any = None,
    ):  # fmt: skip
        self._scaffold, self._config = scaffold or Scaffold(), config
        self._folder, self._file = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Any:
        scaffold, session = self._scaffold.finalize(), Session(config=self._config)
        found = self._file or (latest_checkpoint(str(self._folder)) if self._folder else None)
        if found:
            scaffold.saver.restore(session, found)
            state = None if self._file else get_checkpoint_state(str(self._folder))
            if state is not None:  # those of earlier sessions count among those that stay
                scaffold.saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        else:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(scaffold, session)
        session.run(scaffold.local_init_op)
        return session


class MonitoredSession:
    """A session with hooks, which begins by itself, and ends quietly where the inputs end.

    Args:
        session_creator: what makes the session.
        hooks: called around its runs.
    """

    def __init__(
        self, session_creator: Any = None, hooks: Sequence[Any] | None = None,
        stop_grace_period_secs: int = 120,
    ):  # fmt: skip
        self._hooks, self._coordinator = list(hooks or ()), Coordinator()
        for hook in self._hooks:
            hook.begin()
        self._session: Any = (session_creator or ChiefSessionCreator()).create_session()
        self._default = self._session.as_default()
        self._threads = start_queue_runners(self._session, self._coordinator)
        self._grace = stop_grace_period_secs
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    @property
    def graph(self) -> Any:
        """The graph of the session; None after the end."""
        return None if self._session is None else self._session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """What the session gives; hooks are called before and after.

        Raises:
            RuntimeError: the session is closed; or two feed the same tensor.
        """
        if self._session is None:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        feeds, wanted = dict(feed_dict or {}), {"caller": fetches}
        for i, hook in enumerate(self._hooks):
            asked = hook.before_run(context)
            if asked is None:
                continue
            if asked.fetches is not None:
                wanted[f"hook {i}"] = asked.fetches
            if set(feeds) & set(asked.feed_dict or {}):
                raise RuntimeError("Same tensor is fed by two hooks or by a hook and the program.")
            feeds |= asked.feed_dict or {}
        found = self._session.run(wanted, feed_dict=feeds)
        for i, hook in enumerate(self._hooks):
            values = SessionRunValues(found.get(f"hook {i}"), options, run_metadata)
            hook.after_run(context, values)
        if context.stop_requested:
            self._coordinator.request_stop()
        return found["caller"]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """What a function of this run gives; its `session` calls no hooks."""
        return step_fn(StepContext(self))

    def should_stop(self) -> bool:
        """Whether a hook has asked to stop, or the session is closed."""
        return self._session is None or self._coordinator.should_stop()

    def close(self) -> None:
        """Call the hooks' ends, and close the session."""
        self._close(None)

    def _close(self, error: Any) -> None:
        session, self._session = self._session, None
        if session is not None:
            if error is None:
                for hook in self._hooks:
                    hook.end(session)
            self._coordinator.request_stop()
            self._coordinator.join(self._threads, self._grace, ignore_live_threads=True)
            session.close()

    def __enter__(self) -> MonitoredSession:
        self._default.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        clean = kind is None or issubclass(kind, CLEAN)
        try:
            self._close(None if clean else error)
        finally:
            self._default.__exit__(None, None, None)
        return clean


class StepContext:
    """A step of a monitored session, for functions that run something beside its hooks."""

    def __init__(self, owner: Any):
        self._owner, self.session = owner, owner._session

    def run_with_hooks(self, *args: Any, **options: Any) -> Any:
        """A run, with hooks."""
        return self._owner.run(*args, **options)

    def request_stop(self) -> None:
        """Leave the function, and stop."""
        self._owner._coordinator.request_stop()
        raise StopIteration("step_fn has requested the iterations to stop.")


class SingularMonitoredSession(MonitoredSession):
    """A monitored session whose inner session programs may have."""

    def __init__(
        self, hooks: Sequence[Any] | None = None, scaffold: Any = None, master: str = "",
        config: Any = None, checkpoint_dir: Any = None, stop_grace_period_secs: int = 120,
        checkpoint_filename_with_path: Any = None,
    ):  # fmt: skip
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session inside, which calls no hooks."""
        return self._session


def MonitoredTrainingSession(  # noqa: N802 - TensorFlow's name
    master: str = "", is_chief: bool = True, checkpoint_dir: Any = None, scaffold: Any = None,
    hooks: Sequence[Any] | None = None, chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: Any = DEFAULT, save_summaries_steps: Any = DEFAULT,
    save_summaries_secs: Any = DEFAULT, config: Any = None, stop_grace_period_secs: int = 120,
    log_step_count_steps: Any = 100, max_wait_secs: int = 7200,
    save_checkpoint_steps: Any = DEFAULT, summary_dir: Any = None,
) -> MonitoredSession:  # fmt: skip
    """A monitored session that writes checkpoints and summaries, and goes on from the newest.

    Args:
        checkpoint_dir: where checkpoints are.
        scaffold: what the session needs to begin.
        hooks, chief_only_hooks: called around its runs.
        save_checkpoint_secs, save_checkpoint_steps: how often; every 600 seconds, if not given.
        save_summaries_steps, save_summaries_secs: how often; every 100 steps, if not given.
        log_step_count_steps: how often the speed is logged.
        summary_dir: where summaries are; `checkpoint_dir`, if None.
    """
    scaffold = scaffold or Scaffold()
    saves = _either(save_checkpoint_secs, save_checkpoint_steps, (600, None))
    shows = _either(save_summaries_secs, save_summaries_steps, (None, 100))
    found = list(chief_only_hooks or ())
    folder = summary_dir or checkpoint_dir
    if folder and log_step_count_steps:
        found.append(StepCounterHook(log_step_count_steps))
    if folder and shows != (None, None):
        seconds, steps = shows
        found.append(SummarySaverHook(steps, seconds, folder, scaffold=scaffold))
    if checkpoint_dir and saves != (None, None):
        found.append(CheckpointSaverHook(checkpoint_dir, *saves, scaffold=scaffold))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    every = [*(hooks or ()), *found]
    return MonitoredSession(creator, every, stop_grace_period_secs)


def _either(seconds: Any, steps: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """How often something is done, in seconds or in steps."""
    if seconds is DEFAULT and steps is DEFAULT:
        return default
    given = [None if x is DEFAULT or not x else x for x in (seconds, steps)]
    return given[0], given[1]


KINDS = (
    Scaffold, SessionCreator, ChiefSessionCreator, MonitoredSession, SingularMonitoredSession,
    MonitoredTrainingSession,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {f"train.{kind.__name__}": kind for kind in KINDS}
