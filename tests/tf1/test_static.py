"""What is known of tensors before a graph runs."""

from __future__ import annotations

import collections
from typing import Any

from kameleon import backend as K
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


def test_what_hangs_on_constants_is_known() -> None:
    assert tf.get_static_value(tf.range(2, 5) * 2).tolist() == [4, 6, 8]
    assert tf.get_static_value(tf.equal(tf.constant(1), 1)).item() is True
    assert tf.get_static_value(3) == 3 and tf.get_static_value(None) is None


def test_what_is_fed_stored_or_drawn_is_not() -> None:
    variable = tf.Variable(1.0)
    for x in (tf.placeholder(tf.int32, [2]), variable, variable + 1.0, tf.random_normal([2])):
        assert tf.get_static_value(x) is None


def test_shapes_are_known_as_far_as_their_parts() -> None:
    util = module("tensorflow.python.framework.tensor_util")
    x = tf.placeholder(tf.float32, [None, 4])
    assert util.constant_value_as_shape(tf.shape(x)).as_list() == [None, 4]
    assert util.constant_value_as_shape(tf.constant([2, -1])).as_list() == [2, None]


def test_a_loop_over_one_named_tuple_gives_it_in_a_list() -> None:
    pair = collections.namedtuple("pair", "a b")
    for most in (None, 5):
        [found] = tf.while_loop(
            lambda p: p.a < 3, lambda p: [pair(p.a + 1, p.b * 2)], [pair(0, 1)],
            maximum_iterations=most,
        )  # fmt: skip
        assert K.eval(found.b) == 8


def test_scopes_of_names_and_variables_say_what_they_are() -> None:
    assert tf.name_scope("a").name == "a" and tf.name_scope(None, "b").name == "b"
    scope = tf.get_variable_scope()
    scope.set_caching_device(lambda op: op.device)
    assert scope.caching_device is None and scope.partitioner is None
