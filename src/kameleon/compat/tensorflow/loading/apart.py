"""Operations that can't be built before sizes are known: calls, which compute them once all is.

So is what the table computes by NumPy, such as the best of overlapping boxes. A call has a
gradient, if the operation has one: it's built, and computed, when the sizes are known, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.backend.calling import call
from kameleon.errors import GraphError
from kameleon.graph.ir.node import Tensor

from ..dtypes import HANDLES, OF_K, name_of
from ..graph import Operation, is_handle
from ..lowering import Lowering
from ..operations import table
from ..operations.values import NeedsValueError, UnknownSizeError, open_sizes


def lowered(lowering: Lowering, operation: Operation, given: list[Any]) -> list[Any]:
    """What an operation gives, of tensors some sizes of which may be unknown."""
    if operation.type != "Assert" and table.is_compiled(operation):
        try:
            with open_sizes():
                return table.lowered(lowering, operation, given)
        except (UnknownSizeError, NeedsValueError):
            if operation.type in table.EFFECTS and operation.type not in table.HOST:
                raise
    if not operation.types:
        return []  # an assertion, a summary's writer: nothing comes of it
    return _Apart(lowering, operation, given).results()


class _Apart:
    """An operation as a call."""

    def __init__(self, lowering: Lowering, operation: Operation, given: list[Any]) -> None:
        self._store, self._operation = lowering.store, operation
        pairs = zip(given, map(is_handle, operation.inputs), strict=True)
        self._given = [value if kept else lowering.value(value) for value, kept in pairs]
        self._places = [at for at, x in enumerate(self._given) if isinstance(x, Tensor)]

    def results(self) -> list[Any]:
        """What the operation gives."""
        tensors = [self._given[place] for place in self._places]
        if not tensors and not self._draws():
            return self._computed(self._given)
        types = [name_of(number) for number in self._operation.types]
        described = zip(self._operation.shapes, types, strict=True)
        if any(shape is None or kind not in OF_K for shape, kind in described):
            raise GraphError(
                f"{self._operation.name} ({self._operation.type}) gives {' and '.join(types)} of an"
                " unknown number of axes, or no numbers; a tensor can't stand for it"
            )
        shapes = [[None if n < 0 else n for n in shape or ()] for shape in self._operation.shapes]
        found = call(
            self._call, tensors, "numpy", shapes=shapes, dtypes=types,
            gradient=self._slopes, pure=not self._draws(),
        )  # fmt: skip
        return list(found)

    def _draws(self) -> bool:
        """Whether it gives something else each time."""
        operation = self._operation
        gives_handles = not HANDLES.isdisjoint(operation.types)
        return operation.definition.is_stateful and not gives_handles and not operation.handles

    def _filled(self, arrays: Sequence[Any]) -> list[Any]:
        values = list(self._given)
        for place, array in zip(self._places, arrays, strict=True):
            values[place] = array
        return values

    def _call(self, *arrays: np.ndarray) -> list[np.ndarray]:
        found = self._computed(self._filled(arrays))
        kinds = map(name_of, self._operation.types)
        return [np.asarray(value, kind) for value, kind in zip(found, kinds, strict=True)]

    def _computed(self, values: list[Any]) -> list[Any]:
        with K.using_engine("numpy"):
            found = table.to_end(self._store, self._operation)(values)
            return [K.eval(each) if isinstance(each, Tensor) else each for each in found]

    # Gradients ----------------------------------------------------------------------------------

    def _slopes(self, *given: Tensor) -> list[Tensor | None]:
        """Cotangents of the tensors that it took."""
        count = len(self._places)
        floats = [at for at, x in enumerate(given[:count]) if x.dtype.is_float]
        if self._operation.type not in table.PURE or not floats:
            return [None] * count

        def computed(*arrays: np.ndarray) -> list[np.ndarray]:
            return self._slopes_of(arrays[:count], arrays[count:], floats)

        found = call(computed, list(given), "numpy", like=[given[at] for at in floats])
        slopes = dict(zip(floats, found, strict=True))
        return [slopes.get(at) for at in range(count)]

    def _slopes_of(
        self, arrays: Sequence[Any], cotangents: Sequence[Any], floats: list[int]
    ) -> list[np.ndarray]:
        with K.using_engine("numpy"):
            values = list(arrays)
            for at in floats:
                values[at] = K.placeholder(np.shape(values[at]), dtype=str(values[at].dtype))
            lowering = Lowering(self._store)
            results = table.lowered(lowering, self._operation, self._filled(values))
            of_floats = [y for y in results if isinstance(y, Tensor) and y.dtype.is_float]
            parts = [K.sum(y * g) for y, g in zip(of_floats, cotangents, strict=True)]
            loss = sum(parts[1:], parts[0])
            holes = [values[at] for at in floats]
            found = K.gradients(loss, holes)
            pairs = zip(holes, found, strict=True)
            found = [K.zeros_like(x) if slope is None else slope for x, slope in pairs]
            slopes: list[np.ndarray] = K.function(holes, found)([arrays[at] for at in floats])
            return slopes
