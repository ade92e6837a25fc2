"""Faults at run time: their class, the operation that they name, and the line that made it."""

import collections
from functools import partial

import numpy as np
import tensorflow as tf
from recording import case, main, raised, run, started
from tensorflow.python.framework import function
from tensorflow.python.ops import list_ops
from tensorflow.python.ops.control_flow_ops import switch


def fault_of(run):
    """What a fault tells: its class, the operation's name, and whether that was made here."""
    try:
        run()
    except tf.errors.OpError as error:
        files = [frame[0] for frame in error.op.traceback]
        return [type(error).__name__, error.op.name, __file__ in files]
    return ["nothing"]


@case
def indices():
    place = tf.placeholder(tf.int32, [1])
    picked = tf.gather(tf.constant([1.0, 2.0]), place, name="picked")
    with tf.Session() as session:
        return fault_of(lambda: session.run(picked, {place: [7]}))


@case
def assertions():
    x = tf.placeholder(tf.float32, [2])
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0.0), [x], name="positive")]):
        y = tf.identity(x)
    with tf.Session() as session:
        return fault_of(lambda: session.run(y, {x: [1.0, -1.0]}))


@case
def what_is_asserted_is_told_first():
    number, indices = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    a, b = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
    kept = tf.Variable(1)
    with tf.control_dependencies([tf.Assert(number > 0, [number], name="positive")]):
        guarded = [
            tf.div(3, number),
            tf.gather([1.0, 2.0], number - 1),
            tf.random_uniform([2], maxval=number, dtype=tf.int32),
            tf.pow(2, number),
            tf.cond(number > -2, lambda: tf.assign(kept, tf.div(2, number)), lambda: kept),
            tf.while_loop(lambda i: i < 3, lambda i: i + tf.mod(7, number) + 1, [number]),
        ]
    fitting = tf.equal(tf.shape(a)[1], tf.shape(b)[0])
    with tf.control_dependencies([tf.Assert(fitting, [tf.shape(a)], name="fitting")]):
        guarded += [tf.matmul(a, b), tf.concat([a, b], 0), a + b, tf.reshape(a, tf.shape(b))]
    with tf.control_dependencies([tf.Assert(tf.reduce_all(indices < 2), [indices], name="below")]):
        guarded += [
            tf.gather([1.0, 2.0], indices),
            tf.scatter_nd(indices[:, None], tf.ones([2]), [2]),
            tf.reshape(a, indices),
        ]
    feed = {number: -1, a: np.ones((2, 3)), b: np.ones((2, 4)), indices: [1, 7]}
    with tf.Session() as session:
        session.run(kept.initializer)
        return [fault_of(partial(session.run, each, feed)) for each in guarded] + [
            int(session.run(kept))
        ]


@case
def what_assertions_show():
    """It's there, and was computed once, whether they hold or not; in branches and turns, too."""
    x, text = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.string, [])
    queue = tf.FIFOQueue(9, [tf.int32], shapes=[[]])
    taken, way = queue.dequeue(), tf.placeholder(tf.bool, [])
    kept = tf.Variable([1.0, 2.0])

    def turn(i, t):
        shown = ["sum", i, tf.string_join([text, "!"]), t]
        with tf.control_dependencies([tf.Assert(tf.reduce_sum(t) < 30.0, shown)]):
            return i + 1, t * 2.0

    def branch():
        shown = [tf.as_string(x), text]
        with tf.control_dependencies([tf.assert_less(x, 3.0, data=shown, message="large")]):
            return tf.identity(x)

    largest = tf.reduce_max(x)
    below = tf.Assert(largest < 5.0, [tf.string_join([text, "?"]), taken, x])
    alone = tf.raw_ops.Assert(condition=largest < 5.0, data=[text, taken])
    positive = tf.Assert(largest > -9.0, [kept, tf.assign_add(kept, [1.0, 1.0])])
    guarded = []
    for each in (below, alone, positive):
        with tf.control_dependencies([each]):
            guarded.append(tf.identity(largest))
    guarded += [
        tf.while_loop(lambda i, t: i < 4, turn, [0, x])[1],
        tf.cond(way, branch, lambda: x - 1.0),
    ]
    found = []
    with tf.Session() as session:
        session.run([kept.initializer, queue.enqueue_many([list(range(9))])])
        for values in ([1.0, 2.0], [7.0], [-10.0], [0.5]):
            for each in guarded:
                feed = {x: values, text: "so", way: values[0] > 0}
                try:
                    found.append(session.run(each, feed).tolist())
                except tf.errors.InvalidArgumentError as error:
                    found.append(error.message.splitlines()[0])
            found.append(session.run([queue.size(), kept[0]]))
    return found


