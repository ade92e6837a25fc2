"""The graph that users have of a file: tensors by name, variables, signatures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kameleon import backend as K
from kameleon._utils.suggestions import suggestion
from kameleon._utils.tracebacks import boundary
from kameleon.errors import ArgumentError, FileFormatError, GraphError, UnsupportedError
from kameleon.graph.ir.node import Tensor, Variable

from ..dtypes import OF_K, REFERENCE, name_of
from ..failures import is_failure
from ..graph import Operation, Value
from ..inner import snapshot
from ..lowering import Lowering, NotCompiledError
from ..operations.state import reference_of
from ..operations.values import NeedsValueError, UnknownSizeError
from ..protocol.messages import message
from ..running.bodies import ApartError, Values, lower
from ..running.expansion import PLACEHOLDERS, Expansion, is_call
from ..running.needed import DIRECTING, Needed
from ..running.session import Session
from ..running.structure import structure
from ..tensors import tensor
from ..variables import Reference
from .apart import lowered
from .built import Shapes, built
from .found import Found

VARIABLES = frozenset({"VariableV2", "Variable", "VarHandleOp"})
HOLES = PLACEHOLDERS - {"PlaceholderWithDefault"}  # which is its default here
NO_OUTPUTS = frozenset({"Const", *PLACEHOLDERS, *VARIABLES, *DIRECTING})
# Where a SavedModel names the operation that fills its tables: collections, and a signature.
STARTING = ("saved_model_main_op", "legacy_init_op")
STARTED = "__saved_model_init_op"
NOT_BUILT = (ApartError, NotCompiledError, NeedsValueError, UnknownSizeError)
ADVICE = "say the sizes of its placeholders: load_graph(path, shapes={'x': (8, 224, 224, 3)})"


@dataclass(frozen=True)
class Signature:
    """What a SavedModel says that it's used for.

    Attributes:
        inputs: by what users call them, the tensors' names.
        outputs: likewise.
        method: what it does, such as 'tensorflow/serving/predict'.
    """

    inputs: dict[str, str]
    outputs: dict[str, str]
    method: str


class Graph:
    """A graph of a file, made by `kameleon.load_graph`.

    `graph[name]` is a tensor of K's: 'conv1/Relu:0', or the name of the operation for its first
    output; of a variable, the variable. Tensors are made when they're asked for; an assignment that
    one waits for, by control edges, isn't a part of it, nor are assertions: see `updates`.

    Attributes:
        inputs: names of the placeholders' tensors, but of those with defaults, which they have.
        outputs: names of the tensors that no operation takes.
        signatures: of a SavedModel, by name.
        variables: by name, with the values of the checkpoint.
        trainable_variables: those that the program trained; all of floats, where the file doesn't
            say.
    """

    def __init__(self, found: Found, shapes: Shapes) -> None:
        self._path, self._values = found.path, Values()
        self._has_values = found.checkpoint is not None
        with self._telling(FileFormatError):
            self._graph, self._lacking = built(found.graph, shapes)
            self._operations = dict(self._graph.by_name)
            self._session = Session(self._graph)
            self._lowering = Lowering(self._session.store)
            self._lowering.lowered = lowered
            if found.meta is not None:
                self._restore(found)
        self._expansion: Expansion | None = None
        self._calls = any(map(is_call, self._graph.operations))
        named = {} if found.meta is None else found.meta.signature_def
        self.signatures = {name: _signature(named[name]) for name in sorted({*named} - {STARTED})}
        operations = self._graph.operations
        self.inputs = [f"{each.name}:0" for each in operations if each.type in HOLES]
        self.outputs = [name for each in operations for name in _untaken(each)]
        self.variables = dict(self._variables())
        self.trainable_variables = self._trained(found.meta)

    def __repr__(self) -> str:
        return f"<kameleon.load_graph({self._path!r}): {len(self._operations)} operations>"

    def __contains__(self, name: str) -> bool:
        operation, _, index = name.partition(":")
        found = self._operations.get(operation)
        return found is not None and (index or "0") in map(str, range(len(found.types)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    @contextmanager
    def _telling(self, kind: type[Exception], missing: str = "") -> Iterator[None]:
        """Errors of TensorFlow's kind are told in one line, by another class."""
        try:
            yield
        except Exception as error:
            if not is_failure(error):
                raise
            message = str(error).replace("\n\t [[{{node ", " (in ").replace("}}]]", ")")
            raise kind(f"{self._path}: {message}{missing}") from error

    # Tensors ------------------------------------------------------------------------------------

    @boundary
    def __getitem__(self, name: str) -> Tensor:
        """The tensor of that name.

        Raises:
            ArgumentError: (a ValueError) there's none.
            UnsupportedError: (a NotImplementedError) it needs operations that aren't in the table.
            GraphError: it holds no numbers; or what it's made of can't be built for open sizes.
        """
        return self._tensors([name])[0]

    @boundary
    def tensors(self, names: Sequence[str]) -> list[Tensor]:
        """Several tensors; a loop or branch that they share is made once.

        Raises:
            ArgumentError, UnsupportedError, GraphError: as `graph[name]`.
        """
        return self._tensors(names)

    @boundary
    def updates(self, name: str) -> list[tuple[Variable, Tensor]]:
        """What an operation assigns, such as an optimizer's step: for K.function's updates.

        Args:
            name: of the operation.

        Returns:
            Pairs of a variable and its new value.

        Raises:
            ArgumentError, UnsupportedError, GraphError: as `graph[name]`.
        """
        operation = self._operation(name)
        assigned = self._lowered([self._end(operation)], [])[1]
        cells = self._session.store.variables
        return [(cells.cell(at), value) for at, value in assigned.items()]

    def _tensors(self, names: Sequence[str]) -> list[Tensor]:
        fetches = [self._value(name) for name in names]
        given_values = self._lowered([source for source, _ in fetches], fetches)[0]
        found = []
        for name, value, given in zip(names, fetches, given_values, strict=True):
            kind = name_of(value[0].types[value[1]])
            if kind not in OF_K and not isinstance(given, Tensor):
                raise GraphError(f"{name}: a tensor can't hold values of type {kind}")
            found.append(tensor(given))
        return found

    def _operation(self, name: str) -> Operation:
        found = self._operations.get(name)
        if found is not None:
            return found
        if name in self._lacking:
            types = ", ".join(sorted(self._lacking[name]))
            raise UnsupportedError(
                f"{name} of {self._path} needs operations whose types aren't in the table"
                f" (kameleon.compat.tensorflow.operations): {types}"
            )
        meant = suggestion(name, self._operations)
        raise ArgumentError(f"{self._path}: no operation is called {name!r}{meant}")

    def _value(self, name: str) -> Value:
        source, _, index = name.partition(":")
        operation = self._operation(source)
        at = int(index) if index.isdigit() else 0
        if at >= len(operation.types) or (index and not index.isdigit()):
            count = len(operation.types)
            raise ArgumentError(f"{name}: outputs of {source} ({operation.type}): {count}")
        return self._expanded().value((operation, at)) if self._calls else (operation, at)

    # Functions in the place of what calls them --------------------------------------------------

    def _expanded(self) -> Expansion:
        if self._expansion is None:
            operations = self._graph.operations
            holes = [(each, 0) for each in operations if each.type in PLACEHOLDERS]
            with self._telling(GraphError):
                self._expansion = Expansion(operations, holes)
        return self._expansion

    def _end(self, operation: Operation) -> Operation:
        return self._expanded().end(operation) if self._calls else operation

    # Lowering -----------------------------------------------------------------------------------

    def _lowered(
        self, roots: list[Operation], fetches: list[Value]
    ) -> tuple[list[Any], dict[Reference, Tensor]]:
        """The values of what is fetched, and what is assigned for the roots.

        What was made is kept for what is asked for next, unless something was assigned: who asks
        for something else doesn't ask for that.
        """
        lowering, values = self._lowering, Values()
        self._add_holes(roots)
        values.update(self._values)
        restore = snapshot(lowering)
        # What to add where a variable may have no value.
        missing = "" if self._has_values else "; no checkpoint was beside the graph"
        with self._telling(GraphError, missing):
            try:
                needed = Needed(values, roots, None, _is_built)
                needed.order()
                structure(needed, fetches, _is_built, frozenset(), {})
                elements = [each for each in needed.elements if not needed.is_fed(each)]
                lower(lowering, values, elements)
                found = [lowering.value(values.find(value)) for value in fetches]
                assigned = dict(lowering.assigned)
            except BaseException as error:
                restore()
                if isinstance(error, NOT_BUILT):
                    source = getattr(error, "operation", None) or roots[0]
                    message = f"{source.name} ({source.type}) can't be built with open sizes"
                    raise GraphError(f"{message}: {error}; {ADVICE}") from error
                raise
        if assigned:
            restore()
        else:
            self._values.update(values)
        return found, assigned

    def _add_holes(self, roots: list[Operation]) -> None:
        """Make the placeholders that are needed and aren't there yet."""
        needed = Needed(self._values, roots, None, _is_built)
        needed.order()
        for each in needed.elements:
            if isinstance(each, Operation) and not needed.is_fed(each):
                self._add_hole(each)

    def _add_hole(self, operation: Operation) -> None:
        """Make the tensor of a placeholder."""
        if operation.type not in HOLES:
            return
        kind, shape = name_of(operation.types[0]), operation.shapes[0]
        if kind not in OF_K:
            raise GraphError(f"{operation.name}: no placeholder can hold values of type {kind}")
        if shape is None:
            raise GraphError(f"{operation.name} has an unknown number of axes; {ADVICE}")
        sizes = tuple(None if size < 0 else size for size in shape)
        self._values[operation, 0] = K.placeholder(sizes, dtype=kind, name=operation.name)

    # Variables ----------------------------------------------------------------------------------

    def _trained(self, meta: Any) -> list[Variable]:
        collections = {} if meta is None else meta.collection_def
        if "trainable_variables" not in collections:
            return [each for each in self.variables.values() if each.dtype.startswith("float")]
        definitions = collections["trainable_variables"].bytes_list.value
        names = [message("VariableDef").FromString(data).variable_name for data in definitions]
        keys = [name.partition(":")[0] for name in names]
        return [self.variables[key] for key in keys if key in self.variables]

    def _restore(self, found: Found) -> None:
        """Read the checkpoint, by the graph's own operations, and fill its tables."""
        saver = found.meta.saver_def
        name = saver.restore_op_name.removeprefix("^").partition(":")[0]
        if name in self._operations and found.checkpoint is not None:
            source, _, index = saver.filename_tensor_name.partition(":")
            feeds = {(self._operations[source], int(index or 0)): found.checkpoint}
            self._session.run(feeds, [], [self._operations[name]])
        self._start(found.meta, found.assets)

    def _start(self, meta: Any, assets: str) -> None:
        """Fill the tables, from files that lie beside."""
        names = [name for key in STARTING for name in meta.collection_def[key].node_list.value]
        if STARTED in meta.signature_def:
            names.append(meta.signature_def[STARTED].outputs[STARTED].name)
        operations = [name.removeprefix("^").partition(":")[0] for name in names]
        feeds = {
            (self._operations[each.tensor_info.name.partition(":")[0]], 0): os.path.join(
                assets, each.filename
            )
            for each in meta.asset_file_def
        }
        here = [self._operations[name] for name in operations if name in self._operations]
        if here:
            self._session.run(feeds, [], here)

    def _variables(self) -> Iterator[tuple[str, Variable]]:
        cells = self._session.store.variables
        for each in self._graph.operations:
            if each.type in VARIABLES:
                reference = reference_of(self._session.store, each)
                if reference in cells and isinstance(cells.cell(reference), Variable):
                    yield each.name, cells.cell(reference)


def _is_built(operation: Operation) -> bool:
    """Whether an operation becomes a part of K's graph: each does."""
    return True


def _signature(proto: Any) -> Signature:
    inputs, outputs = (
        {key: infos[key].name for key in sorted(infos)} for infos in (proto.inputs, proto.outputs)
    )
    return Signature(inputs, outputs, proto.method_name)


def _untaken(operation: Operation) -> Iterator[str]:
    """The outputs of an operation, if they are numbers that nothing takes."""
    if operation.type in NO_OUTPUTS or any(operation.consumers):
        return
    draws = operation.definition.is_stateful and not is_call(operation)
    if draws or any(kind > REFERENCE for kind in operation.types):
        return
    for index, kind in enumerate(operation.types):
        if name_of(kind) in OF_K:
            yield f"{operation.name}:{index}"
