"""The ONNX Runtime engine: graphs become ONNX models, run by inference sessions."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from ...errors import FOREIGN, EngineError
from ...graph.analysis.agreement import equalities, sizes_of
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.text import lines_by_node
from ...graph.ir.types import DTYPES, TensorType
from ...graph.passes.storage import BITS
from .._base import Executable, Timing
from .._flags import Flag, checked, flagged
from .._kernels.arrays import mismatch
from .._lowering import Rule
from .._profiles import Event, mark_of, timings
from ..numpy.engine import NumpyEngine
from .dtypes import CARRIERS
from .lowering import OnnxLowering
from .model import ONNX_TYPES, Shared, Writer, declared, operators
from .rules import NEEDS, RULES, WHERE

# Where sizes are unknown, planning how values share memory takes time that grows with the square
# of the number of operators: graphs with more operators do without.
MANY = 500
_ARRAY = np.ndarray
# Before 1.32 the operator that products, scales and transpositions are fused to holds its scale
# as float32, also in products of float64, and leaves the results of empty products unwritten.
# 1.32's optimiser of products and transpositions ends the process where products are of float16.
_FATAL_FUSION = "MatmulTransposeFusion"
_FAULTY = ["MatMulScaleFusion", _FATAL_FUSION]
_FATAL = 4  # the least severity that is logged: errors are raised, too
# A size that's known, or that of an axis of the input of that number.
Size = int | tuple[int, int]
# What ONNX Runtime calls the types of its own values.
_NAMES = {"float32": "float", "float64": "double"}
_TENSORS = {f"tensor({_NAMES.get(name, name)})": DTYPES[name] for name in ONNX_TYPES}


class _Lowering(OnnxLowering):
    rules: Mapping[str, Rule] = RULES


def providers() -> list[str]:
    """What runs the operators: a GPU where there is one, and the CPU."""
    there = onnxruntime.get_available_providers()
    return [p for p in ("CUDAExecutionProvider", "CPUExecutionProvider") if p in there]


def faulty_optimizers(version: str) -> list[str]:
    """The optimisers of a version of ONNX Runtime that change what a graph means, or crash."""
    major, minor = version.split(".")[:2]
    return _FAULTY if (int(major), int(minor)) < (1, 32) else [_FATAL_FUSION]


def _options(operators: int, static: bool) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit():
        options.intra_op_num_threads = int(threads)
    options.enable_mem_reuse = static or operators <= MANY
    return options


class OnnxExecutable(Executable):
    """A session and its model; the names of inputs and outputs; pairs of sizes that must be equal;
    what its writer `shared`; and the checks whose failures the last output tells, `flags`."""

    def __init__(
        self,
        session: Callable[..., Any],
        model: Any,
        inputs: list[str],
        outputs: list[str],
        equal: Sequence[tuple[Size, Size]],
        shared: Shared,
        flags: Sequence[Flag],
    ):
        self._make_session, self._inputs, self._outputs = session, inputs, outputs
        self._model, self._large, self._made_for = model, shared.large, shared.made_for
        self._equal, self._flags = equal, flags
        self._options = onnxruntime.RunOptions()  # making these takes as long as a small sum
        self._options.log_severity_level = _FATAL
        self._open()

    def _open(self) -> None:
        session = self._make_session()
        # The session's public `run` would look at each input again, in Python.
        self._session = getattr(session, "_sess", session)
        self._run = self._session.run

    def leave(self) -> None:
        """In a forked child: leave the parent's session alone, and make one at the next call.

        Another thread may have held its locks, and its own threads are gone: freeing it would
        wait for them for ever, also when the process ends.
        """
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))
        self._run = self._first_run

    def _first_run(self, *arguments: Any) -> Any:
        self._open()
        return self._run(*arguments)

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        if self._equal:  # `shape` of an OrtValue is a method
            arguments = [x if isinstance(x, _ARRAY) else x.numpy() for x in arguments]
        return self.between_arrays(*arguments)

    def between_arrays(self, *arrays: Any) -> list[Any]:
        """See `Executable.fast_path`. Sizes are compared before anything runs."""
        for size, other in self._equal:
            if _read(size, arrays) != _read(other, arrays):
                mismatch(_read(size, arrays), _read(other, arrays))
        feed = dict(zip(self._inputs, arrays))  # noqa: B905 (`strict` takes time)
        if self._large:
            feed |= self._large
        results: list[Any] = self._run(self._outputs, feed, self._options)
        return checked(results, self._flags) if self._flags else results

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`."""
        return lines_by_node(
            (node, f"{', '.join(line.output)} = {line.op_type}({', '.join(line.input)})")
            for line in operators(self._model.graph)
            if (node := self._made_for.get(line.output[0])) is not None
        )

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        arrays = [x if isinstance(x, _ARRAY) else x.numpy() for x in arguments]
        feed = dict(zip(self._inputs, arrays, strict=True)) | self._large
        model = type(self._model)()
        model.CopyFrom(self._model)
        _mark(model.graph, self._made_for)
        while True:
            with tempfile.TemporaryDirectory() as folder:
                session = self._make_session(model=model, profile=f"{folder}/profile")
                for _ in range(2):
                    session.run(self._outputs, feed, self._options)
                profile = json.loads(Path(session.end_profiling()).read_text("utf-8"))
            yield timings(_events(profile), self._made_for.values())

    @property
    def source(self) -> str:
        """The model in ONNX's own notation."""
        from onnx import printer

        text: str = printer.to_text(self._model)
        return text