@case
def within_branches():
    place = tf.placeholder(tf.int32, [1])
    table = tf.constant([1.0, 2.0])
    y = tf.cond(place[0] > 0, lambda: tf.gather(table, place, name="taken"), lambda: tf.zeros([1]))
    with tf.Session() as session:
        found = fault_of(lambda: session.run(y, {place: [7]}))
        return [*found, session.run(y, {place: [0]}).tolist()]


@case
def shapes_at_run_time():
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 3])
    product = tf.matmul(a, b, name="product")
    with tf.Session() as session:
        feed = {a: np.ones((2, 2)), b: np.ones((3, 3))}
        return fault_of(lambda: session.run(product, feed))


@case
def what_is_checked():
    x = tf.placeholder(tf.float32, [2])
    y = tf.check_numerics(tf.log(x), "bad", name="checked")
    with tf.Session() as session:
        return fault_of(lambda: session.run(y, {x: [1.0, -1.0]}))


@case
def what_is_checked_though_nobody_takes_it():
    x, steps = tf.placeholder(tf.float32, [2]), tf.get_variable("steps", initializer=0)
    with tf.control_dependencies([tf.check_numerics(x, "bad", name="checked")]):
        step = tf.assign_add(steps, 1)
    fetched = [
        step,
        tf.verify_tensor_all_finite(x, "all"),
        tf.group(tf.check_numerics(x * 2.0, "group")),
        tf.cond(x[1] > 1.0, lambda: tf.check_numerics(x, "branch"), lambda: x),
        tf.while_loop(lambda i: i < 1.0, lambda i: tf.check_numerics(i + x[1], "loop"), [x[0]]),
    ]
    found = []
    with tf.Session() as session:
        session.run(steps.initializer)
        for bad in [np.nan, 1.0], [0.0, np.inf], [np.inf, np.nan], [0.0, 2.0]:
            for each in fetched:
                try:
                    session.run(each, {x: bad})
                    found.append("fine")
                except tf.errors.InvalidArgumentError as error:
                    found.append(error.message.splitlines()[0].partition(" [[")[0])
        return [*found, int(session.run(steps))]


@case
def shapes_when_the_graph_is_built():
    x = tf.zeros([2, 3])
    held = tf.get_variable("held", [2])
    kept = tf.get_variable("kept", [2], use_resource=True)
    built = [
        lambda: tf.reshape(x, 6),
        lambda: tf.reshape(x, [-2, 3]),
        lambda: tf.tile(x, 2),
        lambda: tf.tile(x, [2]),
        lambda: tf.slice(x, [0, 0], [1]),
        lambda: tf.slice(x, [0, 0], [1, -2]),
        lambda: tf.split(x, [1, -1, -1], 1),
        lambda: x[..., 0, ...],
        lambda: tf.image.draw_bounding_boxes(tf.zeros([1, 2, 2, 3]), tf.zeros([1, 1, 3])),
        lambda: tf.assign(held, tf.zeros([3])),
        lambda: tf.scatter_add(held, [0], tf.zeros([2])),
        lambda: tf.scatter_sub(kept, [0], tf.zeros([2])),
        lambda: kept.assign_add(tf.zeros([3])),
        lambda: tf.scatter_update(kept, [[0, 1]], tf.zeros([1, 2])),
    ]
    found = []
    for build in built:
        try:
            found.append(type(build()).__name__)
        except ValueError as error:
            found.append(str(error).partition(" for '")[0])
    return found


