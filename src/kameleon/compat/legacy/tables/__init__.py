"""What has left Python and its libraries since 2019, by module: one file for each kind."""

from __future__ import annotations

from collections.abc import Mapping

from ..stand_in import Table
from . import (
    asyncio_names,
    learning_names,
    library_names,
    numpy_modules,
    packaging_names,
    pandas_names,
    python_modules,
    python_names,
    scipy_names,
    syntax_names,
)

# By full name of a module, what old code sees of it.
TABLES: Mapping[str, Table] = {
    **numpy_modules.TABLES,
    **python_names.TABLES,
    **python_modules.TABLES,
    **asyncio_names.TABLES,
    **packaging_names.TABLES,
    **library_names.TABLES,
    **scipy_names.TABLES,
    **pandas_names.TABLES,
    **learning_names.TABLES,
    **syntax_names.TABLES,
}
