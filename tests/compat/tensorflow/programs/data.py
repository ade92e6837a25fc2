"""Datasets and iterators: orders, effects, errors; what counts in branches and loops."""

import os
import sqlite3
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, plain, started

D, X = tf.data.Dataset, tf.data.experimental
FOLDER = tempfile.mkdtemp()


def elements(dataset, most=50):
    """The elements, and how they end."""
    iterator = dataset.make_initializable_iterator()
    following, session = iterator.get_next(), tf.Session()
    found = []
    try:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        for _ in range(most):
            found.append(session.run(following))
    except tf.errors.OpError as error:
        found.append(type(error).__name__)
    return found


def place(name, data):
    """A file with such data."""
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(data)
    return file.name


# Where elements are taken -----------------------------------------------------------------------


@case
def next_in_a_branch():
    following = D.range(10).make_one_shot_iterator()
    way = tf.placeholder(tf.bool, [])
    out, session = tf.cond(way, following.get_next, lambda: np.int64(-1)), tf.Session()
    return [session.run(out, {way: each}) for each in (True, False, False, True, True)]


@case
def next_in_a_loop():
    iterator = D.range(100).make_one_shot_iterator()

    def body(i, total):
        with tf.control_dependencies([total]):
            return i + 1, total * 10 + iterator.get_next()

    out = tf.while_loop(lambda i, total: i < 4, body, [0, np.int64(0)])
    session = tf.Session()
    return [session.run(out), session.run(out), session.run(iterator.get_next())]


@case
def next_once_a_run():
    x = D.range(10).make_one_shot_iterator().get_next()
    session = tf.Session()
    return [session.run([x, x + 1, tf.square(x)]), session.run(x), session.run([x * 2, x])]


@case
def one_part_is_fed():
    a, b = D.zip((D.range(5), D.range(10, 15))).make_one_shot_iterator().get_next()
    v = tf.get_variable("v", initializer=1.0)
    step = tf.assign_add(v, 1.0)
    with tf.control_dependencies([step]):
        after = tf.constant(5.0) + step
    session = started()
    found = [session.run([a, b], {a: 7}), session.run(a + b, {a: 1, b: 2}), session.run([a, b])]
    return [found, session.run(after, {step: 10.0}), session.run(v)]


@case
def next_under_control_dependencies():
    v = tf.get_variable("v", initializer=np.int64(0))
    iterator = D.range(1, 10).make_one_shot_iterator()
    with tf.control_dependencies([tf.assign_add(v, iterator.get_next())]):
        second = tf.identity(iterator.get_next()) * 10
    session = started()
    return [session.run(second), session.run(v), session.run(second), session.run(v)]


@case
def until_the_end():
    x = D.range(3).make_one_shot_iterator().get_next()
    count = tf.get_variable("count", initializer=0)
    with tf.control_dependencies([x]):
        step = tf.assign_add(count, 1)
    session = started()
    while True:
        try:
            session.run(step)
        except tf.errors.OutOfRangeError as error:
            return [error.message.splitlines()[0], error.op.type, session.run(count)]


@case
def not_begun():
    iterator = D.range(3).make_initializable_iterator()
    try:
        tf.Session().run(iterator.get_next())
    except tf.errors.FailedPreconditionError as error:
        return error.message.splitlines()[0]
    return None


@case
def begun_anew_with_other_values():
    n, x = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [None])
    iterator = D.from_tensor_slices(x).repeat(n).batch(3).make_initializable_iterator()
    following, session = iterator.get_next(), tf.Session()
    found = []
    for count, values in ((1, [1.0, 2.0]), (3, [5.0, 6.0])):
        session.run(iterator.initializer, {n: count, x: values})
        found.append(session.run(following))
    return found


@case
def handles_of_iterators():
    handle = tf.placeholder(tf.string, [])
    one, other = D.range(5).make_one_shot_iterator(), D.range(10, 15).make_initializable_iterator()
    iterator = tf.data.Iterator.from_string_handle(handle, D.range(1).output_types, [])
    following, session = iterator.get_next(), tf.Session()
    session.run(other.initializer)
    handles = session.run([one.string_handle(), other.string_handle()])
    found = [session.run(following, {handle: handles[at]}) for at in (0, 1, 1, 0, 1)]
    try:
        session.run(following, {handle: "nothing"})
    except tf.errors.OpError as error:
        found.append(type(error).__name__)
    return found


