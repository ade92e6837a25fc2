"""Graphs of TensorFlow 1: the names, collections and variables of what's made inside of one.

All tensors are nodes of one graph; a `Graph` here is a name space. Programs that make a graph of
their own get names and collections that are theirs alone.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from .._scopes import Scope
from ..backend import surface as K
from ..errors import ArgumentError, GraphError
from ..ir.context import context, unique_name
from ..ir.node import Node, Update, Variable, walk
from ..runtime.workspace import workspace
from .conventions import checked, checking, checks_in_force, unchecked
from .operations import Deferred, Operation, operation_of
from .overrides import overriding


class GraphKeys:
    """The names of the standard collections."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


def is_local(variable: Variable) -> bool:
    """Whether a variable isn't saved and is initialised apart, as those of metrics are."""
    return GraphKeys.LOCAL_VARIABLES in variable.__dict__.get("collections", ())


# The collections that are read off the variables there are.
OF_VARIABLES: dict[str, Any] = {
    GraphKeys.GLOBAL_VARIABLES: lambda v: not is_local(v),
    GraphKeys.LOCAL_VARIABLES: is_local,
    GraphKeys.TRAINABLE_VARIABLES: lambda v: not is_local(v) and v.trainable,
}


class Graph:
    """What a program knows of a graph: names, collections, variables.

    >>> graph = Graph()
    >>> with graph.as_default():
    ...     x = K.placeholder((2,), name="x")
    >>> graph.get_tensor_by_name("x:0") is x
    True
    """

    building_function = False
    finalized = False
    _c_graph: Any = None  # of TensorFlow's own functions
    seed: int | None = None
    version = 0

    def __init__(self) -> None:
        self.names: dict[str, int] | None = {}
        self.collections: dict[Any, list[Any]] = {}
        self.store: dict[str, Any] = {}  # of get_variable
        self.held: list[Variable] = []
        self.defaults: dict[tuple[str, str], int] = {}  # how often a default name was taken
        self.outermost: Any = None  # the variable scope around all others
        self.named: weakref.WeakValueDictionary[str, Node] = weakref.WeakValueDictionary()
        self.operations: dict[str, Operation] = {}
        self.gradients: dict[str, str] = {}  # by type of operation, whose gradient it gets

    def as_default(self) -> Scope[Graph]:
        """A block in which what's made belongs to this graph."""
        return context.within("graph", lambda outer: self, gives=True)

    # Names ----------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name that nothing in the graph has."""
        with self.as_default():
            return unique_name(context.scope + name)

    def get_name_scope(self) -> str:
        """The scope of names in force, without the last slash."""
        return context.scope.rstrip("/")

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor that a name such as 'x:0' names."""
        found = self.as_graph_element(name)
        if isinstance(found, Operation):
            raise ArgumentError(f"{name!r} names an operation; '{name}:0' would be its tensor")
        return found

    def get_operation_by_name(self, name: str) -> Any:
        """The operation that a name names."""
        return self.as_graph_element(name, allow_tensor=False)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The tensor or operation that an object is, or that a string names."""
        if not isinstance(obj, str):
            return getattr(obj, "_as_graph_element", lambda: obj)()
        plain, colon, index = obj.partition(":")
        if allow_operation and not colon and plain in self.operations:
            return self.operations[plain]
        tensor = self._tensor(plain)
        if allow_tensor and colon and tensor is not None and (index or "0") == "0":
            return tensor
        if allow_operation and not colon and tensor is not None:
            return operation_of(tensor)
        raise KeyError(f"The name {obj!r} refers to a tensor or operation which does not exist")

    def _tensor(self, plain: str) -> Node | None:
        known = self.named.get(plain)
        if known is None:
            # What Keras names isn't told to the graph: look through all tensors that are held, and
            # take the newest; others are from before `tf.reset_default_graph`.
            nodes = (x for x in gc.get_objects() if issubclass(type(x), Node))
            held: Iterator[Any] = (x for x in nodes if x._name == plain and self._has(x))
            known = max(held, key=lambda x: x.serial, default=None)
            if known is not None:
                self.named[plain] = known
        return known

    def _has(self, node: Node) -> bool:
        """Whether a tensor was made in a block of this graph, or, if it is the session's own,
        outside of all blocks.
        """
        return node.graph_of is self or (self.names is None and node.graph_of is None)

    def _nodes(self) -> list[Node]:
        """All tensors that can be reached from what the graph holds."""
        roots = [*self.named.values(), *self.known_variables()]
        roots += [x for items in self.collections.values() for x in items if isinstance(x, Node)]
        for operation in self.operations.values():
            roots += operation.needed
        return walk(roots)

    def get_operations(self) -> list[Operation]:
        """The operations that the graph's named tensors, variables and collections need."""
        return [operation_of(node) for node in self._nodes()]

    def as_graph_def(self, *args: Any, **options: Any) -> GraphDef:
        """The names and kinds of the operations; there's no protocol buffer behind it."""
        return GraphDef(self.get_operations())

    # Collections ----------------------------------------------------------------------------

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Add a value to a collection."""
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add a value to several collections."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names or ()):
            self.add_to_collection(name, value)

    def known_variables(self) -> list[Variable]:
        """The variables that were made in the graph and are still held, in order."""
        return sorted(filter(self._has, workspace.variables), key=lambda v: v.serial)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself."""
        return self.collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """The values of a collection; with `scope` those whose name begins so."""
        known = self.collections.get(name, [])
        if name in OF_VARIABLES:
            known = [v for v in self.known_variables() if OF_VARIABLES[name](v)]
        if not scope:
            return list(known)
        return [x for x in known if re.match(scope, getattr(x, "name", ""))]

    def get_all_collection_keys(self) -> list[Any]:
        """The names of the collections that there are."""
        return list(self.collections)

    def clear_collection(self, name: Any) -> None:
        """Empty a collection."""
        self.collections.pop(name, None)

    # Around it ------------------------------------------------------------------------------

    def finalize(self) -> None:
        """Nothing is refused afterwards: here a graph is never copied to a session."""

    def name_scope(self, name: str | None) -> Any:
        """A block in which names begin with `name`."""
        return name_scope(name)

    def control_dependencies(self, control_inputs: Any) -> Any:
        """A block whose tensors come after these updates."""
        return control_dependencies(control_inputs)

    def device(self, name: Any) -> Any:
        """A block without effect: the engine places its own work."""
        return ExitStack()

    container = colocate_with = device

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Any:
        """A block in which operations of some types get gradients of the program's own.

        Args:
            op_type_map: by type, the name by which `tf.RegisterGradient` knows the gradient.
        """
        return overriding(op_type_map)

    def is_feedable(self, tensor: Any) -> bool:
        """Any tensor may be fed."""
        return True

    is_fetchable = is_feedable

    def prevent_feeding(self, tensor: Any) -> None:
        """Nothing is kept from being fed."""

    prevent_fetching = prevent_feeding

    @property
    def graph_def_versions(self) -> Any:
        """Versions of a file format that there isn't here."""
        return None


