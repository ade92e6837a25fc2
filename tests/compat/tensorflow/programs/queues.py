"""Queues and what fills them; what one run leaves for another; readers of files."""

import threading

import numpy as np
import tensorflow as tf
from recording import case, main, started
from tensorflow.python.ops import data_flow_ops


def failed(make):
    """The class of what is raised, and the first line of the message."""
    try:
        return [make(), ""]
    except tf.errors.OpError as error:
        line = error.message.splitlines()[0]
        return [type(error).__name__, line.partition(" '_")[0] + line.partition("' ")[2]]


@case
def put_and_taken_in_one_run():
    q = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    x, put = q.dequeue(), q.enqueue(7.0)
    session = started()
    return [session.run([x, put])[0], session.run([put, x])[1], session.run(q.size())]


@case
def dequeue_in_a_branch():
    q = tf.FIFOQueue(9, tf.float32, shapes=[[]])
    way = tf.placeholder(tf.bool, [])
    out = tf.cond(way, q.dequeue, lambda: -1.0)
    session = started()
    session.run(q.enqueue_many([[1.0, 2.0, 3.0]]))
    found = [session.run(out, {way: w}) for w in (True, False, False, True)]
    return [found, session.run(q.size())]


@case
def enqueue_in_a_branch():
    q = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    x = tf.placeholder(tf.int32, [])

    def put():
        with tf.control_dependencies([q.enqueue(x * 10)]):
            return tf.constant(1)

    out, size, session = tf.cond(x > 0, put, lambda: tf.constant(0)), q.size(), started()
    return [[session.run(out, {x: v}), session.run(size)] for v in (1, -1, 2, -2)]


@case
def queue_in_a_loop():
    q = tf.FIFOQueue(20, tf.int32, shapes=[[]])

    def body(i, total):
        with tf.control_dependencies([q.enqueue(i * i)]):
            return i + 1, total + q.size()

    put = tf.while_loop(lambda i, total: i < 5, body, [0, 0])

    def holds_more(i, total):
        with tf.control_dependencies([total]):
            return q.size() > 1

    taken = tf.while_loop(holds_more, lambda i, total: (i + 1, total + q.dequeue()), [0, 0])
    session = started()
    return [session.run(put)[0], session.run(taken), session.run(q.dequeue())]


@case
def order_under_control_dependencies():
    q = tf.FIFOQueue(20, tf.int32, shapes=[[]])
    before = tf.constant([])
    for value in (3, 1, 2):
        with tf.control_dependencies([before]):
            put = q.enqueue(value)
        with tf.control_dependencies([put]):
            before = tf.constant(value)
    with tf.control_dependencies([before]):
        out = q.dequeue_many(3)
    return started().run(out)


@case
def variable_steps_with_a_dequeue():
    q = tf.FIFOQueue(20, tf.float32, shapes=[[]])
    v = tf.get_variable("v", initializer=1.0)
    x = q.dequeue()
    step = tf.group(tf.assign_add(v, x), tf.assign_add(v, 2.0 * x))
    session = started()
    session.run(q.enqueue_many([[1.0, 10.0]]))
    session.run(step), session.run(step)
    return [session.run(v), session.run(q.size())]


@case
def a_dequeue_waits_for_another_thread():
    q = tf.FIFOQueue(2, tf.float32, shapes=[[]])
    x, put, value = q.dequeue_many(3), q.enqueue, tf.placeholder(tf.float32, [])
    put, session, found = q.enqueue(value), started(), []
    thread = threading.Thread(target=lambda: found.append(session.run(x).tolist()))
    thread.start()
    for each in (1.0, 2.0, 3.0, 4.0):
        session.run(put, {value: each})
    thread.join(60)
    return [found, session.run(q.size())]


@case
def an_enqueue_waits_for_room():
    q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    put, x, session = q.enqueue_many([[1, 2, 3]]), q.dequeue(), started()
    thread = threading.Thread(target=lambda: session.run(put))
    thread.start()
    found = [session.run(x) for _ in range(3)]
    thread.join(60)
    return found


@case
def closing():
    q = tf.FIFOQueue(9, tf.float32, shapes=[[]])
    session = started()
    session.run(q.enqueue_many([[1.0, 2.0, 3.0]]))
    two, up_to, close = q.dequeue_many(2), q.dequeue_up_to(2), q.close()
    session.run(close)
    return [
        failed(lambda: session.run(close)), failed(lambda: session.run(q.enqueue(1.0))),
        session.run(two), failed(lambda: session.run(two)), session.run(up_to),
        failed(lambda: session.run(up_to)), failed(lambda: session.run(q.dequeue())),
    ]  # fmt: skip


