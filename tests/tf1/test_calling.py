"""Functions of TensorFlow 1 are called as TensorFlow's: names, order, defaults of arguments."""

from __future__ import annotations

import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError
from kameleon.tf1 import names
from kameleon.tf1.calling import OLDER, UNUSED
from kameleon.tf1.public import endpoints, public

tf = K.tf


def test_no_function_is_written_under_two_of_its_names() -> None:
    written = [
        name
        for subject in names.SUBJECTS
        for table in ("NAMES", "PLAIN")
        for name in getattr(subject, table, {})
    ]
    firsts = [endpoints(name)[0] for name in written if name in public().first]
    twice = sorted({name for name in firsts if firsts.count(name) > 1})
    assert not twice


def test_all_names_of_a_function_are_one_object() -> None:
    for first, entry in public().functions.items():
        found = {id(names.NAMES.get(name)) for name in (first, *entry.also)}
        assert len(found) == 1, first


def test_arguments_are_given_by_position_and_by_name() -> None:
    x = K.placeholder((3, 4))
    for y in (
        tf.reduce_sum(x, 1, True),
        tf.reduce_sum(input_tensor=x, axis=1, keepdims=True),
        tf.reduce_sum(x, reduction_indices=1, keep_dims=True),
        tf.math.reduce_sum(x, 1, True, "total"),
    ):
        assert K.int_shape(y) == (3, 1)
    assert tf.exp(x, "power").name.startswith("power")
    assert tf.exp(x, name="power").name.startswith("power")


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "misses the argument 'x'"),
        ((1.0, "n", 2), {}, "takes 2 arguments, but 3 were given"),
        ((1.0,), {"y": 2}, "unexpected keyword argument 'y'"),
        ((1.0,), {"x": 2}, "multiple values for argument 'x'"),
    ],
)
def test_calls_that_dont_fit_are_type_errors(args: tuple, kwargs: dict, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        tf.exp(*args, **kwargs)


def test_an_argument_is_given_by_one_of_its_names() -> None:
    with pytest.raises(ArgumentError, match="'squeeze_dims' is an older name of 'axis'"):
        tf.squeeze(K.placeholder((3, 1)), axis=1, squeeze_dims=1)


def test_every_listed_argument_is_one_of_tensorflows() -> None:
    known = {p[0] for entry in public().functions.values() for p in entry.parameters}
    assert set(UNUSED) | set(OLDER) | set(OLDER.values()) <= known
