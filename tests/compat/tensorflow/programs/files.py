"""Files: read and written as a whole, by readers, as records."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, run, started

FOLDER = tempfile.mkdtemp()


def place(name, data=None):
    """A path, of a file with such data."""
    path = os.path.join(FOLDER, name)
    if data is not None:
        with open(path, "wb") as file:
            file.write(data)
    return path


def without(value):
    """A nest without the folder's name."""
    if isinstance(value, (list, tuple)):
        return [without(each) for each in value]
    return value.replace(FOLDER.encode(), b"") if isinstance(value, bytes) else value


def readings(reader, paths, count, many=None):
    """What a reader gives: so many pairs, how many values and files that were, and the end."""
    queue = tf.train.string_input_producer(paths, shuffle=False, num_epochs=1)
    pair = reader.read(queue) if many is None else reader.read_up_to(queue, many)
    told = [reader.num_records_produced(), reader.num_work_units_completed()]
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            for _ in range(count):
                found.append([np.asarray(part).tolist() for part in session.run(pair)])
        except tf.errors.OutOfRangeError:
            found.append("end")
        found.append(session.run(told))
        coordinator.request_stop()
        coordinator.join(threads)
    return without(found)


@case
def whole_files():
    path = place("whole", b"some\x00bytes")
    write = tf.write_file(place("new/folder/written"), tf.constant("text"))
    session = tf.Session()
    session.run(write)
    found = [
        session.run(tf.read_file(path)).hex(),
        session.run(tf.read_file(place("new/folder/written"))),
    ]
    try:
        session.run(tf.read_file(place("nothing")))
    except tf.errors.NotFoundError as error:
        found.append(error.message.splitlines()[0].replace(FOLDER, ""))
    return found


@case
def names_of_files():
    for name in ("m-b.x", "m-a.x", "m-c.y"):
        place(name, b"")
    patterns = [place("m-*.x"), [place("m-?.y"), place("m-a*")]]
    return without([run(tf.matching_files(each)).tolist() for each in patterns])


@case
def read_whole():
    paths = [place(f"w{n}", b"content %d" % n) for n in range(3)]
    return readings(tf.WholeFileReader(), paths, 9)


@case
def read_names():
    return readings(tf.IdentityReader(), ["a", "b"], 3)


@case
def read_lines():
    paths = [
        place("l1", b"head\none\r\ntwo\n\nlast"),
        place("l2", b"head\n"),
        place("l3", b"h\nx\n"),
    ]
    return [readings(tf.TextLineReader(), paths, 20),
            readings(tf.TextLineReader(skip_header_lines=1), paths, 20)]  # fmt: skip


@case
def read_up_to():
    paths = [place(f"u{n}", b"".join(b"%d%d\n" % (n, i) for i in range(5))) for n in range(2)]
    return readings(tf.TextLineReader(), paths, 9, many=3)


@case
def read_fixed():
    paths = [place("f1", b"HHaabbccFFF"), place("f2", b"HHddeeFFF")]
    reader = tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=3)
    hopping = tf.FixedLengthRecordReader(3, header_bytes=2, footer_bytes=3, hop_bytes=1)
    return [readings(reader, paths, 9), readings(hopping, paths, 9)]


@case
def records():
    found = []
    for packing in ("", "ZLIB", "GZIP"):
        path = place("records" + packing)
        with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(packing)) as writer:
            for each in (b"one", b"", b"x" * 300):
                writer.write(each)
        if not packing:
            with open(path, "rb") as file:
                found.append(file.read().hex())
        options = tf.python_io.TFRecordOptions(packing)
        found.append([len(each) for each in tf.python_io.tf_record_iterator(path, options)])
        found.append(readings(tf.TFRecordReader(options=options), [path], 9))
    return found


@case
def damaged_records():
    path = place("damaged")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"first"), writer.write(b"second")
    with open(path, "rb") as file:
        data = file.read()
    found = []
    for name, changed in (("cut", data[:-3]), ("other", data[:-6] + b"x" + data[-5:])):
        try:
            found.append(list(tf.python_io.tf_record_iterator(place(name, changed))))
        except tf.errors.DataLossError as error:
            found.append(error.message)
    return found


@case
def examples_in_records():
    path = place("examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(4):
            features = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number, number + 0.5])),
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d" % number])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    queue = tf.train.string_input_producer([path], num_epochs=1)
    _, value = tf.TFRecordReader().read(queue)
    told = {"x": tf.FixedLenFeature([2], tf.float32), "n": tf.FixedLenFeature([], tf.int64),
            "s": tf.FixedLenFeature([], tf.string)}  # fmt: skip
    batch = tf.train.batch(tf.parse_single_example(value, told), 2)
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(2):
            found.append(session.run(batch))
        coordinator.request_stop()
        coordinator.join(threads)
    return [[each[key] for key in sorted(each)] for each in found]