class GraphDef:
    """The operations of a graph as programs look through them: `node`, each with name and op."""

    def __init__(self, operations: Iterable[Operation] = ()):
        self.node = [operation.node_def for operation in operations]

    def ParseFromString(self, data: Any) -> None:  # noqa: N802 - TensorFlow's name
        raise ArgumentError(
            "GraphDef: TensorFlow's graph files aren't read here; read one with TensorFlow, and"
            " save the weights as arrays or as a Keras model"
        )

    def SerializeToString(self) -> bytes:  # noqa: N802 - TensorFlow's name
        raise ArgumentError(
            "GraphDef: TensorFlow's graph files aren't written here; K.function(…).save(path)"
            " writes a graph with its variables, which kameleon.load reads"
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.node)


# The graph in force -------------------------------------------------------------------------


def get_default_graph() -> Graph:
    """The innermost graph that was entered; else the session's own."""
    entered: Graph | None = context.graph
    if entered is not None:
        return entered
    found = workspace.graph
    if found is None:
        found = workspace.graph = Graph()
        found.names = None  # the session's own
    return found  # type: ignore[no-any-return]


def reset_default_graph() -> None:
    """Begin anew: names, collections and variables of the session are forgotten."""
    if context.graph is not None:
        raise GraphError("Do not use tf.reset_default_graph() to clear nested graphs.")
    K.clear_session()


