"""The table of operations: what each type is, in K's functions and primitives.

table       looks types up; runs them on the host
parameters  what a type's function takes, as its parameters say
values      what operations take and give while a region is compiled
kernels     what NumPy computes inside of a region
the others  types by subject: compiled, or run on the host between compiled parts
"""

import importlib
import os

# Each puts its types into the table. (Python's `pkgutil` would take longer to find them.)
for _file in sorted(os.listdir(__path__[0])):
    if not _file.startswith("_"):
        importlib.import_module(f"{__name__}.{_file.removesuffix('.py')}")
