"""Functions of NumPy arrays: nothing is known of them but what the caller declares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .library import Function, Library
from .results import Results


class NumpyLibrary(Library):
    """NumPy, and all that takes and gives its arrays."""

    name, title = "numpy", "NumPy"
    differentiates = False

    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """See `Library.run`. The arrays can't be written to; a function with effects may keep
        those that it's given, so it gets copies.
        """
        given = [_locked(x if pure else x.copy()) for x in arrays]
        return results.arrays(results.listed(function(*given)))


def _locked(array: np.ndarray) -> np.ndarray:
    """A view that can't be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


library = NumpyLibrary()
