"""What random programs found once, each as a small program."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, run, started
from tensorflow.python.framework import function
from tensorflow.python.ops import (
    gen_array_ops,
    gen_dataset_ops,
    gen_list_ops,
    gen_resource_variable_ops,
)


def attempt(session, fetches, feeds):
    """What is fetched; the class of the error."""
    try:
        return session.run(fetches, feeds)
    except tf.errors.OpError as error:
        return type(error).__name__


@case
def arrays_that_grow_behind_their_rows():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    array = tf.TensorArray(tf.float32, 2, dynamic_size=True, clear_after_read=False).unstack(x)
    grown = array.write(2, array.read(0) * 2.0)
    more = grown.scatter([4], x[:1] + 7.0).write(3, x[1])
    rows = more.stack()
    return run([rows, more.size(), tf.gradients(tf.sin(rows), x)[0]])


@case
def static_shapes_of_arrays_and_stacks():
    x = tf.placeholder(tf.float32, [3])
    y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, x])[1]
    joined = tf.TensorArray(tf.float32, 1).unstack(x[None]).concat()
    tf.gradients([y, joined], x)
    kinds = "StackV2 StackPushV2 StackPopV2 TensorArrayConcatV3 TensorArraySplitV3".split()
    made = [each for each in x.graph.get_operations() if each.type in kinds]
    return sorted([each.type, *(str(out.shape) for out in each.outputs)] for each in made)


@case
def choices_that_ask_the_same_again():
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", initializer=1.5)
    inner = lambda: tf.cond(p, lambda: x * w, lambda: x - w)  # noqa: E731
    outs = [
        tf.cond(p, lambda: x + w, inner),
        tf.cond(p, inner, lambda: x / w),
        tf.case([(p, lambda: x * 3.0), (p, lambda: w * 4.0)], default=lambda: w * w),
    ]
    session = started()
    return [session.run([outs, tf.gradients(outs, w)], {x: 2.0, p: way}) for way in (True, False)]


@case
def what_would_fail_in_branches_and_turns_that_there_are_not():
    x, n, p = tf.constant([1.0, 2.0]), tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", initializer=2.0)
    fails = lambda: tf.reduce_sum(tf.gather(x, [7])) * w  # noqa: E731
    outs = [
        tf.cond(p, fails, lambda: w * 3.0),
        tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + fails()), [0, w])[1],
        tf.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, y * tf.cond(p, fails, lambda: w)), [0, w]
        )[1],
    ]
    feeds = [{n: 0, p: False}, {n: 1, p: False}, {n: 0, p: True}]
    fetches = [[out, *tf.gradients(out, w)] for out in outs] + outs[1:2]
    session = started()
    return [[attempt(session, one, fed) for one in fetches] for fed in feeds]


@case
def static_shapes_behind_handles():
    w, p = tf.get_variable("w", initializer=[2.0, 3.0], use_resource=True), tf.constant(True)
    found = {}

    def branch():
        found["branch"] = gen_resource_variable_ops.variable_shape(w.handle)
        return 1.0

    def body(i):
        found["turn"] = gen_resource_variable_ops.variable_shape(w.handle)
        return i + 1

    tf.cond(p, branch, lambda: 2.0)
    tf.while_loop(lambda i: i < 2, body, [0])
    unknown = tf.placeholder(tf.variant, [])
    found["list"] = gen_list_ops.tensor_list_element_shape(unknown, tf.int32)
    return {name: str(shape.shape) for name, shape in found.items()}


@case
def joined_elements_of_lists_out_of_loops():
    tf.compat.v1.enable_control_flow_v2()
    x = tf.placeholder(tf.float32, [3, 1])
    _, array = tf.while_loop(
        lambda i, a: i < 2,
        lambda i, a: (i + 1, a.write(i, x * 2.0)),
        [0, tf.TensorArray(x.dtype, 2)],
    )
    joined = array.concat()
    tf.compat.v1.disable_control_flow_v2()
    return [str(joined.shape), run(joined, {x: np.ones([3, 1])})]


@case
def static_shapes_of_nothing_and_of_what_is_tiled():
    given = [tf.placeholder(tf.float32, shape) for shape in ([None, 0], [0, 2], [None, 2], None)]
    counts = [[2], [2, 1], tf.placeholder(tf.int32, [3]), tf.placeholder(tf.int32, [None])]
    sizes = [[-1], [3, -1], [-1, 2], tf.placeholder(tf.int32, [2])]
    found = [tf.tile(given[-1], count) for count in counts]
    found += [tf.tile(given[1], counts[-1]), tf.tile(given[2], tf.stack([tf.size(given[0]), 3]))]
    found += [tf.reshape(x, size) for x in given for size in sizes]
    return [str(x.shape) for x in found]


@case
def names_in_functions_of_branches_and_turns():
    tf.compat.v1.enable_control_flow_v2()
    x = tf.placeholder(tf.float32, [2, None], name="add")
    y = tf.cond(tf.placeholder(tf.bool, []), lambda: (x + 1.0) * x, lambda: x * 2.0)
    z = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.reduce_mean(x)), [0, y])
    tf.gradients(z[1], x)
    tf.compat.v1.disable_control_flow_v2()
    definitions = [each.definition for each in x.graph._functions.values()]
    return sorted(
        [sorted(node.name for node in each.node_def), sorted(each.ret.items())]
        for each in definitions
    )


@case
def effects_in_branches_and_turns_that_no_result_needs():
    kinds = "if while while_condition case turn function function_if defun defun_if".split()
    x = tf.placeholder(tf.float32, [])
    w = {kind: tf.get_variable(kind, initializer=0.0, use_resource=True) for kind in kinds}

    def changing(kind, value):
        tf.assign_add(w[kind], 1.0)
        return value

    branch = lambda kind, y: tf.cond(y > 0, lambda: changing(kind, y + 1), lambda: y)  # noqa: E731
    tf.compat.v1.enable_control_flow_v2()
    below, n = lambda i: i < 3, [0]
    outs = [
        branch("if", x),
        tf.while_loop(below, lambda i: changing("while", i + 1), n),
        tf.while_loop(lambda i: changing("while_condition", i < 3), lambda i: i + 1, n),
        tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: changing("case", x * 2.0)]),
        tf.while_loop(below, lambda i: branch("turn", i) + 1, n),
        tf.function(lambda y: changing("function", y * 2.0), autograph=False)(x),
        tf.function(lambda y: branch("function_if", y), autograph=False)(x),
        function.Defun(tf.float32, func_name="d")(lambda y: changing("defun", y * 2.0))(x),
        function.Defun(tf.float32, func_name="e")(lambda y: branch("defun_if", y))(x),
    ]
    tf.compat.v1.disable_control_flow_v2()
    session = started()
    return [session.run(outs, {x: 1.0}), session.run([w[kind] for kind in kinds])]


@case
def static_shapes_that_operations_say():
    data = tf.data.Dataset.range(1).map(lambda x: tf.zeros([2, x]))
    iterator, kinds = tf.data.make_one_shot_iterator(data), ([tf.float32], [[2, None]])
    made = [
        gen_dataset_ops.iterator_get_next(iterator._iterator_resource, *kinds),
        gen_dataset_ops.optional_get_value(gen_dataset_ops.optional_none(), *kinds),
        gen_dataset_ops.dataset_to_single_element(data._variant_tensor, *kinds),
    ]
    return [str(x.shape) for [x] in made]


def values_out_of_a_branch(choose):
    """What is fetched of choices, one of whose branches takes a value out of another branch."""
    x, i = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    inner = []

    def taken():
        inner.append(x * 2.0)
        return inner[0] + 1.0

    y = tf.cond(x > 0.0, taken, lambda: x * 3.0)
    outs = [*choose(i, x, inner[0]), y]
    session = started()
    feeds = [(1.0, 1), (1.0, 0), (-1.0, 0)]
    return [session.run(part, {x: a, i: n}) for part in (outs[:1], outs) for a, n in feeds]


@case
def values_out_of_a_branch_in_another():
    return values_out_of_a_branch(
        lambda i, x, inner: tf.cond(i > 0, lambda: (x + inner, x * 2.0), lambda: (x + 5.0, x * 3.0))
    )


@case
def values_out_of_a_branch_in_functions():
    def choose(i, x, inner):
        tf.compat.v1.enable_control_flow_v2()
        outs = [
            tf.cond(i > 0, lambda: x + inner, lambda: x + 5.0),
            tf.switch_case(i, [lambda: x - 1.0, lambda: x - inner]),
        ]
        tf.compat.v1.disable_control_flow_v2()
        return outs

    return values_out_of_a_branch(choose)


@case
def loops_in_functions_in_branches():
    x, p = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])
    squares = function.Defun(tf.float32, func_name="squares")(
        lambda y: tf.map_fn(lambda row: row * row, y)
    )
    y, session = tf.cond(p, lambda: squares(x) + 1.0, lambda: x * 2.0), started()
    slope = tf.gradients(squares(x), x)[0]
    runs = [session.run(y, {x: [1.0, 2.0, 3.0], p: way}) for way in (True, False)]
    return [*runs, str(slope.shape)]


@case
def static_shapes_of_what_is_transposed():
    given = [tf.placeholder(tf.float32, shape) for shape in (None, [None])]
    orders = [[0], *(tf.placeholder(tf.int32, shape) for shape in ([1], [None], None))]
    found = [tf.transpose(x, order) for x in given for order in orders]
    return [str(x.shape) for x in [*found, tf.transpose(given[0], [1, 0])]]


@case
def static_shapes_of_what_is_stitched():
    none, many = tf.constant([], tf.int32), tf.placeholder(tf.int32, [None])
    found = [[none, none], [none, [4, 2]], [many, [1]], [none, none[:0] + 1]]
    rows = [tf.zeros([0, 2]), tf.zeros([2, 2]), tf.zeros([1, 2])]
    made = [tf.dynamic_stitch(at, [rows[0], rows[0 if k in (0, 3) else k]])
            for k, at in enumerate(found)]  # fmt: skip
    w = tf.constant(2.0)
    slope = tf.gradients(tf.gradients(tf.clip_by_norm(w, 1.5), w), w)[0]
    return [*(str(x.shape) for x in made), run(slope)]


@case
def gradients_of_loops_whose_branches_keep_nothing():
    x, p = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.bool, [])
    picture = tf.reshape(tf.range(12.0), [1, 2, 3, 2])

    def normal(y):  # on a CPU some of what's kept is empty
        return y * tf.reduce_sum(tf.nn.fused_batch_norm(picture, y[0], y[1])[0] * picture)

    turn = lambda y, row: tf.cond(p, lambda: normal(y), lambda: y * row)  # noqa: E731
    y = tf.foldl(turn, x, x)
    ends = [y, tf.gradients(y, x)[0]]
    return [run(ends, {x: np.full([3, 2], 0.1), p: way}) for way in (True, False)]


@case
def gradients_of_loops_in_branches_that_are_not_taken():
    x, p = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.bool, [])
    squared = lambda y: tf.while_loop(  # noqa: E731
        lambda j, z: j < 2, lambda j, z: (j + 1, z * z + 0.5), [0, y]
    )[1]
    turn = lambda i, y: (i + 1, tf.cond(p, lambda: squared(y), lambda: y * x))  # noqa: E731
    y = tf.while_loop(lambda i, y: i < 3, turn, [0, x])[1]
    ends = [y, tf.gradients(y, x)[0]]
    feeds = [{x: np.full([n, 2], 0.25), p: way} for n in (0, 2) for way in (True, False)]
    return [run(ends, each) for each in feeds]


@case
def static_shapes_of_what_is_counted():
    known, x = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [None, 3])
    shape = gen_array_ops.shape(x)
    found = [gen_array_ops.size(each) for each in (known, shape, tf.constant([1, 2]), known + 1.0)]
    found += [gen_array_ops.rank(each) for each in (known, x, shape)]
    ends = [(tf.range(n), tf.fill([n], 1.0), tf.range(n + 1), tf.zeros([n - 1])) for n in found]
    return [[str(end.shape) for end in each] for each in ends]


@case
def what_is_waited_for_once():
    before, x = tf.no_op(), tf.constant(1.0)
    with tf.control_dependencies([before, before]):
        y = tf.identity(x)
    y.op._add_control_inputs([before, before])
    return [list(y.op.node_def.input), len(before._control_outputs)]


@case
def rows_that_nobody_wrote():
    x, n = tf.placeholder(tf.float64, [3]), tf.placeholder(tf.int32, [])
    named = lambda i: tf.string_to_hash_bucket_fast(tf.as_string(i), 9)  # noqa: E731
    turn = lambda i, a: (i + 1, a.write(i, x + tf.cast(named(i), tf.float64)))  # noqa: E731
    _, rows = tf.while_loop(lambda i, a: i < n, turn, [0, tf.TensorArray(tf.float64, 3)])
    rows = rows.stack()
    return [run(rows, {x: [1.0, 2.0, 3.0], n: count}) for count in (0, 1, 3)]


@case
def kinds_of_what_is_the_same_in_each_run():
    shape = tf.shape(tf.zeros([2, 3]))
    kind = lambda x: np.full(1, type(x) is np.ndarray)  # noqa: E731
    inside = tf.py_func(kind, [shape * 2], tf.bool)
    doubled = tf.map_fn(lambda i: tf.py_func(kind, [shape + i], tf.bool), shape, tf.bool)
    return [type(each).__name__ for each in run([shape, shape + 1])], run([inside, doubled])


@case
def what_no_turn_needs():
    x = tf.placeholder(tf.float32, [2, None])
    faulty = tf.check_numerics(tf.log(x), "fault")
    tf.compat.v1.enable_control_flow_v2()
    within = lambda y: tf.foldr(lambda a, b: a + faulty[0], x, y)  # noqa: E731
    chosen = lambda y: tf.cond(x[0, 0] > 0, lambda: faulty[0], lambda: y)  # noqa: E731
    found = [
        tf.map_fn(lambda y: (faulty * y, tf.constant(True))[1], x, tf.bool),
        tf.map_fn(lambda y: (within(y), tf.constant(True))[1], x, tf.bool),
        tf.map_fn(lambda y: (within(y), tf.constant(True)), x, (tf.float32, tf.bool))[1],
        tf.map_fn(lambda y: (chosen(y), y[0])[1], x),
        tf.map_fn(lambda y: faulty[0] + y, x),
    ]
    tf.compat.v1.disable_control_flow_v2()
    return [error_of(lambda each=each: each, {x: [[-1.0], [2.0]]}) for each in found]


@case
def channels_that_are_quantized():
    x = tf.reshape(tf.linspace(-1.5, 2.5, 25), [5, 5])
    ends = tf.constant([-1.0, -0.7, 0.0, -2.0, -1.3]), tf.constant([2.0, 1.1, 3.0, 0.0, 0.9])
    of_channels = tf.quantization.fake_quant_with_min_max_vars_per_channel
    of_all = tf.quantization.fake_quant_with_min_max_vars
    found = [of_channels(x, *ends, bits) for bits in (2, 4)]
    return run(found + [of_all(x, -1.0, 2.0, bits) for bits in (2, 4)])


if __name__ == "__main__":
    main()
