"""Input by queues, as `tf.train` had it: threads that fill a queue, from which a program trains."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._locks import lock
from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node
from ..failures import ERRORS
from ..graph import GraphKeys, effect, get_default_graph, name_scope
from ..nests import flatten, pack
from ..operations import Operation
from ..queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ..tensors import gather

ENDS = (ERRORS["OutOfRangeError"], ERRORS["CancelledError"])


class QueueRunner:
    """Threads that fill a queue, each by running an operation over and over.

    Args:
        queue: the queue; it's closed when the last thread ends.
        enqueue_ops: an operation for each thread.
        close_op, cancel_op: in place of the queue's own.
        queue_closed_exception_types: what ends a thread without being an error.
        queue_runner_def, import_scope: not to be given: none is read from a file here.
    """

    def __init__(
        self, queue: QueueBase | None = None, enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None, cancel_op: Any = None,
        queue_closed_exception_types: Any = None, queue_runner_def: Any = None,
        import_scope: str | None = None,
    ):  # fmt: skip
        if queue is None or not enqueue_ops:
            raise ArgumentError("QueueRunner: must provide queue and enqueue_ops.")
        self.queue, self.enqueue_ops = queue, list(enqueue_ops)
        self.close_op = close_op or queue.close()
        self.cancel_op = cancel_op or queue.close(cancel_pending_enqueues=True)
        self.queue_closed_exception_types = tuple(queue_closed_exception_types or ENDS)
        self.exceptions_raised: list[BaseException] = []
        self._lock, self._running = lock(), 0

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.queue.name

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """The threads, one for each operation, and one that ends them when it's asked for."""
        targets: list[Any] = [(self._fill, (sess, op, coord)) for op in self.enqueue_ops]
        self._running += len(targets)
        if coord is not None:
            targets.append((self._end, (sess, coord)))
        made = [threading.Thread(target=f, args=args, daemon=daemon) for f, args in targets]
        for thread in made:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return made

    def _fill(self, session: Any, operation: Operation, coord: Any) -> None:
        try:
            while coord is None or not coord.should_stop():
                session.run(operation)
        except self.queue_closed_exception_types:
            pass
        except Exception as error:
            self.exceptions_raised.append(error)
            if coord is None:
                raise
            coord.request_stop(error)
        finally:
            with self._lock:
                self._running -= 1
                last = self._running == 0
            if last:
                session.run(self.close_op)

    def _end(self, session: Any, coord: Any) -> None:
        coord.wait_for_stop()
        session.run(self.cancel_op)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Let `start_queue_runners` start these threads, too."""
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:  # fmt: skip
    """Start the threads that fill the graph's queues."""
    runners = get_default_graph().get_collection(collection)
    return threads_of(runners, sess or K.get_session(), coord, daemon, start)


def threads_of(
    runners: Sequence[QueueRunner], session: Any, coord: Any, daemon: bool = True,
    start: bool = True,
) -> list[threading.Thread]:  # fmt: skip
    """The threads of some runners."""
    return [t for runner in runners for t in runner.create_threads(session, coord, daemon, start)]


# Batches ------------------------------------------------------------------------------------------


def _batches(
    what: str, tensors_list: Sequence[Any], batch_size: Any, make_queue: Any,
    enqueue_many: bool, shapes: Any, allow_smaller_final_batch: bool, name: str | None,
) -> Any:  # fmt: skip
    """Batches of what some threads compute, each of its own nest of tensors."""
    marks = tensors_list[0]
    with name_scope(name or what):
        lists = [[as_tensor(x, f"tf.train.{what}") for x in flatten(t)] for t in tensors_list]
        first = lists[0]
        if shapes is None:
            shapes = [_common(column, enqueue_many) for column in zip(*lists, strict=True)]
        queue: QueueBase = make_queue([x.dtype for x in first], shapes)
        put = queue.enqueue_many if enqueue_many else queue.enqueue
        add_queue_runner(QueueRunner(queue, [put(tensors) for tensors in lists]))
        take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        found = take(batch_size)
    if isinstance(marks, Mapping):
        return pack(marks, [found] if isinstance(found, Node) else found)
    return found


def _common(tensors: Sequence[Node], of_rows: bool) -> tuple[int | None, ...]:
    """The shape that all of them have, with None where they differ."""
    shapes = [x.shape[1:] if of_rows else x.shape for x in tensors]
    if len(set(map(len, shapes))) > 1:
        raise ArgumentError(f"shapes {shapes} of what is put into one queue aren't alike")
    return tuple(d[0] if len(set(d)) == 1 else None for d in zip(*shapes, strict=True))