@case
def structures():
    made = tf.data.Iterator.from_structure((tf.int64, {"a": tf.float32}), ([], {"a": [None]}))
    following, session = made.get_next(), tf.Session()
    one = D.range(2).map(lambda i: (i, {"a": tf.fill([i + 1], 1.5)}))
    other = D.from_tensors((np.int64(7), {"a": [1.0, 2.0, 3.0]}))
    found = []
    for each in (one, other):
        session.run(made.make_initializer(each))
        found.append(session.run(following))
    return [found, following[1]["a"].shape.as_list(), following[0].dtype.name]


@case
def optional_elements():
    iterator = D.range(2).make_initializable_iterator()
    found = X.get_next_as_optional(iterator)
    session = tf.Session()
    session.run(iterator.initializer)
    value = tf.cond(found.has_value(), lambda: found.get_value() + 1, lambda: np.int64(-1))
    return [session.run(value) for _ in range(4)]


# Effects in functions ---------------------------------------------------------------------------


@case
def variables_in_functions():
    v = tf.get_variable("v", initializer=np.int64(10), use_resource=True)

    def add(x):
        with tf.control_dependencies([v.assign_add(x)]):
            return x * v.read_value()

    iterator = D.range(1, 5).map(add).make_initializable_iterator()
    following, session = iterator.get_next(), started()
    session.run(iterator.initializer)
    return [[session.run(following), session.run(v)] for _ in range(4)]


@case
def tables_in_functions():
    table = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], np.array([1, 2], "int64")), -1
    )
    iterator = D.from_tensor_slices(["b", "x", "a"]).map(table.lookup).make_initializable_iterator()
    following, session = iterator.get_next(), tf.Session()
    session.run([tf.tables_initializer(), iterator.initializer])
    return [session.run(following) for _ in range(3)]


@case
def branches_and_loops_in_functions():
    def collatz(x):
        return tf.while_loop(
            lambda n, count: n > 1,
            lambda n, count: (tf.cond(n % 2 > 0, lambda: 3 * n + 1, lambda: n // 2), count + 1),
            [x, np.int64(0)],
        )[1]

    return elements(D.range(1, 9).map(collatz))


@case
def written_as_python():
    def odd(x):
        if x % 2 > 0:
            y = x * 100
        else:
            y = -x
        total = np.int64(0)
        for i in tf.range(x):
            total += i
        return y, total

    return elements(D.range(5).map(odd))


@case
def random_generators():
    given = iter([[1, 2], [3], [4, 5, 6]])
    dataset = D.from_generator(lambda: given, tf.int32, [None]).padded_batch(2, [None])
    return elements(dataset)


@case
def arguments_of_generators():
    def words(count, text):
        for i in range(count):
            yield {"s": text + b"!" * i, "n": (i, float(i) / 2)}

    dataset = D.from_generator(words, {"s": tf.string, "n": (tf.int32, tf.float32)}, args=(3, "a"))
    return elements(dataset.repeat(2))


# Orders -----------------------------------------------------------------------------------------


@case
def shuffled_by_seeds():
    pipelines = [
        D.range(10).shuffle(4, seed=3),
        D.range(10).shuffle(4, seed=3).map(lambda x: x).repeat(2),
        D.range(10).shuffle(4, seed=3).repeat(2).batch(3),
        D.range(10).shuffle(4, seed=3, reshuffle_each_iteration=False).map(lambda x: x).repeat(2),
        D.range(6).repeat(2).shuffle(4, seed=3), D.range(9).shuffle(4, seed=3).shuffle(3, seed=5),
        D.range(3).flat_map(lambda i: D.range(6).shuffle(4, seed=3).repeat(2)),
        D.range(9).apply(X.shuffle_and_repeat(7, 2, seed=3)), X.RandomDataset(seed=4).take(4),
    ]  # fmt: skip
    return [elements(each) for each in pipelines]


@case
def shuffled_anew():
    iterator = D.range(8).shuffle(4, seed=3).make_initializable_iterator()
    following, session, found = iterator.get_next(), tf.Session(), []
    for _ in range(2):
        session.run(iterator.initializer)
        found.append([session.run(following) for _ in range(8)])
    return found


@case
def by_turns():
    def up(n):
        return D.range(n * 10, n * 10 + n + 1)

    def down(n):
        return D.range(n * 10, n * 10 + 5 - n)

    found = []
    for count, length in ((2, 1), (3, 2), (2, 3)):
        found.append(elements(D.range(5).interleave(up, count, length)))
        found.append(elements(D.range(5).interleave(down, count, length, num_parallel_calls=2)))
    found.append(elements(D.range(5).apply(X.parallel_interleave(up, 3, 1))))
    numbers = D.from_tensor_slices(np.array([0, 1, 2, 0, 1, 1, 1, 2, 0, 2], "int64"))
    several = [D.range(3), D.range(10, 12), D.range(20, 29)]
    return [found, elements(X.choose_from_datasets(several, numbers))]


@case
def windows():
    told = (
        (3, None, 1, False),
        (3, 1, 2, False),
        (2, 3, 1, True),
        (2, 1, 3, False),
        (3, 5, 1, False),
    )
    pairs = D.zip((D.range(4), D.range(4, 8))).window(2)
    return [
        [elements(D.range(9).window(*each).flat_map(lambda d: d.batch(9))) for each in told],
        elements(pairs.flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2))))),
    ]


