"""Compiled functions: what `K.function` gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines._base import Chooser, Engine, Executable
from ..engines._followed import asks_for_gradient
from ..errors import ArgumentError, EngineError, FeedError
from ..graph.ir.node import Node, Print
from ..graph.ir.program import Graph, collect, has_effects
from ..graph.ir.rewrite import substitute
from ..graph.passes.equal_sizes import meetings, with_equal_sizes
from ..graph.primitives.elementwise import constant
from .compiler import compiled, compiled_anew, explain, run
from .copies import copied_print, copies
from .engines import current, embedded
from .feeds import Constants, evaluate_by, feed_of
from .guards import SizeGuard, fits, where_fit
from .inspection import checking
from .inspection.watching import DONE
from .pure import fed, pure_graph
from .state import State
from .updates import check as check_update
from .workspace import workspace

if TYPE_CHECKING:
    from .inspection.profiling import Profile

# The learning phase, if it's an input; and whether all sizes of inputs are equal that meet.
Variant = tuple[bool | None, bool]
EQUAL: Variant = (None, True)
# Called with each function that has been compiled; `kameleon explore` is.
watchers: list[Callable[[Function], None]] = []


def wrap_calls(around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Have all calls of functions that are made from now on go through another function, which
    gets what makes a call: `(function, values) -> outputs`.
    """
    setattr(Function, "__call__", around(Function.__call__))  # noqa: B010


