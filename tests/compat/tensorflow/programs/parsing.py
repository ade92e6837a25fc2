"""Examples, columns, raw numbers, tensors and sparse tensors as strings."""

import zlib

import numpy as np
import tensorflow as tf
from recording import case, error_of, leaves, main, raised, run, told


def feature(*values):
    """A feature of a message."""
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**features):
    """A message of named features, as a string."""
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def sequence(context, **lists):
    """A message of features and of lists of features, as a string."""
    lists = {name: tf.train.FeatureList(feature=steps) for name, steps in lists.items()}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    ).SerializeToString()


ONE = example(a=feature(1, 2), b=feature(0.5), s=feature(b"x", b"yz"), v=feature(1.0, 2.0, 3.0))
OTHER = example(b=feature(1.5), a=feature(3, 4), e=tf.train.Feature(), v=feature(4.0))
FEATURES = {
    "a": tf.FixedLenFeature([2], tf.int64),
    "b": tf.FixedLenFeature([], tf.float32),
    "c": tf.FixedLenFeature([1, 2], tf.float32, [[7.0, 8.0]]),
    "e": tf.FixedLenFeature([], tf.string, "none"),
    "s": tf.VarLenFeature(tf.string),
    "w": tf.VarLenFeature(tf.int64),
    "v": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1.0),
}


def parts(found):
    """What was parsed, in the order of names."""
    return [found[name] for name in sorted(found)]


@case
def examples():
    given = tf.placeholder(tf.string, [None])
    found = tf.parse_example(given, FEATURES)
    fail = lambda **f: error_of(lambda: parts(tf.parse_example([ONE], f)))  # noqa: E731
    weighted = {"x": tf.SparseFeature("a", "v2", tf.float32, 5)}
    both = [example(a=feature(1, 3), v2=feature(0.5, 0.25)), example()]
    return [
        told(parts(found), {given: [ONE, OTHER]}), told(parts(found), {given: [OTHER]}),
        told(parts(tf.parse_example(both, weighted))),
        fail(a=tf.FixedLenFeature([3], tf.int64)),
        fail(a=tf.FixedLenFeature([2], tf.float32)), fail(z=tf.FixedLenFeature([], tf.int64)),
        fail(a=tf.VarLenFeature(tf.string)),
        fail(v=tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)),
    ]  # fmt: skip


@case
def single_examples():
    given = tf.placeholder(tf.string, [])
    found = tf.parse_single_example(given, FEATURES)
    json = '{"features": {"feature": {"a": {"int64_list": {"value": [1, 2]}}}}}'
    fail = lambda **f: error_of(lambda: parts(tf.parse_single_example(ONE, f)))  # noqa: E731
    return [
        told(parts(found), {given: ONE}), told(parts(found), {given: OTHER}),
        fail(z=tf.FixedLenFeature([], tf.int64)), fail(a=tf.FixedLenFeature([3], tf.int64)),
        fail(a=tf.VarLenFeature(tf.float32)),
        told(parts(tf.parse_example(tf.decode_json_example([json]), {"a": FEATURES["a"]}))),
        error_of(lambda: tf.decode_json_example(["{"])),
    ]  # fmt: skip


@case
def sequences():
    steps = [feature(1.0, 2.0), feature(3.0, 4.0)]
    two = {"n": feature(3), "t": feature(b"p", b"q")}
    one = sequence(two, x=steps, w=[feature(5), feature(6, 7)])
    other = sequence({"n": feature(1)}, x=[feature(9.0, 8.0)], y=[feature(1)])
    context = {"n": tf.FixedLenFeature([], tf.int64), "t": tf.VarLenFeature(tf.string)}
    lists = {
        "x": tf.FixedLenSequenceFeature([2], tf.float32), "w": tf.VarLenFeature(tf.int64),
        "y": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }  # fmt: skip
    found = []
    for data in (one, other):
        a, b = tf.parse_single_sequence_example(data, context, lists)
        found.append(told(parts(a) + parts(b)))
    a, b, sizes = tf.io.parse_sequence_example([one, other], context, lists)
    found.append(told(parts(a) + parts(b) + parts(sizes)))
    needs = {"q": tf.FixedLenSequenceFeature([2], tf.float32)}
    short = {"x": tf.FixedLenSequenceFeature([3], tf.float32)}
    for wanted in (needs, short):
        found.append(error_of(lambda wanted=wanted: parts(
            tf.parse_single_sequence_example(one, None, wanted)[1])))  # fmt: skip
        found.append(error_of(lambda wanted=wanted: parts(
            tf.io.parse_sequence_example([one], None, wanted)[1])))  # fmt: skip
    return found


