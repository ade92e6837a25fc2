"""`check='nan'`: where NaN or Inf begins is named, on every engine; state stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kameleon
from kameleon import backend as K
from kameleon.backend._bodies import traced_while
from kameleon.engines import Engine
from kameleon.errors import ArgumentError, NonFiniteError
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.elementwise import lt as less

ROWS, STEPS, WIDTH = 3, 4, 2

# Places of the network at which a fault can be planted, and how many loops each is in.
PLACES = {
    "dense": 0, "relu": 0, "normalised": 0, "convolved": 0, "pooled": 0, "embedded": 0,
    "dropped": 0, "branch": 0, "recurrent": 1, "inner": 2, "folded": 1, "output": 0,
    "probabilities": 0, "mask": 0, "loss": 0, "penalty": 0, "momentum": 0, "new weight": 0,
    "average": 0,
    # In the gradient alone:
    "dense slope": 0, "convolved slope": 0, "branch slope": 0, "recurrent slope": 1,
    "inner slope": 2, "folded slope": 1, "loss slope": 0, "mask slope": 0,
}  # fmt: skip


ZERO = K.variable(0.0)  # a number that no pass knows


def fault(x: Any) -> Any:
    return x + K.log(-1.0 - x * x)


def slope_fault(x: Any) -> Any:
    return x + K.pow(x * ZERO, 0.5)  # the root's slope is infinite, and 0 times that is NaN


class Network:
    """A training step with one fault in it."""

    def __init__(self, planted: str | None, check: str | None = "nan"):
        self.planted = planted
        generator = np.random.default_rng(0)
        shapes = ((WIDTH, WIDTH), (2, 1, WIDTH, WIDTH), (5, WIDTH), (WIDTH, WIDTH))
        self.weights = [K.variable(generator.uniform(0.1, 0.5, shape)) for shape in shapes]
        self.momenta = [K.zeros(K.int_shape(w)) for w in self.weights]
        self.mean = K.variable(0.0)
        self.x = K.placeholder((None, STEPS, WIDTH))
        self.ids = K.placeholder((None,), dtype="int32")
        loss = self._loss()
        updates = [K.update(self.mean, self._at("average", 0.9 * self.mean + 0.1 * loss))]
        for w, m, g in zip(
            self.weights, self.momenta, K.gradients(loss, self.weights), strict=True
        ):
            momentum = self._at("momentum", 0.9 * m + g)
            updates += [
                K.update(m, momentum),
                K.update(w, self._at("new weight", w - 0.1 * momentum)),
            ]
        self.function = K.function([self.x, self.ids], [loss], updates, check=check)

    def _at(self, place: str, x: Any) -> Any:
        if place == self.planted:
            return fault(x)
        return slope_fault(x) if f"{place} slope" == self.planted else x

    def _loss(self) -> Any:
        dense, kernel, table, recurrent = self.weights
        h = self._at("dense", K.dot(self.x, dense))
        h = self._at("relu", K.relu(h))
        h = self._at("normalised", (h - K.mean(h)) / (K.std(h) + 1.0))
        image = K.expand_dims(h, 2)
        image = self._at("convolved", K.conv2d(image, kernel, padding="same"))
        h = K.squeeze(self._at("pooled", K.pool2d(image, (2, 1), padding="same")), 2)
        h = h + K.expand_dims(self._at("embedded", K.gather(table, self.ids)), 1)
        h = self._at("dropped", K.dropout(h, 0.25, seed=1))
        positive = K.mean(h) > -100.0
        h = K.switch(positive, lambda: self._at("branch", h * 2.0), lambda: h)

        def step(row: Any, states: list[Any]) -> Any:
            state = self._at("recurrent", K.tanh(row + K.dot(states[0], recurrent)))
            state = K.map_fn(lambda part: self._at("inner", part), state)
            return state, [state]

        last, _, _ = K.rnn(step, h, [K.zeros_like(h[:, 0])])
        fold = lambda total, row: total + self._at("folded", row)  # noqa: E731
        total = K.foldl(fold, K.transpose(last), initializer=K.zeros_like(last[:, 0]))
        y = self._at("output", last + K.expand_dims(total, -1))
        y = self._at("probabilities", K.softmax(y))
        mask = self._at("mask", K.cast(y > 0.0, "float32") * y)
        loss = K.mean(self._at("loss", -K.log(y)) * mask)
        return loss + self._at("penalty", 0.01 * K.sum(K.square(dense)))

    @property
    def values(self) -> list[Any]:
        return K.batch_get_value([*self.weights, *self.momenta, self.mean])

    def run(self) -> Any:
        return self.function([np.full((ROWS, STEPS, WIDTH), 0.5), [0, 1, 4]])


@pytest.mark.dealt(2)
@pytest.mark.parametrize("place", PLACES)
def test_a_fault_is_found_where_it_is(engine: Engine, place: str) -> None:
    network = Network(place)
    before = network.values
    with pytest.raises(NonFiniteError) as raised:
        network.run()
    message, _, _ = str(raised.value).partition("Inf came before")
    function = slope_fault if place.endswith("slope") else fault
    assert f", in {function.__name__}\n" in message
    assert message.count("in step 0 (from 0) of the loop") == PLACES[place], message
    for old, new in zip(before, network.values, strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_sound_network_trains_as_without_a_check(engine: Engine) -> None:
    losses = [[network.run()[0] for _ in range(3)] for network in map(Network, [None, None])]
    unchecked = Network(None, check=None)
    assert losses[0] == losses[1] == [unchecked.run()[0] for _ in range(3)]


STEP_4 = r"in step 4 \(from 0\) of the loop that was made at"


def test_the_step_of_a_loop_is_named(engine: Engine) -> None:
    def step(row: Any, states: list[Any]) -> Any:
        state = states[0] + K.log(1.5 - row)
        return state, [state]

    x = K.placeholder((2, None, 1))
    f = K.function([x], [K.rnn(step, x, [K.zeros((2, 1))])[0]], check="nan")
    given = np.zeros((2, 6, 1))
    f([given])
    given[1, 4] = 9.0
    with pytest.raises(NonFiniteError, match=STEP_4):
        f([given])


def test_the_step_of_a_loop_until_something_holds(engine: Engine) -> None:
    x = K.placeholder(())
    small = lambda s: less(s[0], constant(1000.0, s[0].dtype))  # noqa: E731
    (last,) = traced_while("loop", small, lambda s: [s[0] * 2.0 + K.log(20.0 - s[0])], [x])
    f = K.function([x], [last], check="nan")
    with pytest.raises(NonFiniteError, match=r"in step 3 \(from 0\)"):
        f([1.0])


# What counts ------------------------------------------------------------------------------------


def message_of(f: Any, *given: Any) -> str:
    """Of the error that a call raises; empty where it raises none."""
    try:
        f(list(given))
    except NonFiniteError as error:
        return str(error)
    return ""


X = K.placeholder((2,), name="x")
# Outputs of `X`, a value for it, and what the error says; nothing: it's no error.
CASES: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "made": (K.log(X), [1.0, -1.0], ("begins in log(", "operand 0 is float32[2]: from -1 to 1")),
    "overflow": (K.exp(X), [0.0, 100.0], ("output 0 has Inf", "1 of 2 elements Inf")),
    "NaN came in": (X * 2.0, [1.0, np.nan], ("comes in with input 'x", "1 of 2 elements NaN")),
    "Inf came in": (X * 2.0, [1.0, np.inf], ()),
    "constants": (X + K.constant([np.nan, 1.0]), [1.0, 1.0], ("output 0 has NaN",)),
    "infinite constants": (X + K.constant([-np.inf, 1.0]), [1.0, 1.0], ()),
    "Inf, then NaN": (
        K.exp(X) / K.sum(K.exp(X)), [100.0, 0.0], ("begins in div(", "Inf came before", "in exp("),
    ),
    "masked": (K.switch(X > 0.0, K.log(X), X), [1.0, -1.0], ()),
    "integers": (K.cast(X, "int32"), [1.0, 2.0], ()),
    "none": (X + 1.0, [1.0, 2.0], ()),
    "float16": (K.cast(X, "float16") * 300.0, [300.0, 1.0], ("float16[2]: 1 of 2 elements Inf",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_counts(engine: Engine, name: str) -> None:
    output, given, told = CASES[name]
    message = message_of(K.function([X], [output], check="nan"), given)
    assert bool(message) == bool(told)
    for part in told:
        assert part in message


def test_what_came_in_with_a_variable() -> None:
    v = K.variable([np.nan], name="weights")
    f = K.function([], [v + 1.0], check="nan")
    assert "it comes in with variable 'weights" in message_of(f)


def test_functions_with_effects_are_not_called_again() -> None:
    seen: list[float] = []
    look = lambda x: seen.append(float(x[0])) or np.log(x)  # noqa: E731
    with np.errstate(all="ignore"):
        y = kameleon.call(look, X, like=X, pure=False)
        message = message_of(K.function([X], [y], check="nan"), [-1.0, 1.0])
    assert seen == [-1.0] and "can't be made again" in message


def test_many_results_are_counted() -> None:
    f = K.function([X], [K.log(X + float(i)) for i in range(5)], check="nan")
    assert "output 2 has NaN, and 2 more" in message_of(f, [-9.0, 1.0])


# The setting ------------------------------------------------------------------------------------


@pytest.fixture
def _setting() -> Iterator[None]:
    yield
    K.set_check(None)


@pytest.mark.usefixtures("_setting")
def test_the_setting_holds_for_functions_that_are_there(engine: Engine) -> None:
    f, given = K.function([X], [K.log(X)]), np.array([-1.0, 1.0], "float32")
    for _ in range(3):  # the shorter way is taken after some calls
        assert not message_of(f, given)
    K.set_check("nan")
    assert message_of(f, given) and message_of(f, given)
    K.set_check(None)
    assert not message_of(f, given)
    assert message_of(K.function([X], [K.log(X)], check="nan"), given)


def test_other_checks_are_refused() -> None:
    for make in (K.set_check, lambda check: K.function([X], [X], check=check)):
        with pytest.raises(ArgumentError, match="there is no check 'nam'; it's 'nan' or None"):
            make("nam")