@case
def groups():
    reducer = X.Reducer(
        lambda k: (k, np.int64(0)), lambda s, x: (s[0], s[1] + x), lambda k, t: (k, t)
    )
    lengths = D.from_generator(lambda: ([n] * n for n in (1, 5, 2, 6, 2, 1, 7)), tf.int32, [None])
    return [
        elements(D.range(9).apply(X.group_by_reducer(lambda x: (x * 7) % 4, reducer))),
        elements(D.range(11).apply(X.group_by_window(
            lambda x: (x * 7) % 3, lambda k, d: D.zip((d.batch(5), D.from_tensors(k))),
            window_size_func=lambda k: k + 2))),
        elements(lengths.apply(X.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4], [2, 2]))),
    ]  # fmt: skip


@case
def sparse_elements():
    rows = tf.SparseTensor([[0, 0], [2, 1]], [5, 6], [3, 2])
    ragged = D.range(1, 5).map(lambda x: tf.fill([x], x)).apply(X.dense_to_sparse_batch(2, [5]))
    return [
        elements(D.from_tensor_slices(rows).map(tf.sparse.to_dense)),
        elements(D.from_tensors(rows).repeat(2).batch(2).map(tf.sparse.to_dense)),
        elements(ragged.map(tf.sparse.to_dense)),
    ]


@case
def kept_elements():
    calls = []

    def note(x):
        calls.append(int(x))
        return x * 2

    def noted(dataset):
        return dataset.map(lambda x: tf.reshape(tf.py_func(note, [x], tf.int64), []))

    path = os.path.join(FOLDER, "cache")
    found = [elements(noted(D.range(3)).cache().repeat(2)), list(calls)]
    found += [elements(noted(D.range(3)).cache(path).repeat(2)), list(calls)]
    return [*found, elements(noted(D.range(3)).cache(path)), list(calls)]


@case
def a_place_is_saved():
    iterator = D.range(10).map(lambda x: x * x).batch(2).make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, X.make_saveable_from_iterator(iterator))
    v, following = tf.get_variable("v", initializer=1.0), iterator.get_next()
    saver, found = tf.train.Saver(), []
    with tf.Session() as session:
        session.run([iterator.initializer, v.initializer])
        found += [session.run(following), session.run(following)]
        path = saver.save(session, os.path.join(FOLDER, "iterator"))
        found.append(session.run(following))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        return [found, session.run(following), session.run(following)]


@case
def sizes():
    pipelines = [
        D.range(5), D.range(5).repeat(), D.range(5).repeat(3), D.range(5).filter(lambda x: x > 1),
        D.range(5).batch(2), D.range(5).batch(2, True), D.range(5).take(9), D.range(5).skip(2),
        D.zip((D.range(5), D.range(3))), D.range(5).concatenate(D.range(2)), D.range(5).shard(2, 0),
        D.range(5).shuffle(2), D.range(5).cache(), D.range(7).window(3), D.from_tensors(1),
        D.range(3).flat_map(lambda x: D.range(2)), D.from_tensor_slices([1, 2]).prefetch(1),
    ]  # fmt: skip
    return tf.Session().run([X.cardinality(each) for each in pipelines])


@case
def reduced():
    v = tf.get_variable("v", initializer=np.int64(100), use_resource=True)
    total = D.range(5).reduce(v.read_value(), lambda a, b: a + b)
    single = X.get_single_element(D.from_tensors((1, "a")))
    return started().run([total, single])