@case
def columns():
    lines = tf.placeholder(tf.string, [None])
    given = ["1,2.5,a", '-3,,"b ""q"", c"', "4,1e3,"]
    found = tf.decode_csv(lines, [[0], [7.0], ["-"]])
    fail = lambda line, *d, **o: error_of(lambda: tf.decode_csv([line], list(d), **o))  # noqa: E731
    return [
        told(found, {lines: given}),
        told(tf.decode_csv(["a|b|NA"], [[""], [""], ["x"]], field_delim="|", na_value="NA")),
        told(tf.decode_csv(['a"b,c'], [[""], [""]], use_quote_delim=False)),
        told(tf.decode_csv([["1,2,3"], ["4,5,6"]], [[0], [0]], select_cols=[0, 2])),
        told(tf.decode_csv(["1,2", ","], [tf.constant(5, tf.int64), 0.5])),
        fail("1", [0], [0]), fail("1,2,3", [0], [0]), fail("x", [0]), fail("1.5", [0]),
        fail("", tf.zeros([0], tf.int32)), fail('"a"b', [""]), fail('a"b', [""]), fail('"a', [""]),
        fail("1", [0, 1]), fail("1,2", [0], select_cols=[3]), fail("3000000000", [0]),
    ]  # fmt: skip


@case
def raw_numbers():
    data = np.array([1.5, -2.0, 3.25], "float32").tobytes()
    x = tf.placeholder(tf.string, [None])
    return [
        told(tf.decode_raw(x, tf.float32), {x: [data, data[::-1]]}),
        told(tf.decode_raw([b"\x00\x01\x02\x03"], tf.int16, little_endian=False)),
        told(tf.decode_raw(b"\x00\x01\xff", tf.uint8)), told(tf.decode_raw([[b"ab"]], tf.int8)),
        error_of(lambda: tf.decode_raw([b"abc"], tf.int16)),
        error_of(lambda: tf.decode_raw([b"abcd", b"ab"], tf.int16)),
        told(tf.raw_ops.DecodePaddedRaw(input_bytes=[b"abcde", b"a"], fixed_length=4,
                                        out_type=tf.uint8)),
        error_of(lambda: tf.raw_ops.DecodePaddedRaw(
            input_bytes=[b"abcde"], fixed_length=3, out_type=tf.int16)),
        told(tf.io.decode_compressed([zlib.compress(b"hello")], "ZLIB")),
        told(tf.io.decode_compressed([b"plain"])),
        error_of(lambda: tf.io.decode_compressed(["x"], "ZIP")),
    ]  # fmt: skip


@case
def tensors():
    x = tf.placeholder(tf.float32, [None, 2])
    again = tf.parse_tensor(tf.serialize_tensor(x), tf.float32)
    return [
        told(again, {x: [[1.0, 2.0], [3.0, 4.5]]}),
        told(tf.serialize_tensor(np.arange(3))),
        told(tf.serialize_tensor(5.0)),
        told(tf.serialize_tensor(["a", "bc"])),
        told(tf.serialize_tensor([True, False])),
        told(tf.parse_tensor(tf.serialize_tensor(["a", "bc"]), tf.string)),
        error_of(lambda: tf.parse_tensor(tf.serialize_tensor([1]), tf.float32)),
        error_of(lambda: tf.parse_tensor("xx", tf.float32)),
    ]


