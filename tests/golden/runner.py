"""Runs golden cases on a backend module and compares the outcomes with the record.

`check_cases(K, cases)` returns where all cases pass and raises `MismatchError` where one doesn't.
Tensors and gradients of all cases are the outputs of one function: compiling costs more than
running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from _support.common import reset_session

from golden.cases import Array, Case, Input, Leaf, Shape, load_array
from golden.differences import OUTCOMES, VALUES
from kameleon.errors import KameleonError

# Relative and absolute tolerance by the size of a float in bytes.
TOLERANCES = {2: (2e-2, 1e-2), 4: (1e-4, 1e-5), 8: (1e-4, 1e-5)}
PYTHON_TOLERANCE = 1e-6
Feeds = list[tuple[Any, Any]]
Compute = Callable[[list[Any], Feeds], Sequence[Any]]


class MismatchError(AssertionError):
    """The outcome of a case is not the recorded one."""


class Built(NamedTuple):
    """A case as tensors.

    Attributes:
        case: the record.
        leaves: what the call gave, without its nesting.
        tensors: those leaves that are tensors, sparse ones made dense.
        slopes: by the name of an input the gradient, or None.
        feeds: placeholders and what they're fed.
    """

    case: Case
    leaves: list[Any]
    tensors: list[Any]
    slopes: dict[str, Any]
    feeds: Feeds

    @property
    def outputs(self) -> list[Any]:
        """All that is to be computed."""
        return [*self.tensors, *(g for g in self.slopes.values() if g is not None)]


def asked_instead(backend: ModuleType, case: Case) -> Any:
    """The value of the call that the reference takes in place of the case's."""
    names = {"K": backend, **{item.name: _bind(backend, item)[0] for item in case.inputs}}
    return backend.eval(eval(VALUES[case.id].instead, names))


def check_cases(backend: ModuleType, cases: Sequence[Case], compute: Compute | None = None) -> None:
    """Run cases, each built in a reset session; raise `MismatchError` unless all come out as
    recorded.

    `compute` gives the values of tensors for feeds in another way than by `K.function`.
    """
    built = []
    for case in cases:
        reset_session(backend)
        if case.learning_phase is not None:
            backend.set_learning_phase(case.learning_phase)
        names: dict[str, Any] = {"K": backend, "np": np}
        given: Feeds = []
        for item in case.inputs:
            names[item.name], fed = _bind(backend, item)
            if fed is not None:
                given.append((names[item.name], fed))
        if case.raises is None or OUTCOMES.get(case.id) == "value":
            built.append(_built(backend, case, names, given))
        else:
            _check_error(backend, case, names, given)
    outputs = [tensor for b in built for tensor in b.outputs]
    feeds = [pair for b in built for pair in b.feeds]
    values = iter(compute(outputs, feeds) if compute else _run(backend, outputs, feeds))
    for b in built:
        _check_outcome(backend, b, values)


def _bind(backend: ModuleType, item: Input) -> tuple[Any, Any]:
    """What the call sees under the name, and what to feed for it (None: nothing)."""
    array = load_array(item.array)
    dtype = str(array.dtype)
    if item.bind == "numpy":
        return array, None
    if item.bind == "variable":
        return backend.variable(array, dtype=dtype), None
    if item.bind == "placeholder":
        return backend.placeholder(shape=item.placeholder_shape, dtype=dtype), array
    from scipy.sparse import csr_matrix

    if item.bind == "sparse_variable":
        return backend.variable(csr_matrix(array), dtype=dtype), None
    sparse = backend.placeholder(shape=item.placeholder_shape, dtype=dtype, sparse=True)
    return sparse, csr_matrix(array)


def _evaluate(backend: ModuleType, case: Case, names: dict[str, Any]) -> tuple[str, list[Any]]:
    """Structure and leaves of the value of the call."""
    for step in case.steps:
        exec(step, names)
    value = eval(case.call, names)
    if case.structure == "#0" and isinstance(case.leaves[0].value, list):
        return "#0", [value]  # a shape, recorded as one Python value
    leaves: list[Any] = []
    return _structure(value, leaves), leaves


def _structure(value: Any, leaves: list[Any]) -> str:
    """Write the nesting of `value` down and collect its leaves."""
    if isinstance(value, Mapping):
        parts = [f"{key}={_structure(value[key], leaves)}" for key in sorted(value)]
        return f"dict({', '.join(parts)})"
    if isinstance(value, list | tuple):
        return f"sequence({', '.join(_structure(item, leaves) for item in value)})"
    leaves.append(value)
    return f"#{len(leaves) - 1}"