# Files ------------------------------------------------------------------------------------------


@case
def lines_of_files():
    one, other = place("a.txt", b"head\n1,2\r\n3,4"), place("b.txt", b"head\n5,6\n\n")
    files = D.from_tensor_slices([one, other])
    parsed = files.flat_map(lambda path: tf.data.TextLineDataset(path).skip(1)).filter(
        lambda line: tf.greater(tf.strings.length(line), 0)
    )
    listed = D.list_files(os.path.join(FOLDER, "*.txt"), shuffle=False)
    return [
        elements(tf.data.TextLineDataset([one, other])),
        elements(parsed.map(lambda line: tf.decode_csv(line, [[0], [0]]))),
        elements(listed.map(lambda path: tf.strings.split([path], "/").values[-1])),
    ]


@case
def records_of_files():
    path = os.path.join(FOLDER, "records")
    with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions("GZIP")) as writer:
        for number in range(4):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5])),
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[1] * number)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    told = {"x": tf.FixedLenFeature([2], tf.float32), "n": tf.VarLenFeature(tf.int64)}
    dataset = tf.data.TFRecordDataset(path, "GZIP").map(lambda s: tf.parse_single_example(s, told))
    dense = dataset.map(lambda f: (f["x"], tf.sparse.to_dense(f["n"])))
    return elements(dense.padded_batch(2, ([2], [None])))


@case
def fixed_records_and_nothing():
    path = place("fixed", b"HHaabbccF")
    return [elements(tf.data.FixedLengthRecordDataset([path], 2, 2, 1)),
            elements(tf.data.FixedLengthRecordDataset([path], 4, 2, 1)),
            elements(tf.data.TFRecordDataset([path])),
            elements(tf.data.TextLineDataset([os.path.join(FOLDER, "none")]))]  # fmt: skip


@case
def columns_of_text():
    one = place("c1.csv", b'a,b,c\n1,x,2.5\n2,"y, ""z""",7\n,"two\nlines",3\n')
    other = place("c2.csv", b"a,b,c\n7,,0.5\n")
    plain = X.CsvDataset([one, other], [tf.constant([9]), "none", tf.float32], header=True)
    some = X.CsvDataset(other, [tf.int32, tf.float32], header=True, select_cols=[0, 2])
    made = X.make_csv_dataset(other, 1, label_name="c", num_epochs=2, shuffle=False)
    return [elements(plain), elements(some),
            elements(made.map(lambda x, y: (x["a"], x["b"], y)))]  # fmt: skip


@case
def features_of_files():
    path = os.path.join(FOLDER, "features")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5):
            feature = {
                "z": tf.train.Feature(float_list=tf.train.FloatList(value=[number])),
                "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1] * number)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    told = {"z": tf.FixedLenFeature([], tf.float32), "a": tf.VarLenFeature(tf.int64),
            "m": tf.FixedLenFeature([2], tf.string, default_value=["x", "y"])}  # fmt: skip
    dataset = X.make_batched_features_dataset(path, 2, told, num_epochs=1, shuffle=False)
    return elements(dataset.map(lambda f: (tf.sparse.to_dense(f["a"]), f["m"], f["z"])))


@case
def rows_of_data_bases():
    path = os.path.join(FOLDER, "base")
    base = sqlite3.connect(path)
    base.execute("create table t (n integer, x real, s text)")
    base.executemany("insert into t values (?, ?, ?)", [(1, 1.5, "a"), (2, None, "b")])
    base.commit(), base.close()
    query = "select n, x, s from t order by n"
    return elements(X.SqlDataset("sqlite", path, query, (tf.int32, tf.float64, tf.string)))


# Errors -----------------------------------------------------------------------------------------


@case
def errors_in_functions():
    dataset = D.range(5).map(lambda x: tf.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "bad"))
    following, session, found = dataset.make_one_shot_iterator().get_next(), tf.Session(), []
    for _ in range(6):
        try:
            found.append(session.run(following))
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return [found, elements(dataset.apply(X.ignore_errors()))]


@case
def what_does_not_fit():
    ragged = D.range(3).map(lambda x: tf.fill([x], x))
    return [
        elements(ragged.filter(lambda x: True).batch(2)), elements(ragged.padded_batch(3, [1])),
        elements(D.range(3).batch(tf.cast(tf.constant(0), tf.int64))),
        elements(D.range(3).map(lambda x: tf.cond(x > 1, lambda: tf.py_func(int, ["x"], tf.int64),
                                                  lambda: x))),
    ]  # fmt: skip


