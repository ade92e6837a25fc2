"""Runs cases that come in, line by line, on one engine, and says what was wrong with each.

    python -m sweeps.worker ENGINE

The worker is a process of its own because a library's fault may end it: the process that started
the worker knows which case was running then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cases import Array, Case, case_of, expected, operands
from .processes import serve

# A result may be off by so many units of its last place for each of its terms' sizes.
UNITS = 64


class Built:
    """The graph of a case: K's tensors by name, and the function that computes the results."""

    def __init__(self, case: Case) -> None:
        from kameleon import backend as K

        self.case, self.feeds, self.values = case, [], []
        self.given = operands(case)
        nodes = {name: self._entered(name) for name in self.given}
        y = self._result(nodes)
        weighted = y if case.cotangent == "ones" else y * nodes["g"]
        names = [n for n in ("x", "k", "p") if n in nodes]
        found = K.gradients(K.sum(weighted), [nodes[n] for n in names])
        slopes = dict(zip(names, found, strict=True))
        outputs = {"y": y, **slopes}
        if case.second:
            outputs |= self._second(nodes, slopes)
        self.names = list(outputs)
        self.call = K.function(self.feeds, list(outputs.values()))

    def _entered(self, name: str) -> Any:
        """A placeholder for a value, seen as the case wants it."""
        from kameleon import backend as K

        case, value = self.case, self.given[name]
        space = name in "xgu"
        if space and case.layout == "channels_first":
            value = np.moveaxis(value, -1, 1)
        shape: list[int | None] = list(value.shape)
        if space:
            at = 1 if case.layout == "channels_first" else len(shape) - 1
            if case.known != "all":
                shape[0] = None
            if case.known == "channels":
                shape = [d if i == at else None for i, d in enumerate(shape)]
        if case.view == "transposed":
            order = tuple(reversed(range(value.ndim)))
            node = K.placeholder([shape[i] for i in order], dtype=case.dtype)
            self.feeds.append(node)
            self.values.append(np.ascontiguousarray(value.transpose(order)))
            return K.permute_dimensions(node, order)
        if case.view == "sliced":
            before = np.concatenate([np.full_like(value[..., :1], 7), value], -1)
            last = shape[-1]
            node = K.placeholder(
                [*shape[:-1], None if last is None else last + 1], dtype=case.dtype
            )
            self.feeds.append(node)
            self.values.append(before)
            return node[..., 1:]
        node = K.placeholder(shape, dtype=case.dtype)
        self.feeds.append(node)
        self.values.append(np.ascontiguousarray(value))
        return node

    def _result(self, nodes: dict[str, Any]) -> Any:
        from kameleon import backend as K

        case = self.case
        function = getattr(K, case.function)
        moves: dict[str, Any] = {
            "strides": case.strides,
            "padding": case.padding,
            "data_format": case.layout,
        }
        if case.function.startswith("pool"):
            return function(nodes["x"], case.sizes, pool_mode=case.mode, **moves)
        if case.function != "conv3d_transpose":
            moves["dilation_rate"] = case.dilation
        if case.function.startswith("separable"):
            return function(nodes["x"], nodes["k"], nodes["p"], **moves)
        if case.transposed:
            space: list[int | None] = list(case.space)
            where = 0 if case.layout == "channels_first" else len(space)
            space.insert(where, case.channels)
            batch = case.batch if case.known == "all" else None
            return function(nodes["x"], nodes["k"], (batch, *space), **moves)
        return function(nodes["x"], nodes["k"], **moves)

    def _second(self, nodes: dict[str, Any], slopes: dict[str, Any]) -> dict[str, Any]:
        from kameleon import backend as K

        found = {}
        for slope, direction, others in (("x", "u", "kg"), ("k", "v", "xg")):
            if slope not in slopes or direction not in nodes:
                continue
            wrt = [n for n in others if n in nodes and not (n == "g" and self._ones)]
            loss = K.sum(slopes[slope] * nodes[direction])
            for name, node in zip(wrt, K.gradients(loss, [nodes[n] for n in wrt]), strict=True):
                if node is not None:
                    found[f"{slope}{direction}-{name}"] = node
        return found

    @property
    def _ones(self) -> bool:
        return self.case.cotangent == "ones"

    def results(self) -> dict[str, Array]:
        """What the engine computes, channels last."""
        found = {}
        for name, value in zip(self.names, self.call(self.values), strict=True):
            wide = name in "xy" or name.endswith(("-g", "-x"))
            if wide and self.case.layout == "channels_first":
                value = np.moveaxis(value, 1, -1)
            found[name] = value
        return found


def difference(name: str, got: Array, want: Array, bound: Array) -> str | None:
    """What is wrong with a result, if anything."""
    if got.shape != want.shape:
        return f"{name} has shape {got.shape}, not {want.shape}"
    if not got.size:
        return None
    limit = UNITS * np.finfo(got.dtype).eps * (bound + bound.max() / 8) + 1e-30
    off = np.abs(got.astype(np.float64) - want)
    if (off <= limit).all():
        return None
    worst = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off) / limit), off.shape)
    at = tuple(int(i) for i in worst)
    return f"{name}{at} is {got[at]}, not {want[at]}; {np.mean(~(off <= limit)):.0%} are wrong"


def fault(case: Case, engine: str) -> str | None:
    """What is wrong with a case, if anything: the first finding."""
    from kameleon import backend as K
    from kameleon.errors import KameleonError

    K.clear_session()
    with K.using_engine(engine):
        try:
            built = Built(case)
        except KameleonError as error:
            if case.refused and isinstance(error, ValueError):
                return None
            return f"refused: {error}"
        if case.refused:
            return "taken, though the window doesn't fit"
        wanted = expected(case, built.given)
        for _ in range(2):  # the second call may get used memory
            for name, got in built.results().items():
                if name in wanted:
                    wrong = difference(name, got, *wanted[name])
                    if wrong:
                        return wrong
    return None


if __name__ == "__main__":
    serve(fault, case_of)