def _densify(backend: ModuleType, leaves: Sequence[Any]) -> list[Any]:
    """The tensors among the leaves, sparse ones made dense."""
    tensors = [leaf for leaf in leaves if backend.is_tensor(leaf)]
    return [backend.to_dense(t) if backend.is_sparse(t) else t for t in tensors]


def _run(backend: ModuleType, tensors: Sequence[Any], feeds: Feeds) -> list[Any]:
    if not tensors:
        return []
    function = backend.function([tensor for tensor, _ in feeds], list(tensors))
    return list(function([value for _, value in feeds]))


# --- outcomes that are values -------------------------------------------------------------------


def _built(backend: ModuleType, case: Case, names: dict[str, Any], feeds: Feeds) -> Built:
    """The tensors of a case; what the call gave is of the recorded kinds."""
    structure, leaves = _evaluate(backend, case, names)
    if case.raises is not None:  # a value, where the reference has a limit
        return Built(case, leaves, _densify(backend, leaves), {}, feeds)
    if structure != case.structure:
        raise MismatchError(f"the value is {structure}, recorded is {case.structure}")
    for number, (got, leaf) in enumerate(zip(leaves, case.leaves, strict=True)):
        if backend.is_tensor(got) != leaf.is_tensor:
            raise MismatchError(
                f"output {number} is {got!r}, recorded is a leaf of kind {leaf.kind}"
            )
    tensors = _densify(backend, leaves)
    slopes: dict[str, Any] = {}
    if case.gradients:
        loss = _weighted_sum(backend, case, tensors)
        inputs = sorted(case.gradients)
        found = backend.gradients(loss, [names[name] for name in inputs])
        slopes = dict(zip(inputs, found, strict=True))
    return Built(case, leaves, tensors, slopes, feeds)


def _check_outcome(backend: ModuleType, built: Built, values: Iterator[Any]) -> None:
    case, leaves, tensors, slopes, _ = built
    if case.raises is not None:
        (tensor,) = tensors
        recorded = np.asarray(VALUES[case.id].value, backend.dtype(tensor))
        _check_array(next(values), recorded, "output 0")
        return
    dense = iter(tensors)
    for number, (got, leaf) in enumerate(zip(leaves, case.leaves, strict=True)):
        what = f"output {number}"
        value = next(values) if leaf.is_tensor else got
        _check_leaf(case, leaf, value, what)
        if leaf.is_tensor:
            _check_static_shape(backend.int_shape(next(dense)), leaf, np.shape(value), what)
    for name, gradient in slopes.items():
        slope = None if gradient is None else next(values)
        _check_gradient(slope, case.gradients[name], f"gradient of {name}")


def _check_leaf(case: Case, leaf: Leaf, value: Any, what: str) -> None:
    if case.random is not None:
        _check_random(np.asarray(value), case.random, what)
    elif leaf.kind == "python":
        _check_python(value, leaf.value, what)
    elif leaf.array is None:
        raise MismatchError(f"{what} has no recorded array")
    else:
        _check_array(value, load_array(leaf.array), what)


def _check_python(got: Any, recorded: Any, what: str) -> None:
    if isinstance(recorded, list):
        same = isinstance(got, tuple) and list(got) == recorded
    elif isinstance(recorded, float):
        same = isinstance(got, float) and abs(got - recorded) <= PYTHON_TOLERANCE * abs(recorded)
    else:
        same = isinstance(got, type(recorded)) and got == recorded
    if not same:
        raise MismatchError(f"{what} is {got!r}, recorded is {recorded!r}")


def _check_array(got: Any, recorded: Array, what: str) -> None:
    value = np.asarray(got.toarray() if hasattr(got, "toarray") else got)
    if value.dtype != recorded.dtype:
        raise MismatchError(f"{what} has dtype {value.dtype}, recorded is {recorded.dtype}")
    if value.shape != recorded.shape:
        raise MismatchError(f"{what} has shape {value.shape}, recorded is {recorded.shape}")
    if recorded.dtype.kind != "f":
        if not np.array_equal(value, recorded):
            raise MismatchError(f"{what} is {value!r}, recorded is {recorded!r}")
        return
    relative, absolute = TOLERANCES[recorded.dtype.itemsize]
    mine, theirs = value.astype("float64"), recorded.astype("float64")
    close = np.isclose(mine, theirs, rtol=relative, atol=absolute, equal_nan=True)
    if not close.all():
        with np.errstate(all="ignore"):
            worst = np.abs(mine - theirs)[~close].max()
        raise MismatchError(
            f"{what} differs by up to {worst:.3g}:\n{value!r}\nrecorded:\n{recorded!r}"
        )