class _Nothing(Executable):
    """A graph without outputs, which ONNX Runtime doesn't take."""

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        return []


class OnnxRuntimeEngine(NumpyEngine):
    """Builds ONNX models; unknown sizes are symbolic: one model does for all sizes.

    Arrays of this engine are NumPy's; users may also bring OrtValues. On a CPU there are hardly any
    kernels for what NumPy emulates.
    """

    name = "onnxruntime"
    title = "ONNX Runtime"
    library = "onnxruntime"
    rules: Mapping[str, Rule] = RULES
    where = WHERE
    half = frozenset()
    carriers = CARRIERS
    nonempty_dims = NEEDS
    empty_loops = False
    deepest = 20  # a file of protobuf nests 100 messages, of which each takes three or six
    bits = BITS
    declined: Mapping[str, str] = dict.fromkeys(
        ("ctc_greedy", "ctc_beam_search"),
        "there is no such operator, and a session can't call back into Python",
    )

    def __init__(self) -> None:
        self._executables: weakref.WeakSet[OnnxExecutable] = weakref.WeakSet()

    def compile(self, graph: Graph) -> Executable:
        """See `Engine.compile`."""
        if not graph.outputs:
            return _Nothing()
        sizes, number = sizes_of(graph), {x: i for i, x in enumerate(graph.inputs)}
        equal = [
            ((number[x], axis), base if isinstance(base, int) else (number[base[0]], base[1]))
            for (x, axis), base in equalities(graph, sizes)
        ]
        graph, flags = flagged(graph, sizes)
        writer = Writer()
        names = [writer.shared.name() for _ in graph.inputs]
        outputs = writer.owned(_Lowering(graph, names, writer).run())
        labels: dict[Any, str] = {}  # so that memory can be planned
        pairs = zip(names, graph.inputs, strict=True)
        model = writer.model([declared(name, x, sizes, labels) for name, x in pairs], outputs)
        static = all(x.type.is_static for x in graph.inputs)
        session = partial(_session, writer.shared.lines, static, model=model)
        made = OnnxExecutable(session, model, names, outputs, equal, writer.shared, flags)
        if all(x.dtype != "uint64" for x in graph.outputs):  # see `to_numpy`
            made.fast_path = made.between_arrays
        self._executables.add(made)
        return made

    def after_fork(self) -> None:
        """See `Engine.after_fork`."""
        for executable in self._executables:
            executable.leave()

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """The array itself, or a private copy."""
        found = super().to_numpy(array, copy)
        # ONNX Runtime's uint64 is another C type of the same size, which some libraries don't take.
        return found.view(np.uint64) if found.dtype.char == "Q" else found

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine.type_of`."""
        if isinstance(value, np.ndarray):
            return super().type_of(value)
        if not isinstance(value, onnxruntime.OrtValue) or value.data_type() not in _TENSORS:
            return None
        return TensorType(tuple(value.shape()), _TENSORS[value.data_type()])

    def devices(self) -> Sequence[str]:
        """See `Engine.devices`."""
        return ["gpu" if "CUDA" in p else "cpu" for p in providers()]


def _read(size: Size, arrays: Sequence[Any]) -> int:
    return size if isinstance(size, int) else int(arrays[size[0]].shape[size[1]])


def _mark(graph: Any, made_for: Mapping[str, Node | None]) -> None:
    """Give operators names that tell whose they are."""
    for line in operators(graph):
        node = made_for.get(line.output[0])
        line.name = "" if node is None else f"{mark_of(node)}.{line.output[0]}"


def _events(profile: Any) -> Iterator[Event]:
    """What operators did in the last run that a profile tells of."""
    end = "_kernel_time"
    since = max(each["ts"] for each in profile if each["name"] == "model_run")
    for each in profile:
        name, start = each["name"], each["ts"] / 1e6
        if each["cat"] == "Node" and name.endswith(end) and each["ts"] >= since:
            name = f"{each['args']['op_name']} {name.removesuffix(end)}"
            yield Event(each["tid"], name, start, each["dur"] / 1e6)


def _session(operators: int, static: bool, model: Any, profile: str = "") -> Any:
    options = _options(operators, static)
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(),
            options,
            providers=providers(),
            disabled_optimizers=faulty_optimizers(onnxruntime.__version__),
        )
    except FOREIGN:
        raise
    except Exception as error:
        raise EngineError(f"ONNX Runtime doesn't take this graph: {error}") from error


engine = OnnxRuntimeEngine()
