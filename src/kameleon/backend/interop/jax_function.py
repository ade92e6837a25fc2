"""Pure programs called with arrays and tracers of JAX: see `jax.to_jax`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.experimental import sparse

from ...engines._followed import is_tracer
from ...engines.jax.arrays import in_64_bits
from ...errors import ArgumentError, DTypeError, EngineError, FeedError
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import substitute
from ...graph.ir.types import DType, as_dtype, show_shape
from ...graph.primitives.elementwise import constant
from ...runtime.engines import embedded
from ...runtime.feeds import feed_of
from .._nests import Outputs
from ..sparse import feed_parts
from ..sparse_tensor import SparseTensor
from .jax_gradients import Program
from .pure import KEY_WORDS, Pure, Stateless

Parameters = dict[str, Any]


# Whether code of 64 bits may be a part of what is traced while JAX has 32; so it is since JAX 0.8.
MIXES = hasattr(jax, "enable_x64")


class Runner:
    """A function with a program for each learning phase and for numbers that decide shapes."""

    def __init__(self, program: Stateless):
        self._program = program
        self._name = f"to_jax({program.name})"
        self._feeds = program.function.feeds
        self._outer = outer = program.outer
        # From a list of outputs to the nest in which the function gives them.
        self._rebuild = Outputs(outer.outputs, self._name, _as_bcoo).rebuild if outer else list
        self._keys = program.keys
        self._made: dict[Any, Program] = {}
        if program.phase is None:
            self._code(None, {})  # tells now what can't be traced

    @property
    def parameters(self) -> Parameters:
        """The present values of variables."""
        pairs = zip(self._program.names, self._program.values, strict=True)
        return {name: jax.numpy.asarray(value) for name, value in pairs}

    def run(
        self, parameters: Mapping[str, Any], inputs: Sequence[Any] = (), key: Any = None
    ) -> tuple[Any, Parameters]:
        """The outputs, and the parameters behind the call: see `jax.to_jax`."""
        program = self._program
        values, phase = self._values(inputs)
        state = self._state(parameters)
        code = self._code(phase, {})
        chosen = [i for i in code.choosing if i < len(values) and not is_tracer(values[i])]
        if code.deciding or chosen:
            code = self._code(phase, self._fixed(values, [*code.deciding, *chosen]))
        self._refuse_laid_out([*values, *state])
        given = [*values, *state, *self._drawn(key)]
        if code.is_wide and not MIXES and any(map(is_tracer, given)) and _wide_is_off():
            raise EngineError(
                f"{self._name} computes in 64 bits, which JAX before 0.8 can't trace while they're"
                " switched off: jax.config.update('jax_enable_x64', True)"
            )
        types = [*program.inputs, *program.variables, *program.sources]
        arguments = [in_dtype(x, node.dtype) for x, node in zip(given, types, strict=True)]
        found = code(*arguments)
        results = [in_dtype(y, jax.dtypes.canonicalize_dtype(y.dtype)) for y in found]
        count = len(results) - len(program.updated)
        new = {program.names[i]: results[count + at] for i, at in program.updated.items()}
        return self._rebuild(results[:count]), {**parameters, **new}

    # What is given ------------------------------------------------------------------------------

    def _values(self, inputs: Sequence[Any]) -> tuple[list[Any], bool | None]:
        """Arrays for the inputs, and the learning phase, if it's a number."""
        if not isinstance(inputs, list | tuple):
            inputs = [inputs]
        given = self._program.function.completed(self._apart(inputs))
        triples = zip(self._program.inputs, self._feeds, given, strict=True)
        values = [self._fed(x, feed, value) for x, feed, value in triples]
        place = self._program.phase
        if place is None or is_tracer(values[place]):
            return values, None
        return values, bool(values[place])

    def _apart(self, inputs: Sequence[Any]) -> list[Any]:
        """A value for each part of sparse inputs, and for each other input."""
        if self._outer is None:
            return list(inputs)
        outer = self._outer.entries
        if len(inputs) != len(outer.sparse):
            return list(outer.values(inputs))
        values: list[Any] = []
        for x, value in zip(outer.sparse, inputs, strict=True):
            if x is None:
                values.append(value)
            elif isinstance(value, sparse.BCOO):
                values += [value.indices, value.data, np.array(value.shape, np.int64)]
            elif is_tracer(value):
                raise FeedError(
                    f"{self._name}: '{x.name}' is sparse, and of a dense tracer nobody knows where"
                    " it's 0: give a BCOO of jax.experimental.sparse"
                )
            else:
                values += feed_parts(value, x)
        return values

    def _fed(self, x: Node, feed: Callable[..., Any], value: Any) -> Any:
        """A value for a tensor: an array of JAX, if it is one; else a checked one of NumPy."""
        return self._checked(x, value) if isinstance(value, jax.Array) else feed(value, embedded())

    def _checked(self, x: Node, value: Any) -> Any:
        try:
            given = as_dtype(value.dtype)
        except DTypeError:
            given = None
        if given is None or _width(given) > _width(x.dtype):
            raise FeedError(
                f"{self._name}: '{x.name}' is {x.type}, and an array of {value.dtype} would be"
                " changed; cast it"
            )
        if not x.type.accepts(value.shape):
            raise FeedError(
                f"{self._name}: '{x.name}' has shape {x.shape}, the value given for it"
                f" {value.shape}"
            )
        return value

    def _state(self, parameters: Mapping[str, Any]) -> list[Any]:
        """The values of variables."""
        names = self._program.names
        if not isinstance(parameters, Mapping) or set(parameters) != set(names):
            kind = type(parameters).__name__
            came = sorted(map(str, parameters)) if isinstance(parameters, Mapping) else f"a {kind}"
            raise FeedError(
                f"{self._name}: parameters must be a dict of what to_jax gave, {sorted(names)},"
                f" got {came}"
            )
        pairs = zip(self._program.variables, names, strict=True)
        return [self._fed(v, feed_of(v, self._name), parameters[name]) for v, name in pairs]

    def _refuse_laid_out(self, values: Sequence[Any]) -> None:
        """Refuse types that say where an array lies: those of results would have to, too."""
        for x, value in zip((*self._program.inputs, *self._program.variables), values, strict=True):
            sharding = jax.typeof(value).sharding if isinstance(value, jax.Array) else None
            if sharding is not None and any(sharding.spec):
                raise FeedError(
                    f"{self._name}: '{x.name}' is laid out over explicit axes of a mesh, where what"
                    " is computed would have to say how it lies: make the mesh with axis_types="
                    "(jax.sharding.AxisType.Auto, …), or put what calls run into"
                    " jax.sharding.auto_axes"
                )

    def _drawn(self, key: Any) -> list[Any]:
        """What each random stream is drawn with, by a number of a call or by a key of JAX's."""
        if not self._keys:
            return []
        if key is None:
            raise ArgumentError(
                f"{self._name} draws random numbers: run(parameters, inputs, key), where key is an"
                " int, the number of the call, or a key such as jax.random.key(0)"
            )
        dtype: Any = np.dtype(int) if isinstance(key, int) else getattr(key, "dtype", None)
        shape, is_of = np.shape(key), jax.numpy.issubdtype
        if dtype is not None and shape == () and is_of(dtype, np.integer):
            return self._counted(key)
        typed = dtype is not None and shape == () and is_of(dtype, jax.dtypes.prng_key)
        if typed or (dtype == np.uint32 and len(shape) == 1):
            return list(jax.random.bits(key, (len(self._keys), KEY_WORDS), np.uint32))
        raise ArgumentError(
            f"{self._name}: key must be an int, or a key of jax.random (jax.vmap takes many),"
            f" not {key!r}"
        )

    def _counted(self, number: Any) -> list[Any]:
        """The keys of the function's call after so many others."""
        if isinstance(number, int):
            number %= 2**32
        count = lax.convert_element_type(number, np.uint32)
        ahead = lax.pad(lax.reshape(count, (1,)), np.uint32(0), [(1, 0, 0)])
        return [lax.add(ahead, key) for key in self._keys]

    # Programs -----------------------------------------------------------------------------------

    def _fixed(self, values: Sequence[Any], deciding: Sequence[int]) -> dict[int, np.ndarray]:
        """The values of inputs that decide shapes."""
        for i in deciding:
            if is_tracer(values[i]):
                raise FeedError(
                    f"{self._name}: '{self._program.inputs[i].name}' decides shapes, so it must be"
                    " a number, not a tracer: name it in static_argnums of jax.jit, or leave it out"
                    " of what is transformed"
                )
        return {i: np.asarray(values[i]) for i in deciding}

    def _code(self, phase: bool | None, fixed: Mapping[int, np.ndarray]) -> Program:
        """The program for a learning phase and for numbers that decide shapes."""
        numbers = tuple((i, value.shape, value.tobytes()) for i, value in fixed.items())
        found = self._made.get((phase, numbers))
        if found is None:
            made = Program(self._specialised(phase, fixed), self._name)
            found = self._made.setdefault((phase, numbers), made)
        return found

    def _specialised(self, phase: bool | None, fixed: Mapping[int, np.ndarray]) -> Pure:
        pure = self._program.pure(phase)
        if not fixed:
            return pure
        inputs = list(pure.graph.inputs)
        known = {inputs[i]: constant(value, inputs[i].dtype) for i, value in fixed.items()}
        outputs = substitute(pure.graph.outputs, known)
        return Pure(Graph([input_node(x.type) if x in known else x for x in inputs], outputs))


def _as_bcoo(x: SparseTensor, parts: Sequence[Any]) -> Any:
    """The value of a sparse tensor, given those of its parts."""
    indices, elements, shape = parts
    sizes: Any = x.shape
    if None in sizes:
        if is_tracer(shape):
            raise EngineError(
                f"to_jax: the shape {show_shape(sizes)} of '{x.name}' isn't known while JAX"
                " traces; make that output dense: K.to_dense(x)"
            )
        sizes = tuple(map(int, shape))
    return sparse.BCOO((elements, indices), shape=sizes)


def _wide_is_off() -> bool:
    return jax.dtypes.canonicalize_dtype(np.float64) != np.float64


def _width(dtype: DType) -> int:
    """Bools are among integers, and these among floats."""
    return 2 * dtype.is_float + dtype.is_integer


def in_dtype(x: Any, dtype: Any) -> Any:
    """An array of a dtype, also of one of 64 bits."""
    return in_64_bits(lax.convert_element_type, x, np.dtype(dtype))