@case
def ranks_and_numbers_at_run_time():
    x = tf.placeholder_with_default(tf.ones([2, 3]), None)
    numbers = tf.placeholder(tf.int32, None)
    image = tf.placeholder_with_default(tf.ones([2, 2, 1]), None)
    tried = [
        (lambda: tf.fill(numbers, 1.0), 2),
        (lambda: tf.fill([2], x), 0),
        (lambda: tf.random_normal(numbers), 2),
        (lambda: tf.range(numbers, 5), [0, 1]),
        (lambda: tf.linspace(0.0, 1.0, numbers), 0),
        (lambda: tf.one_hot([1], numbers), [3, 2]),
        (lambda: tf.reverse(x, numbers), 0),
        (lambda: tf.tile(x, numbers), 2),
        (lambda: tf.roll(x, [1], numbers), [2]),
        (lambda: tf.invert_permutation(numbers), [[0]]),
        (lambda: tf.dynamic_stitch([numbers], [tf.ones([2])]), [0, -1]),
        (lambda: tf.dynamic_stitch([numbers], [tf.ones([3])]), [0, 1]),
        (lambda: tf.image.resize_bilinear(image, numbers), [2, 2]),
        (lambda: tf.image.resize_area(tf.ones([1, 2, 2, 1]), numbers), [[2, 2]]),
        (lambda: tf.space_to_depth(image, 2), 0),
        (
            lambda: tf.image.crop_and_resize(
                image[None], tf.pad(x, [[0, 0], [0, 1]]), numbers, [2, 2]
            ),
            [0],
        ),
        (lambda: tf.image.crop_and_resize(image[None], tf.ones([1, 4]), [0], numbers), [0, 2]),
        (lambda: tf.matmul(x[0], tf.ones([3, 3])), 0),
        (lambda: tf.nn.lrn(x), 0),
        (lambda: tf.nn.fused_batch_norm(x, tf.ones([3]), tf.ones([3])), 0),
        (lambda: tf.cond(numbers > 0, lambda: 1, lambda: 2), [1, 2]),
        (lambda: tf.while_loop(lambda i: numbers > 0, lambda i: i, [0]), [1, 2]),
    ]
    found = []
    with tf.Session() as session:
        for build, fed in tried:
            try:
                session.run(build(), {numbers: fed})
                found.append("fine")
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.splitlines()[0].partition(" [[")[0])
    return found


@case
def windows_that_are_too_large():
    """By less than two strides they have no place, else it's an error."""
    found = []
    x = tf.placeholder(tf.float32)
    for size, stride in ((5, 1), (6, 1), (7, 2), (8, 2), (9, 3)):
        sizes, steps = [1, size, 2, 1], [1, stride, 1, 1]
        kernel = tf.ones([size, 2, 2, 1])
        for y in (
            tf.nn.conv2d(x, kernel, steps, "VALID"),
            tf.nn.depthwise_conv2d(x, kernel, [1, stride, stride, 1], "VALID"),
            tf.nn.max_pool(x, sizes, steps, "VALID"),
            tf.nn.avg_pool(x, sizes, steps, "VALID"),
        ):
            found.append(fault_of(lambda: run(tf.shape(y), {x: np.ones((1, 4, 4, 2))})))  # noqa: B023
    return found


@case
def places_outside_of_variables():
    fed, found = tf.placeholder(tf.int32, [1]), []
    for resource in (False, True):
        v = tf.get_variable(f"v{resource}", initializer=[1.0, 2.0], use_resource=resource)
        changes = [
            getattr(tf, "scatter_" + way)(v, [place], [1.0])
            for way in ("update", "add", "sub", "mul", "div", "min", "max")
            for place in (2, -1)
        ]
        changes += [getattr(tf, "scatter_" + way)(v, fed, [1.0]) for way in ("mul", "max")]
        changes += [tf.scatter_nd_update(v, [[2]], [1.0]), tf.scatter_nd_add(v, [[-1]], [1.0])]
        changes += [tf.tensor_scatter_update(v, [[2]], [1.0])]
        for change in changes:
            try:
                found.append(str(run(change, {fed: [-1]})))
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.splitlines()[0].partition(" [[")[0])
    return found


