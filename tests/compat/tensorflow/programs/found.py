"""What random programs found once, each as a small program."""

import tensorflow as tf
from recording import case, main, run


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


if __name__ == "__main__":
    main()