@case
def closing_cancels_who_waits():
    q = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    put, session, found = q.enqueue(1.0), started(), []
    session.run(put)
    began = threading.Event()

    def wait():
        began.set()
        found.append(failed(lambda: session.run(put)))

    thread = threading.Thread(target=wait)
    thread.start()
    began.wait(60)
    while not found:
        session.run(q.close(cancel_pending_enqueues=True))
        thread.join(0.05)
    return [found[0][0], session.run(q.dequeue())]


@case
def a_run_takes_too_long():
    q = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    options = tf.RunOptions(timeout_in_ms=50)
    return failed(lambda: started().run(q.dequeue(), options=options))


@case
def shuffled_by_seeds():
    q = tf.RandomShuffleQueue(20, 2, tf.int32, shapes=[[]], seed=5)
    session, x = started(), q.dequeue()
    session.run(q.enqueue_many([list(range(20))]))
    order = tf.random_shuffle(tf.range(10), seed=3)
    rows = tf.random_shuffle(tf.reshape(tf.range(20), (5, 4)), seed=3)
    return [[session.run(x) for _ in range(18)], [session.run([order, rows]) for _ in range(3)]]


@case
def priorities():
    q = tf.PriorityQueue(10, ["int32"], [[]])
    session = started()
    session.run(q.enqueue_many([[3, 1, 2, 1, 1, 3, 2, 1, 2, 3], list(range(10))]))
    return [session.run(q.dequeue()), session.run(q.dequeue_many(9))]


@case
def runners_and_a_coordinator():
    q = tf.FIFOQueue(4, tf.float32, shapes=[[]])
    v = tf.get_variable("v", initializer=0.0)
    put = q.enqueue(tf.assign_add(v, 1.0) * 1.0)
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [put]))
    x, session = q.dequeue(), started()
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    found = [session.run(x) for _ in range(10)]
    coordinator.request_stop()
    coordinator.join(threads)
    return [found, coordinator.should_stop(), failed(lambda: session.run(put))[0]]


@case
def an_error_in_a_runner():
    q = tf.FIFOQueue(4, tf.float32, shapes=[[]])
    put = q.enqueue(tf.check_numerics(tf.log(-1.0 * tf.ones([])), "no number"))
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [put]))
    session, coordinator = started(), tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        while not coordinator.should_stop():
            session.run(q.dequeue())
    except tf.errors.OutOfRangeError:
        pass
    finally:
        coordinator.request_stop()
    try:
        coordinator.join(threads)
    except tf.errors.InvalidArgumentError as error:
        return "no number" in str(error)
    return None


@case
def staged_for_the_next_run():
    area = data_flow_ops.StagingArea([tf.float32, tf.int32], shapes=[[2], []])
    x = tf.placeholder(tf.float32, [2])
    put, out = area.put([x, tf.constant(3)]), area.get()
    session = started()
    session.run(put, {x: [1, 2]})
    found = [session.run([out, put], {x: [i, i + 0.5]})[0] for i in (5.0, 6.0)]
    return [found, session.run(area.size()), session.run(area.peek(0)), session.run(area.clear()),
            session.run(area.size())]  # fmt: skip


@case
def staged_under_keys():
    area = data_flow_ops.MapStagingArea([tf.float32, tf.int32], names=["a", "b"], ordered=True)
    x, key = tf.placeholder(tf.float32), tf.placeholder(tf.int64, [])
    put, session = area.put(key, {"a": x, "b": tf.constant(7)}), started()
    for number in (5, 2, 9):
        session.run(put, {x: number * 1.5, key: number})
    sizes = [session.run(area.size()), session.run(area.incomplete_size())]
    return [
        sizes,
        session.run(area.get(tf.constant(9, tf.int64))),
        session.run(area.get()),
        session.run(area.size()),
    ]


