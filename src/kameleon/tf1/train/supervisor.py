"""`tf.train.Supervisor`: sessions that begin at the newest checkpoint, and write others beside."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..platform import Coordinator
from ..sessions import Session
from ..summaries import FileWriter, merge_all
from .averages import get_global_step
from .checkpoints import Saver
from .feeding import start_queue_runners, threads_of
from .monitored import ChiefSessionCreator, Scaffold

DEFAULT = 0  # an argument that isn't given, as TensorFlow has it


class LooperThread(threading.Thread):
    """Calls a function over and over, until a coordinator stops.

    Args:
        coord: the coordinator.
        timer_interval_secs: from one call to the next; None: at once.
        target, args, kwargs: the function; None: `run_loop`.
    """

    def __init__(
        self, coord: Coordinator, timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None, args: Any = None, kwargs: Any = None,
    ):  # fmt: skip
        super().__init__(daemon=True)
        self._coord, self._seconds = coord, timer_interval_secs
        self._function, self._args, self._options = target, args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any],
        args: Any = None, kwargs: Any = None,
    ) -> LooperThread:  # fmt: skip
        """A thread that has begun."""
        found = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        found.start()
        return found

    def run(self) -> None:
        """The loop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.wait_for_stop(max(0.0, due - time.monotonic())):
                due += self._seconds or 0.0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called before the loop."""

    def stop_loop(self) -> None:
        """Called behind it."""

    def run_loop(self) -> None:
        """Called in the loop."""
        if self._function is not None:
            self._function(*self._args, **self._options)


class _Later(LooperThread):
    """One whose first call comes when its time has passed once."""

    def start_loop(self) -> None:
        self._coord.wait_for_stop(self._seconds)


class Supervisor:
    """Begins a session, writes checkpoints and summaries beside it, and stops its threads.

    Args:
        graph, ready_op, ready_for_local_init_op, recovery_wait_secs, session_manager,
            local_init_run_options: accepted.
        is_chief: whether this process writes files.
        init_op, init_feed_dict, local_init_op, init_fn: what gives variables their first values.
        logdir: the folder of checkpoints and summaries; None: neither is written.
        summary_op, saver, global_step, summary_writer: made, where they aren't given; None: none.
        save_summaries_secs, save_model_secs: how often, in seconds; 0: never.
        stop_grace_secs: how long threads have to end.
        checkpoint_basename: of the files.
    """

    USE_DEFAULT = DEFAULT

    def __init__(
        self, graph: Any = None, ready_op: Any = DEFAULT, ready_for_local_init_op: Any = DEFAULT,
        is_chief: bool = True, init_op: Any = DEFAULT, init_feed_dict: Any = None,
        local_init_op: Any = DEFAULT, logdir: Any = None, summary_op: Any = DEFAULT,
        saver: Any = DEFAULT, global_step: Any = DEFAULT, save_summaries_secs: float = 120,
        save_model_secs: float = 600, recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None, summary_writer: Any = DEFAULT,
        init_fn: Callable[[Any], Any] | None = None, local_init_run_options: Any = None,
    ):  # fmt: skip
        self.is_chief, self.stop_grace_secs = is_chief, stop_grace_secs
        self.save_summaries_secs, self.save_model_secs = save_summaries_secs, save_model_secs
        self.coord, self._graph = Coordinator(), graph
        folder = os.fspath(logdir) if logdir and is_chief else None
        self._folder = folder
        self.save_path = os.path.join(folder, checkpoint_basename) if folder else None
        self.saver = Saver(allow_empty=True) if _is_default(saver) else saver
        self.summary_op = merge_all() if _is_default(summary_op) else summary_op
        self.global_step = get_global_step() if _is_default(global_step) else global_step
        self._scaffold = Scaffold(
            None if _is_default(init_op) else init_op, init_feed_dict,
            None if init_fn is None else lambda scaffold, session: init_fn(session),
            local_init_op=None if _is_default(local_init_op) else local_init_op, saver=self.saver,
        )  # fmt: skip
        if _is_default(summary_writer):
            summary_writer = FileWriter(folder) if folder else None
        self.summary_writer = summary_writer

    @property
    def init_op(self) -> Any:
        """What gives variables their first values."""
        return self._scaffold.finalize().init_op

    @property
    def init_feed_dict(self) -> Any:
        """What is fed to it."""
        return self._scaffold.init_feed_dict

    def prepare_or_wait_for_session(
        self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
        max_wait_secs: int = 7200, start_standard_services: bool = True,
    ) -> Session:  # fmt: skip
        """A session whose variables have the newest checkpoint's values, else their first ones."""
        self.coord.clear_stop()
        creator = ChiefSessionCreator(self._scaffold, master, config, self._folder)
        session: Session = creator.create_session()
        if start_standard_services:
            self.start_standard_services(session)
        self.start_queue_runners(session)
        return session

    def start_standard_services(self, sess: Any) -> list[LooperThread]:
        """Begin to write checkpoints and summaries."""
        found: list[LooperThread] = []
        if self.summary_op is not None and self.summary_writer is not None:
            every = self.save_summaries_secs
            found += [LooperThread(self.coord, every, self._summarize, [sess])] if every else []
        if self.saver is not None and self.save_path and self.save_model_secs:
            self._save(sess)  # at once, lest it come behind one of the program's own
            found.append(_Later(self.coord, self.save_model_secs, self._save, [sess]))
        for thread in found:
            thread.start()
        return found

    def start_queue_runners(self, sess: Any, queue_runners: Sequence[Any] | None = None) -> Any:
        """Begin to fill queues: those of these runners, or the graph's."""
        if queue_runners is None:
            return start_queue_runners(sess, self.coord)
        return threads_of(queue_runners, sess, self.coord)

    def loop(
        self, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:  # fmt: skip
        """Call a function over and over, in a thread."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Write a summary.

        Raises:
            RuntimeError: there's no writer.
        """
        if self.summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    def _summarize(self, session: Any) -> None:
        self.summary_computed(session, session.run(self.summary_op))
        self.summary_writer.flush()

    def _save(self, session: Any) -> None:
        if self.save_path:
            self.saver.save(session, self.save_path, global_step=self.global_step)

    @contextmanager
    def managed_session(
        self, master: str = "", config: Any = None, start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:  # fmt: skip
        """A block with a session; it ends quietly where the inputs end."""
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            self.stop(close_summary_writer=close_summary_writer)

    def stop(
        self, threads: Any = None, close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:  # fmt: skip
        """End the threads; raise what one of them, or the block, has reported."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, self.stop_grace_secs, ignore_live_threads)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.close()

    def request_stop(self, ex: Any = None) -> None:
        """Ask the threads to stop."""
        self.coord.request_stop(ex)

    def should_stop(self) -> bool:
        """Whether someone has asked to stop."""
        return self.coord.should_stop()

    def wait_for_stop(self) -> None:
        """Wait until someone asks to stop."""
        self.coord.wait_for_stop()

    # As the methods were called at first.
    PrepareSession = prepare_or_wait_for_session
    StartStandardServices = start_standard_services
    StartQueueRunners = start_queue_runners
    Loop = loop
    SummaryComputed = summary_computed
    Stop = stop
    RequestStop = request_stop
    ShouldStop = should_stop
    WaitForStop = wait_for_stop


def basic_train_loop(
    supervisor: Supervisor, train_step_fn: Callable[..., Any], args: Any = None,
    kwargs: Any = None, master: str = "",
) -> None:  # fmt: skip
    """Call a function of a session over and over, until the supervisor stops."""
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))


def _is_default(value: Any) -> bool:
    return type(value) is int and value == DEFAULT


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "train.Supervisor": Supervisor,
    "train.LooperThread": LooperThread,
    "train.basic_train_loop": basic_train_loop,
}