@case
def reset_readers():
    paths = [place("r1", b"a\nb\n"), place("r2", b"c\n")]
    queue = tf.FIFOQueue(9, tf.string)
    reader = tf.TextLineReader()
    pair, session = reader.read(queue), started()
    session.run(queue.enqueue_many([paths]))
    found = [session.run(pair), session.run(reader.num_records_produced())]
    session.run(reader.reset())
    return without([*found, session.run(pair), session.run(reader.num_records_produced())])


@case
def the_file_system():
    folder = place("system")
    tf.gfile.MakeDirs(os.path.join(folder, "a/b"))
    with tf.gfile.Open(os.path.join(folder, "x.txt"), "w") as file:
        file.write("one\ntwo\n")
    with tf.gfile.GFile(os.path.join(folder, "x.txt"), "a") as file:
        file.write("three")
    tf.gfile.Copy(os.path.join(folder, "x.txt"), os.path.join(folder, "a/y.txt"))
    tf.gfile.Rename(os.path.join(folder, "a/y.txt"), os.path.join(folder, "a/z.txt"))
    one, other = os.path.join(folder, "x.txt"), os.path.join(folder, "a/z.txt")
    walked = [[a.replace(FOLDER, ""), sorted(b), sorted(c)] for a, b, c in tf.gfile.Walk(folder)]
    found = [sorted(tf.gfile.ListDirectory(folder)), tf.gfile.Exists(other), walked]
    found += [tf.gfile.IsDirectory(folder), tf.gfile.Stat(one).length]
    with tf.gfile.Open(one) as file:
        found += [file.readline(), file.read(2), file.tell(), file.readlines(), file.size()]
    with tf.gfile.Open(os.path.join(folder, "x.txt")) as file:
        found.append(list(file))
    none = os.path.join(folder, "none")
    for make in (lambda: tf.gfile.Remove(none), lambda: tf.gfile.Copy(one, other),
                 lambda: tf.gfile.Open(none).read()):  # fmt: skip
        try:
            make()
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    tf.gfile.DeleteRecursively(folder)
    return [*found, tf.gfile.Exists(folder), tf.gfile.Glob(place("m-*")) != []]


@case
def what_the_file_system_refuses():
    folder, here = place("refused"), os.getcwd()
    os.makedirs(os.path.join(folder, "sub"))
    os.chdir(folder)
    for name in ("a.txt", ".b.txt", "sub/c.txt"):
        with tf.gfile.Open(name, "w") as file:
            file.write(name)
    tried = [
        lambda: run(tf.write_file("a.txt/x", "x")) is None,
        lambda: run(tf.write_file("new/deep/x", "x")) is None,
        lambda: tf.gfile.Exists("a.txt/x"),
        lambda: tf.gfile.MkDir("sub"),
        lambda: tf.gfile.MakeDirs("a.txt"),
        lambda: tf.gfile.MakeDirs("a.txt/x/y"),
        lambda: tf.gfile.Copy("a.txt", "sub", overwrite=True),
        lambda: tf.gfile.GFile("a.txt").seek(-1),
        lambda: tf.gfile.GFile("elsewhere://x").read(),
        lambda: tf.gfile.MakeDirs("elsewhere://x"),
        lambda: sorted(tf.gfile.Glob("*.txt")),
        lambda: sorted(tf.gfile.Glob("./*.txt") + tf.gfile.Glob("s*/*.txt") + tf.gfile.Glob("sub")),
        lambda: run(tf.matching_files(["*.txt", "sub/*"])).tolist(),
        lambda: tf.gfile.Glob("none/*"),
        lambda: tf.gfile.Glob("a.txt/*"),
        lambda: run(tf.matching_files("none/*")),
        lambda: tf.load_op_library("none.so"),
    ]
    found = []
    for each in tried:
        try:
            found.append(each())
        except tf.errors.OpError as error:
            found.append([type(error).__name__, error.message.splitlines()[0].partition(" [[")[0]])
    os.chdir(here)
    return without(found)


@case
def refused_files():
    folder = tempfile.mkdtemp()
    plain, missing = os.path.join(folder, "plain"), os.path.join(folder, "missing")
    with open(plain, "w") as file:
        file.write("12\n")
    data, csv, sql = tf.data, tf.data.experimental.CsvDataset, tf.data.experimental.SqlDataset
    given = [
        lambda: data.TFRecordDataset(missing),
        lambda: csv(missing, [0]),
        lambda: csv(plain, [0], compression_type="GZIP"),
        lambda: data.TextLineDataset(plain, compression_type="GZIP"),
        lambda: data.TextLineDataset(plain, compression_type="BZIP"),
        lambda: data.FixedLengthRecordDataset(plain, 0),
        lambda: data.FixedLengthRecordDataset(plain, 1, -1),
        lambda: sql("sqlite", os.path.join(folder, "base"), "select 1, 2", (tf.int32,)),
        lambda: sql("sqlite", os.path.join(folder, "base"), "select * from it", (tf.int32,)),
    ]
    found = []
    for make in given:
        try:
            iterator = data.make_initializable_iterator(make())
            session = tf.Session()
            session.run(iterator.initializer)
            session.run(iterator.get_next())
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


if __name__ == "__main__":
    main()