@case
def sparse_tensors():
    x = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], ["a", "b", "c"], [3, 4])
    y = tf.SparseTensor([[0], [2]], [1.5, 2.5], [3])
    z = tf.SparseTensor([[4]], [3.5], [6])
    many = tf.serialize_many_sparse(x)
    both = tf.stack([tf.serialize_sparse(y), tf.serialize_sparse(z)])
    ops = tf.raw_ops
    one = ops.DeserializeSparse(serialized_sparse=tf.serialize_sparse(y), dtype=tf.float32)
    grid = ops.DeserializeSparse(serialized_sparse=tf.reshape(both, [1, 2, 3]), dtype=tf.float32)
    numbers = ops.AddManySparseToTensorsMap(
        sparse_indices=x.indices, sparse_values=x.values, sparse_shape=x.dense_shape,
        shared_name="kept")  # fmt: skip
    taken = ops.TakeManySparseFromTensorsMap(
        sparse_handles=tf.gather(numbers, [2, 0]), dtype=tf.string, shared_name="kept")  # fmt: skip
    return [
        [tf.serialize_sparse(y).shape.as_list(), many.shape.as_list()],
        told(tf.deserialize_many_sparse(many, tf.string)),
        told(tf.deserialize_many_sparse(both, tf.float32)),
        told(list(one)), told(list(grid)), told(list(taken)),
        error_of(lambda: tf.deserialize_many_sparse(many, tf.float32)),
    ]  # fmt: skip


@case
def crosses():
    words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]], tf.int64)
    cross, hashed = tf.sparse.cross, tf.sparse.cross_hashed
    return [
        told(cross([words, tf.constant([["x"], ["y"]])])), told(cross([words, numbers])),
        told(hashed([words, numbers])), told(hashed([words, words], 10)),
        told(hashed([words, numbers, words], 1000, 99)),
        told(hashed([tf.SparseTensor([[1, 0]], ["b"], [2, 1]), numbers])),
    ]  # fmt: skip


@case
def features_that_are_not_as_asked_for():
    given = [example(f=feature(1.0, 2.0), i=feature(3, 4, 5)), example(f=feature(3.0, 4.0))]
    fixed, rows, io = tf.io.FixedLenFeature, tf.io.FixedLenSequenceFeature, tf.io
    specs = [
        {"i": fixed([3], tf.int64)},
        {"f": fixed([2], tf.int64)},
        {"f": fixed([3], tf.float32)},
        {"i": rows([2], tf.int64, True)},
        {"f": tf.io.VarLenFeature(tf.string)},
        {"s": fixed([], tf.string)},
        {"i": tf.io.SparseFeature("i", "f", tf.float32, 9)},
    ]
    whole = [lambda each=each: io.parse_example(given, each) for each in specs]
    whole += [lambda: io.parse_example(given, specs[0], example_names=["one", "other"])]
    whole += [lambda each=each: io.parse_single_example(given[0], each) for each in specs]
    message = sequence({"c": feature(1)}, x=[feature(1.0, 2.0), feature(3.0)])
    lists = [
        ({"q": fixed([], tf.int64)}, {}),
        ({}, {"x": rows([2], tf.float32)}),
        ({}, {"q": rows([], tf.int64)}),
    ]
    steps = io.parse_single_sequence_example
    whole += [lambda each=each: max(steps(message, *each), key=len) for each in lists]
    found = [raised(lambda each=each: run(leaves(list(each().values())))) for each in whole]
    data = tf.data.Dataset.from_tensors(given)
    data = data.apply(tf.data.experimental.parse_example_dataset(specs[2]))
    step = tf.data.make_one_shot_iterator(data).get_next()
    found.append(raised(lambda: run(step["f"])))
    return [[kind, *message.splitlines()[:1]] for kind, message in found]


if __name__ == "__main__":
    main()