@case
def other_transformations():
    return [
        elements(D.range(5).apply(X.scan(np.int64(1), lambda s, x: (s * 2, s + x)))),
        elements(D.range(9).apply(X.take_while(lambda x: x < 4))),
        elements(D.from_tensor_slices(["a", "b", "a", "c"]).apply(X.unique())),
        elements(D.from_tensor_slices(np.arange(6).reshape(3, 2)).apply(X.unbatch())),
        elements(D.range(7).apply(X.map_and_batch(lambda x: x * 2, 3, drop_remainder=True))),
        elements(D.range(3).apply(X.copy_to_device("/cpu:0"))), elements(X.Counter(2, 3).take(3)),
        elements(D.range(4).enumerate(5)), elements(D.range(9).shard(4, 2)),
        elements(D.range(4).map(lambda x: (x, x > 1)).filter(lambda x, y: y)),
        elements(D.range(6).batch(2).with_options(tf.data.Options()).prefetch(2)),
        elements(D.zip({"a": D.range(3), "b": (D.range(9), D.from_tensors("s").repeat())})),
    ]  # fmt: skip


@case
def trained_on():
    rng = np.random.RandomState(0)
    x, y = rng.randn(20, 3).astype("float32"), rng.randn(20, 1).astype("float32")
    dataset = D.from_tensor_slices((x, y)).shuffle(20, seed=1).repeat().batch(5)
    a, b = dataset.make_one_shot_iterator().get_next()
    w = tf.get_variable("w", initializer=np.zeros((3, 1), "float32"))
    loss = tf.reduce_mean(tf.square(tf.matmul(a, w) - b))
    step, session = tf.train.AdamOptimizer(0.1).minimize(loss), started()
    return [[session.run([loss, step])[0] for _ in range(8)], plain(session.run(w))]


@case
def shuffled_behind_others():
    x = D.range(8).shuffle(4, seed=3)
    return [
        elements(made.repeat(2))
        for made in (x, x.prefetch(1), x.prefetch(0), x.take(-1), x.skip(0), x.repeat(1), x.take(8))
    ]


@case
def arguments_that_are_refused():
    x, calls = D.range(3), {"num_parallel_calls": 0}
    turns = lambda **how: x.interleave(D.range, **how)  # noqa: E731
    return [
        elements(each)
        for each in (
            x.map(lambda n: n, **calls), turns(cycle_length=2, **calls), turns(cycle_length=0),
            turns(cycle_length=2, block_length=0), turns(cycle_length=1, num_parallel_calls=2),
            x.prefetch(-2), x.window(0), x.window(1, 0), x.window(1, 1, 0), x.batch(-1),
            x.shard(0, 0), x.shard(2, 2), x.apply(X.map_and_batch(lambda n: n, 2, **calls)),
        )
    ]  # fmt: skip


@case
def what_is_said_of_elements():
    """The message; and whether the next element is refused, too."""

    def said(dataset):
        iterator = dataset.make_initializable_iterator()
        following, session, found = iterator.get_next(), tf.Session(), []
        for fetch in (iterator.initializer, following, following):
            try:
                found.append(session.run(fetch))
            except tf.errors.OpError as error:
                found.append(error.message.split("\n")[0])
        return found

    ragged = D.range(3).map(lambda x: tf.fill([x, 2], x))
    turned = D.range(1, 3).map(lambda x: tf.reshape(tf.range(2), [x, -1]))
    return [
        said(each)
        for each in (
            ragged.batch(3), ragged.filter(lambda x: True).batch(3), turned.batch(2),
            turned.prefetch(1).batch(2), D.range(3).batch(0), D.range(3).padded_batch(0, []),
            D.range(3).window(1, 0).map(lambda x: 0),
            tf.data.TextLineDataset([place("some", b"one"), "none"]),
        )
    ]  # fmt: skip


@case
def how_many_there_are():
    x = D.range(7)
    scanned = x.apply(X.scan(np.int64(0), lambda s, n: (s, n)))
    made = (
        x.take(-1), x.take(-2), x.repeat().take(-2), x.skip(-1), x.repeat(0), scanned,
        x.filter(lambda n: n > 1).repeat(0), x.apply(X.ignore_errors()), X.Counter(),
        x.apply(X.take_while(lambda n: n < 3)), x.interleave(D.range),
    )  # fmt: skip
    return tf.Session().run([X.cardinality(each) for each in made])