@case
def lengths_that_are_not_those_of_rows():
    found = []
    for lengths in ([], [1, 1], [2, 2]):
        rows = list_ops.tensor_list_split([1.0, 2.0, 3.0], [-1], np.array(lengths, np.int64))
        found.append(raised(lambda rows=rows: run(list_ops.tensor_list_length(rows))))
    return [[kind, told.splitlines()[0].partition(" [[")[0].strip()] for kind, told in found]


@case
def places_where_there_is_no_room():
    def given(value, kind=np.float32):
        return tf.placeholder_with_default(np.array(value, kind), None)

    at, row, none = given([[0]], np.int32), given(np.zeros((1, 2))), given(np.zeros((1, 0)))
    calls = [
        lambda: tf.where(tf.ones([1] * 9, tf.bool)),
        lambda: tf.where(given(True, bool)),
        lambda: tf.scatter_nd([[0]], np.zeros((1, 0)), [3, 0]),
        lambda: tf.scatter_nd(at, none, given([3, 0], np.int32)),
        lambda: tf.scatter_nd(at, row, given([0, 2], np.int32)),
        lambda: tf.tensor_scatter_add(given(np.zeros((3, 0))), at, none),
        lambda: tf.tensor_scatter_update(given(np.zeros((0, 2))), at, row),
    ]
    found = [raised(lambda call=call: run(call())) for call in calls]
    return [[kind, told.splitlines()[0]] for kind, told in found]


@case
def lists_of_another_type():
    written = list_ops.tensor_list_from_tensor(np.array([[1.0, 2.0]]), [2])
    empty = list_ops.empty_tensor_list([2], tf.float32)
    kept = list_ops.tensor_list_push_back(empty, [1.0, 2.0])
    calls = [
        partial(list_ops.tensor_list_get_item, written, 0, tf.int32, [2]),
        partial(list_ops.tensor_list_stack, written, tf.int32, element_shape=[2]),
        partial(list_ops.tensor_list_gather, written, [0], tf.int32, element_shape=[2]),
        partial(list_ops.tensor_list_concat, written, tf.int32, element_shape=[2]),
        partial(list_ops.tensor_list_pop_back, kept, tf.int32),
        partial(list_ops.tensor_list_push_back, kept, [1, 2]),
        partial(list_ops.tensor_list_set_item, written, 0, np.ones(3)),
        partial(list_ops.tensor_list_stack, written, tf.float64, element_shape=[3]),
        partial(list_ops.tensor_list_concat_lists, kept, written, tf.float32),
        partial(list_ops.tensor_list_concat_lists, kept, kept, tf.int32),
    ]
    found = [raised(call) for call in calls]
    tf.enable_control_flow_v2()
    try:
        rows = tf.constant([3.0, 4.0], tf.float64)
        found.append(raised(partial(tf.map_fn, lambda x: rows, rows, tf.int32)))
    finally:
        tf.disable_control_flow_v2()
    return found


@case
def lists_of_tensors_that_nothing_was_set_to():
    count = tf.placeholder_with_default(2, [])
    made = list_ops.tensor_list_reserve([-1], count, tf.float32)
    other = tf.raw_ops.TensorListReserve(element_shape=-1, num_elements=count, element_dtype=1)
    tried = [
        list_ops.tensor_list_stack(made, tf.float32),
        list_ops.tensor_list_stack(other, tf.float32),
        list_ops.tensor_list_gather(made, [1, 0], tf.float32),
        list_ops.tensor_list_gather(other, [1, 0], tf.float32),
        list_ops.tensor_list_get_item(made, 1, tf.float32),
        list_ops.tensor_list_concat(made, tf.float32, [None]),
    ]
    found = [raised(lambda each=each: run(each)) for each in tried]
    return [[kind, told.splitlines()[0]] for kind, told in found]


