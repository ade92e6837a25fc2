"""Calls that reduce or accumulate along axes."""

from __future__ import annotations

from ..draft import Draft, Entry
from .table import Table

CALLS = Table()
call = CALLS.add


def _axis(d: Draft, x: Entry) -> str:
    options: list[str] = ["None", *map(str, range(-x.ndim, x.ndim))]
    if x.ndim > 1:
        options += [str(sorted(d.random.choice(x.ndim, 2, replace=False).tolist()))]
    return str(d.choice(options))


for _name in "sum prod mean var std max min logsumexp".split():

    def _reduction(d: Draft, name: str = _name) -> str:
        x = d.float(0 if name in ("sum", "mean") else 1, filled=name not in ("sum", "prod"))
        inner = f"K.tanh({x.name})" if name == "prod" else x.name
        return f"K.{name}({inner}, axis={_axis(d, x)}, keepdims={d.flag()})"

    CALLS[_name] = _reduction

for _name in "argmax argmin cumsum cumprod softmax".split():

    def _along(d: Draft, name: str = _name) -> str | None:
        x = d.float(2 if name == "softmax" else 1, filled=name != "cumsum")
        inner = f"K.sin({x.name})" if name == "cumprod" else x.name
        return f"K.{name}({inner}, axis={d.int(-x.ndim, x.ndim - 1)})"

    CALLS[_name] = _along


@call
def l2_normalize(d: Draft) -> str:
    x = d.float(1)
    return f"K.l2_normalize({x.name}, axis={d.choice([None, *range(-x.ndim, x.ndim)])})"