def batch_join(
    tensors_list: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False,
    shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Batches of what several threads compute, in their order.

    Args:
        tensors_list: for each thread, a list or dict of tensors.
        batch_size: an int, or a placeholder.
        capacity: of the queue.
        enqueue_many: the first axis of the tensors is one of examples.
        shapes: of the examples' parts; those of the tensors, if None.
        dynamic_pad: pad along axes of unknown size.
        allow_smaller_final_batch: the last batch has what is left.
        shared_name: accepted.
        name: a scope's.
    """
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _batches(
        "batch_join", tensors_list, batch_size, lambda dtypes, s: kind(capacity, dtypes, s),
        enqueue_many, shapes, allow_smaller_final_batch, name,
    )  # fmt: skip


def batch(
    tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
    enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Batches of some tensors, which threads compute over and over: see `batch_join`."""
    return batch_join(
        [tensors] * num_threads, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name or "batch",
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Batches drawn at random from what several threads compute.

    Args:
        tensors_list: for each thread, a list or dict of tensors.
        batch_size: an int, or a placeholder.
        capacity: of the queue.
        min_after_dequeue: among how many examples they are drawn, at least.
        seed: of the order, which is another one than TensorFlow's.
        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: as of `batch_join`.
    """
    return _batches(
        "shuffle_batch_join", tensors_list, batch_size,
        lambda dtypes, s: RandomShuffleQueue(capacity, min_after_dequeue, dtypes, s, seed=seed),
        enqueue_many, shapes, allow_smaller_final_batch, name,
    )  # fmt: skip


def shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Batches of some tensors, in a random order: see `shuffle_batch_join`."""
    return shuffle_batch_join(
        [tensors] * num_threads, batch_size, capacity, min_after_dequeue, seed, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name or "shuffle_batch",
    )  # fmt: skip


# Producers ----------------------------------------------------------------------------------------


def input_producer(
    input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None,
    shuffle: bool = True, seed: int | None = None, capacity: int = 32,
    shared_name: str | None = None, summary_name: str | None = None, name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:  # fmt: skip
    """A queue of a tensor's rows, which a thread fills.

    Args:
        input_tensor: the rows.
        element_shape: of a row.
        num_epochs: how often each row comes; for ever, if None.
        shuffle: whether the rows come in another order each time.
        seed: of that order, which is another one than TensorFlow's.
        capacity: of the queue.
        shared_name, summary_name: accepted.
        name: a scope's.
        cancel_op: what ends the thread.
    """
    with name_scope(name or "input_producer"):
        rows = as_tensor(input_tensor, "tf.train.input_producer")
        shape = rows.shape[1:] if element_shape is None else element_shape
        queue = FIFOQueue(capacity, [rows.dtype], [shape])
        generator, passes = np.random.default_rng(seed), iter(range(num_epochs or 0))

        def put(values: Sequence[Any]) -> None:
            if num_epochs is not None and next(passes, None) is None:
                message = f"Reached limit of {num_epochs}"
                raise ERRORS["OutOfRangeError"](None, None, message)
            [found] = values
            order = generator.permutation(len(found)) if shuffle else range(len(found))
            queue.queue_ref.put([(np.asarray(found[i]),) for i in order])

        operation = effect(f"{queue.name.rpartition('/')[2]}_EnqueueMany", [],
                           deferred=[([rows], put)])  # fmt: skip
        add_queue_runner(QueueRunner(queue, [operation], cancel_op=cancel_op))
    return queue


def range_input_producer(
    limit: int, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None,
) -> FIFOQueue:  # fmt: skip
    """A queue of the numbers 0 to limit - 1: see `input_producer`."""
    numbers = K.arange(0, limit, dtype="int32")
    return input_producer(numbers, (), num_epochs, shuffle, seed, capacity, name=name)


def slice_input_producer(
    tensor_list: Any, num_epochs: int | None = None, shuffle: bool = True,
    seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:  # fmt: skip
    """A row of each of some tensors, of the same number: see `input_producer`."""
    if not tensor_list:
        raise ArgumentError("slice_input_producer: tensor_list is empty")
    with name_scope(name or "input_producer"):
        tensors = [as_tensor(x, "tf.train.slice_input_producer") for x in tensor_list]
        limit = tensors[0].shape[0]
        if limit is None:
            raise ArgumentError("slice_input_producer: the number of rows must be known")
        queue = range_input_producer(limit, num_epochs, shuffle, seed, capacity)
        index = queue.dequeue()
        return [gather(x, index) for x in tensors]


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **dict.fromkeys(("train.QueueRunner", "train.queue_runner.QueueRunner"), QueueRunner),
    "train.add_queue_runner": add_queue_runner,
    "train.start_queue_runners": start_queue_runners,
    "train.batch": batch,
    "train.batch_join": batch_join,
    "train.shuffle_batch": shuffle_batch,
    "train.shuffle_batch_join": shuffle_batch_join,
    "train.input_producer": input_producer,
    "train.range_input_producer": range_input_producer,
    "train.slice_input_producer": slice_input_producer,
}