def add_to_collection(name: Any, value: Any) -> None:
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    return get_default_graph().get_collection_ref(key)


def remember(x: Any) -> Any:
    """The tensor, which its graph finds by its name from now on."""
    if isinstance(x, Node) and x._name is not None and not isinstance(x, Update):
        get_default_graph().named[x._name] = x
    return x


# Operations with effects ----------------------------------------------------------------------


def group(*inputs: Any, name: str | None = None) -> Operation:
    """One operation that does what all of some operations and tensors do."""
    found: list[Any] = []
    stack = list(reversed(inputs))
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack += reversed(item)
        elif item is not None:
            found.append(item)
    return effect(name or "group_deps", found)


def effect(
    name: str,
    effects: Sequence[Any],
    checks: Sequence[tuple[Any, str]] = (),
    deferred: Sequence[Deferred] = (),
) -> Operation:
    """A new operation that its graph finds by its name; it comes after what a block of
    `control_dependencies` around it names.
    """
    around = checks_in_force()
    before = [checked(K.constant(0, "int32"))] if context.control or around else []
    made = Operation(
        unique_name(context.scope + name), [*before, *effects], None, [*around, *checks], deferred
    )
    get_default_graph().operations[made.name] = made
    return made


def no_op(name: str | None = None) -> Operation:
    return effect(name or "NoOp", [])


# Scopes of names ----------------------------------------------------------------------------


def name_scope(
    name: str | None = None, default_name: str | None = None, values: Any = None
) -> Scope[str]:
    """A block in which names begin with `name`, made unique; 'name/' is taken as it is."""
    name = name or default_name or ""
    inner = name if not name or name.endswith("/") else unique_name(context.scope + name) + "/"
    block: Any = context.within("scope", lambda outer: inner, gives=True)
    block.name = name
    return block  # type: ignore[no-any-return]


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """A block whose tensors come after these updates, and hold only where these checks hold; with
    None, they don't wait for what the blocks around say.
    """
    if control_inputs is None:
        with context.within("control", lambda outer: ()), unchecked():
            yield
        return
    items = [x for x in parts_of([control_inputs or []]) if x is not None]
    operations = [x for x in items if isinstance(x, Operation)]
    late = [operation.name for operation in operations if operation.deferred]
    if late:
        raise ArgumentError(
            f"tf.control_dependencies: {late[0]} happens when a run has ended; run it by a session"
        )
    needed = [x for x in items if isinstance(x, Node)]
    needed += [x for operation in operations for x in operation.needed]
    checks = [c for operation in operations for c in operation.checks]
    with K.control_dependencies(needed), checking(checks):
        yield


PLAIN: dict[str, Any] = {
    "group": group,
    "no_op": no_op,
    "name_scope": name_scope,
    "control_dependencies": control_dependencies,
    "Graph": Graph,
    "GraphKeys": GraphKeys,
    "GraphDef": GraphDef,
    "Operation": Operation,
    "get_default_graph": get_default_graph,
    "reset_default_graph": reset_default_graph,
    "add_to_collection": add_to_collection,
    "add_to_collections": add_to_collections,
    "get_collection": get_collection,
    "get_collection_ref": get_collection_ref,
}
NAMES: dict[str, Any] = {}


def parts_of(items: Sequence[Any]) -> list[Any]:
    """The tensors and operations of a nest of lists."""
    found: list[Any] = []
    for item in items:
        found += parts_of(item) if isinstance(item, (list, tuple)) else [item]
    return found