@case
def sizes_while_a_graph_is_made():
    x = tf.placeholder(tf.float32, [None, 3])
    calls = [
        partial(tf.reshape, x, [5, 2]),
        partial(tf.transpose, x, [0, 1, 2]),
        partial(tf.transpose, x, [0, 5]),
        partial(tf.transpose, x, [[0, 1]]),
    ]
    return [raised(call)[1].partition(" for ")[0] for call in calls]


@case
def placeholders_that_nothing_feeds():
    found = []
    with tf.Session() as session:
        for kind, shape in ("float32", [None, 3]), ("double", []), ("string", None), ("half", [0]):
            x = tf.identity(tf.placeholder(kind, shape))
            try:
                session.run(x)
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.split("\n")[0])
    return found


@case
def variables_without_a_value():
    v = tf.get_variable("v", [2])
    with tf.Session() as session:
        kind, _, is_here = fault_of(lambda: session.run(v + 1.0))  # which read it is, is open
        return [kind, is_here]


@case
def inputs_of_other_types_than_a_definition_asks_for():
    twice = function.Defun(tf.float32, tf.int32, func_name="twice")(lambda x, n: (x * 2.0, n))
    one, number = tf.constant(1.0), tf.constant(1)
    kept = tf.get_variable("kept", initializer=1.0, use_resource=False)
    kinds = tf.AttrValue(list=tf.AttrValue.ListValue(type=[1, 1]))
    make = tf.get_default_graph().create_op
    calls = [
        partial(twice, number, number),
        partial(twice, number, one),
        partial(make, "Add", [one, number], [tf.float32], name="add"),
        partial(make, "LogicalAnd", [one, number], [tf.bool], name="and"),
        partial(make, "Assign", [one, one], [tf.float32], name="assign"),
        partial(make, "Assign", [kept._ref(), number], [tf.float32], name="assign"),
        partial(make, "QueueDequeue", [one], [tf.float32], attrs={"component_types": kinds}),
        partial(make, "IdentityN", [one, number], [tf.float32] * 2, attrs={"T": kinds}),
        partial(make, "MaxPool", [number], [tf.float32], attrs={"T": tf.AttrValue(type=1)}),
    ]
    made = [make("Shape", [one], [tf.int32]).node_def, twice(one, number)[0].op.node_def]
    return [*(raised(call) for call in calls), *map(str, made)]


@case
def steps_by_gradients_of_other_shapes():
    flat, rows = tf.placeholder(tf.float32, None), tf.placeholder(tf.int32, [None])
    given = [{flat: np.ones(shape), rows: [0, 1]} for shape in ((2, 3), (1, 3), (3,), ())]
    few = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))
    steps = [tf.train.MomentumOptimizer(0.1, 0.9), tf.train.FtrlOptimizer(0.1)]

    def told(way, gradient, variable, feeds=None):
        def run_step():
            started().run(way.apply_gradients([(gradient, variable)]), feeds)

        kind, message = raised(run_step)
        return [kind, message.splitlines()[:1] if feeds else []]

    found = []
    for by_handle in (False, True):
        w = tf.Variable(np.ones((2, 3), "f"), use_resource=by_handle)
        found.append(told(tf.train.GradientDescentOptimizer([0.1, 0.2]), tf.ones([2, 3]), w))
        for way in steps:
            found += [told(way, each, w) for each in (tf.ones([]), tf.ones([3, 2]), few)]
            for gradient in (flat, tf.IndexedSlices(flat, rows)):
                found += [told(way, gradient, w, feeds) for feeds in given]
    return found


