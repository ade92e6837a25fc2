"""Graphs, scopes, variables and sessions as programs of TensorFlow 1 use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, EvaluationError, FeedError
from kameleon.ir.context import context

tf: Any = K.tf
X = np.arange(6.0, dtype="float32").reshape(2, 3)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """A graph of its own for each test."""
    with tf.Graph().as_default():
        yield


class Pair(NamedTuple):
    first: Any
    second: Any


# Shapes -------------------------------------------------------------------------------------


def test_shapes_are_those_of_tensorflow() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    shape = x.get_shape()
    assert shape.as_list() == [None, 3]
    assert (shape.ndims, shape[1].value, shape[0].value) == (2, 3, None)
    assert shape[1] * 2 == 6
    assert shape[1:] == (3,)
    assert not shape.is_fully_defined()
    assert tf.TensorShape([2, 3]).num_elements() == 6
    assert shape.merge_with([7, None]) == (7, 3)
    with pytest.raises(ValueError, match="incompatible"):
        shape.merge_with([2, 4])


def test_what_is_unknown_of_a_shape_is_neither_equal_nor_different() -> None:
    unknown, three = tf.placeholder(tf.float32, [None, 3]).get_shape()
    assert (unknown == unknown, unknown != unknown, unknown == 3, unknown != three) == (None,) * 4
    assert (three == 3, three != 3, three == None, three != None) == (True, False, None, None)  # noqa: E711


def test_a_shape_with_an_unknown_size_is_an_array_of_dimensions() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    array = np.array(x.get_shape())
    assert array.dtype == object and [d.value for d in array] == [None, 3]
    assert not np.any(array != np.array(tf.placeholder(tf.float32, [5, 3]).get_shape()))


def test_variables_of_a_scope_are_in_one_piece() -> None:
    with tf.variable_scope("whole") as scope:
        scope.set_partitioner(lambda shape, dtype: [2, 1])
        assert tf.get_variable("w", [4, 3]).get_shape().as_list() == [4, 3]


def test_a_shape_may_be_refined() -> None:
    x = tf.placeholder(tf.float32, [None, None])
    x.set_shape([None, 3])
    assert x.get_shape().as_list() == [None, 3]
    with pytest.raises(ValueError, match="differ"):
        x.set_shape([None, 4])
    with pytest.raises(ValueError, match="same rank"):
        x.set_shape([3])


def test_functions_take_shapes_of_other_tensors() -> None:
    x = tf.constant(X)
    session = tf.Session()
    assert session.run(tf.zeros(x.get_shape())).shape == (2, 3)
    assert session.run(tf.reshape(x, [x.get_shape()[1], -1])).shape == (3, 2)
    assert tf.placeholder(tf.float32, x.get_shape()).get_shape() == (2, 3)


def test_a_placeholder_without_a_shape_is_a_scalar() -> None:
    rate = tf.placeholder(tf.float32)
    session = tf.Session()
    assert session.run(rate * 2.0, {rate: 0.5}) == 1.0
    with pytest.raises(FeedError, match=r"without a shape.*test_graphs.py"):
        session.run(rate * 2.0, {rate: [0.5, 1.0]})


DTYPES = [
    ("as_numpy_dtype", np.float32), ("is_floating", True), ("is_integer", False), ("size", 4),
    ("base_dtype", "float32"), ("name", "float32"), ("max", np.finfo("float32").max),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), DTYPES)
def test_dtypes_say_what_they_are(name: str, value: Any) -> None:
    assert getattr(tf.float32, name) == value


# Names, scopes, collections -----------------------------------------------------------------


def test_results_bear_the_names_that_programs_give() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    with tf.name_scope("outer"):
        y = tf.reduce_sum(x, 1, name="total")
        with tf.name_scope("inner"):
            z = tf.identity(x, name="same")
    with tf.name_scope("outer"):
        other = tf.square(x, name="total")
    assert [t.name for t in (x, y, z, other)] == [
        "x:0", "outer/total:0", "outer/inner/same:0", "outer_1/total:0"
    ]  # fmt: skip
    graph = tf.get_default_graph()
    assert graph.get_tensor_by_name("outer/total:0") is y
    assert graph.get_operation_by_name("outer/inner/same") is z.op
    with pytest.raises(KeyError, match="does not exist"):
        graph.get_tensor_by_name("nothing:0")


def test_graphs_have_names_and_variables_of_their_own() -> None:
    first = tf.Variable(1.0, name="v")
    with tf.Graph().as_default() as graph:
        second = tf.Variable(2.0, name="v")
        assert tf.global_variables() == [second]
    assert (first.name, second.name) == ("v:0", "v:0")
    assert tf.global_variables() == [first]
    with tf.Session(graph=graph) as session:
        assert session.run("v:0") == 2.0


def test_variables_are_shared_by_name() -> None:
    with tf.variable_scope("net"):
        made = tf.get_variable("w", [3, 2])
    with tf.variable_scope("net", reuse=True):
        assert tf.get_variable("w", [3, 2]) is made
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w") is made
        other = tf.get_variable("b", [2], initializer=tf.zeros_like(tf.ones([2])))
    assert (made.name, other.name) == ("net/w:0", "net/b:0")
    assert [v.name for v in tf.trainable_variables("net")] == ["net/w:0", "net/b:0"]


@pytest.mark.parametrize("outer", [True, tf.AUTO_REUSE])
def test_sharing_is_inherited_unless_something_else_is_said(outer: Any) -> None:
    with tf.variable_scope("net") as net, tf.variable_scope("inner"):
        made = tf.get_variable("w", [2])
    for again in ("net", net):
        with tf.variable_scope(again, reuse=outer):
            for reuse in (None, False):
                with tf.variable_scope("inner", reuse=reuse) as inner:
                    assert inner.reuse is outer
                    assert tf.get_variable("w", [2]) is made


SHARING = [
    (lambda: tf.get_variable("w", [3, 2]), None, "already exists, disallowed"),
    (lambda: tf.get_variable("none", [3, 2]), True, "does not exist"),
    (lambda: tf.get_variable("w", [3, 3]), True, r"specified shape \(3, 3\)"),
    (lambda: tf.get_variable("new", [None, 3]), None, "fully defined"),
]


@pytest.mark.parametrize(("call", "reuse", "says"), SHARING)
def test_wrong_sharing_is_an_error(call: Any, reuse: Any, says: str) -> None:
    with tf.variable_scope("net"):
        tf.get_variable("w", [3, 2])
    with tf.variable_scope("net", reuse=reuse), pytest.raises(ValueError, match=says):
        call()


def test_scopes_have_defaults_for_their_variables() -> None:
    with tf.variable_scope(
        "a", initializer=lambda shape, dtype=None, partition_info=None: tf.ones(shape),
        regularizer=lambda v: tf.reduce_sum(v),
    ) as scope:  # fmt: skip
        tf.get_variable("v", [4])
        with tf.variable_scope("b"):
            assert tf.get_variable_scope().name == "a/b"
    assert scope.name == "a"
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert tf.Session().run(loss) == 4.0
    with tf.variable_scope(scope, reuse=True):
        assert tf.get_variable("v").name == "a/v:0"


def test_default_names_are_made_unique() -> None:
    names = []
    for _ in range(2):
        with tf.variable_scope(None, "dense") as scope:
            names.append(scope.name)
    assert names == ["dense", "dense_1"]


def test_a_template_makes_its_variables_once() -> None:
    template = tf.make_template("t", lambda x: x * tf.get_variable("w", [3]))
    template(tf.constant(X)), template(tf.constant(X))
    assert [v.name for v in tf.global_variables()] == ["t/w:0"]


def test_a_template_knows_its_variables() -> None:
    def part(x: Any, rows: int) -> Any:
        fixed = tf.get_variable("fixed", [3], trainable=False)
        local = tf.get_variable("local", [3], collections=[tf.GraphKeys.LOCAL_VARIABLES])
        return x * tf.get_variable("w", [rows]) + fixed + local

    early = tf.make_template("t", part, create_scope_now_=True, rows=3)
    late = tf.make_template("t", part, rows=3)
    assert (early.variable_scope_name, late.variable_scope_name) == ("t/", None)
    assert early.func is part and late.name == "t" and late.variables == []
    for template in (late, early):
        template(tf.constant(X)), template(tf.constant(X))
    assert late.name == late.variable_scope.name == late.var_scope.name == "t_1"
    assert [v.name for v in early.trainable_weights] == ["t/w:0"]
    assert [v.name for v in late.global_variables] == ["t_1/fixed:0", "t_1/w:0"]
    assert [v.name for v in late.non_trainable_variables] == ["t_1/fixed:0"]
    assert [v.name for v in late.variables] == ["t_1/fixed:0", "t_1/w:0", "t_1/local:0"]


# Variables ----------------------------------------------------------------------------------


def test_variables_change_and_begin_anew() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert_array_equal(session.run(v.assign_add([1.0, 1.0])), [2.0, 3.0])
        assert_array_equal(session.run(tf.assign_sub(v, [0.5, 0.5])), [1.5, 2.5])
        v.load([7.0, 8.0], session)
        assert_array_equal(v.eval(), [7.0, 8.0])
        assert session.run(v.initializer) is None
        assert_array_equal(session.run(v.read_value()), [1.0, 2.0])
    assert isinstance(v, tf.Variable)
    assert not isinstance(tf.constant(1.0), tf.Variable)


def test_a_random_variable_is_drawn_anew() -> None:
    v = tf.Variable(tf.random_normal([50]))
    before = tf.Session().run(v)
    tf.Session().run(tf.global_variables_initializer())
    assert not np.array_equal(tf.Session().run(v), before)


def test_rows_of_a_variable_are_changed() -> None:
    v, session = tf.Variable(np.zeros((4, 2), "float32")), tf.Session()
    session.run(tf.scatter_add(v, [0, 2, 0], [[1.0, 1.0]] * 3))
    assert_array_equal(session.run(v)[:, 0], [2, 0, 1, 0])
    session.run(tf.scatter_update(v, [1, 3], [[5.0, 5.0], [6.0, 6.0]]))
    assert_array_equal(session.run(v)[:, 1], [2, 5, 1, 6])
    session.run(tf.scatter_sub(v, 3, [1.0, 2.0]))
    assert_array_equal(session.run(v)[3], [5, 4])


def test_what_comes_after_an_update_sees_it(engine: Engine) -> None:
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign_add(2.0)]):
        after = tf.identity(v)
    assert tf.Session().run(after * 10.0) == 30.0


# Sessions -----------------------------------------------------------------------------------


def test_fetches_may_be_any_nest(engine: Engine) -> None:
    x, v = tf.placeholder(tf.float32, [2, 3], name="x"), tf.Variable(1.0)
    step = tf.group(v.assign_add(1.0), name="step")
    nest = {"a": (x + 1.0, [v]), "b": Pair(x, step), "c": "x:0"}
    found = tf.Session().run(nest, {"x:0": X})
    assert_array_equal(found["a"][0], X + 1)
    assert found["a"][1] == [2.0]  # what the run leaves
    assert isinstance(found["b"], Pair)
    assert found["b"].second is None
    assert_array_equal(found["c"], X)
    assert tf.Session().run("step") is None
    assert tf.Session().run(v) == 3.0
    assert tf.Session().run([]) == []


WRONG_RUNS = [
    (lambda x: tf.Session().run(None), TypeError, "invalid type"),
    (lambda x: tf.Session().run(3), TypeError, "invalid type"),
    (lambda x: tf.Session().run(x), ValueError, "x"),
    (lambda x: tf.Session().run(x, {x: tf.constant(X)}), TypeError, "cannot be a tf.Tensor"),
    (lambda x: tf.Session().run(x, {3: X}), TypeError, "Cannot interpret"),
    (lambda x: tf.Session().run(x, {x: "abc"}), ValueError, "no array"),
    (lambda x: tf.Session().run("y:0", {x: X}), KeyError, "does not exist"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG_RUNS)
def test_wrong_runs_are_errors(call: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        call(tf.placeholder(tf.float32, [2, 3], name="x"))


def test_sessions_nest() -> None:
    outer = tf.InteractiveSession()
    assert tf.get_default_session() is outer
    with tf.Session() as inner:
        assert tf.get_default_session() is inner
        assert tf.constant(2.0).eval() == 2.0
    assert tf.get_default_session() is outer
    outer.close()
    with tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))) as session:
        assert session.make_callable(tf.constant(3.0))() == 3.0


def test_operations_tell_what_made_a_tensor() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.nn.relu(x, name="y")
    assert (y.op.type, y.op.name, y.op.inputs) == ("Relu", "y", [x])
    assert x.op.type == "Placeholder"
    assert y.op is y.op
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert {"x", "y"} <= set(names)
    assert [n.op for n in tf.get_default_graph().as_graph_def().node if n.name == "y"] == ["Relu"]


# Gradients ----------------------------------------------------------------------------------


def test_gradients_of_a_program_of_its_own(engine: Engine) -> None:
    name = f"Guided{engine.name}"

    @tf.RegisterGradient(name)
    def guided(op: Any, grad: Any) -> Any:
        return grad * tf.cast(grad > 0.0, "float32") * tf.cast(op.inputs[0] > 0.0, "float32")

    x, weights = tf.constant([-1.0, 2.0, 3.0]), tf.constant([1.0, -1.0, 1.0])
    with tf.get_default_graph().gradient_override_map({"Relu": name}):
        y = tf.nn.relu(x)
    session = tf.Session()
    assert_array_equal(session.run(tf.gradients(y, x, grad_ys=weights)[0]), [0, 0, 1])
    plain = tf.gradients(tf.nn.relu(x), [x], grad_ys=[weights])
    assert_array_equal(session.run(plain[0]), [0, -1, 1])


def test_gradients_stop_where_they_are_told_to() -> None:
    a = tf.constant(3.0)
    b = a * 2.0
    whole, part = (tf.gradients(a * b, [a, b], stop_gradients=s) for s in (None, [a, b]))
    session = tf.Session()
    assert session.run(whole) == [12.0, 3.0]
    assert session.run(part) == [6.0, 3.0]
    apart = tf.constant(1.0)
    assert tf.gradients(b, [apart]) == [None]
    assert session.run(tf.gradients(b, [apart], unconnected_gradients="zero")) == [0.0]


def test_hessians() -> None:
    x = tf.constant([1.0, 2.0])
    (found,) = tf.hessians(x[0] * x[0] * x[1], x)
    assert_allclose(tf.Session().run(found), [[4.0, 2.0], [2.0, 0.0]])


# What Keras and programs ask of functions and operations ---------------------------------------


def test_functions_bear_the_names_by_which_keras_saves_them() -> None:
    names = [tf.nn.relu, tf.nn.softmax, tf.tanh, tf.sigmoid, tf.nn.leaky_relu, tf.nn.max_pool]
    expected = ["relu", "softmax", "tanh", "sigmoid", "leaky_relu", "max_pool"]
    assert [f.__name__ for f in names] == expected


def test_one_of_several_results_is_made_by_what_makes_them_all() -> None:
    x = tf.placeholder(tf.float32, [1, 4, 4, 2])
    pooled = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    assert pooled.op.type == "MaxPool"
    assert pooled.op.inputs == [x]


def test_an_operation_counts_among_a_functions_updates(engine: Engine) -> None:
    v, w = K.variable(1.0), K.variable(2.0)
    step = tf.group(tf.assign_add(v, 1.0), tf.assign(w, 7.0))
    f = K.function([], [K.constant(0.0)], updates=[step])
    f([])
    assert (K.get_value(v), K.get_value(w)) == (2.0, 7.0)
    with pytest.raises(ValueError, match="expected update objects"):
        K.function([], [v], updates=[tf.no_op, 3])


def test_print_shows_its_data(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [2])
    shown = tf.Print(x, [x * 2.0, tf.shape(x)], message="twice: ")
    silent = tf.Print(x, [x], message="never", first_n=0)
    slopes = tf.gradients(shown**2, x)[0]
    with tf.Session() as session:
        assert session.run([slopes, silent], {x: [1.0, 2.0]})[0].tolist() == [2.0, 4.0]
    printed = capfd.readouterr().out
    assert "twice: [2. 4.]" in printed
    assert "[2]" in printed
    assert "never" not in printed


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float32"])
def test_the_largest_are_found_whatever_the_dtype(dtype: str) -> None:
    low = -128 if dtype == "int8" else 0
    x = tf.constant(np.array([1, 100, low, 3], dtype))
    found = tf.Session().run([tf.nn.top_k(x, 2).values, tf.sort(x, direction="DESCENDING")])
    assert_array_equal(found[0], [100, 3])
    assert_array_equal(found[1], [100, 3, 1, low])


def test_a_name_is_looked_up_in_its_own_graph() -> None:
    def made() -> Any:
        x = K.placeholder((2,), name="asked")
        with K.name_scope("inner"):
            return x, K.exp(x)

    graphs = [tf.Graph() for _ in range(3)]
    pairs = []
    for graph in graphs:
        with graph.as_default():
            pairs.append(made())
    x, y = made()
    for graph, (a, b) in zip(graphs, pairs, strict=True):
        assert graph.get_tensor_by_name(a.name) is a
        assert graph.get_tensor_by_name(b.name) is b
    session = tf.Session()
    assert session.graph.get_tensor_by_name(x.name) is x
    assert session.run(y.name, {x.name: [0.0, 0.0]}).tolist() == [1.0, 1.0]


def test_a_name_is_that_of_the_tensor_made_since_names_were_forgotten() -> None:
    """As they are by `tf.reset_default_graph`, for the graph of the session."""
    graph = tf.Graph()
    with graph.as_default():
        old = K.placeholder((2,), name="made_again")
        graph.names.clear()
        new = K.placeholder((2,), name="made_again")
    assert new.name == old.name
    assert graph.get_tensor_by_name(new.name) is new


def test_what_is_made_in_a_block_of_the_sessions_own_graph_is_known_outside_of_it() -> None:
    with context.within("graph", lambda outer: None):
        before = tf.global_variables()
        with tf.get_default_graph().as_default():
            v = tf.get_variable("in_block", [2])
        step = tf.train.create_global_step()
        w = tf.get_variable("outside", [2])
        for graph in (tf.get_default_graph(), tf.Session().graph):
            assert graph.get_collection("variables") == [*before, v, step, w]
            with graph.as_default():
                assert tf.trainable_variables()[-2:] == [v, w]


def test_changes_of_a_variable_are_chained() -> None:
    """What a change returns stands for the variable; numbers of TensorFlow 1.15."""
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.Session() as session:
        for last, expected in (
            (lambda: tf.scatter_update(v.assign(np.zeros(3)), [1], [5.0]), [0, 5, 0]),
            (lambda: tf.assign_add(tf.assign(v, v * 2), v), [0, 20, 0]),
            (
                lambda: tf.assign_sub(ref=tf.assign_add(v, [1.0, 1, 1]), value=[2.0, 0, 0]),
                [-1, 21, 1],
            ),
            (lambda: tf.scatter_add(tf.scatter_add(v, [0], [1.0]), [0, 1], [1.0, 10]), [1, 31, 1]),
        ):
            assert_array_equal(session.run(last()), expected)
            assert_array_equal(session.run(v), expected)


# Failures ------------------------------------------------------------------------------------


def test_failures_of_a_run_are_errors_of_tensorflow_and_of_kameleon() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    limited = tf.count_up_to(tf.Variable(1), 2)
    with tf.Session() as session:
        failing = [tf.check_numerics(x / 0.0, "not"), tf.assert_negative(x), tf.gather(x, [9])]
        for tensor in failing:
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(tensor, {x: np.ones((3, 2))})
            assert isinstance(caught.value, EvaluationError) and caught.value.error_code == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="no value was given"):
            session.run(x + 1.0)
        assert session.run(limited) == 1
        with pytest.raises(tf.errors.OutOfRangeError, match=r"^Reached limit of 2"):
            session.run(limited)


def test_slices_at_indices_are_a_whole_tensor() -> None:
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    slices = tf.IndexedSlices(rows, tf.constant([2, 0, 2]), tf.constant([3, 2]))
    with tf.Session() as session:
        whole = session.run(tf.convert_to_tensor(slices))
    assert_array_equal(whole, [[3, 4], [0, 0], [6, 8]])
    with pytest.raises(ArgumentError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(rows, tf.constant([0, 1, 1])))


def test_matrices_are_made_of_each_diagonal() -> None:
    made = K.eval(tf.matrix_diag(tf.constant(X)))
    assert_array_equal(made, [np.diag(row) for row in X])
    assert_array_equal(K.eval(tf.linalg.diag(tf.constant(X[0]))), np.diag(X[0]))


def test_a_scope_keeps_whether_variables_are_resources() -> None:
    scope = tf.get_variable_scope()
    assert not scope.use_resource
    scope.set_use_resource(True)
    assert scope.use_resource


def test_all_tensors_of_a_graph_are_held_to_be_finite() -> None:
    x = tf.placeholder(tf.float32, [2], name="asked")
    y = tf.log(x, name="log")
    tf.add_to_collection("kept", y)
    finite = tf.add_check_numerics_ops()
    with tf.Session() as session:
        session.run([y, finite], {x: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="log"):
            session.run([y, finite], {x: [1.0, 0.0]})


def test_a_sparse_tensor_tells_its_shape() -> None:
    assert tf.SparseTensor([[0, 1]], [1.0], [3, 2]).get_shape().as_list() == [3, 2]
