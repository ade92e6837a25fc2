"""Queues, the threads that fill them, and batches of what they hold."""

import numpy as np

PREFIX = """
def failed(make):
    try:
        make()
    except Exception as error:
        text = str(error).splitlines()[0].partition(" '_")
        return np.array([type(error).__name__, text[2].partition("' ")[2]], 'S')
    return np.array(['nothing', ''], 'S')
def shapes(*tensors):
    return [np.array([-1 if n is None else n for n in x.get_shape().as_list()]) for x in tensors]
def trained(fetches, most, more=()):
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop() and len(found) < most:
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            found.append(np.array(-1))
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return found
s = tf.Session()
"""
PROGRAMS = {
    "in order": """
q = tf.FIFOQueue(4, [tf.float32, tf.int32], shapes=[[2], []])
a = tf.placeholder(tf.float32, [2])
one, many = q.enqueue([a, 3]), q.enqueue_many([m[:2, :2], [7, 8]])
size, closed, next_, two = q.size(), q.is_closed(), q.dequeue(), q.dequeue_many(2)
result = [s.run(size)]
s.run(one, {a: [1.0, 2.0]})
many.run(session=s)
result += [s.run(size), s.run(next_), s.run(two), s.run(size), s.run(closed)]
result += shapes(*next_) + shapes(*two) + shapes(size, closed)
""",
    "closed": """
q = tf.FIFOQueue(9, 'float32', shapes=[[]])
s.run(q.enqueue_many([[1.0, 2.0, 3.0, 4.0, 5.0]]))
two, up_to = q.dequeue_many(2), q.dequeue_up_to(2)
result = [s.run(two), s.run(q.close()), s.run(q.is_closed()), s.run(two)]
result += [failed(lambda: s.run(two)), s.run(up_to), failed(lambda: s.run(up_to)),
           failed(lambda: s.run(q.dequeue())), failed(lambda: s.run(q.enqueue(1.0)))] + shapes(up_to)
""",
    "padded": """
q = tf.PaddingFIFOQueue(8, ['float32', 'int32'], shapes=[(None, 1), (None, None)])
x, i = tf.placeholder(tf.float32, (None, 1)), tf.placeholder(tf.int32, (None, None))
put, two, one = q.enqueue([x, i]), q.dequeue_many(2), q.dequeue()
for n in (1, 3, 2):
    s.run(put, {x: np.ones((n, 1)), i: np.full((n, 4 - n), n)})
result = [s.run(two), s.run(one)] + shapes(*two) + shapes(*one)
""",
    "of dicts": """
q = tf.FIFOQueue(4, ['int32', 'float32'], names=['i', 'f'], shapes=[[], [4]])
s.run(q.enqueue({'i': 1, 'f': m[0]}))
s.run(q.enqueue_many({'i': [2, 3], 'f': m[:2]}))
try:
    q.enqueue([1, m[0]])
except ValueError as error:
    refused = 'dictionary' in str(error)
result = [s.run(q.dequeue()), s.run(q.dequeue_many(2)), np.array(refused)]
""",
    "at random": """
q = tf.RandomShuffleQueue(10, 2, 'int32', shapes=[[]], seed=1)
s.run(q.enqueue_many([list(range(6))]))
one = q.dequeue()
found = [int(s.run(one)) for _ in range(4)] + [int(s.run(q.size()))]
s.run(q.close())
found[4:] = s.run(q.dequeue_many(2)).tolist()
result = [np.array(sorted(found)), failed(lambda: s.run(one))]
""",
    "by priority": """
q = tf.PriorityQueue(10, ['float32'], [[]])
s.run(q.enqueue_many([np.array([3, 1, 2, 1]), [30.0, 10.0, 20.0, 11.0]]))
result = [s.run(q.dequeue_many(4))]
""",
    "computed": """
q = tf.FIFOQueue(3, 'float32', shapes=[[4]])
v = tf.Variable(np.ones(4, 'float32'))
s.run(tf.global_variables_initializer())
put = q.enqueue(v * 2.0)
both = tf.group(put, tf.assign_add(v, np.ones(4, 'float32')))
s.run(put), s.run(both)
x = q.dequeue()
result = [s.run([x, tf.gradients(tf.reduce_sum(x * v), v)[0]]), s.run(v), s.run(q.size())]
""",
    "rows in batches": """
i, w = tf.train.slice_input_producer([k, m], num_epochs=2, shuffle=False)
batch = tf.train.batch([i, w * 2.0], 2)
result = shapes(i, w) + shapes(*batch) + trained(batch, 9)
""",
    "the last batch": """
row, = tf.train.slice_input_producer([m], num_epochs=1, shuffle=False)
batch = tf.train.batch({'x': row}, 2, allow_smaller_final_batch=True)
result = shapes(batch['x']) + trained(batch, 9)
""",
    "many at once": """
batch = tf.train.batch([tf.constant(m), tf.constant(k)], 4, enqueue_many=True, capacity=5)
result = shapes(*batch) + trained(batch, 3)
""",
    "larger than the queue": """
batch = tf.train.batch([tf.constant(k)], 7, enqueue_many=True, capacity=2)
result = shapes(batch) + trained(batch, 2)
""",
    "padded batches": """
n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
batch = tf.train.batch([tf.range(n)], 2, dynamic_pad=True)
result = shapes(batch) + trained(batch, 9)
""",
    "shuffled": """
i, w = tf.train.slice_input_producer([np.arange(6), np.arange(6.0)], num_epochs=1, seed=3)
batch = tf.train.shuffle_batch([i, w], 3, capacity=20, min_after_dequeue=3, num_threads=2)
found = trained(batch, 9)
rows = np.concatenate([np.stack(pair) for pair in found[:2]], axis=1)
result = shapes(*batch) + [rows[:, np.argsort(rows[0])], found[2]]
""",
    "trained": """
x, y = tf.train.slice_input_producer([m, m[:, :1] * 0.5], num_epochs=4, shuffle=False)
x, y = tf.train.batch([x, y], 3)
w = tf.Variable(np.zeros((4, 1), 'float32'))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
result = trained([loss, step], 9)
""",
    "a runner of its own": """
q = tf.FIFOQueue(2, 'float32', shapes=[[]])
count = tf.Variable(0.0)
put = q.enqueue(tf.assign_add(count, 1.0) + 0.0)
runner = tf.train.QueueRunner(q, [put])
tf.train.add_queue_runner(runner)
result = [np.array(len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)))] + trained(q.dequeue(), 5)
""",
}
CASES = {name: PREFIX + text for name, text in PROGRAMS.items()}


def given():
    return {
        "m": np.arange(12.0).reshape(3, 4).astype("float32") - 5.5,
        "k": np.array([2, 0, 1]),
    }
