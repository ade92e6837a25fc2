"""Lookup tables: values, static shapes, what stays in a session, errors."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, raised, told
from tensorflow.python.ops import list_ops

L = tf.contrib.lookup


def initialized():
    """A session whose tables have their entries."""
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    return session


def file_of(text):
    """A file that holds a text."""
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as file:
        file.write(text)
    return path


def error(function):
    """The class of the error that running something raises, in an initialized session."""
    try:
        initialized().run(function())
    except Exception as found:
        return type(found).__name__
    return "none"


@case
def constant_tables():
    words = tf.placeholder(tf.string, [None])
    table = L.HashTable(L.KeyValueTensorInitializer(["a", "b"], [1.5, 2.5]), -1.0)
    ids = L.index_table_from_tensor(tf.constant(["x", "y"]), num_oov_buckets=2, default_value=-1)
    back = L.index_to_string_table_from_tensor(["x", "y"], default_value="?")
    session = initialized()
    feeds = {words: ["b", "zz", "a"]}
    found = [told(table.lookup(words), feeds, session=session), session.run(table.size())]
    found.append(told(ids.lookup(tf.constant([["y", "q"], ["x", "r"]])), session=session))
    found.append(told(back.lookup(tf.constant([1, 0, 7], tf.int64)), session=session))
    ragged = tf.SparseTensor([[0, 1], [2, 0]], ["a", "k"], [3, 2])
    found.append(told(table.lookup(ragged), session=session))
    return found


@case
def errors_of_constant_tables():
    table = L.HashTable(L.KeyValueTensorInitializer([1, 2], [3, 4]), 0)
    session = tf.Session()
    try:
        session.run(table.lookup(tf.constant([1])))
        first = "none"
    except tf.errors.OpError as found:
        first = type(found).__name__
    session.run([tf.tables_initializer()])
    session.run([tf.tables_initializer()])
    again = session.run(table.lookup(tf.constant([2, 5])))
    twice = lambda values: L.HashTable(L.KeyValueTensorInitializer(["a", "a"], values), 0)  # noqa: E731
    return [first, again, error_of(lambda: table.lookup(tf.constant(["a"]))),
            error(lambda: twice([1, 1]).size()), error(lambda: twice([1, 2]).size())]  # fmt: skip


@case
def tables_of_files():
    path = file_of("b\na\nc d\n")
    pairs = file_of("x\t7\ny\t8\n")
    table = L.index_table_from_file(path, num_oov_buckets=1, vocab_size=2)
    back = L.index_to_string_table_from_file(path, default_value="none")
    columns = L.HashTable(
        L.TextFileInitializer(pairs, tf.string, 0, tf.int64, 1, delimiter="\t"), -1
    )
    session = initialized()
    return [
        told(table.lookup(tf.constant(["a", "b", "c d"])), session=session),
        told(back.lookup(tf.constant([0, 2, 9], tf.int64)), session=session),
        told(columns.lookup(tf.constant(["y", "z"])), session=session),
        error(lambda: L.index_table_from_file(path, vocab_size=9).size()),
        error(lambda: L.index_table_from_file(path + "no").size()),
        error(lambda: L.HashTable(L.TextFileInitializer(
            pairs, tf.string, 0, tf.int64, 2, delimiter="\t"), -1).size()),
        error(lambda: L.HashTable(L.TextFileInitializer(
            pairs, tf.int64, 0, tf.int64, 1, delimiter="\t"), -1).size()),
    ]  # fmt: skip


@case
def mutable_tables():
    table = L.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    insert = table.insert(tf.constant(["a", "b"]), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    session = initialized()
    look = table.lookup(tf.constant([["b", "c"]]))
    found = [told(look, session=session), session.run(table.size())]
    session.run(insert)
    found += [told(look, session=session), session.run(table.size())]
    keys, values = session.run(table.export())
    order = np.argsort(keys)
    found += [keys[order], values[order], [str(x.shape) for x in table.export()]]
    session.run(table.remove(tf.constant(["a", "zz"])))
    found += [session.run(table.size()), told(look, session=session)]
    found.append(error_of(lambda: table.insert(tf.constant(["a"]), tf.constant([[1.0]]))))
    scalars = L.MutableHashTable(tf.int64, tf.string, "-")
    session.run(scalars.insert(tf.constant([5, 6], tf.int64), tf.constant(["five", "six"])))
    found.append(told(scalars.lookup(tf.constant([6, 7], tf.int64)), session=session))
    return found


@case
def dense_tables():
    table = L.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, deleted_key=-2)
    session = initialized()
    session.run(table.insert(tf.constant([11, 12], tf.int64), tf.constant([1, 2], tf.int64)))
    found = [told(table.lookup(tf.constant([12, 15, 11], tf.int64)), session=session)]
    session.run(table.erase(tf.constant([12], tf.int64)))
    found.append(session.run(table.size()))
    found.append(
        error(lambda: table.insert(tf.constant([-1], tf.int64), tf.constant([1], tf.int64)))
    )
    found.append(error(lambda: table.lookup(tf.constant([-2], tf.int64))))
    rows = L.MutableDenseHashTable(
        tf.int64, tf.float32, [9.0, 9.0], tf.constant([0, 0], tf.int64),
        deleted_key=tf.constant([-1, -1], tf.int64))  # fmt: skip
    session = initialized()
    session.run(rows.insert(tf.constant([[1, 2]], tf.int64), tf.constant([[0.5, 1.5]])))
    found.append(told(rows.lookup(tf.constant([[2, 1], [1, 2]], tf.int64)), session=session))
    return found


@case
def tables_in_branches_and_loops():
    table = L.MutableHashTable(tf.int64, tf.int64, -1)
    way = tf.placeholder(tf.bool, [])
    one = tf.constant([1], tf.int64)

    def put():
        with tf.control_dependencies([table.insert(one, one * 10)]):
            return tf.constant(1)

    chosen = tf.cond(way, put, lambda: tf.constant(0))
    session = initialized()
    found = [session.run([chosen], {way: False}), session.run(table.size())]
    found += [session.run([chosen], {way: True}), session.run(table.size())]
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + table.lookup(one * i)[0]),
                          [tf.constant(0, tf.int64), tf.constant(0, tf.int64)])  # fmt: skip
    found.append(session.run(total))
    handles = [tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64,
                                             shared_name="both") for _ in range(2)]  # fmt: skip
    session.run(tf.raw_ops.LookupTableInsertV2(table_handle=handles[0], keys=one, values=one * 7))
    found.append(session.run(tf.raw_ops.LookupTableFindV2(
        table_handle=handles[1], keys=one, default_value=one[0])))  # fmt: skip
    return found


@case
def buckets_of_dense_tables():
    path = os.path.join(tempfile.mkdtemp(), "dense")

    def steps(keys, empty, deleted, puts, takes):
        with tf.Graph().as_default():
            table = L.MutableDenseHashTable(
                keys, tf.float32, [9.0, 9.0], empty, deleted_key=deleted, initial_num_buckets=8,
                name="table",
            )  # fmt: skip
            told, saver, found = table.export()[0], tf.train.Saver(), []
            with tf.Session() as session:
                for put, take in zip(puts, takes):  # noqa: B905
                    rows = tf.constant([[float(at), 0.5] for at in range(len(put))])
                    session.run(table.insert(tf.constant(put, keys), rows))
                    found.append(session.run(told))
                    session.run(table.erase(tf.constant(take, keys)))
                    found.append(session.run([told, table.size()]))
                saver.save(session, path)
            with tf.Session() as session:
                saver.restore(session, path)
                session.run(table.insert(tf.constant(puts[0], keys), tf.ones([len(puts[0]), 2])))
                found.append(session.run([told, table.size()]))
                found.append(session.run(table.lookup(tf.constant(puts[-1], keys))))
        return [*found, [list(each) for each in tf.train.list_variables(path)]]

    numbers = [[1, 9, 17, 2], [25, 17, -2, -10], [100, 101, 33], list(range(200, 220))]
    return [
        steps(tf.int64, 0, -1, numbers, [[9], [1, 5], [33], [210]]),
        steps(tf.int32, 3, 4, numbers, [[9], [1, 5], [33], [210]]),
        steps(tf.int64, [0, 0], [-1, -1], [[[1, 2], [2, 1]], [[3, 3], [7, -7]]], [[[2, 1]]] * 2),
        steps(tf.string, "", "-", [["a", "bb"], ["many letters, and more"]], [["bb"], ["a"]]),
    ]


@case
def what_tables_refuse():
    twice = lambda values: L.HashTable(L.KeyValueTensorInitializer(["a", "a"], values), 0)  # noqa: E731
    dense = lambda **how: L.DenseHashTable(tf.int64, tf.int64, 0, 1, **how).size()  # noqa: E731
    none = L.KeyValueTensorInitializer([], [], key_dtype=tf.string, value_dtype=tf.int64)
    return [
        error(lambda: twice([1, 2]).size())[0], error(lambda: L.HashTable(none, 0).size())[0],
        error_of(lambda: dense(deleted_key=1)),
        error_of(lambda: dense(deleted_key=2, initial_num_buckets=3)),
    ]  # fmt: skip


@case
def lists_in_a_table():
    empty = list_ops.empty_tensor_list(tf.constant([2], tf.int64), tf.float32)
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.variant, default_value=empty, empty_key=-1, deleted_key=-2
    )
    keys, row = tf.constant([3, 5], tf.int64), tf.constant([[7.0, 8.0]])
    one, all_ = table.lookup(keys[0]), table.lookup(keys)
    longer = list_ops.tensor_list_concat_lists(
        one, list_ops.tensor_list_from_tensor(row, tf.constant([2], tf.int64)), tf.float32
    )
    pushed = list_ops.tensor_list_push_back_batch(all_, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    twice = list_ops.tensor_list_concat_lists(all_, all_, tf.float32)
    picked = [one, all_[1], tf.gather(all_, 0), tf.stack([one, one])[1], table.lookup(keys[:1])[0]]
    lengths, found = [list_ops.tensor_list_length(each) for each in picked], []
    session = tf.Session()
    filled = tf.fill([2], empty)
    for at, value in ((keys, filled), (keys, pushed), (keys[0], longer), (keys, twice)):
        session.run(table.insert_or_assign(at, value))
        found.append(session.run([*lengths, list_ops.tensor_list_stack(one, tf.float32)]))
    return [*found, session.run(table.erase(keys[:1])), session.run([table.size(), *lengths])]


@case
def what_is_said_of_files_with_few_columns():
    path = file_of("x\ny\n")
    given = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1)
    table = tf.lookup.StaticHashTable(given, -1)
    message = raised(lambda: tf.Session().run(table.initializer))[1]
    return message.replace(path, "FILE").split("\n")[0]


@case
def rows_of_lists_in_a_table():
    empty = list_ops.empty_tensor_list([2], tf.int32, max_num_elements=9)
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.variant, empty_key=-1, deleted_key=-2, default_value=empty
    )

    def rows(at):
        found = list_ops.tensor_list_stack(table.lookup(at), tf.int32)
        found.set_shape([None, 2])
        return found

    data = tf.data.Dataset.range(1, 3).map(rows)
    lists = [list_ops.tensor_list_from_tensor(x, [2]) for x in ([[4, 5]], [[6, 7], [8, 9]])]
    session = tf.Session()
    session.run([table.insert(np.int64(at + 1), each) for at, each in enumerate(lists)])
    one = tf.data.experimental.get_single_element(data.unbatch().batch(9))
    return session.run([one, rows(np.int64(2))])


if __name__ == "__main__":
    main()