@case
def what_operations_say():
    sparse, image = tf.sparse, tf.image
    whole = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], [1.0, 2.0, 3.0], [3, 4])
    row, below = (tf.SparseTensor([[at, 0]], [1.0], [1, 3]) for at in (0, 3))
    five, three = (
        tf.placeholder(tf.float32, None),
        tf.placeholder(tf.float32, [None, None, None, 1]),
    )
    feeds = {five: np.ones(5), three: np.ones((1, 3, 3, 1))}

    def called(given):
        return tf.py_func(lambda: given, [], tf.float32)

    told = [
        lambda: sparse.to_dense(tf.SparseTensor([[0, 1], [0, 0]], [1.0, 2.0], [1, 2])),
        lambda: sparse.to_dense(tf.SparseTensor([[0, 1], [0, 1]], [1.0, 2.0], [1, 2])),
        lambda: sparse.concat(0, [whole, row]),
        lambda: sparse.fill_empty_rows(below, 0.0)[0],
        lambda: sparse.reduce_sum(whole, 5),
        lambda: sparse.split(sp_input=whole, num_split=9, axis=0),
        lambda: tf.strings.substr(["a", "bb"], [0, 4], [1, 1]),
        lambda: tf.strings.substr(["a\u00e9"], -3, 1, unit="UTF8_CHAR"),
        lambda: tf.decode_raw(["abc"], tf.int16),
        lambda: image.decode_png("abc"),
        lambda: image.decode_gif("abc"),
        lambda: image.decode_jpeg(""),
        lambda: image.resize_bilinear(tf.ones([1, 2, 2, 1]), [0, 1]),
        lambda: image.crop_and_resize(tf.ones([1, 2, 2, 1]), [[0.0, 0, 1, 1]], [4], [1, 1]),
        lambda: tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32),
        lambda: tf.io.parse_single_example("", {"a": tf.FixedLenFeature([2], tf.float32)}),
        lambda: tf.unstack(five, 3)[0],
        lambda: tf.tile([1], [-1]),
        lambda: tf.pad([1], [[3, 0]], "REFLECT"),
        lambda: tf.pad([1], [[0, 2]], "SYMMETRIC"),
        lambda: tf.space_to_depth(three, 2),
        lambda: tf.bitcast(tf.ones([3], tf.int8), tf.int32),
        lambda: tf.reverse([1], [3]),
        lambda: tf.ensure_shape(tf.sin(five), [3]),
        lambda: tf.histogram_fixed_width([1.0], [1.0, 0.0]),
        lambda: called("a"),
        lambda: called(2),
    ]
    found = []
    for make in told:
        kind, message = raised(lambda make=make: run(make(), feeds))
        found.append([kind, message.split("\n\t")[0].split(" for '")[0]])
    return found


@case
def variables_by_handle_without_a_value():
    a, b = (tf.get_variable(name, initializer=1.0, use_resource=True) for name in ("a", "s/b"))
    session = tf.Session()
    session.run(a.initializer)
    read = [a + b, tf.gradients(a * b, a), tf.while_loop(lambda i: i < 2, lambda i: i + b, [a])]
    found = [raised(lambda each=each: session.run(each)) for each in read]
    return [[kind, message.splitlines()[0]] for kind, message in found]


@case
def turns_that_give_another_type():
    """The graph is made, but nothing of it runs."""
    one = tf.constant(1)
    tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [one])
    return raised(lambda: tf.Session().run(one))


@case
def variables_by_handle_that_others_take():
    a, b = (tf.get_variable(name, initializer=[1.0, 2.0], use_resource=True) for name in "ab")
    session, raw = tf.Session(), tf.raw_ops
    session.run(a.initializer)
    taken = [
        b.assign_add([1.0, 1.0]),
        b.scatter_update(tf.IndexedSlices([1.0], [0])),
        b.scatter_nd_add([[0]], [1.0]),
        tf.gather(b, [0]),
        tf.gather_nd(b, [[0]]),
        b[0].assign(5.0),
        raw.VariableShape(input=b.handle),
        raw.ResourceApplyGradientDescent(var=b.handle, alpha=1.0, delta=[1.0, 1.0]),
        raw.DestroyResourceOp(resource=b.handle, ignore_lookup_error=True),
    ]
    found = [raised(lambda each=each: session.run(each)) for each in taken]
    kind = raised(lambda: session.run(raw.DestroyResourceOp(resource=b.handle)))[0]
    return [[kind, *message.splitlines()[:1]] for kind, message in found] + [kind]