class Function:
    """A compiled program: values of the inputs in, values of the outputs out.

    All updates see the values from before the call; if the call fails, no variable has changed.
    Calls may come from several threads: those that write the same variables wait for each other.

    Attributes:
        inputs, outputs: the tensors.
        program: the closed graph with its updates.
        feeds: for each input, what turns a given value into an array for it.
        phase: the place of the learning phase among the inputs; None, if it isn't there.
        constants: the tensors that have the same value in every call.
        state: what calls read and replace.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        updates: Sequence[Any] = (),
        constants: Mapping[Node, Any] | None = None,
        engine: Engine | None = None,
        name: str | None = None,
        prints: Sequence[Print] = (),
        as_numpy: bool = True,
        once: bool = False,
        check: str | None = None,
    ):
        """
        Args:
            inputs: any tensors, in the order in which a call gives their values.
            outputs: the tensors to compute.
            updates: update objects, or pairs of a variable and its new value.
            constants: tensors and the values that they have in every call. If a value in this
                table is exchanged later, the new value counts from then on.
            engine: what runs the function; if None, whichever engine is in force at a call.
            name: what errors call the function.
            prints: values to show at each call.
            as_numpy: a call gives NumPy arrays; else the engine's own.
            once: the function is made for one evaluation; the embedded engine runs it where the
                engine in force takes long to compile.
            check: 'nan', if a call shall fail that makes NaN or Inf; None, if `K.set_check` says.

        Raises:
            FeedError: a placeholder is needed that is neither an input nor a constant.
            ShapeError, DTypeError: a new value doesn't fit its variable.
        """
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.name = name or "K.function"
        constants = {} if constants is None else constants
        for x, count in Counter([*self.inputs, *constants]).items():
            if count > 1:
                raise ArgumentError(f"{self.name}: {x!r} is given twice among inputs and feed_dict")
        self.program = fed(collect([*self.inputs, *constants], self.outputs, updates, prints))
        for variable, value in self.program.updates:
            check_update(variable, value, self.name)
        self.feeds = [feed_of(x, self.name) for x in self.inputs]
        self._fits = fits([x.type for x in self.inputs])
        self.constants = Constants(constants, self.name)
        self._engine, self._as_numpy, self._check = engine, as_numpy, check
        self._scalars = any(x.type.rank == 0 for x in self.outputs)
        self.is_once = once
        self.phase = next((i for i, x in enumerate(self.inputs) if x.is_phase), None)
        self.state = State(self.program)
        self._executables: dict[tuple[Engine, Variant], Executable] = {}
        # What explains failures: see `_replay`.
        self._replays: dict[Variant, Executable] = {}
        # By engine in force: the short way of a call whose values are NumPy arrays of the inputs'
        # types; it gives None for other values.
        self._fast_paths: dict[Engine, Callable[[Sequence[Any]], list[Any] | None]] = {}
        # By an engine that chooses engines, what it has settled on.
        self._settled: dict[Engine, Engine] = {}
        # Whether every call takes and gives nothing but arrays, and runs the same code.
        self._is_plain = (
            as_numpy
            and self.state.is_none
            and not (constants or self.program.prints or self.phase is not None)
        )
        if self._is_plain and check is None:
            checking.follow(self)

    def __repr__(self) -> str:
        counts = f"{len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<kameleon.Function with {counts}, {len(self.program.updates)} updates>"

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """A function with variables and random streams of its own: see `copies`."""
        program = self.program
        pairs = [(*copies([v, x], memo),) for v, x in program.updates]
        fixed = copies(self.constants.given, memo)
        made = Function(
            copies(self.inputs, memo),
            copies(self.outputs, memo),
            pairs,
            dict(zip(fixed, self.constants.values(), strict=True)),
            prints=[copied_print(p, memo) for p in program.prints],
            once=self.is_once,
            **self.options,
        )
        memo[id(self)] = made
        return made

    @property
    def options(self) -> dict[str, Any]:
        """How it's called, what it runs on, and what a call gives and checks: see `Function`."""
        return {
            "engine": self._engine,
            "name": self.name,
            "as_numpy": self._as_numpy,
            "check": self._check,
        }

    @property
    def engine(self) -> Engine:
        """The engine that a call runs on now."""
        return self._serving(self._engine or current())

    def _serving(self, engine: Engine) -> Engine:
        """The engine that makes a call for which this one was chosen."""
        if self.is_once and (isinstance(engine, Chooser) or not engine.quick):
            return embedded()
        return engine.engine_of(self) if isinstance(engine, Chooser) else engine

    @property
    def compilations(self) -> int:
        """How often the function has been compiled so far, on all engines together."""
        return sum(e.compilations for e in self._executables.values())

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The outputs' values, as NumPy arrays (scalars where they have no axes)."""
        engine = self._engine or current()
        engine = self._settled.get(engine, engine)
        if engine.lost:
            raise EngineError(f"{self.name}: {engine.lost}")
        short = self._fast_paths.get(engine)
        if short is not None:
            try:
                arrays = short(values)
            except Exception as error:
                engine = self.engine
                replay = lambda: self._replay(values, engine)  # noqa: E731
                explain(self._executables[engine, EQUAL], error, replay)
            if arrays is not None:
                return [x[()] for x in arrays] if self._scalars else arrays
        if isinstance(engine, Chooser) and not self.is_once:
            return engine.call(self, values)
        return self.call_on(self._serving(engine), values)

    @property
    def fast_path(self) -> Callable[[Sequence[Any]], list[Any] | None] | None:
        """The short way of a call on the engine in force, if it has one by now: it takes NumPy
        arrays, gives None where they aren't of the inputs' types, and explains no failure.
        """
        engine = self._engine or current()
        engine = self._settled.get(engine, engine)
        return None if engine.lost else self._fast_paths.get(engine)

    def call_on(self, engine: Engine, values: Sequence[Any]) -> list[Any]:
        """A call on an engine, in all its parts."""
        if self._fits(values):
            arguments = list(values)
        else:
            arguments = self.given(values, engine)
            if not self._as_numpy:
                self._refuse_followed(values)
        variant = self.variant_of(arguments, engine)
        executable = self.executable(engine, variant)
        is_checked = (self._check or checking.setting()) is not None
        compute = self._checked_results if is_checked else self._results
        results = self.state.call(compute, engine, (executable, arguments))
        if self.program.prints:
            self._print(results, engine)
        short = None if is_checked else executable.fast_path
        if self._is_plain and short is not None and engine not in self._fast_paths:
            self._take_fast_path(engine, variant, short)
        results = results[: len(self.outputs)]
        if not self._as_numpy:
            return list(results)
        arrays = [engine.to_numpy(x, copy=False) for x in results]
        return [x[()] for x in arrays] if self._scalars else arrays

    def profile(self, values: Sequence[Any]) -> Profile:
        """What the parts of a call take, on the engine that a call runs on now. No variable is
        changed, and no number is drawn.
        """
        from .inspection.profiling import profile  # late: few programs need it

        engine = self.engine
        given = self.given(values, engine)
        graph = self.graph(*self.variant_of(given, engine))
        state = self.state.values(engine)
        return profile(graph, [*given, *self.constants.values(), *state], engine)

    def settle(self, chooser: Chooser, engine: Engine | None) -> None:
        """Let calls that a chooser would make run on the engine that it has settled on; or, if it's
        None, be the chooser's again.
        """
        if engine is None:
            self._settled.pop(chooser, None)
        else:
            self._settled[chooser] = engine

    def _refuse_followed(self, values: Sequence[Any]) -> None:
        """Refuse tensors that PyTorch would differentiate by: no result would remember them."""
        for x, value in zip(self.inputs, values, strict=False):
            if asks_for_gradient(value):
                raise FeedError(
                    f"{self.name}: the value for input '{x.name}' has requires_grad=True, and"
                    " PyTorch's gradients don't go through compiled functions:"
                    " kameleon.to_torch(function) makes a torch.nn.Module that they go through;"
                    " K.gradients makes them outputs of the function; value.detach(), or"
                    " torch.no_grad(), takes the numbers alone"
                )

    def _take_fast_path(self, engine: Engine, variant: Variant, short: Callable[..., Any]) -> None:
        """Let later calls with arrays of the same kind run their code at once."""
        if variant == EQUAL:
            equal = self.guard.equal if self.guard else ()
            self._fast_paths[engine] = where_fit([x.type for x in self.inputs], short, equal)

    def _results(
        self, state: list[Any], engine: Engine, given: tuple[Executable, list[Any]]
    ) -> Sequence[Any]:
        """What code gives for arguments, and for the state of one moment."""
        executable, arguments = given
        values = [*arguments, *self.constants.values(), *state]
        return run(executable, values, lambda: self._replay(values, engine))

    def _checked_results(
        self, state: list[Any], engine: Engine, given: tuple[Executable, list[Any]]
    ) -> Sequence[Any]:
        """The same; an error where it has NaN or Inf."""
        results = self._results(state, engine, given)
        values = [*given[1], *self.constants.values(), *state]
        checking.check_results(self, results, values, engine)
        return results

    def forget_fast_paths(self) -> None:
        """See `checking.Function`."""
        self._fast_paths.clear()

    def graph_for(self, values: Sequence[Any]) -> Graph:
        """See `checking.Function`."""
        return self.graph(*self.variant_of(values[: len(self.inputs)], embedded()))

    def _print(self, results: Sequence[Any], engine: Engine) -> None:
        prints = self.program.prints
        for effect, result in zip(prints, results[-len(prints) :], strict=True):
            value = engine.to_numpy(result)[()]
            DONE[type(effect)](effect.message, value)

    def given(self, values: Sequence[Any], engine: Engine) -> list[Any]:
        """What a call is given, as arrays of the inputs' types: the engine's own, or NumPy's."""
        values = self.completed(values)
        return [feed(v, engine) for feed, v in zip(self.feeds, values, strict=True)]

    def completed(self, values: Sequence[Any]) -> Sequence[Any]:
        """The values, and for the last inputs, where none is given, those that they have anyway
        (the learning phase).
        """
        if len(values) == len(self.inputs):
            return values
        lacking = self.inputs[len(values) :]
        if lacking and all(hasattr(x, "default") for x in lacking):
            return [*values, *(x.default for x in lacking)]
        names = ", ".join(f"'{x.name}'" for x in self.inputs) or "none"
        raise FeedError(
            f"{self.name} takes {len(self.feeds)} values ({names}), {len(values)} were given"
        )

    # Variants ------------------------------------------------------------------------------

    def source(self, phase: bool | None = None) -> str:
        """What the engine runs, as text; for learning phase `phase`, if the phase is an input."""
        return compiled(self._guarded(phase), self.engine).source

    def executable(self, engine: Engine, variant: Variant) -> Executable:
        """The code of a variant, with the dead branches of the learning phase removed."""
        found = self._executables.get((engine, variant))
        if found is None:
            found = compiled(self._guarded(*variant), engine)
            self._executables[engine, variant] = found
            for watch in watchers:
                watch(self)
        return found

    def report(self) -> Any:
        """What each device does in a call, where the function runs on many; or which engines were
        tried, where the fastest is chosen.

        Returns:
            Layouts, memory and collective operations of the code that was made last (making it
            compiles once more); or engines, with times. `str` of it is a text.

        Raises:
            EngineError: the function hasn't run on several devices, and no engine is chosen for it.
        """
        engine = self._engine or current()
        if isinstance(engine, Chooser):
            return engine.report(self)
        found = [
            e.report() for (engine, _), e in self._executables.items() if engine == self.engine
        ]
        reports = [report for report in found if report is not None]
        if not reports:
            raise EngineError(
                f"{self.name} hasn't run on several devices: call it with distribution=, or inside"
                " of kameleon.distribute(…), and ask there"
            )
        return reports[-1]

    def _replay(self, values: Sequence[Any], engine: Engine) -> bool:
        """Run a failed call again, now on the embedded engine, where every node is known; False,
        where that isn't done since a function of the graph has effects.

        Raises:
            EvaluationError: the call fails there, too; names the node and the line that made it.
        """
        if any(map(has_effects, self.program.nodes)):
            return False
        given = [x if isinstance(x, np.ndarray) else engine.to_numpy(x) for x in values]
        variant = self.variant_of(given, embedded())
        if variant not in self._replays:  # kept: what has failed once often fails again
            self._replays[variant] = compiled_anew(self.graph(*variant), embedded())
        run(self._replays[variant], given)
        return True

    def variant_of(self, arguments: Sequence[Any], engine: Engine) -> Variant:
        """Which code the values of a call need.

        Raises:
            EvaluationError: sizes meet that differ, and neither is 1.
        """
        phase = None if self.phase is None else bool(arguments[self.phase])
        if self.guard is None:
            return phase, True
        values = [*arguments, *self.constants.values()]
        return phase, self.guard.holds([_shape_of(x, engine) for x in values])

    @cached_property
    def _pure(self) -> Graph:
        return pure_graph(self.program)

    @cached_property
    def guard(self) -> SizeGuard | None:
        """What compares sizes of inputs that meet; None, if none do."""
        found = meetings(self._pure, len(self.program.inputs))
        return SizeGuard(found) if found else None

    def _guarded(self, phase: bool | None, equal: bool = True) -> Graph:
        """The graph of a variant, which may count on what the guard has compared."""
        graph = self.graph(phase, equal)
        if not (equal and self.guard):
            return graph
        return Graph(graph.inputs, graph.outputs, self.guard.equal)

    def graph(self, phase: bool | None = None, equal: bool = True) -> Graph:
        """The pure graph, with the learning phase and other defaults as constants.

        Args:
            phase: the learning phase, if it's an input.
            equal: whether it's for inputs of which all sizes are equal that meet; else one of them
                may be 1.
        """
        taken = self.guard.equal if equal and self.guard else ()
        graph = with_equal_sizes(self._pure, taken)
        known = self.fixed(phase)
        return graph.to(substitute(graph.outputs, known)) if known else graph

    def fixed(self, phase: bool | None) -> dict[Node, Node]:
        """Constants for what is no value of a call: the learning phase, if it's told, and what
        isn't given and has a default.
        """
        known = {n: constant(n.default, n.dtype) for n in self.program.unfed}
        if phase is not None and self.phase is not None:
            node = self.inputs[self.phase]
            known[node] = constant(int(phase), node.dtype)
        return known


def _shape_of(value: Any, engine: Engine) -> Sequence[int]:
    if isinstance(value, np.ndarray | np.generic):
        return value.shape
    shape: Sequence[int] = engine.type_of(value).shape  # type: ignore[union-attr, assignment]
    return shape


def _value_of(tensor: Node) -> Any:
    """The value, at this moment, of a tensor given for an input; the code for it is kept."""
    made = workspace.kept(("fed", tensor), lambda: Function([], [tensor], once=True))
    return made([])[0]


evaluate_by(_value_of)
