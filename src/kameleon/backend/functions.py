"""Compiled functions, evaluation, and gradients."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from .._utils.suggestions import suggestion
from .._utils.tracebacks import boundary, hide
from ..config.layouts import Distribution
from ..engines import Engine
from ..errors import ArgumentError
from ..graph.gradients import gradients as gradients_of
from ..graph.ir.node import Node, Update
from ..graph.primitives.control import stop_gradient as stop
from ..runtime import engines, saving
from ..runtime.function import Function
from ..runtime.inspection import checking
from ..runtime.workspace import workspace
from ._nests import Inputs, Outputs, Sparse, filled, structure_of
from ._tensors import Array, Tensor, as_tensor
from .sparse_tensor import SparseTensor
from .updates import pairs_of

__all__ = ["eval", "function", "gradients", "stop_gradient"]


R = TypeVar("R")


class BackendFunction(Generic[R]):
    """What `K.function` returns; see there."""

    def __init__(self, inputs: Sequence[Any], outputs: Any, compiled: Function):
        """
        Args:
            inputs: the tensors whose values a call gives.
            outputs: a nest of tensors.
            compiled: what computes them, of dense tensors in lists.
        """
        self.inputs, self.outputs, self.compiled = list(inputs), outputs, compiled
        self.entries = Inputs(self.inputs, compiled.name)
        self.leaves = Outputs(outputs, compiled.name)
        flat = isinstance(outputs, list) and all(isinstance(x, Node) for x in outputs)
        self._flat = flat and len(outputs) == len(compiled.outputs)
        # How a call runs where no input is sparse and the outputs are a flat list of tensors.
        self._is_direct = self._flat and self.entries.plain
        self.stand_in(None)

    def stand_in(self, values: Sequence[Any] | None) -> None:
        """Give these values at every call, without computing; None: compute again."""
        self._direct: Callable[[Any], Any] | None
        if values is not None:
            self._direct = lambda inputs: list(values)
        else:
            self._direct = self.compiled.__call__ if self._is_direct else None

    def __call__(self, inputs: Any = ()) -> R:
        """The outputs' values.

        Args:
            inputs: a list with a value for each input (one bare array, where there's one input).
        """
        try:
            if type(inputs) is not list and not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            if self._direct is not None:
                return self._direct(inputs)  # type: ignore[no-any-return]
            values = self.entries.values(inputs)
            results = self.compiled(values)
            found: Any = results if self._flat else self.leaves.rebuild(results)
            return found  # type: ignore[no-any-return]
        except Exception as error:
            hide(error)
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function as `save` writes it: a copy has variables of its own, with the
        present values.
        """
        return restored, (self.compiled, structure_of(self.inputs), structure_of(self.outputs))

    @property
    def compilations(self) -> int:
        """How often the function has been compiled so far: on an engine with static shapes, once
        for each combination of the inputs' sizes."""
        return self.compiled.compilations

    @property
    @boundary
    def source(self) -> str:
        """The program that the engine in force runs, as text, where it has one."""
        return self.compiled.source()

    @boundary
    def report(self) -> Any:
        """What each device does in a call, where the function runs on many: layouts, memory and
        collective operations. With the engine 'auto', which engines were tried on it, what each
        takes, and which one serves. `print` shows it.

        Raises:
            EngineError: the function hasn't run on several devices, nor with that engine.
        """
        return self.compiled.report()

    @boundary
    def profile(self, inputs: Any = ()) -> Profile:
        """What the parts of a call take, measured on the engine in force. No variable is changed.

        The function is compiled once more, for just these sizes and with clocks in it (NumPy,
        PyTorch: behind each line; others: the library's own profiler).

        Args:
            inputs: as for a call.

        Returns:
            An object that prints as a table of the user's lines, which together take what a call
            takes, with the share of the machine's peak that each reaches. `entries` has the parts,
            `by_line`, `by_scope` and `by_primitive` their seconds, `data` all of it for JSON;
            `save_trace(path)` writes Chrome's trace format.

        >>> import numpy as np
        >>> from kameleon import backend as K
        >>> x = K.placeholder((None, 3))
        >>> f = K.function([x], [K.dot(x, K.transpose(x))])
        >>> found = f.profile([np.ones((5, 3))])
        >>> 'contract' in found.by_primitive
        True
        """
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        return self.compiled.profile(self.entries.values(inputs))

    @boundary
    def save(self, path: Any) -> None:
        """Write the function with its variables to a file; `kameleon.load` reads it.

        Args:
            path: the file; one that exists is replaced.
        """
        saving.save(self.compiled, path)

    @boundary
    def export(
        self,
        path: Any,
        format: str | None = None,
        verify: bool | Sequence[Sequence[Any]] = True,
        **options: Any,
    ) -> None:
        """Write the function to a file that other libraries run, without Kameleon.

        What is written is checked before it takes the path's place: another process reads it by
        the format's library alone, and calls it with two sets of inputs, of other sizes where sizes
        are unknown; it has to give what NumPy gives. Values are printed and watched by the function
        alone, and there are no checks of sizes and indices but the other library's own.

        Args:
            path: the file, or the folder of a SavedModel; one that exists is replaced as a whole,
                once all is well. Its suffix tells the format: `.onnx`, `.tflite` (LiteRT),
                `.stablehlo` (JAX), `.pt2` (`torch.export`), `.savedmodel` or a folder,
                `.safetensors` (as `save` writes it).
            format: its name, whatever the suffix: 'onnx', 'litert', 'stablehlo', 'torch',
                'savedmodel', 'kameleon'.
            verify: False: it isn't checked. A list, which has lists of the inputs' values: it's
                checked with these.
            options: the format's own, such as ONNX's `opset`, `ir_version` and `defaults`.

        Raises:
            ArgumentError: there's no such format or option; or no inputs could be made up that the
                function takes.
            DTypeError, UnsupportedError: the format can't hold the function; names node and line.
            EngineError: what was written gives something else, or can't be read.
            MissingLibraryError: (an ImportError) the format's library isn't installed.
            OSError: the path can't be written.
        """
        # Late, since few programs need it; and by its name, since it knows this class.
        formats = importlib.import_module(".export.formats", __package__)
        formats.export(self, path, format, verify, **options)

    @boundary
    def explore(
        self, path: Any, profile: Profile | Mapping[str, Mapping[str, float]] | None = None
    ) -> None:
        """Write a page that shows the graph, as it was built and behind each pass, with your lines
        and what the engine runs. It's one file, which any browser shows, without a network.

        Args:
            path: the file; one that exists is replaced.
            profile: what nodes take, to be shown with them: what `profile` gives, with the graph
                that ran; or, by a node's key, `%3` or, in a body, `%3.body.%1` (as the last graph's
                text numbers them), its `seconds` and `bytes`.
        """
        from ..runtime.explorer import page  # late: few programs need it

        page.write(self.compiled, path, profile)

    def __repr__(self) -> str:
        return repr(self.compiled)

    def _repr_html_(self) -> str:
        from ..graph.pictures.picture import IN_NOTEBOOKS, Picture  # late: few run in a notebook

        return Picture(self.compiled.program, IN_NOTEBOOKS)._repr_html_()


def _engine(
    name: str | None, distribution: Distribution | None, candidates: str | Sequence[str] | None
) -> Engine | None:
    """What runs a function, where that is said.

    Raises:
        ArgumentError: it's said twice.
    """
    if candidates is not None:
        return engines.choosing(candidates, name)
    if distribution is None:
        return None if name is None else engines.load(name)
    if name not in (None, "jax"):
        raise ArgumentError(
            f"K.function: a distribution is JAX's; engine={name!r} runs on one device"
        )
    return engines.distributed(distribution)


def restored(compiled: Function, inputs: Any, outputs: Any) -> BackendFunction[Any]:
    """The function around a compiled one, whose tensors stand in nests of these structures."""
    nests = filled(inputs, compiled.inputs), filled(outputs, compiled.outputs)
    return BackendFunction(*nests, compiled)


_restored, _Sparse = restored, Sparse  # how older pickles name these


def built(
    inputs: Sequence[Any],
    outputs: Any,
    updates: Sequence[Any] = (),
    feed_dict: Mapping[Any, Any] | None = None,
    fetches: Sequence[Any] = (),
    **options: Any,
) -> BackendFunction[Any]:
    """See `function`; and `runtime.function.Function` for the options."""
    what = options.get("name") or "K.function"
    feed_dict = {} if feed_dict is None else feed_dict
    leaves, entries = Outputs(outputs, what), Inputs(inputs, what)
    constants = Inputs(list(feed_dict), what)
    extra = [x for x in fetches if isinstance(x, Node) and not isinstance(x, Update)]
    compiled = Function(
        entries.nodes,
        [*leaves.nodes, *extra],
        pairs_of([*updates, *(x for x in fetches if isinstance(x, Update))]),
        feed_dict if constants.plain else constants.parts(feed_dict.values()),
        **options,
    )
    return BackendFunction(inputs, outputs, compiled)


P = ParamSpec("P")


def _refusing_others(function: Callable[P, R]) -> Callable[P, R]:
    """The function, for which an unknown keyword is a ValueError, as the documentation has it."""
    parameters = inspect.signature(function).parameters
    known = sorted(name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        others = sorted(kwargs.keys() - parameters.keys())
        if others:
            raise ArgumentError(
                f"{function.__name__} got unknown keyword {', '.join(others)};"
                f" it takes {', '.join(known)}{suggestion(others[0], known)}"
            )
        return function(*args, **kwargs)

    return call


if TYPE_CHECKING:  # what a call gives is of the structure of `outputs`
    from typing import TypedDict, Unpack

    from ..runtime.inspection.profiling import Profile

    class _Common(TypedDict, total=False):
        engine: str | None
        candidates: str | Sequence[str] | None
        check: str | None
        distribution: Distribution | None
        feed_dict: Mapping[Any, Any] | None
        fetches: Any
        name: str | None
        options: Any
        run_metadata: Any

    class _OfArrays(_Common, total=False):
        as_numpy: Literal[True]

    class _OfAny(_Common, total=False):
        as_numpy: bool


Key = TypeVar("Key")
Updates = Sequence[Any] | None


@overload
def function(
    inputs: Any, outputs: list[Tensor], updates: Updates = None, **options: Unpack[_OfArrays]
) -> BackendFunction[list[Array]]: ...
@overload
def function(
    inputs: Any, outputs: tuple[Tensor, ...], updates: Updates = None, **options: Unpack[_OfArrays]
) -> BackendFunction[tuple[Array, ...]]: ...
@overload
def function(
    inputs: Any, outputs: dict[Key, Tensor], updates: Updates = None, **options: Unpack[_OfArrays]
) -> BackendFunction[dict[Key, Array]]: ...
@overload
def function(
    inputs: Any, outputs: Tensor, updates: Updates = None, **options: Unpack[_OfArrays]
) -> BackendFunction[Array]: ...
@overload
def function(
    inputs: Any, outputs: Any, updates: Updates = None, **options: Unpack[_OfAny]
) -> BackendFunction[Any]: ...
@_refusing_others
def function(
    inputs: Sequence[Any],
    outputs: Any,
    updates: Sequence[Any] | None = None,
    *,
    engine: str | None = None,
    as_numpy: bool = True,
    candidates: str | Sequence[str] | None = None,
    check: str | None = None,
    distribution: Distribution | None = None,
    feed_dict: Mapping[Any, Any] | None = None,
    fetches: Any = None,
    name: str | None = None,
    options: Any = None,
    run_metadata: Any = None,
) -> BackendFunction[Any]:
    """Compile a graph into a function of arrays.

    Args:
        inputs: the tensors whose values a call gives: placeholders, or any other tensors.
        outputs: tensors to compute: a list, a single one, or a dict.
        updates: update objects, or pairs (variable, new value); a new value has the shape and
            the dtype of its variable. All of them see the values from before the call; if a
            call fails, no variable has changed.
        engine: the name of the one to run on; None is the one in force, 'auto' the fastest.
        as_numpy: False: results are the engine's own arrays.
        candidates: with `engine='auto'`, the names of those that may be chosen.
        check: 'nan': a call that makes NaN or Inf is an error that names the first node to do so;
            None: as `K.set_check` says.
        distribution: JAX runs the function over many devices, laid out like this.
        feed_dict: tensors and the values they have in every call; a value that is replaced in the
            dict counts from then on.
        fetches: further tensors and updates to run.
        name: of the function, in messages.
        options, run_metadata: accepted, and without a meaning here.

    Returns:
        A callable that takes a list of values and returns the outputs' values, NumPy arrays in
        the structure of `outputs`. It may be called from several threads.

    Raises:
        ValueError: another keyword is given; or a placeholder is needed that is no input. A call
            raises ValueError for values of wrong number, shape or dtype, naming the placeholder.

    >>> from kameleon import backend as K
    >>> x, v = K.placeholder((2,)), K.variable(10.)
    >>> f = K.function([x], [x * v], updates=[(v, v + 1.)])
    >>> f([[1., 2.]]), float(K.get_value(v))
    ([array([10., 20.], dtype=float32)], 11.0)
    """
    if isinstance(inputs, (Node, SparseTensor)):
        inputs = [inputs]
    return built(
        inputs,
        [] if outputs is None else outputs,
        updates or (),
        feed_dict or {},
        fetches or (),
        name=name,
        engine=_engine(engine, distribution, candidates),
        as_numpy=as_numpy,
        check=checking.mode_of(check, name or "K.function"),
    )


def eval(x: Any) -> Array:
    """The value of a tensor that needs no input.

    Args:
        x: a tensor or variable.

    Returns:
        A NumPy array (a scalar, where it has no axes), also where the tensor is sparse.
        Evaluating an update performs it.

    Raises:
        FeedError: the tensor depends on a placeholder, which the message names.

    >>> from kameleon import backend as K
    >>> K.eval(K.variable([[1, 2], [3, 4]], dtype='float32'))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if isinstance(x, SparseTensor):
        from .sparse import to_dense

        x = to_dense(x)
    found: Array = evaluate(x)
    return found


def evaluate(x: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """The value of a tensor, with values for placeholders."""
    return run_fetches(x, dict(feed_dict or {}))


def run_fetches(fetches: Any, feed_dict: dict[Any, Any]) -> Any:
    """The values of nested tensors; the functions made for that are cached by their tensors."""
    several = isinstance(fetches, (list, tuple))
    nodes = tuple(fetches) if several else (fetches,)
    if not all(isinstance(x, Node) for x in nodes):
        return built(list(feed_dict), fetches)(list(feed_dict.values()))
    key = (type(fetches) if several else None, nodes, tuple(feed_dict))
    made = workspace.kept(key, lambda: built(list(feed_dict), fetches, once=True))
    return made(list(feed_dict.values()))


def gradients(loss: Tensor, variables: Any) -> list[Tensor | Any]:
    """The gradients of a loss with respect to tensors.

    Args:
        loss: a float tensor; where it isn't a scalar, its elements are summed.
        variables: a list of tensors (or one): variables, placeholders, or any others.

    Returns:
        For each of them a tensor of its shape, or None where it has no influence on the loss.

    Raises:
        GradientError: an operation between one of them and the loss has no gradient.

    >>> from kameleon import backend as K
    >>> x = K.variable([1., 2.])
    >>> K.eval(K.gradients(K.sum(x ** 3), [x])[0])
    array([ 3., 12.], dtype=float32)
    """
    items = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    wrt = [x.values if isinstance(x, SparseTensor) else x for x in items]
    for x in wrt:
        if not isinstance(x, Node):
            raise ArgumentError(f"gradients: expected tensors to differentiate by, got {x!r}")
    return list(gradients_of(as_tensor(loss, "gradients"), wrt))


def stop_gradient(variables: Any) -> Any:
    """Tensors that gradients take for constants.

    Args:
        variables: a tensor, or a list of them.

    Returns:
        A tensor, or a list of them.

    >>> from kameleon import backend as K
    >>> x = K.variable(3.)
    >>> float(K.eval(K.gradients(x * K.stop_gradient(x), [x])[0]))
    3.0
    """
    if isinstance(variables, (list, tuple)):
        return [stop(as_tensor(x, "stop_gradient")) for x in variables]
    return stop(as_tensor(variables, "stop_gradient"))