@case
def reads_that_are_named():
    w = tf.get_variable("w", initializer=1.0, use_resource=True)
    with tf.Session() as session:
        given = w.read_value(), w.assign_sub(1.0)
        return [fault_of(partial(session.run, each)) for each in given]


@case
def structures_that_differ():
    pair, other = (collections.namedtuple(name, "x y")(1, 2) for name in ("Pair", "Other"))
    given = [
        ([1, 2], [1]), ([1], (1,)), (pair, other), (pair, (1, 2)), ([[1], 2], [1, [2]]),
        ({"a": 1}, {"b": 1}), ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}), (([1], 2), ([1, 3], 2)),
        ([None], [["x"]]), ([[1], 2], [[1, 2]]),
    ]  # fmt: skip
    same = tf.nest.assert_same_structure
    ways, one = (True, False), tf.constant([[1.0]])
    found = [raised(partial(same, *each, check_types=way)) for each in given for way in ways]
    places = [tf.IndexedSlices(one, tf.constant([0], kind)) for kind in (tf.int64, tf.int32)]
    sparse, branches = tf.SparseTensor([[0]], [1], [2]), [lambda x=x: x for x in places]
    return found + [
        raised(partial(same, *each, check_types=way, expand_composites=True))
        for each in (places, [sparse, places[0]], [sparse, sparse]) for way in ways
    ] + [raised(partial(tf.cond, one[0, 0] > 0, *branches))]  # fmt: skip


@case
def shapes_that_are_merged():
    x, y, z = (tf.zeros(sizes) for sizes in ([2, 3], [2, 1], [2]))
    found = [raised(partial(make, given)) for given in ([x, y], [x, z, tf.zeros([])], [x, x, y, x])
             for make in (tf.add_n, tf.stack)]  # fmt: skip
    open_ = tf.placeholder(tf.float32, [None, 3])
    return found + [raised(partial(tf.ensure_shape, open_, sizes)) for sizes in ([2], [2, 4])]


@case
def python_objects_that_are_no_texts():
    session, given = tf.Session(), ([3, "a"], ["a", None], [b"x", np.float32(1)], [["a"], []])
    made = [tf.py_func(lambda each=each: np.array(each, object), [], tf.string) for each in given]
    found = [raised(partial(session.run, each)) for each in made]
    return [[kind, message.splitlines()[0]] for kind, message in found]


@case
def imports_of_other_types():
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.placeholder(tf.float32, [None, 2], "x"), [[1.0], [2.0]], name="y")
    return raised(lambda: tf.import_graph_def(graph.as_graph_def(), {"x:0": tf.constant(1)}))


@case
def values_that_messages_tell():
    x, y, some = tf.zeros([2, 3]), tf.zeros([2]), tf.placeholder(tf.float32, [None])
    built = [
        lambda: tf.reshape(x, [4, 2]),
        lambda: tf.reshape(x, tf.stack([tf.size(some), 4])),
        lambda: tf.expand_dims(y, 5),
        lambda: tf.split(x, [2, 2], 1),
        lambda: tf.range(1, 5, 0),
        lambda: tf.fill([-1], 1),
        lambda: tf.reduce_sum(y, 3),
        lambda: tf.nn.top_k(y, 3),
        lambda: tf.batch_to_space_nd(tf.zeros([3, 1, 1]), [2], [[0, 0]]),
        lambda: tf.broadcast_to(y, [5, 3]),
        lambda: tf.concat([y, x], 0),
        lambda: tf.concat([x, y, 1.0], 0),
        lambda: tf.concat([x, x[:, :2]], 0),
        lambda: tf.tile(y, [1, 2]),
        lambda: tf.pad(y, [[1]]),
        lambda: tf.linspace(0.0, 1.0, 0),
        lambda: y[::0],
        lambda: y[1, 2],
        lambda: y[7],
        lambda: y[..., ...],
        lambda: tf.argmax(x, 3),
        lambda: tf.argmax(y, 3),
        lambda: tf.dynamic_stitch([[0, 1], [0, 1]], [x, y]),
        lambda: tf.gather(x, [0], axis=4),
        lambda: tf.sparse.matmul(tf.SparseTensor([[0, 1]], [1.0], [2, 3]), x),
    ]
    return [raised(each) for each in built]


