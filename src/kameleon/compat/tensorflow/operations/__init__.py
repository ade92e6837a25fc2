"""The table of operations: what each type is, in K's functions and primitives.

table       looks types up; runs them on the host
parameters  what a type's function takes, as its parameters say
values      what operations take and give while a region is compiled
kernels     what NumPy computes inside of a region
the others  types by subject: compiled, or run on the host between compiled parts
"""

import importlib
import pkgutil

# Each puts its types into the table.
for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")
