"""Datasets and iterators: their elements, types, shapes and errors."""

import numpy as np

# `run` gives all elements of a dataset, their types and static shapes.
PREFIX = """
D = tf.data.Dataset
def flat(x):
    if isinstance(x, dict): return [y for key in sorted(x) for y in flat(x[key])]
    return [y for item in x for y in flat(item)] if isinstance(x, tuple) else [x]
def elements(session, following, most=40):
    found = []
    try:
        for _ in range(most):
            found += [np.asarray(x) for x in flat(session.run(following))]
    except tf.errors.OutOfRangeError:
        found.append(np.array(-1))
    return found
def typed(dataset):
    types = [np.array(t.name, 'S') for t in flat(dataset.output_types)]
    shapes = flat(dataset.output_shapes)
    return types + [np.array([-1 if n is None else n for n in s.as_list()]) for s in shapes]
def run(dataset, most=40):
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        return elements(session, following, most) + typed(dataset)
def failed(make):
    try:
        make()
    except Exception as error:
        return np.array([type(c).__name__ if not isinstance(c, type) else c.__name__
                         for c in type(error).__mro__
                         if c.__name__ in ('ValueError', 'TypeError', 'RuntimeError', 'OpError',
                                           'InvalidArgumentError', 'FailedPreconditionError',
                                           'OutOfRangeError', 'DataLossError')][:1], 'S')
    return np.array(['nothing'], 'S')
"""
DATASETS = {
    "slices": "D.from_tensor_slices(m)",
    "slices of a pair": "D.from_tensor_slices((m, k))",
    "slices of a dict": "D.from_tensor_slices({'b': m, 'a': k})",
    "slices of lists": "D.from_tensor_slices([[1, 2], [3, 4]])",
    "slices of floats": "D.from_tensor_slices(([1.5, 2.5], [True, False]))",
    "slices of a nest": "D.from_tensor_slices(((m, k), {'x': m[:, 0]}))",
    "slices of a tensor": "D.from_tensor_slices((tf.constant(m) * 2.0, tf.range(3)))",
    "whole": "D.from_tensors((m, 3, 2.5))",
    "range": "D.range(5)",
    "range from": "D.range(2, 11, 3)",
    "range down": "D.range(5, 0, -2)",
    "generator": "D.from_generator(lambda: iter([1, 2, 3]), tf.int64, [])",
    "generator of pairs": "D.from_generator(lambda: (([i] * i, i / 2.0) for i in range(3)),"
    " (tf.int32, tf.float32), ([None], []))",
    "generator of dicts": "D.from_generator(lambda: ({'a': i, 'b': [i, i]} for i in range(3)),"
    " {'a': tf.float32, 'b': tf.int64}, {'a': tf.TensorShape([]), 'b': [2]})",
    "generator with arguments": "D.from_generator(lambda n: iter(range(n)), tf.int32, [], args=(4,))",
    "zip": "D.zip((D.range(3), D.from_tensor_slices(m), D.range(7, 99)))",
    "zip of a dict": "D.zip({'a': D.range(3), 'b': (D.range(2), D.range(9))})",
    "concatenated": "D.range(3).concatenate(D.range(8, 10))",
    "concatenated otherwise": "D.from_tensors(m).concatenate(D.from_tensors(m[:2]))",
    "mapped": "D.from_tensor_slices(m).map(lambda x: x * 2.0 + 1.0)",
    "mapped to pairs": "D.range(3).map(lambda x: (x, tf.cast(x, tf.float32) / 2.0))",
    "mapped from pairs": "D.from_tensor_slices((m, k)).map(lambda x, y: tf.reduce_sum(x) + tf.cast(y, tf.float32))",
    "mapped from dicts": "D.from_tensor_slices({'b': m, 'a': k}).map(lambda d: {'c': d['a'] * 2})",
    "mapped from nests": "D.from_tensor_slices(((m, k), k)).map(lambda p, z: (p[0], p[1] - z), 2)",
    "mapped to lists": "D.range(3).map(lambda x: [x, x + 1])",
    "mapped to numbers": "D.range(2).map(lambda x: (7, 2.5))",
    "mapped to what is shaped": "D.range(3).map(lambda x: tf.fill([x], 2.0))",
    "mapped by Python": "D.range(3).map(lambda x: tf.py_func(lambda a: a * a, [x], tf.int64))"
    ".map(lambda x: tf.reshape(x, []))",
    "mapped by a choice": "D.range(4).map(lambda x: tf.cond(x > 1, lambda: x * 10, lambda: -x))",
    "one hot": "D.from_tensor_slices(k).map(lambda y: tf.one_hot(y, 4))",
    "filtered": "D.range(7).filter(lambda x: tf.equal(x % 3, 1))",
    "filtered pairs": "D.from_tensor_slices((m, k)).filter(lambda x, y: tf.reduce_sum(x) > 0)",
    "flat": "D.range(4).flat_map(lambda n: D.range(n))",
    "flat with what is around": "D.range(3).flat_map(lambda n: D.from_tensors(n).repeat(2).map(lambda x: x + n))",
    "flat slices": "D.from_tensor_slices(m).flat_map(D.from_tensor_slices)",
    "flat zip": "D.range(1, 3).flat_map(lambda n: D.zip((D.range(n), D.range(n).map(lambda i: i * n))))",
    "by turns": "D.range(1, 5).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2)",
    "by turns, uneven": "D.range(6).interleave(lambda n: D.range(n), cycle_length=3)",
    "by turns, long": "D.range(3).interleave(lambda n: D.range(n + 1), cycle_length=5, block_length=1)",
    "batches": "D.range(7).batch(3)",
    "batches, whole": "D.range(7).batch(3, drop_remainder=True)",
    "batches of batches": "D.from_tensor_slices(m).batch(3).batch(2)",
    "batches of dicts": "D.from_tensor_slices({'b': m, 'a': k}).batch(2)",
    "batches of a tensor": "D.range(5).batch(tf.constant(2, tf.int64))",
    "padded": "D.range(1, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, [None])",
    "padded to": "D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=[5])",
    "padded with": "D.range(1, 4).map(lambda x: (tf.fill([x], x), x)).padded_batch(3, ([None], []),"
    " (tf.constant(-1, tf.int64), tf.constant(0, tf.int64)))",
    "padded, whole": "D.range(1, 6).map(lambda x: tf.fill([x, 2], 1.0)).padded_batch(2, [None, None],"
    " drop_remainder=True)",
    "repeated": "D.range(3).repeat(2)",
    "repeated for ever": "D.range(3).repeat().take(8)",
    "repeated never": "D.range(3).repeat(0)",
    "taken": "D.range(5).take(2)",
    "taken all": "D.range(5).take(-1)",
    "left out": "D.range(5).skip(2)",
    "left out all": "D.range(5).skip(-1)",
    "kept": "D.range(3).map(lambda x: x * x).cache().repeat(2)",
    "fetched before": "D.range(3).prefetch(2)",
    "numbered": "D.from_tensor_slices(m).enumerate()",
    "numbered from": "D.from_tensor_slices((m, k)).enumerate(start=5)",
    "sharded": "D.range(7).shard(3, 1)",
    "applied": "D.range(4).apply(lambda d: d.map(lambda x: x + 1).batch(2))",
    "unbatched": "D.from_tensor_slices((m, k)).batch(2).apply(tf.data.experimental.unbatch())",
    "map and batch": "D.range(5).apply(tf.data.experimental.map_and_batch(lambda x: x * 2, 2))",
    "map and batch, old": "D.range(5).apply(tf.contrib.data.map_and_batch(lambda x: x * 2, 2, drop_remainder=True))",
    "counted": "tf.data.experimental.Counter(3, 2).take(3)",
    "till": "D.range(9).apply(tf.data.experimental.take_while(lambda x: x < 3))",
    "numbered, old": "D.range(3).apply(tf.data.experimental.enumerate_dataset(4))",
    "windows joined": "D.range(7).window(3).flat_map(lambda d: d.batch(3))",
    "windows that slide": "D.range(6).window(3, shift=1, drop_remainder=True).flat_map(lambda d: d.batch(3))",
    "running sums": "D.range(5).apply(tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s + x)))",
    "distinct": "D.from_tensor_slices([3, 1, 3, 2, 1]).apply(tf.data.experimental.unique())",
    "grouped": "D.range(8).apply(tf.data.experimental.group_by_window(lambda x: x % 2,"
    " lambda key, d: d.batch(3), window_size=3))",
    "by lengths": "D.from_generator(lambda: ([n] * n for n in (1, 5, 2, 6, 2, 1)), tf.int32, [None])"
    ".apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4], [2, 2]))",
}
PROGRAMS = {
    "initialised with what is fed": """
x, n = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [])
iterator = D.from_tensor_slices(x).batch(n).make_initializable_iterator()
following = iterator.get_next()
total = tf.reduce_sum(following)
result = [np.array([-1 if d is None else d for d in following.get_shape().as_list()])]
with tf.Session() as session:
    result.append(failed(lambda: session.run(following)))
    for rows, size in ((m[:, :2], 2), (m[:2, 1:3], 1)):
        session.run(iterator.initializer, feed_dict={x: rows, n: size})
        result += [session.run([total, following]) for _ in range(2)][-1]
        session.run(iterator.initializer, feed_dict={x: rows, n: size})
        result += elements(session, following)
    result.append(failed(lambda: session.run(total)))
""",
    "several fetches see one element": """
a, b = D.from_tensor_slices((m, k)).make_one_shot_iterator().get_next()
c = tf.reduce_sum(a) * 2.0
with tf.Session() as session:
    result = [session.run([a, b, c]), session.run({'c': c, 'a': a}), session.run(b)]
    result.append(failed(lambda: session.run(c)))
""",
    "two calls give two elements": """
iterator = D.range(6).make_one_shot_iterator()
a, b = iterator.get_next(), iterator.get_next()
with tf.Session() as session:
    result = [sorted(session.run([a, b])) for _ in range(3)] + [failed(lambda: session.run(a))]
""",
    "of a structure": """
train, test = D.range(4).map(lambda x: (x, x * x)), D.range(10, 12).map(lambda x: (x, -x))
iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
following = iterator.get_next()
begin, other = iterator.make_initializer(train), iterator.make_initializer(test)
result = []
with tf.Session() as session:
    for operation in (begin, other, begin):
        session.run(operation)
        result += elements(session, following)
result.append(failed(lambda: iterator.make_initializer(D.range(3))))
result.append(failed(lambda: iterator.make_initializer(D.from_tensors((1.0, 2.0)))))
""",
    "one among others": """
one = D.range(3).repeat().make_one_shot_iterator()
other = D.range(100, 104).make_initializable_iterator()
handle = tf.placeholder(tf.string, shape=[])
iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, tf.TensorShape([]))
doubled = iterator.get_next() * 2
with tf.Session() as session:
    mine, its = session.run([one.string_handle(), other.string_handle()])
    session.run(other.initializer)
    result = [session.run(doubled, feed_dict={handle: h}) for h in (mine, its, mine, its, mine, mine)]
""",
    "trained from": """
x, y = D.from_tensor_slices((m, k.astype('float32'))).repeat().batch(2).make_one_shot_iterator().get_next()
w = tf.get_variable('w', initializer=np.ones((4, 1), 'float32'))
loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) - y))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result = [session.run([loss, step])[0] for _ in range(6)] + [session.run(w)]
""",
    "a variable in a map": """
v = tf.get_variable('v', initializer=3.0)
iterator = D.from_tensor_slices(m).map(lambda x: x * v).make_initializable_iterator()
following = iterator.get_next()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(iterator.initializer)
    result = elements(session, following)
""",
    "what is fed to a map": """
f = tf.placeholder(tf.float32, [])
iterator = D.from_tensor_slices(m).map(lambda x: x * f).make_initializable_iterator()
following = iterator.get_next()
with tf.Session() as session:
    session.run(iterator.initializer, {f: 2.0})
    result = elements(session, following)
""",
    "an element that is fed": """
a = D.range(3).make_one_shot_iterator().get_next()
b = a * 2
with tf.Session() as session:
    result = [session.run(b, {a: 50}), session.run(b), session.run(b, {a: 60}), session.run(b)]
""",
    "reduced": """
found = D.range(5).reduce(np.int64(3), lambda s, x: s + x)
pair = D.range(4).reduce((0.0, np.int64(1)), lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1] * 2))
with tf.Session() as session:
    result = session.run([found, pair])
""",
    "shuffled, as sets": """
once = D.range(20).shuffle(20, seed=3).batch(20).make_one_shot_iterator().get_next()
near = D.range(20).shuffle(5).make_one_shot_iterator().get_next()
same = D.range(9).shuffle(9, 1, reshuffle_each_iteration=False).repeat(2).batch(9)
again = D.range(30).shuffle(30, 1).repeat(2).batch(30).make_one_shot_iterator().get_next()
with tf.Session() as session:
    order = [session.run(near) for _ in range(20)]
    a, b = (session.run(again).tolist() for _ in range(2))
    following = same.make_one_shot_iterator().get_next()
    c, d = (session.run(following).tolist() for _ in range(2))
    result = [sorted(session.run(once)), sorted(order), all(x - 4 <= i for i, x in enumerate(order)),
              a != b, sorted(a) == sorted(b), c == d]
""",
    "errors": """
x = tf.placeholder(tf.float32, [None])
def first(dataset):
    with tf.Session() as session:
        return session.run(dataset.make_one_shot_iterator().get_next())
ragged = lambda: D.range(1, 3).map(lambda x: tf.fill([x], 1.0))
result = [
    failed(lambda: D.from_tensor_slices((m, k[:2]))), failed(lambda: D.from_tensor_slices(3)),
    failed(lambda: D.zip([D.range(3)])), failed(lambda: D.range(3).flat_map(lambda x: x)),
    failed(lambda: D.range(3).filter(lambda x: x)), failed(lambda: D.from_generator(3, tf.int32)),
    failed(lambda: D.from_tensor_slices(x).make_one_shot_iterator()),
    failed(lambda: D.range(3).concatenate(D.from_tensors(1.0))),
    failed(lambda: D.range(3).apply(lambda d: 3)), failed(lambda: iter(D.range(3))),
    failed(lambda: first(ragged().batch(2))), failed(lambda: first(ragged().padded_batch(2, [1]))),
    failed(lambda: first(D.range(3).batch(0))), failed(lambda: first(D.range(3).skip(5))),
    failed(lambda: D.range(3).padded_batch(2, [None])),
]
""",
}
CASES = {name: PREFIX + "result = run(%s)" % text for name, text in DATASETS.items()}
CASES.update({name: PREFIX + text for name, text in PROGRAMS.items()})


def given():
    return {
        "m": np.arange(12.0).reshape(3, 4).astype("float32") - 5.5,
        "k": np.array([2, 0, 1]),
    }
