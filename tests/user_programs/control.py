"""Loops, conditions, phases, and gradients of the user's own."""

from __future__ import annotations

from kameleon import backend as K


def halved(x: K.Tensor, times: int) -> K.Tensor:
    for _ in range(times):
        x = K.switch(K.greater(K.sum(x), 1.0), x / 2, x)
    return x


x = K.variable([8.0, 4.0])
squares = K.map_fn(lambda row: row * row, x)
summed = K.foldl(lambda a, b: a + b, x, initializer=K.constant(0.0))
noisy = K.in_train_phase(K.dropout(x, 0.5, seed=1), x)
with K.name_scope("block"):
    constant = K.stop_gradient(x) * x
(slope,) = K.gradients(K.sum(constant), [x])
values = K.function([], [halved(x, 3), summed, noisy, slope])([])
assert [value.tolist() for value in values] == [[1.0, 0.5], 12.0, [8.0, 4.0], [8.0, 4.0]]
assert K.eval(squares).tolist() == [64.0, 16.0]
shape: tuple[int, ...] = K.int_shape(x)

halved(x, "3")  # wrong
halved(2.0, 3)  # wrong
K.greater(x).foo  # wrong
K.switch(x, x)  # wrong