@case
def sums_of_gradients():
    held = tf.ConditionalAccumulator(tf.float32, shape=[2], shared_name="held")
    g, step = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [])
    add, session = held.apply_grad(g, step), started()
    for value, at in ((1.0, 0), (3.0, 0), (5.0, 0)):
        session.run(add, {g: [value, value * 2], step: at})
    found = [session.run(held.num_accumulated()), session.run(held.take_grad(2))]
    session.run(add, {g: [9.0, 9.0], step: 0})
    found.append(session.run(held.num_accumulated()))
    session.run(held.set_global_step(4))
    for at in (3, 4, 5):
        session.run(add, {g: [at, 1.0], step: at})
    return [*found, session.run(held.num_accumulated()), session.run(held.take_grad(1))]


@case
def sums_of_rows():
    held = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
    places, session = tf.placeholder(tf.int64, [None]), started()
    add = held.apply_grad(places, tf.ones([tf.size(places), 2]) * 4.0, [5, 2])
    for given in ([0, 3], [3], [1, 3, 4]):
        session.run(add, {places: given})
    return session.run(held.take_grad(3))


@case
def values_in_parts():
    barrier = data_flow_ops.Barrier([tf.float32, tf.int32], shapes=[[2], []])
    session = started()
    session.run(barrier.insert_many(0, ["b", "a"], [[1.0, 2.0], [3.0, 4.0]]))
    found = [session.run([barrier.ready_size(), barrier.incomplete_size()])]
    session.run(barrier.insert_many(1, ["a", "c"], [7, 8]))
    session.run(barrier.insert_many(1, ["b"], [9]))
    found += [session.run([barrier.ready_size(), barrier.incomplete_size()])]
    numbers, keys, values = session.run(barrier.take_many(2))
    found += [numbers.tolist(), keys.tolist(), values]
    session.run(barrier.close(cancel_pending_enqueues=True))
    late = barrier.insert_many(0, ["d"], [[0.0, 0.0]])
    found.append(failed(lambda: session.run(barrier.take_many(1)[0]))[0])
    return [found, failed(lambda: session.run(late))[0]]