@case
def parts_of_sparse_tensors_that_do_not_fit():
    at = tf.placeholder(tf.int64, [None, 2])
    x = tf.SparseTensor(at, [1.0, 2.0], [2, 3])
    made = [
        (tf.sparse.reorder(x), [[0, 1]]),
        (tf.sparse.to_dense(x), [[0, 5], [1, 0]]),
        (x * tf.ones([3, 3]), [[0, 1], [1, 0]]),
    ]
    session = tf.Session()
    found = [raised(partial(session.run, each, {at: given})) for each, given in made]
    return [[kind, message.splitlines()[0]] for kind, message in found]


@case
def what_is_said_of_numbers_that_are_fed():
    """The message, with the operation; what was before the fault in the step isn't done."""
    at, p = tf.placeholder("int32", [None]), tf.placeholder("int32")
    x = tf.placeholder("float32", [None, 2])
    session = tf.Session()
    rows = tf.get_variable("rows", initializer=np.ones((5, 2), "f"))
    held = tf.get_variable("held", initializer=np.ones((5, 2), "f"), use_resource=True)
    steps = []
    for each in (rows, held):
        logits = tf.nn.embedding_lookup(each, at) * 2.0
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p, logits=logits)
        steps.append([tf.train.AdamOptimizer().minimize(losses), tf.reduce_sum(losses)])
    session.run(tf.global_variables_initializer())

    def said(fetch, numbers, more=()):
        try:
            return session.run(fetch, {at: numbers, p: more, x: np.ones((3, 2))})[-1]
        except tf.errors.OpError as error:
            return [type(error).__name__, error.message.split(" (defined")[0]]

    trained = [
        [said(step, *given) for given in (
            ([0, 4], [0, 1]), ([0, 5], [0, 1]), ([0, -1], [0, 1]), ([0, 4], [0, 2]),
            ([0, 4], [-3, 2]), ([0, 4], [1, 1, 1]), ([0, 4], [0, 1]),
        )]
        for step in steps
    ]  # fmt: skip
    looped = tf.while_loop(
        lambda i, a: i < 5, lambda i, a: (i + 1, a + tf.gather(x, i)[0]), [0, 0.0]
    )
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.gather(x, at[0]), lambda: x[0])
    others = [
        tf.gather([1.0, 2.0], at[0] + 0), 7 // at, 7 % at[0], tf.gather_nd([1.0, 2.0], at[:, None]),
        tf.unsorted_segment_sum([1.0, 2.0], at, 1), tf.scatter_nd(at[:, None], [1.0, 2.0], [3]),
        tf.pad([1.0], [at - 7]), tf.reverse_sequence(tf.ones([2, 3]), at, 1, 0), looped, chosen,
        tf.pow(2, -at), tf.cholesky(-tf.matmul(x, x, transpose_a=True)),
    ]  # fmt: skip
    return [trained, [said([each], [0, 7]) for each in others], said([others[-5]], [1])]


@case
def fetches_on_branches_that_are_not_taken():
    way = tf.placeholder_with_default(True, [])
    dead, _ = switch(tf.constant(3.0), way)
    lives, first, last = tf.constant(1.0, name="m"), tf.identity(dead, "a"), tf.identity(dead, "z")
    given = [first, [lives, first], [last, lives], [lives, last, lives * 2]]
    found = [raised(partial(started().run, each)) for each in given]
    return [[kind, text.split(" have value")[0]] for kind, text in found]


if __name__ == "__main__":
    main()
