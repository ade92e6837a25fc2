"""Elements that a function of a program gets as a dataset: windows and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...backend import surface as K
from ...backend.functions import BackendFunction
from .elements import Element, Spec, flat, packed
from .functions import captured
from .run import Run


class Group:
    """The dataset that a function makes of some elements, built once.

    Args:
        make: `Dataset`.
        spec: the types of an element's parts.
        function: of tensors, if `given` has types, and a dataset; or, with `parted`, of a dataset
            for each part of the elements, in their structure.
        given: types of the tensors that the function gets first.

    Attributes:
        result: the dataset that the function makes.
        captured: inputs of the graph around it.
    """

    def __init__(
        self,
        make: Any,
        spec: Any,
        function: Callable[..., Any],
        given: Any = (),
        parted: bool = False,
    ):
        types: list[Spec] = flat(given) if given != () else []
        self.parameters: list[Any] = [K.placeholder(s.shape, dtype=s.dtype) for s in types]
        if parted:
            parts = [self._part(make, i, s) for i, s in enumerate(flat(spec))]
            structure = packed(spec, parts)
            each = structure if isinstance(structure, tuple) else (structure,)
        else:
            each = (make(spec, (), lambda run: iter(run.values[self])),)
        self.result: Any = function(*self.parameters, *each)
        if not hasattr(self.result, "elements"):
            raise TypeError("the function must return a `Dataset` object.")
        self.captured = captured(self.result.tensors, self.parameters)
        self._code: BackendFunction[Any] | None = None

    def _part(self, make: Any, index: int, spec: Spec) -> Any:
        return make(spec, (), lambda run: ([row[index]] for row in run.values[self]))

    def elements(
        self, run: Run, rows: list[Element], given: Sequence[Any] = ()
    ) -> Iterator[Element]:
        """What the function's dataset has for these elements."""
        tensors = self.result.tensors
        if self._code is None:
            self._code = K.function([*self.parameters, *self.captured], tensors, engine="numpy")
        outer = [run.values[x] for x in self.captured]
        values = self._code([*given, *outer]) if tensors else []
        known = dict(zip(tensors, values, strict=True))
        found: Iterator[Element] = self.result.elements(run.within({**known, self: rows}))
        return found


class Windows:
    """A dataset of windows, each of which is a dataset of elements.

    Args:
        make: `Dataset`.
        dataset: whose elements they are.
        windows: gives lists of elements, for a run.
    """

    def __init__(
        self, make: Any, dataset: Any, windows: Callable[[Run], Iterator[list[Element]]],
        tensors: Sequence[Any],
    ):  # fmt: skip
        self.make, self.dataset, self.windows, self.tensors = make, dataset, windows, tensors

    def flat_map(self, map_func: Callable[..., Any]) -> Any:
        """The elements of what a function makes of the windows: it gets a dataset for each part
        of an element.
        """
        group = Group(self.make, self.dataset.spec, map_func, parted=True)

        def elements(run: Run) -> Iterator[Element]:
            for rows in self.windows(run):
                yield from group.elements(run, rows)

        return self.dataset.derived(elements, [*self.tensors, *group.captured], group.result.spec)


def windowed(make: Any, dataset: Any, size: Any, shift: Any, stride: Any, whole: Any) -> Windows:
    """Windows of `size` elements, each `stride`-th, whose beginnings are `shift` apart."""

    def windows(run: Run) -> Iterator[list[Element]]:
        n, step, every = (
            int(run.value(x)) for x in (size, size if shift is None else shift, stride)
        )
        reach = (n - 1) * every + 1
        held: list[Element] = []
        start = 0
        for at, parts in enumerate(dataset.elements(run)):
            if at >= start:
                held.append(parts)
            if at + 1 == start + reach:
                yield held[::every]
                start += step
                held = held[step:]
        while held and not run.value(whole):
            yield held[::every]
            held = held[step:]

    return Windows(make, dataset, windows, [size, shift, stride, whole])
