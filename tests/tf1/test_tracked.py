"""`tf.Module`: names, variables and modules in it."""

from __future__ import annotations

from typing import Any

import pytest

from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


class Line(tf.Module):  # type: ignore[misc]
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(1.0, name="w")
            self.b = tf.Variable(2.0, name="b", trainable=False)

    @tf.Module.with_name_scope  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        return tf.add(x * self.w, self.b, name="y")


class Lines(tf.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.z = tf.Variable(0.0, name="z")
        self.inner = {"b": [Line("second")], "a": Line("first")}
        self.again = self.z


def test_variables_and_modules_are_found_once_in_order() -> None:
    with tf.Graph().as_default():
        lines = Lines()
        assert lines.name == "lines"
        assert [v.name for v in lines.variables] == [
            "z:0", "first/b:0", "first/w:0", "second/b:0", "second/w:0",
        ]  # fmt: skip
        assert [v.name for v in lines.trainable_variables] == ["z:0", "first/w:0", "second/w:0"]
        assert [m.name for m in lines.submodules] == ["first", "second"]
        assert lines.inner["a"](tf.constant(1.0)).name == "first/y:0"


def test_a_name_is_an_identifier() -> None:
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module("a b")
