"""Summaries, their bytes; event files, and what writes them; prints."""

import os
import struct
import tempfile
import zlib

import numpy as np
import tensorflow as tf
from recording import case, main, run, started

FOLDER = tempfile.mkdtemp()


def events(folder):
    """What is in the event files of a folder, without times."""
    found = []
    for name in sorted(os.listdir(folder)):
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            for value in event.summary.value:
                found.append([event.step, value.tag, value.WhichOneof("value"), value.simple_value])
            kind = event.WhichOneof("what")
            if kind != "summary":
                found.append([event.step, kind])
    return found


def pixels(data):
    """The size, the kind and the bytes of a picture in PNG format without interlacing."""
    at, rows = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        part = data[at + 8 : at + 8 + size]
        if name == b"IHDR":
            width, height, _, kind = struct.unpack(">IIBB", part[:10])
        rows += part if name == b"IDAT" else b""
        at += 12 + size
    depth = {0: 1, 2: 3, 4: 2, 6: 4}[kind]
    rows = np.frombuffer(zlib.decompress(rows), np.uint8).reshape(height, 1 + width * depth)
    lines, above = [], np.zeros(width * depth, int)
    for row in rows:
        line = row[1:].astype(int)
        for i in range(len(line)):
            a, b = line[i - depth] if i >= depth else 0, above[i]
            c = above[i - depth] if i >= depth else 0
            p = a + b - c
            paeth = min((abs(p - x), n, x) for n, x in enumerate((a, b, c)))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[row[0]]) % 256
        lines.append(line)
        above = line
    return np.array(lines).reshape(height, width, depth)


@case
def bytes_of_numbers():
    with tf.name_scope("part"):
        one = tf.summary.scalar("loss", tf.constant(1.5))
        zero = tf.summary.scalar("zero", 0.0, family="family")
    return [each.hex() for each in run([one, zero, tf.summary.merge([one, zero])])]


@case
def bytes_of_distributions():
    values = np.array([-3.0, -1e-13, 0.0, 0.0, 1e-5, 0.1, 0.2, 2.5, 1e21])
    parts = [
        tf.summary.histogram("floats", values),
        tf.summary.histogram("one", tf.constant([7.0])),
        tf.summary.histogram("integers", tf.range(-5, 5)),
        tf.summary.histogram("nothing", tf.zeros([0])),
        tf.summary.histogram("normal", tf.constant(np.random.RandomState(0).randn(500))),
    ]
    return [each.hex() for each in run(parts)]


@case
def distributions_of_what_is_no_number():
    found = []
    for value in (np.nan, np.inf):
        try:
            run(tf.summary.histogram("h", [1.0, value]))
        except tf.errors.InvalidArgumentError as error:
            found.append(error.message.splitlines()[0])
    return found


@case
def bytes_of_tensors():
    a = tf.summary.tensor_summary("a", tf.constant([[1, 2], [3, 4]]), summary_description="what")
    b = tf.summary.tensor_summary("b", tf.constant(["x", "yz"]), display_name="shown")
    return [each.hex() for each in run([a, b, tf.summary.text("t", tf.constant("words"))])]


@case
def pictures():
    rng = np.random.RandomState(1)
    given = {
        "bytes": rng.randint(0, 255, (4, 3, 5, 3)).astype("uint8"),
        "above": rng.rand(1, 2, 3, 1).astype("float32") * 7,
        "around": rng.randn(2, 2, 2, 4).astype("float32"),
        "infinite": np.array([[[[1.0, 2, 3], [np.nan, 1, 1]]]], "float32"),
        "dark": np.zeros((1, 1, 2, 3), "float32"),
    }
    found = []
    for name in sorted(given):
        data = run(tf.summary.image(name, given[name], max_outputs=1 if name == "dark" else 3))
        for value in tf.Summary.FromString(data).value:
            image = value.image
            shown = pixels(image.encoded_image_string)
            found.append([value.tag, image.height, image.width, image.colorspace, shown])
    return found


