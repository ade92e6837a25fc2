"""Texts, settings of models and more beside tensors, as libraries of TensorFlow 1 use them."""

from __future__ import annotations

from typing import Any

import pytest

from kameleon import backend as K
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


def settings() -> Any:
    return tf.contrib.training.HParams(
        rate=0.5, steps=3, name="x", sizes=(1, 2), on=True, words=["a"], nothing=None
    )


# What TensorFlow 1.15 gives for the same texts.
PARSED: dict[str, dict[str, Any]] = {
    "": {},
    "rate=1": {"rate": 1.0},
    "steps=-4,name=hello world,on=false": {"steps": -4, "name": "hello world", "on": False},
    "sizes=[4,5,6],rate=1e-3": {"sizes": [4, 5, 6], "rate": 0.001},
    "words=[b,c d],on=1": {"words": ["b", "c", "d"], "on": True},
}
REFUSED = (
    "steps=1.5",
    "other=1",
    "rate=fast",
    "on=maybe",
    "steps",
    "words[0]=z",
    "words=z",
    "rate=[1]",
)


@pytest.mark.parametrize("text", PARSED)
def test_settings_are_read_from_texts(text: str) -> None:
    found = settings().parse(text)
    before = settings().values()
    assert found.values() == before | PARSED[text]
    assert all(getattr(found, name) == value for name, value in found.values().items())


@pytest.mark.parametrize("text", REFUSED)
def test_wrong_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hparam|hyperparameter"):
        settings().parse(text)


def test_settings_are_set_in_their_types() -> None:
    found = settings()
    found.set_hparam("rate", 1)
    found.override_from_dict({"steps": 7, "nothing": [3]})
    found.name = "y"
    found.add_hparam("more", 2)
    assert isinstance(found.rate, float) and (found.steps, found.name) == (7, "y")
    assert "more" in found and found.get("less", 5) == 5 and found.nothing == [3]
    assert found.to_json(sort_keys=True).startswith('{"more": 2, "name": "y"')
    found.del_hparam("more")
    for wrong in (
        ("steps", 1.5),
        ("on", "maybe"),
        ("on", 1),
        ("steps", True),
        ("steps", "4"),
        ("sizes", 3),
    ):
        with pytest.raises(ValueError, match=r"hparam|hyperparam"):
            found.set_hparam(*wrong)
    with pytest.raises(KeyError):
        found.set_hparam("other", 1)
    with pytest.raises(ValueError, match="reserved"):
        found.add_hparam("rate", 1)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = found.other


def test_texts_and_bytes() -> None:
    compat = tf.compat
    assert compat.as_bytes("é") == b"\xc3\xa9" == compat.as_bytes(b"\xc3\xa9")
    assert (
        compat.as_text(b"\xc3\xa9") == "é" == compat.as_str("é") == compat.as_str_any(b"\xc3\xa9")
    )
    assert compat.as_str_any(3) == "3" and isinstance(3, compat.integral_types)
    for function in (compat.as_bytes, compat.as_text):
        with pytest.raises(TypeError, match="binary or unicode"):
            function(3)


def test_what_libraries_take_from_inside() -> None:
    inside = tf.python
    assert not inside.tf2.enabled()
    assert inside.framework.tensor_util.constant_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.contrib.util.constant_value(tf.placeholder(tf.float32, [2])) is None
    place: dict[str, Any] = {}
    late = inside.util.lazy_loader.LazyLoader("j", place, "json")
    assert late.loads("[1]") == [1] and place["j"].__name__ == "json"
    v = tf.Variable(1.0)
    waits = inside.ops.control_flow_ops.with_dependencies([v.assign(2.0)], tf.constant(5.0))
    assert (K.eval(waits), K.eval(v)) == (5.0, 2.0)
    assert isinstance(v, inside.ops.variables.VariableV1)
    assert not isinstance(v, inside.framework.ops.EagerTensor)
    assert tf.estimator.ModeKeys.TRAIN == "train"
