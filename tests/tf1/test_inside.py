"""Modules inside of TensorFlow 1, and the names there that aren't public."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import MissingNameError, UnsupportedError
from kameleon.tf1.modules import module

from .recorded import inside

tf: Any = K.tf


@pytest.mark.parametrize(
    ("path", "name", "public"),
    [
        ("python", "math_ops", None),  # the package imports that module, and so has its name
        ("python.ops.random_ops", "random_seed", None),
        ("python.training.checkpoint_management", "latest_checkpoint", "train.latest_checkpoint"),
        ("contrib.layers.python.layers.layers", "batch_norm", "contrib.layers.batch_norm"),
        ("contrib.framework.python.framework.tensor_util", "smart_cond", None),
        ("python.util.nest", "flatten", "nest.flatten"),  # not that of tf.layers
        ("python.keras_less", "", None),
    ],
)
def test_modules_inside_have_what_programs_take_there(
    path: str, name: str, public: str | None
) -> None:
    if not name:
        with pytest.raises(ModuleNotFoundError, match="isn't there"):
            module(f"tensorflow.{path}")
        return
    found = getattr(module(f"tensorflow.{path}"), name)
    meant: Any = tf
    for part in (public or "").split("."):
        meant = getattr(meant, part) if part else found
    assert found is meant


def test_what_is_imported_and_not_used_is_there_and_what_is_used_says_so() -> None:
    for path in ("contrib.tpu.python.ops.tpu_ops", "core.protobuf.saved_model_pb2"):
        made = module(f"tensorflow.{path}")
        with pytest.raises(MissingNameError, match="isn't there"):
            made.no_such_name  # noqa: B018


def test_a_gradient_of_ones_own_calls_that_of_the_operation(engine: Engine) -> None:
    """Guided backpropagation: what is negative doesn't flow."""
    name = f"GuidedInside{engine.name}"

    @tf.RegisterGradient(name)
    def guided(op: Any, g: Any) -> Any:
        flows = inside("ops.gen_nn_ops").relu_grad(g, op.outputs[0])
        return tf.where(g > 0.0, flows, tf.zeros_like(flows))

    x = K.placeholder((4,))
    with tf.get_default_graph().gradient_override_map({"Relu": name}):
        y = tf.nn.relu(x)
    slope = tf.gradients(y, x, grad_ys=tf.constant([1.0, -2.0, 3.0, 4.0]))
    found = K.function([x], slope)([[1.0, 2.0, -3.0, 4.0]])[0]
    assert_array_equal(found, [1.0, 0.0, 0.0, 4.0])


def test_decorators_and_inspection() -> None:
    @inside("util.tf_export").keras_export("keras.Own", v1=[])
    @inside("util.deprecation").deprecated(None, "Use another.")
    def own(x: int, y: int = 2, *rest: int, **more: int) -> int:
        return x + y

    assert own(1) == 3
    spec = inside("util.tf_inspect").getargspec(own)
    assert (spec.args, spec.varargs, spec.keywords, spec.defaults) == (
        ["x", "y"], "rest", "more", (2,),
    )  # fmt: skip
    lookup = inside("util.deprecation").deprecated_argument_lookup
    assert lookup("axis", None, "dim", 3) == 3
    with pytest.raises(ValueError, match="Cannot specify both"):
        lookup("axis", 1, "dim", 3)


def test_sizes_that_are_unknown_have_no_tensor() -> None:
    shape = inside("framework.tensor_shape")
    concat = inside("ops.rnn_cell_impl")._concat
    assert shape.unknown_shape().ndims is None
    assert concat(shape.unknown_shape(1), 4, static=True) == [None, 4]
    with pytest.raises(ValueError, match="prefix or suffix of None"):
        concat(shape.unknown_shape(1), 4)


def test_all_names_of_a_module_inside() -> None:
    space: dict[str, Any] = {}
    for name, value in vars(inside("ops.rnn_cell")).items():
        if not name.startswith("_"):
            space[name] = value
    assert space["RNNCell"] is tf.nn.rnn_cell.RNNCell
    assert "range" not in space


def test_labels_whose_declared_sizes_are_wrong(engine: Engine) -> None:
    """A layer may say (None, 1) of its labels, and give more of them."""
    declared, sure = K.placeholder((None, 1), dtype="int32"), K.placeholder((2, 1), dtype="int32")
    logits = K.placeholder((None, 2, 3))
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=declared, logits=logits)
    given = [[[0.0, 0.0, 0.0]] * 2]
    assert K.int_shape(loss) == (None, 1)
    found = K.function([declared, logits], [loss])([[[1], [2]], given])[0]
    np.testing.assert_allclose(found, [[np.log(3.0)]] * 2, rtol=1e-5)
    with pytest.raises(ValueError, match="was expected"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=sure, logits=K.placeholder((2, 2, 3)))


def test_nests_are_taken_apart_as_far_as_others_go() -> None:
    nest = inside("util.nest")
    pair = collections.namedtuple("pair", "a b")
    found = nest.map_structure_up_to(
        pair(0, [0, 0]), lambda x, y: (x, y), pair(1, [2, [3]]), pair(4, [5, 6])
    )
    assert found == pair((1, 4), [(2, 5), ([3], 6)])
    assert nest._is_namedtuple(found) and not nest._is_namedtuple((1,))
    flat = nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d")), 7: [1, 2]})
    assert flat == {4: "a", 5: "b", 6: "c", 8: "d", 7: [1, 2]}
    shallow = nest.get_traverse_shallow_structure(
        lambda part: isinstance(part, (list, dict)), {"b": [1, (2,)], "a": pair(1, 2)}
    )
    assert shallow == {"b": [False, False], "a": False}
    assert nest.get_traverse_shallow_structure(lambda part: True, [1, [2]]) == [True, [True]]


@pytest.mark.parametrize(
    ("shallow", "deep", "error"),
    [
        ([1], [1, 2], ValueError),
        ([1], (1,), TypeError),
        ([1, [2]], [1, 2], TypeError),
        ({"a": 1}, {"b": 2}, ValueError),
    ],
)
def test_nests_that_differ_are_refused(shallow: Any, deep: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        inside("util.nest").assert_shallow_structure(shallow, deep)


def test_classes_inside_can_be_derived() -> None:
    composite = inside("framework.composite_tensor").CompositeTensor
    assert isinstance(K.placeholder((2, 2), sparse=True), composite)
    assert not isinstance(K.placeholder((2, 2)), composite)
    spec: Any = type("Own", (inside("framework.type_spec").BatchableTypeSpec,), {})
    assert spec()
    transformer: Any = type("Own", (inside("autograph.pyct.transformer").Base,), {})
    with pytest.raises(UnsupportedError, match="autograph isn't there"):
        transformer(None)