@case
def sounds():
    sound = np.sin(np.arange(40) / 3.0).reshape(2, 10, 2).astype("float32")
    data = run(tf.summary.audio("tone", sound, 100, max_outputs=2))
    return data.hex()


@case
def all_of_a_graph():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    tf.summary.scalar("mean", tf.reduce_mean(v))
    tf.summary.histogram("v", v)
    merged, session = tf.summary.merge_all(), started()
    with tf.summary.FileWriter(os.path.join(FOLDER, "all"), session.graph) as writer:
        for step in range(3):
            writer.add_summary(session.run(merged), step)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="mine", simple_value=3.0)]), 9)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 0)
    return events(os.path.join(FOLDER, "all"))


@case
def summaries_of_tensorboard():
    folder = os.path.join(FOLDER, "board")
    board, values = tf.compat.v2.summary, np.random.RandomState(0)
    sounds = tf.constant(values.rand(2, 5, 1) - 0.5, tf.float32)
    writer = board.create_file_writer(folder)
    with writer.as_default(), tf.name_scope("scope"):
        ops = [
            board.scalar("loss", 1.5, step=1, description="what"),
            board.histogram("normal", values.randn(50), step=2, buckets=4),
            board.histogram("equal", [7.0, 7.0], step=3),
            board.histogram("nothing", tf.zeros([0]), step=4),
            board.histogram("integers", tf.range(5), step=5),
            board.image("shown", values.rand(4, 2, 3, 3).astype("float32"), step=6),
            board.image("none", tf.zeros([0, 2, 3, 3]), step=7),
            board.audio("tone", sounds, 100, step=8),
            board.text("words", tf.constant(["a", "bc"]), step=9),
        ]
        flush = writer.flush()
    session = tf.Session()
    for fetched in (writer.init(), ops, flush):
        session.run(fetched)
    found = []
    for name in os.listdir(folder):
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            for value in event.summary.value:
                data = tf.make_ndarray(value.tensor).tolist()
                if "shown" in value.tag:
                    data = data[:2] + [pixels(each) for each in data[2:]]
                about = value.metadata.SerializeToString().hex()
                found.append([event.step, value.tag, about, data])
    return sorted(found, key=lambda each: each[0])


@case
def twice_the_same_name():
    x = tf.summary.scalar("x", 1.0)
    try:
        return run(tf.summary.merge([x, x]))
    except tf.errors.InvalidArgumentError as error:
        return error.message.splitlines()[0]


@case
def summaries_in_a_branch():
    way = tf.placeholder(tf.bool, [])
    merged = tf.cond(way, lambda: tf.summary.scalar("x", 1.0), lambda: tf.constant(""))
    session = tf.Session()
    return [session.run(merged, {way: each}).hex() for each in (True, False)]


@case
def written_by_the_graph():
    folder = os.path.join(FOLDER, "graph")
    step = tf.train.get_or_create_global_step()
    writer = tf.contrib.summary.create_file_writer(folder, flush_millis=0)
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        tf.contrib.summary.scalar("x", tf.cast(step, tf.float32) * 2.0, step=step)
        tf.contrib.summary.histogram("h", tf.constant([1.0, 2.0]), step=step)
    session = started()
    session.run(tf.contrib.summary.summary_writer_initializer_op())
    for _ in range(2):
        session.run(tf.contrib.summary.all_summary_ops())
        session.run(tf.assign_add(step, 1))
    return sorted(events(folder)[1:])


@case
def hooks_that_write():
    folder = os.path.join(FOLDER, "hooks")
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    with tf.control_dependencies([count]):
        tf.summary.scalar("twice", tf.cast(step.read_value(), tf.float32) * 2.0)
    hooks = [
        tf.train.SummarySaverHook(2, output_dir=folder, summary_op=tf.summary.merge_all()),
        tf.train.StopAtStepHook(5),
    ]
    with tf.train.SingularMonitoredSession(hooks) as session:
        while not session.should_stop():
            session.run(count)
    return [each for each in events(folder) if each[1] == "twice"]


