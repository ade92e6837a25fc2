"""What functions build: the primitives in their graphs, and through which arguments gradients flow.

Nobody writes that down. The calls that were recorded of the original are made here, too, and their
graphs are read; so are the calls in the docstring of a function.
"""

from __future__ import annotations

import ast
import doctest
import functools
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from docs.building.functions import function, names, parameters
from docs.building.places import TESTS
from kameleon import backend as K
from kameleon.errors import FeedError, GradientError
from kameleon.graph.ir.leaves import LEAVES
from kameleon.graph.ir.node import ITEM, Node, walk

if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from _support.common import reset_session
from golden import runner
from golden.cases import Case, load_cases
from golden.differences import BY_ENGINE, DIFFERENCES, OUTCOMES


class Built(NamedTuple):
    """What calls of a function built.

    Attributes:
        primitives: names, leaves left out.
        floats: those of them that give floats.
        gradients: by argument whether a gradient flows to it.
    """

    primitives: set[str]
    floats: set[str]
    gradients: dict[str, bool]


class Comparison(NamedTuple):
    """Calls that were recorded of the original.

    Attributes:
        recorded: how many.
        differences: on purpose, or for a reason of a library: the reasons, by the name of the
        engine; "" is all of them.
    outcomes: what comes of calls that the original refused in its engine: names of errors, or
        "value".
    """

    recorded: int
    differences: list[tuple[str, str]]
    outcomes: list[str]


@functools.cache
def built() -> dict[str, Built]:
    """By function what its calls build; the session is as new afterwards."""
    found = {name: Built(set(), set(), {}) for name in names()}
    for case in load_cases():
        if case.raises is None:
            add_case(found[case.function], case)
    for name in found:
        add_example(found[name], name)
    reset_session(K)
    return found


def add_case(found: Built, case: Case) -> None:
    """Build a recorded call, and its gradients where they were recorded, too."""
    reset_session(K)
    if case.learning_phase is not None:
        K.set_learning_phase(case.learning_phase)
    given: dict[str, Any] = {"K": K, "np": np}
    for item in case.inputs:
        given[item.name], _ = runner._bind(K, item)
    try:
        _, leaves = runner._evaluate(K, case, given)
    except FeedError:  # what Kameleon refuses on purpose
        return
    add_nodes(found, leaves)
    floats = [x for x in runner._densify(K, leaves) if x.dtype.is_float]
    arguments = list(tensors_in(case, given))
    if case.gradients and floats and arguments:
        loss = functools.reduce(lambda a, b: a + b, [K.sum(K.cast(x, "float32")) for x in floats])
        try:
            slopes = K.gradients(loss, [tensor for _, tensor in arguments])
        except GradientError:
            slopes = [None] * len(arguments)
        for (name, _), slope in zip(arguments, slopes, strict=True):
            found.gradients[name] = found.gradients.get(name, False) or slope is not None


def tensors_in(case: Case, given: dict[str, Any]) -> Iterator[tuple[str, Node]]:
    """The float tensors that the call takes as arguments of the function, by parameter."""
    for call in ast.walk(ast.parse(case.call)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"K.{case.function}":
            names_of = [p.name for p in parameters(case.function)]
            pairs = [*zip(names_of, call.args, strict=False)]
            pairs += [(k.arg or "", k.value) for k in call.keywords]
            for name, value in pairs:
                if isinstance(value, ast.Name):
                    tensor = given[value.id]
                    if isinstance(tensor, Node) and tensor.dtype.is_float:
                        yield name, tensor


def add_nodes(found: Built, values: Iterable[Any], stop: Iterable[Node] = ()) -> None:
    """Note what computes these tensors."""
    tensors = runner._densify(K, [x for x in values if K.is_tensor(x)])
    for node in set(walk(tensors, set(stop))) - set(stop):
        if node.primitive is not ITEM and node.primitive not in LEAVES:
            found.primitives.add(node.primitive.name)
            if any(x.dtype.is_float for x in node.results):
                found.floats.add(node.primitive.name)


def add_example(found: Built, name: str) -> None:
    """Note what the function builds in the example of its docstring."""
    reset_session(K)
    original = function(name)

    @functools.wraps(original)
    def recorded(*arguments: Any, **keywords: Any) -> Any:
        value = original(*arguments, **keywords)
        given, made = list[Any](), list[Any]()
        runner._structure([arguments, keywords], given)
        runner._structure(value, made)
        add_nodes(found, made, [x for x in given if isinstance(x, Node)])
        return value

    test = doctest.DocTestFinder(recurse=False).find(original, name, globs={})[0]
    with mock.patch.object(K, name, recorded), redirect_stdout(io.StringIO()):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test)


def comparison(name: str) -> Comparison:
    """How a function's recorded calls differ from the originals."""
    recorded = sum(case.function == name for case in load_cases())
    tables = {"": DIFFERENCES, **BY_ENGINE}
    reasons = {
        (engine, difference.reason): None
        for engine, table in tables.items()
        for case, difference in table.items()
        if case.rpartition("-")[0] == name
    }
    outcomes = {what for case, what in OUTCOMES.items() if case.rpartition("-")[0] == name}
    return Comparison(recorded, list(reasons), sorted(outcomes))