@case
def one_at_a_time():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    section = tf.CriticalSection()

    def step():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return v.read_value() * 2.0

    out, session, found = section.execute(step), started(), []
    threads = [threading.Thread(target=lambda: found.append(session.run(out))) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    return [np.sort(found), session.run(v)]


@case
def tensors_that_a_session_keeps():
    session = started()
    handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
    place, x = tf.get_session_tensor(handle.handle, tf.float32)
    found = [session.run(x * 2.0, {place: handle.handle}), handle.eval()]
    y = tf.placeholder(tf.float32, [2])
    found.append(session.run(y + 1.0, {y: handle}))
    handle.delete()
    return [found, failed(lambda: session.run(x, {place: handle.handle}))[0]]


@case
def buckets_of_lengths():
    n = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    lengths, rows = tf.contrib.training.bucket_by_sequence_length(
        n, [tf.fill([n], n)], 2, [4], dynamic_pad=True, allow_smaller_final_batch=True
    )
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                found.append(session.run([lengths, rows[0]]))
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return sorted([[a.tolist(), b.tolist()] for a, b in found])


@case
def counted_up_to():
    v = tf.Variable(0)
    count, session = v.count_up_to(2), started()
    return [session.run(count), session.run(count), failed(lambda: session.run(count))]


@case
def batches_of_rows():
    rows = np.arange(10.0).reshape(5, 2)
    i, row = tf.train.slice_input_producer([np.arange(5), rows], num_epochs=2, seed=3)
    batch = tf.train.batch([i, row], 4, allow_smaller_final_batch=True)
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                found.append(session.run(batch))
        except tf.errors.OutOfRangeError:
            found.append("end")
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return found


@case
def loops_that_wait_for_each_other():
    there, back = (tf.FIFOQueue(1, tf.int32, shapes=[[]]) for _ in range(2))

    def asks(i, total):
        with tf.control_dependencies([there.enqueue(i)]):
            return i + 1, total * 2 + back.dequeue()

    def answers(i, last):
        taken = there.dequeue()
        with tf.control_dependencies([back.enqueue(taken * taken + last)]):
            return i + 1, tf.identity(taken)

    loops = [tf.while_loop(lambda i, _: i < 6, body, [0, 0]) for body in (asks, answers)]
    return started().run(loops)


@case
def turns_that_wait_for_later_ones():
    queue = tf.FIFOQueue(9, [tf.int32], shapes=[[]])

    def turn(i, total):
        put = tf.cond(i > 0, lambda: queue.enqueue(i * 10), tf.no_op)
        taken = tf.cond(i < 5, queue.dequeue, lambda: tf.constant(0))
        with tf.control_dependencies([put]):
            return i + 1, total + taken

    return started().run(tf.while_loop(lambda i, total: i < 6, turn, [0, 0]))


@case
def from_queue_to_queue_in_one_run():
    first, second = (tf.FIFOQueue(9, [tf.int32], shapes=[[]]) for _ in range(2))
    taken = first.dequeue()
    fetches = [taken * 3, second.dequeue() * 2, second.enqueue(taken + 1)]
    session = started()
    session.run(first.enqueue(4))
    return session.run(fetches)[:2]


@case
def a_loop_that_looks_until_another_one_has_put():
    q = tf.FIFOQueue(99, tf.float32, shapes=[[]])

    def puts(i):
        with tf.control_dependencies([q.enqueue(tf.cast(i, tf.float32))]):
            return i + 1

    looks = tf.while_loop(lambda size: size < 7, lambda size: q.size(), [tf.constant(0)])
    return started().run([looks, tf.while_loop(lambda i: i < 7, puts, [0])])


@case
def sums_of_rows_that_do_not_fit():
    def added(shape, *rows):
        held = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
        found = [failed(lambda each=each: session.run(held.apply_grad(*each)))[0] for each in rows]
        kept = session.run(held.num_accumulated())
        return [*found, session.run(held.take_grad(1)) if kept else "nothing"]

    session, two = started(), [[1.0, 2.0], [3.0, 4.0]]
    return [
        added([3, 2], ([0, 2], two)), added([None, 2], ([0, 2], two, [5, 2])),
        added(None, ([0, 2], two)), added([3, 2], ([0, 2], two, [5, 2])),
        added([3, 2], ([0, 7], two)), added([3, 3], ([0, 2], two)),
        added(None, ([0, 2], two), ([0], [[1.0, 1.0, 1.0]])), added([3, 2], ([0], two)),
    ]  # fmt: skip


@case
def sections_in_one_run():
    section, other = tf.CriticalSection(), tf.CriticalSection()
    v, w = tf.Variable(0, use_resource=True), tf.Variable(1, use_resource=True)
    up = lambda: v.assign_add(1)  # noqa: E731
    read = section.execute(lambda: v + 1) * section.execute(lambda: v * 2 + 1)
    both = tf.maximum(section.execute(up), section.execute(up))
    apart = both + other.execute(lambda: w.assign_add(w))
    first = tf.cond(w > 2, lambda: section.execute(up), lambda: tf.identity(v))
    branches = tf.cond(first > 5, lambda: section.execute(up), lambda: -first)
    session = started()
    return [session.run(each) for _ in range(3) for each in (read, both, apart, branches)]


@case
def declared_otherwise():
    """What shares a name but isn't declared alike, gradients that don't fit, barriers' ends."""
    told = lambda make: failed(lambda: session.run(make()))  # noqa: E731
    session, free = started(), tf.placeholder_with_default([1.0, 2.0, 3.0], None)
    first = tf.FIFOQueue(5, [tf.float32], [[]], shared_name="one")
    session.run(first.size())
    found = [
        told(tf.FIFOQueue(6, [tf.float32], [[]], shared_name="one").size),
        told(tf.FIFOQueue(5, [tf.int32], [[]], shared_name="one").size),
        told(tf.FIFOQueue(5, [tf.float32], [[1]], shared_name="one").size),
        told(tf.RandomShuffleQueue(5, 1, [tf.float32], [[]], shared_name="one").size),
    ]
    held = tf.ConditionalAccumulator(tf.float32, shape=[2])
    found += [told(lambda: held.apply_grad(free)), told(lambda: held.take_grad(0))]
    session.run(held.set_global_step(2))
    session.run(held.set_global_step(1))
    rows = tf.SparseConditionalAccumulator(tf.float32, shape=[2, 3])
    session.run(rows.apply_grad(tf.zeros([0], tf.int64), tf.zeros([0, 3])))
    found += session.run(rows.take_grad(1))
    barrier = data_flow_ops.Barrier([tf.float32, tf.int32], shapes=[[], []])
    session.run(barrier.insert_many(0, ["a"], [1.0]))
    session.run(barrier.close())
    found.append(told(lambda: barrier.insert_many(1, ["b"], [1]))[0])
    return [found, told(barrier.close)[0]]


if __name__ == "__main__":
    main()
