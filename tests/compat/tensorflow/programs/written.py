"""Checkpoints and a saved model that TensorFlow 1.15 wrote (`../written`), read."""

import os

import numpy as np
import tensorflow as tf
from recording import case, main

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "written")
X = [[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]]


def place(name):
    """A file's path."""
    return os.path.join(FOLDER, name)


def values(prefix):
    """All tensors of a checkpoint."""
    reader = tf.train.NewCheckpointReader(place(prefix))
    return [[name, reader.get_tensor(name)] for name in sorted(reader.get_variable_to_shape_map())]


@case
def the_second_version():
    return values("second")


@case
def several_files():
    return values("sharded")


@case
def what_is_listed():
    lists = [tf.train.list_variables(place(name)) for name in ("second", "first", "objects")]
    return [
        lists,
        tf.train.checkpoint_exists(place("second")),
        tf.train.checkpoint_exists(place("x")),
    ]


@case
def the_first_version():
    reader = tf.train.NewCheckpointReader(place("first"))
    names = "b vocabulary global_step beta1_power".split()
    return [[name, reader.get_tensor(name)] for name in names]


@case
def parts_otherwise():
    w = tf.get_variable("w", [3, 4])
    u = tf.get_variable("u", [3, 4], partitioner=tf.fixed_size_partitioner(3))
    found = []
    with tf.Session() as session:
        for name in ("second", "sharded", "first"):
            tf.train.Saver({"net/w": w}).restore(session, place(name))
            tf.train.Saver({"net/w": u}).restore(session, place(name))
            found.append(session.run([w, tf.convert_to_tensor(u)]))
    return found


@case
def a_meta_graph_goes_on_training():
    saver = tf.train.import_meta_graph(place("second.meta"))
    graph = tf.get_default_graph()
    with tf.Session() as session:
        saver.restore(session, place("second"))
        session.run(tf.tables_initializer())
        feeds = {"x:0": X, "words:0": ["bc", "?"]}
        found = [session.run(["y:0", "hash_table_Lookup/LookupTableFindV2:0"], feeds)]
        for _ in range(2):
            session.run(graph.get_operation_by_name("Adam"), feeds)
        return [*found, session.run("y:0", feeds), session.run("global_step:0")]


@case
def a_saved_model():
    with tf.Session() as session:
        loaded = tf.saved_model.load(
            session, [tf.saved_model.tag_constants.SERVING], place("model")
        )
        told = loaded.signature_def["serving_default"]
        fetches = {name: told.outputs[name].name for name in told.outputs}
        feeds = {told.inputs["x"].name: X, told.inputs["words"].name: ["a", "x", "bc"]}
        return session.run(fetches, feeds)


@case
def a_predictor_of_a_saved_model():
    predict = tf.contrib.predictor.from_saved_model(place("model"))
    found = predict({"x": X, "words": ["bc"]})
    return [found["y"], found["found"]]


@case
def objects():
    v = tf.get_variable("v", initializer=np.zeros(2, "float32"), use_resource=True)
    checkpoint = tf.train.Checkpoint(v=v)
    with tf.Session() as session:
        checkpoint.restore(place("objects")).run_restore_ops(session)
        return session.run(v)


if __name__ == "__main__":
    main()