def _check_static_shape(got: Shape | None, leaf: Leaf, shape: tuple[int, ...], what: str) -> None:
    if leaf.static_shape is None:
        return
    if got is None or len(got) != len(leaf.static_shape):
        raise MismatchError(f"{what} has static shape {got}, recorded is {leaf.static_shape}")
    pairs = zip(got, leaf.static_shape, strict=True)
    if any(known is not None and mine != known for mine, known in pairs):
        raise MismatchError(f"{what} has static shape {got}, recorded is {leaf.static_shape}")
    if any(m is not None and m != n for m, n in zip(got, shape, strict=True)):
        raise MismatchError(f"{what} has static shape {got}, its value has shape {shape}")


# --- random values ------------------------------------------------------------------------------


def _check_random(value: Array, bounds: Mapping[str, Any], what: str) -> None:
    if str(value.dtype) != bounds["dtype"] or list(value.shape) != bounds["shape"]:
        raise MismatchError(f"{what} is {value.dtype}{list(value.shape)}, recorded is {bounds}")
    wrong = list(_random_faults(value.astype("float64"), bounds))
    if wrong:
        raise MismatchError(f"{what}: {'; '.join(wrong)}")


def _random_faults(value: Array, bounds: Mapping[str, Any]) -> Iterator[str]:
    low, high = bounds["min"], bounds["max"]
    if low is not None and value.min() < low - 1e-6:
        yield f"minimum {value.min()} is below {low}"
    if high is not None and value.max() > high + 1e-6:
        yield f"maximum {value.max()} is above {high}"
    if bounds["max_is_exclusive"] and value.max() >= high:
        yield f"maximum {value.max()} reaches {high}"
    for name, moment in (("mean", value.mean()), ("std", value.std())):
        if bounds[name] is not None and abs(moment - bounds[name]) > bounds[f"{name}_tol"]:
            yield f"{name} is {moment}, expected {bounds[name]} ± {bounds[f'{name}_tol']}"
    allowed = bounds["values_in"]
    if allowed is not None and not np.isin(value.round(5), np.round(allowed, 5)).all():
        yield f"values other than {allowed}"


# --- gradients ----------------------------------------------------------------------------------


def _weighted_sum(backend: ModuleType, case: Case, tensors: Sequence[Any]) -> Any:
    """The scalar whose gradients were recorded."""
    leaves = [leaf for leaf in case.leaves if leaf.is_tensor]
    total = None
    for tensor, leaf in zip(tensors, leaves, strict=True):
        if leaf.weight is None:
            continue
        weight = load_array(leaf.weight)
        term = backend.sum(tensor * backend.constant(weight, dtype=str(weight.dtype)))
        total = term if total is None else total + term
    return total


def _check_gradient(got: Any, recorded: str | None, what: str) -> None:
    if got is not None and recorded is not None:
        _check_array(got, load_array(recorded), what)
        return
    # None says "no influence": all zeros say the same.
    other = got if recorded is None else load_array(recorded)
    if other is not None and np.any(np.nan_to_num(np.asarray(other))):
        raise MismatchError(f"{what} is {got!r}, recorded is {other if recorded else None!r}")


# --- outcomes that are errors -------------------------------------------------------------------


def _check_error(backend: ModuleType, case: Case, names: dict[str, Any], feeds: Feeds) -> None:
    try:
        _, leaves = _evaluate(backend, case, names)
        _run(backend, _densify(backend, leaves), feeds)
    except KameleonError as error:
        _check_error_class(case, error)
    else:
        raise MismatchError(f"a value came back, recorded is {case.raises}")


def _check_error_class(case: Case, error: KameleonError) -> None:
    """The recorded class, where a check of Keras raised it; else that of the table."""
    classes = [cls.__name__ for cls in type(error).__mro__]
    expected = OUTCOMES.get(case.id, case.raises)
    if expected not in classes:
        raise MismatchError(f"{classes[0]} is raised, expected is {expected}: {error}")