@case
def printed():
    x = tf.Print(tf.constant([1.5, 2.0, 3.0]), [tf.constant([[1, 2], [3, 4]]), "a"], "message: ",
                 summarize=2, first_n=1)  # fmt: skip
    path = os.path.join(FOLDER, "printed")
    to_file = tf.print("x:", tf.constant([1.5, 2.0]), {"b": tf.constant(True)},
                       output_stream="file://" + path)  # fmt: skip
    session = tf.Session()
    session.run(to_file), session.run(to_file)
    with open(path) as file:
        return [session.run(x), session.run(x), file.read()]


@case
def formatted():
    x = tf.constant([[1.0, 2.5, 3.0], [4.0, 5.0, 6.0]])
    y = tf.range(20)
    return run([
        tf.strings.format("x is {} and {}", (x, tf.constant("s"))),
        tf.strings.format("{}", y, summarize=2), tf.strings.format("{}", y, summarize=-1),
        tf.strings.format("[{}]", tf.constant([True, False])), tf.as_string(x, precision=2),
    ])  # fmt: skip


@case
def python_functions():
    calls = []

    def double(x, y):
        calls.append(1)
        return x * 2, np.float64(y.sum())

    x = tf.placeholder(tf.float32, [2])
    a, b = tf.py_func(double, [x, tf.constant([1.0, 2.0], tf.float64)], [tf.float32, tf.float64])
    text = tf.py_func(lambda s: s + b"!", [tf.constant("ab")], tf.string, stateful=False)
    nothing = tf.py_func(lambda: calls.append(2), [], [])
    way = tf.placeholder(tf.bool, [])

    def seven():
        calls.append(3)
        return np.float32(7)

    chosen = tf.cond(way, lambda: tf.py_func(seven, [], tf.float32), lambda: 0.0)
    session = tf.Session()
    found = [session.run([a, b, text], {x: [1.0, 2.0]}), session.run(nothing)]
    found += [session.run(chosen, {way: each}) for each in (True, False)]
    return [*found, calls, a.shape.ndims]


@case
def errors_of_python_functions():
    found = []
    for error in (ValueError, TypeError, StopIteration, MemoryError, NotImplementedError, KeyError):

        def fail(error=error):
            raise error("no")

        try:
            tf.Session().run(tf.py_func(fail, [], tf.float32))
        except tf.errors.OpError as raised:
            found.append([type(raised).__name__, raised.message.splitlines()[0]])
    try:
        tf.Session().run(tf.py_func(lambda: np.int32(1), [], tf.float32))
    except tf.errors.OpError as raised:
        found.append([type(raised).__name__, raised.message.splitlines()[0]])
    return found


@case
def assertions():
    x = tf.placeholder(tf.float32)
    found = []
    for make in (
        lambda: tf.Assert(tf.reduce_all(x > 0), [x, "text", tf.shape(x)], summarize=2),
        lambda: tf.assert_equal(x, 1.0, message="not one"),
        lambda: tf.assert_rank(x, 3),
    ):
        with tf.control_dependencies([make()]):
            y = tf.identity(x)
        try:
            tf.Session().run(y, {x: [[1.0, -2.0, 3.0]]})
        except tf.errors.InvalidArgumentError as error:
            found.append(error.message.partition("\n\t")[0])
    return found


@case
def time_goes_on():
    session, now = tf.Session(), tf.timestamp()
    first = session.run(now)
    return [str(first.dtype), 0 <= session.run(now) - first < 60]


@case
def texts_of_python_functions():
    given = ("str", "\u00e9", np.array(["a", "bbb"]), b"\x00\xff")
    texts = [tf.py_func(lambda each=each: each, [], tf.string) for each in given]
    nothing = tf.py_func(lambda: None, [], tf.float32)
    found = run(texts)
    try:
        run(nothing)
    except tf.errors.InvalidArgumentError:
        found.append("refused")
    return found


if __name__ == "__main__":
    main()
