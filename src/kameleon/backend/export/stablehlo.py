"""StableHLO: a function as what `jax.export` serialises, which JAX loads and calls by itself.

The file is a module of StableHLO in JAX's format, which `jax.export.deserialize` reads, with an
archive of NumPy arrays at its end, where that doesn't look: the values of variables and the keys of
random streams. Its function is

    call(parameters, inputs) -> (outputs, parameters behind the call)

where `inputs` and `outputs` are lists, and `parameters` is a dict of arrays by name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export, lax

from ..._utils.names import distinct
from ...engines.jax.arrays import in_64_bits
from ...errors import ArgumentError, EngineError, UnsupportedError
from ...graph.analysis.agreement import agreed_sizes
from ...graph.ir.program import Graph, all_nodes
from ...graph.primitives.shaping import shape_inputs
from ..interop.jax_tracing import ENGINE
from ..interop.pure import KEY, Pure, Stateless
from .examples import Shapes, fixed_sizes, shapes_of
from .refusals import refusal
from .symbolic import SymbolicTraced, UndecidedError

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
FOLDER = "parameters/"  # in the archive, beside the names of those that are updated

RELOAD = '''
import jax
import numpy as np
from jax import export

jax.config.update("jax_enable_x64", True)


def load(path):
    """A callable: arrays for the inputs in order -> outputs, then new values."""
    with open(path, "rb") as file:
        exported = export.deserialize(bytearray(file.read()))
        with np.lib.npyio.NpzFile(file) as archive:
            arrays = {name: archive[name] for name in archive.files}
    updated = arrays.pop("updated").tolist()
    parameters = {name.removeprefix("parameters/"): array for name, array in arrays.items()}
    types = exported.in_tree.unflatten(exported.in_avals)[0][0]
    parameters = {name: array.view(types[name].dtype) for name, array in parameters.items()}

    def call(arrays):
        outputs, new = exported.call(parameters, list(arrays))
        return [np.asarray(x) for x in [*outputs, *(new[name] for name in updated)]]

    return call
'''


def write(
    program: Stateless,
    path: str,
    platforms: Sequence[str] = ("cpu", "cuda", "tpu"),
    shapes: Shapes = None,
) -> None:
    """Write a function as StableHLO.

    Unknown sizes stay open, of at least 1, with one name for sizes that must be equal: those that
    meet, unless one of them is known to be 1. Where gradients need it, they're at least those of
    windows, and where loops run over them, such that there's a step. Parameters are the values of
    all variables, and, as `random_key`, what each random stream is drawn with: uint32 (2,).

    Args:
        program: what to write.
        path: of the file.
        platforms: on which it runs: some of 'cpu', 'cuda', 'rocm', 'tpu'.
        shapes: for each input its shape, with None for sizes that stay open, or None for the
            placeholder's own; None: all placeholders' own.

    Raises:
        ArgumentError: there's no such platform, or a shape isn't one of an input.
        UnsupportedError, EngineError: a node can't be held, or not with open sizes; names it.
    """
    unknown = [x for x in platforms if x not in PLATFORMS]
    if isinstance(platforms, str) or unknown or not platforms:
        raise ArgumentError(
            f"export: platforms must be some of {', '.join(PLATFORMS)}, got {platforms!r}"
        )
    graph = program.pure().graph
    _refuse_callbacks(graph)
    sizes = _sizes(program, graph, shapes)
    data = in_64_bits(_serialised, program, graph, sizes, tuple(platforms))
    Path(path).write_bytes(data)


def _serialised(
    program: Stateless, graph: Graph, sizes: list[tuple[Any, ...]], platforms: tuple[str, ...]
) -> bytes:
    names = distinct([*program.names, *[KEY] * len(program.sources)])
    try:
        traced = SymbolicTraced(Pure(graph), "export")
    except EngineError as error:
        raise UnsupportedError(str(error)) from None
    _refuse_deciding(program, traced.graph)
    count = len(graph.outputs) - len(program.updated)
    drawn = names[len(program.names) :]

    def call(parameters: Mapping[str, Any], inputs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        results = traced.outputs([*inputs, *(parameters[name] for name in names)])
        new = {names[i]: results[count + at] for i, at in program.updated.items()}
        later = {name: lax.add(parameters[name], np.array([0, 1], np.uint32)) for name in drawn}
        return list(results[:count]), {**parameters, **new, **later}

    values = dict(zip(names, [*program.values, *program.keys], strict=True))
    like: Any = jax.ShapeDtypeStruct
    given = {name: like(x.shape, x.dtype) for name, x in values.items()}
    dtypes = [np.dtype(x.dtype) for x in program.inputs]
    constraints: set[str] = set()
    while True:
        inputs = [like(shape, dtype) for shape, dtype in zip(sizes, dtypes, strict=True)]
        try:
            exported = export.export(jax.jit(call), platforms=platforms)(given, inputs)
            break
        except UndecidedError as error:
            if set(error.constraints) <= constraints:
                sizes = _with_equal(sizes, error)
            else:
                constraints |= set(error.constraints)
                sizes = _constrained(sizes, sorted(constraints))
        except EngineError as error:
            raise UnsupportedError(f"export: StableHLO can't hold this: {error}") from None
    updated = [names[i] for i, _ in sorted(program.updated.items(), key=lambda pair: pair[1])]
    return bytes(exported.serialize()) + _archive(values, updated)


def _archive(values: Mapping[str, np.ndarray], updated: Sequence[str]) -> bytes:
    """The arrays as an archive; NumPy's format lacks bfloat16, whose bits are written."""
    file = io.BytesIO()
    arrays: dict[str, Any] = {
        FOLDER + name: x.view(np.uint16) if x.dtype.name == "bfloat16" else x
        for name, x in values.items()
    }
    np.savez(file, **arrays, updated=np.array(updated, str))
    return file.getvalue()


