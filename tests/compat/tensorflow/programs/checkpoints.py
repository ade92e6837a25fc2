"""Checkpoints: written, read back, listed; by Saver, by objects, as saved models, meta graphs."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, started
from tensorflow.python.framework import meta_graph

FOLDER = tempfile.mkdtemp()


def place(name):
    """A path for a checkpoint."""
    return os.path.join(FOLDER, name)


def failed(make):
    """The class of what is raised, and how the message begins."""
    try:
        return [make()]
    except tf.errors.OpError as error:
        return [type(error).__name__, error.message[:60].replace(FOLDER, "")]


@case
def saved_and_restored():
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("part/w", initializer=[[1, 2], [3, 4]], use_resource=True)
    saver, session = tf.train.Saver(), started()
    path = saver.save(session, place("one"), global_step=7)
    session.run([v.assign([9.0, 9.0]), w.assign([[0, 0], [0, 0]])])
    saver.restore(session, path)
    reader = tf.train.NewCheckpointReader(path)
    shapes = reader.get_variable_to_shape_map()
    return [os.path.basename(path), session.run([v, w]), sorted(shapes), shapes["part/w"],
            reader.debug_string(), reader.has_tensor("v"), reader.has_tensor("u"),
            reader.get_tensor("part/w"), sorted(os.path.basename(p) for p in os.listdir(FOLDER)
                                                if p.startswith("one"))]  # fmt: skip


@case
def bytes_of_the_index():
    for number in range(40):
        tf.get_variable(f"layer_{number}/kernel", initializer=np.full([2, 3], number, "float32"))
    tf.get_variable("text", initializer=["a", "bc", ""])
    tf.get_variable("flags", initializer=[True, False])
    tf.get_variable("empty", initializer=np.zeros([0, 3], "float16"))
    tf.get_variable("big", initializer=np.arange(30000, dtype="float64"))
    tf.train.Saver().save(started(), place("bytes"), write_meta_graph=False)
    with open(place("bytes.index"), "rb") as file:
        index = file.read()
    with open(place("bytes.data-00000-of-00001"), "rb") as file:
        data = file.read()
    return [len(index), index.hex(), len(data), sum(data), data[-8:].hex()]


@case
def types_and_values():
    kinds = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool".split()
    given = {k: np.array([[0, 1], [1, 3]]).astype(k) for k in kinds}
    given["complex64"] = np.array([1 + 2j], "complex64")
    given["scalar"] = np.float32(2.5)
    for name, value in given.items():
        tf.get_variable(name, initializer=value)
    path = tf.train.Saver().save(started(), place("types"))
    found = [(name, shape, tf.train.load_variable(path, name))
             for name, shape in tf.train.list_variables(path)]  # fmt: skip
    return [[n, s, str(np.asarray(v).dtype), np.abs(v).tolist()] for n, s, v in found]


@case
def strings():
    v = tf.get_variable("v", initializer=[["a", "bcd"], ["", "e" * 300]])
    saver, session = tf.train.Saver(), started()
    path = saver.save(session, place("strings"))
    session.run(v.assign([["", ""], ["", ""]]))
    saver.restore(session, path)
    return session.run(v)


@case
def parts_of_variables():
    partitioner = tf.fixed_size_partitioner(3)
    v = tf.get_variable("v", [10, 2], initializer=tf.ones_initializer(), partitioner=partitioner)
    fill = [part.assign(tf.fill(part.shape, float(i))) for i, part in enumerate(v)]
    saver, session = tf.train.Saver(), started()
    session.run(fill)
    path = saver.save(session, place("parts"))
    with tf.Graph().as_default(), tf.Session() as other:
        w = tf.get_variable("v", [10, 2])
        u = tf.get_variable("u", [10, 2], partitioner=tf.fixed_size_partitioner(4))
        tf.train.Saver({"v": w}).restore(other, path)
        tf.train.Saver({"v": u}).restore(other, path)
        found = other.run([w, tf.convert_to_tensor(u)])
    return [tf.train.load_variable(path, "v"), found, tf.train.list_variables(path)]


@case
def several_files():
    a = tf.Variable([1.0], name="a")
    with tf.device("/cpu:0"):
        b = tf.Variable([2.0], name="b")
    saver, session = tf.train.Saver(sharded=True), started()
    path = saver.save(session, place("sharded"))
    session.run([a.assign([0.0]), b.assign([0.0])])
    saver.restore(session, path)
    files = sorted(name for name in os.listdir(FOLDER) if name.startswith("sharded"))
    return [session.run([a, b]), files]


@case
def the_first_version():
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.get_variable("w", [5, 2], initializer=tf.ones_initializer(),
                        partitioner=tf.fixed_size_partitioner(2))  # fmt: skip
    saver = tf.train.Saver({"v": v, "w": w}, write_version=tf.train.SaverDef.V1)
    session = started()
    path = saver.save(session, place("old"))
    session.run(v.assign([0.0, 0.0]))
    saver.restore(session, path)
    reader = tf.train.NewCheckpointReader(path)
    return [session.run(v), reader.get_tensor("v"), sorted(reader.get_variable_to_shape_map())]


@case
def what_is_kept():
    tf.Variable(1.0, name="v")
    saver, session = tf.train.Saver(max_to_keep=2), started()
    folder = place("kept")
    os.makedirs(folder)
    for step in range(4):
        saver.save(session, os.path.join(folder, "m"), global_step=step)
    state = tf.train.get_checkpoint_state(folder)
    return [os.path.basename(tf.train.latest_checkpoint(folder)),
            [os.path.basename(p) for p in state.all_model_checkpoint_paths],
            sorted(os.listdir(folder)), tf.train.checkpoint_exists(os.path.join(folder, "m-3")),
            tf.train.checkpoint_exists(os.path.join(folder, "m-0"))]  # fmt: skip


@case
def what_is_wrong():
    v = tf.Variable([1.0, 2.0], name="v")
    session = started()
    path = tf.train.Saver().save(session, place("wrong"))
    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    found = [failed(lambda: tf.train.Saver({"u": v}).restore(session, path)),
             failed(lambda: tf.train.Saver({"v": w}).restore(session, path)),
             failed(lambda: tf.train.NewCheckpointReader(place("nothing")))]  # fmt: skip
    with open(place("wrong.data-00000-of-00001"), "r+b") as file:
        file.write(b"x")
    found.append(failed(lambda: tf.train.Saver({"v": v}).restore(session, path))[:1])
    with open(place("wrong.index"), "r+b") as file:
        file.truncate(20)
    found.append(failed(lambda: tf.train.NewCheckpointReader(path)))
    try:
        tf.train.Saver({"v": v}).restore(session, place("nothing"))
    except ValueError as error:
        found.append(str(error).replace(FOLDER, ""))
    return found


@case
def other_names_and_shapes():
    v = tf.Variable([[1.0, 2.0, 3.0, 4.0]], name="v")
    path = tf.train.Saver({"renamed": v}).save(started(), place("renamed"))
    w = tf.Variable(tf.zeros([2, 2]), name="w")
    session = started()
    tf.train.Saver({"renamed": w}, reshape=True).restore(session, path)
    return [session.run(w), tf.train.list_variables(path)]


@case
def initialized_from_a_checkpoint():
    with tf.variable_scope("a"):
        tf.get_variable("v", initializer=[1.0, 2.0])
        tf.get_variable("w", initializer=[[3.0]])
    path = tf.train.Saver().save(started(), place("init"))
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("b"):
            v, w = tf.get_variable("v", [2]), tf.get_variable("w", [1, 1])
        tf.train.init_from_checkpoint(path, {"a/": "b/"})
        session.run(tf.global_variables_initializer())
        return session.run([v, w])


@case
def remapped_by_vocabularies():
    for name, words in (("old.txt", "abc"), ("new.txt", "cxay")):
        with open(place(name), "w") as file:
            file.write("\n".join(words))
    old, new = place("old.txt"), place("new.txt")
    rows = np.arange(1.0, 9.0, dtype="float32").reshape(4, 2)
    tf.get_variable("rows", initializer=rows)
    tf.get_variable("columns", initializer=rows.T[:, :3])
    path = tf.train.Saver().save(started(), place("remapped"))

    def places(**options):
        return tf.raw_ops.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, **options)

    def moved(row_places, column_places, values, **options):
        return tf.raw_ops.LoadAndRemapMatrix(
            ckpt_path=path, old_tensor_name=options.pop("name", "rows"), row_remapping=row_places,
            col_remapping=column_places, initializing_values=values, num_rows=len(row_places),
            num_cols=options.pop("columns", 2), **options
        )  # fmt: skip

    ways = [
        lambda: places(new_vocab_offset=1, num_new_vocab=3),
        lambda: places(new_vocab_offset=1, num_new_vocab=3, old_vocab_size=2),
        lambda: places(new_vocab_offset=2, num_new_vocab=3),
        lambda: moved([1, -1, 0], [1, 0], [0.1, 0.2]),
        lambda: moved([1, -1, 0], [], [0.1, 0.2], max_rows_in_memory=1),
        lambda: moved([0, 1], [-1, 2, 0], [[0.5], [0.6]], name="columns", columns=3),
        lambda: moved([1, -1, 0], [], [0.1]),
        lambda: moved([1, -1, 0], [], [0.1, 0.2, 0.3]),
        lambda: moved([1, 1], [], []),
        lambda: moved([1], [], [], columns=3),
        lambda: moved([1], [], [], name="none"),
    ]
    found = []
    with tf.Session() as session:
        for make in ways:
            made = tf.nest.flatten(make())
            found.append([str(each.shape) for each in made])
            try:
                found += session.run(made)
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    with tf.Graph().as_default():
        table = tf.get_variable("rows", [4, 2], initializer=tf.zeros_initializer())
        told = tf.estimator.VocabInfo(new, 4, 0, old, -1, tf.ones_initializer())
        tf.train.warm_start(path, "rows", {"rows": told})
        return [*found, started().run(table)]


@case
def parts_that_are_missing():
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        whole = tf.get_variable("v", initializer=tf.constant(np.arange(4.0)))
    path = tf.train.Saver({"v": next(iter(whole))}).save(started(), place("missing"))
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [4], tf.float64)
        return [*failed(lambda: tf.train.Saver().restore(session, path))[:1], v.name]


@case
def imports_that_fail():
    x = tf.placeholder(tf.float32, [2], "x")
    tf.square(tf.identity(x * 2.0, "y"), "z")
    told, found = tf.get_default_graph().as_graph_def(), []
    ways = [
        {"return_elements": ["none:0"]}, {"return_elements": ["none"]},
        {"return_elements": ["y:5"]}, {"input_map": {"x:0": [1, 2]}},
        {"input_map": {"x:0": [1.0, 2.0, 3.0]}}, {"input_map": {"none:0": [1.0]}},
        {"input_map": {"y:0": [1.0, 2.0]}, "return_elements": ["z:0"]},
    ]  # fmt: skip
    for way in ways:
        with tf.Graph().as_default() as graph:
            way["input_map"] = {
                name: tf.constant(value) for name, value in way.get("input_map", {}).items()
            }
            before = len(graph.get_operations())
            try:
                tf.import_graph_def(told, **way)
                found.append("imported")
            except ValueError as error:
                found += [str(error).split(".")[0], len(graph.get_operations()) - before]
            found.append(tf.constant(0.0, name="x").name)
    return found


@case
def of_objects():
    v, w = tf.Variable([1.0, 2.0]), tf.get_variable("w", initializer=5.0, use_resource=True)
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    session = started()
    with session.as_default():
        path = checkpoint.save(place("object"))
        session.run([v.assign([0.0, 0.0]), w.assign(0.0)])
        status = checkpoint.restore(path)
        status.assert_consumed().run_restore_ops()
        found = session.run([v, w])
    names = sorted(name for name, _ in tf.train.list_variables(path))
    return [os.path.basename(path), found, names]


@case
def managed():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    session = started()
    with session.as_default():
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), place("managed"), 2)
        for _ in range(3):
            manager.save()
        return [os.path.basename(p) for p in manager.checkpoints]


@case
def a_meta_graph():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    tf.add_to_collection("out", tf.matmul(x, w, name="y"))
    saver, session = tf.train.Saver(), started()
    path = saver.save(session, place("meta"))
    with tf.Graph().as_default(), tf.Session() as other:
        tf.train.import_meta_graph(path + ".meta").restore(other, path)
        y = tf.get_collection("out")[0]
        return [
            other.run(y, {"x:0": [[1.0, 1.0]]}),
            y.name,
            [v.name for v in tf.global_variables()],
        ]


@case
def a_saved_model():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    table = tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], np.array([1, 2], "int64")), -1
    )
    y, found = tf.matmul(x, w, name="y"), table.lookup(tf.constant(["b", "c"]))
    session = started()
    session.run(tf.tables_initializer())
    folder = place("saved_model")
    tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y, "found": found},
                               legacy_init_op=tf.tables_initializer())  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as other:
        loaded = tf.saved_model.load(other, ["serve"], folder)
        told = loaded.signature_def["serving_default"]
        fetches = {name: told.outputs[name].name for name in told.outputs}
        values = other.run(fetches, {told.inputs["x"].name: [[1.0, 1.0]]})
    return [values, tf.saved_model.maybe_saved_model_directory(folder), sorted(os.listdir(folder))]


@case
def a_part_of_a_graph_that_was_read():
    tf.identity(tf.constant([1.0, 2.0]) * 2.0, name="y")
    told = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(told, import_scope="read")
        part = meta_graph.export_scoped_meta_graph(export_scope="read")[0]
        names = sorted(node.name for node in part.graph_def.node)
        return [session.run("read/y:0"), names]


@case
def a_frozen_graph():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    tf.nn.relu(tf.matmul(x, w), name="y")
    graph = tf.graph_util.convert_variables_to_constants(
        started(), tf.get_default_graph().as_graph_def(), ["y"]
    )
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.import_graph_def(graph, return_elements=["y:0"], name="")[0]
        return [session.run(y, {"x:0": [[1.0, 1.0]]}), sorted(node.op for node in graph.node)]


@case
def folders_that_are_missing():
    w, session, saver = tf.get_variable("w", initializer=1.0), started(), tf.train.Saver()
    folder = tempfile.mkdtemp()
    found = [saver.save(session, os.path.join(folder, "one", "m")).replace(folder, "")]
    try:
        saver.save(session, os.path.join(folder, "two", "more", "m"))
    except ValueError as error:
        found.append(str(error).replace(folder, ""))
    return [*found, sorted(os.listdir(folder)), session.run(w)]


if __name__ == "__main__":
    main()