@case
def text_of_generators():
    words = ["a", "\u00e9", b"\xff"]
    rows = D.from_generator(lambda: [["ab", "c"], [""]], tf.string)
    return [
        elements(D.from_generator(lambda: words, tf.string)), elements(rows.map(tf.strings.length)),
        elements(rows.map(lambda x: x + "!")),
    ]  # fmt: skip


@case
def states_that_grow():
    x = D.range(1, 4)
    ends = [
        x.reduce(np.zeros([0], np.int64), lambda s, n: tf.concat([s, [n]], 0)),
        x.reduce(tf.zeros([0]), lambda s, n: tf.concat([s, tf.ones([n])], 0)),
    ]
    return [[str(each.shape) for each in ends], tf.Session().run(ends)]


@case
def records_are_written():
    path, found = os.path.join(FOLDER, "written.records"), []
    for packing in (None, "GZIP", "ZLIB"):
        write = X.TFRecordWriter(path, packing).write(D.from_tensor_slices(["a", b"\x00", ""]))
        tf.Session().run(write)
        found.append(elements(tf.data.TFRecordDataset(path, packing)))
    try:
        X.TFRecordWriter(path).write(D.range(3))
    except TypeError:
        found.append("refused")
    return found


@case
def rows_of_text():
    def rows(data, *defaults, **how):
        return elements(X.CsvDataset(place("rows.csv", data), list(defaults), **how))

    return [
        rows(b"a,1\n\nb,2\n", "d", 0), rows(b"a\n\nb", "d"), rows(b"", "d", header=True),
        rows(b"a,1\rb,2\r", "d", 0), rows(b'"a\r\nb",1\r\n"c\nd",2', "d", 0),
        rows(b'a"b,1\nc,2', "d", 0), rows(b'"a""b",1\n"c,2', "d", 0),
        rows(b"1,2,3\n4,5,6", 0, 0, select_cols=[0, 2]), rows(b"1,2", 0, 0, select_cols=[1, 0]),
        rows(b"1,2", 0, select_cols=[0, 1]), rows(b"1,2", 0, select_cols=[5]),
        rows(b"1,2", 0, 0, field_delim="ab"), rows(b'"x"y,1\nc,2', "", 0),
    ]  # fmt: skip


@case
def rows_of_sparse_tensors():
    def rows(places, values, sizes):
        return elements(D.from_sparse_tensor_slices(tf.SparseTensor(places, values, sizes)))

    return [
        rows([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [4, 5]), rows([[0]], [1], [2]),
        rows([[0, 1, 1], [1, 0, 0]], ["a", "b"], [2, 2, 2]), rows([[2, 1], [0, 0]], [1, 2], [4, 5]),
    ]  # fmt: skip


@case
def handles_of_other_shapes():
    handle = tf.placeholder(tf.string, [])
    session, given = tf.Session(), D.range(3).make_one_shot_iterator()
    found = []
    for shape in ([], [2], None):
        x = tf.data.Iterator.from_string_handle(handle, tf.int64, shape).get_next()
        try:
            found.append(session.run(x, {handle: session.run(given.string_handle())}))
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


@case
def numbers_of_no_dataset():
    chosen = tf.data.experimental.choose_from_datasets
    data = chosen([tf.data.Dataset.range(3)] * 2, tf.data.Dataset.range(3))
    step, session = tf.data.make_one_shot_iterator(data).get_next(), tf.Session()
    found = [session.run(step), session.run(step)]
    try:
        session.run(step)
    except tf.errors.InvalidArgumentError as error:
        return [*found, error.message.splitlines()[0]]


@case
def one_order_at_several_places():
    data = tf.data.Dataset.range(5).shuffle(5, seed=3)
    plain, twice = data.map(lambda x: x), tf.data.Dataset.range(2)
    return [
        elements(tf.data.Dataset.zip((plain, plain)).repeat(2)),
        elements(data.concatenate(data).repeat(2)),
        elements(twice.flat_map(lambda _: data)),
        elements(tf.data.Dataset.range(3).interleave(lambda _: data, 2)),
    ]


if __name__ == "__main__":
    main()
