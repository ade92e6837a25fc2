"""Copies of tensors, with variables and random streams of their own that start as they are now.

A tensor without state is a formula and serves as its own copy. A node that depends on variables or
random streams is built anew over the copies of these; within one `copy.deepcopy` all nodes that
share a variable share its copy. Placeholders stay: a copy is fed as the original is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..graph.ir.context import context, rewriting, unique_name
from ..graph.ir.leaves import SOURCE
from ..graph.ir.node import ITEM, Effect, Node, Print, Update, Variable
from .state import draws, numpy_values, stream_of, variable_of

Memo = dict[int, Any]  # of `copy.deepcopy`: by id of an original its copy
# Marks of a node that its copy doesn't get: where sizes come from, and the state of a stream.
OWN_MARKS = ("earliest", "draws")


def copies(nodes: Iterable[Node], memo: Memo) -> list[Node]:
    """The copies of nodes; `memo` holds all copies made before, and gets the new ones."""
    wanted = list(nodes)
    order = [n for n in _reached(wanted) if id(n) not in memo]
    _copy_variables([n for n in order if isinstance(n, Variable)], memo)
    rewriting(_rebuild, order, memo)
    memo.setdefault(id(memo), []).append(wanted)  # originals live on, so that ids stay theirs
    return [memo[id(n)] for n in wanted]


def _rebuild(order: list[Node], memo: Memo) -> None:
    for node in order:
        if id(node) not in memo:
            context.source = node._source
            memo[id(node)] = _rebuilt(node, memo)


def _reached(nodes: Iterable[Node]) -> list[Node]:
    """All nodes that these need or carry as effects, in the order in which they were made."""
    seen: set[Node] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        stack.extend(node.operands)
        effects: Sequence[Any] = node.effects
        stack.extend(e.value if isinstance(e, Print) else e for e in effects)
        if isinstance(node, Update):
            stack += [x for x in (node.variable, node.value, node.increment) if x is not None]
    return sorted(seen, key=lambda n: n.serial)


def _copy_variables(variables: list[Variable], memo: Memo) -> None:
    """Put copies of variables into `memo`, all with the values of one moment."""
    for variable, value in zip(variables, numpy_values(variables), strict=True):
        name = unique_name(variable.name[:-2])
        made = variable_of(np.asarray(value), name, variable.type)
        _mark(made, variable)
        memo[id(variable)] = made


def _rebuilt(node: Node, memo: Memo) -> Node:
    """A node over the copies of what it needs; the same node, where all of that is its own copy."""
    if node.primitive is SOURCE:
        return stream_of(node.attrs["seed"], draws(node).value)
    operands = tuple(memo[id(x)] for x in node.operands)
    effects = tuple(_copied_effect(e, memo) for e in node.effects)
    own = not isinstance(node, Update) or memo[id(node.variable)] is node.variable
    if own and operands == node.operands and effects == node.effects:
        return node
    if isinstance(node, Update):
        update = Update(node.primitive, operands, node.attrs, node.type)
        update.variable, update.value = memo[id(node.variable)], memo[id(node.value)]
        update.increment = None if node.increment is None else memo[id(node.increment)]
        made: Node = update
    elif node.primitive is ITEM:
        return operands[0].results[node.attrs["index"]]  # type: ignore[no-any-return]
    else:
        made = node.primitive(*operands, **node.attrs)
    made.effects = effects
    _mark(made, node)
    return made


def _copied_effect(effect: Effect, memo: Memo) -> Effect:
    if not isinstance(effect, Print):
        return memo[id(effect)]  # type: ignore[no-any-return]
    if id(effect) not in memo:
        value = memo[id(effect.value)]
        memo[id(effect)] = effect if value is effect.value else effect.of(value)
    return memo[id(effect)]  # type: ignore[no-any-return]


def _mark(made: Node, node: Node) -> None:
    """Give a copy the marks that other code has put on the original."""
    made.__dict__.update({k: v for k, v in vars(node).items() if k not in OWN_MARKS})


def copied_print(effect: Print, memo: Memo) -> Print:
    """The copy of a print."""
    copies([effect.value], memo)
    found: Any = _copied_effect(effect, memo)
    return found  # type: ignore[no-any-return]


def _deep_copy(node: Node, memo: Memo) -> Node:
    return copies([node], memo)[0]


def _copy(variable: Variable) -> Node:
    return copies([variable], {})[0]


# What the module `copy` calls. Like a copy of an array, a copy of a variable has its own state.
Node.__deepcopy__ = _deep_copy  # type: ignore[method-assign, assignment]
Variable.__copy__ = _copy  # type: ignore[method-assign, assignment]