# What is refused ---------------------------------------------------------------------------------


def _refuse_callbacks(graph: Graph) -> None:
    for node in all_nodes(graph):
        if node.primitive.host_callback and not ENGINE.native(node):
            remedy = "write it with operations of K, or of JAX: kameleon.call"
            raise UnsupportedError(refusal("StableHLO", node, "a file has no Python", remedy))


def _refuse_deciding(program: Stateless, graph: Graph) -> None:
    for i in shape_inputs(graph, outer=False):
        leaves = [*program.inputs, *program.variables]
        raise UnsupportedError(
            f"export: the value of '{leaves[i].name}' decides shapes, and StableHLO knows these"
            " before: make it a constant, by feed_dict= of K.function, or read the size from the"
            " shape of another input"
        )


# Sizes -------------------------------------------------------------------------------------------


def _sizes(program: Stateless, graph: Graph, shapes: Shapes) -> list[tuple[Any, ...]]:
    """The shape of each input, with a symbol of JAX's for each group of equal open sizes."""
    inputs = graph.inputs[: len(program.inputs)]
    sizes = agreed_sizes(graph)
    roots = [[sizes.of(x, axis) for axis in range(len(x.shape))] for x in inputs]
    fixed = fixed_sizes(roots, shapes_of(program, shapes))
    open_ones = dict.fromkeys(
        root for each in roots for root in each if not isinstance(root, int) and root not in fixed
    )
    named = ", ".join(f"d{i}" for i in range(len(open_ones)))
    symbols = dict(zip(open_ones, export.symbolic_shape(named) if named else (), strict=True))
    known = {**symbols, **fixed}
    return [tuple(known.get(root, root) for root in each) for each in roots]


def _constrained(sizes: list[tuple[Any, ...]], constraints: Sequence[str]) -> list[tuple[Any, ...]]:
    """The same shapes, of which something is known."""
    scope = export.SymbolicScope(constraints)
    texts = [", ".join(map(str, shape)) for shape in sizes]
    return [tuple(export.symbolic_shape(text, scope=scope)) for text in texts]


def _with_equal(sizes: list[tuple[Any, ...]], error: UndecidedError) -> list[tuple[Any, ...]]:
    """Shapes in which one more symbol is replaced by what it must be equal to.

    Raises:
        UndecidedError: there's no such symbol.
    """
    symbols = {d for shape in sizes for d in shape if not isinstance(d, int)}
    for group in error.sizes:
        first, *others = dict.fromkeys(group)
        for other in others:
            old, new = (other, first) if other in symbols else (first, other)
            if old in symbols and str(old) not in re.findall(r"\w+", str(new)):
                return [tuple(new if d == old else d for d in shape) for shape in sizes]
    raise error
