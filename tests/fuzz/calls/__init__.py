"""What programs call, by subject. The order of calls decides which program belongs to a seed."""

from . import control, elementwise, losses, products, reductions, shapes
from .table import WEIGHTS, Call

_TABLES = [m.CALLS for m in (elementwise, reductions, shapes, products, losses, control)]
CALLS: dict[str, Call] = {name: f for table in _TABLES for name, f in table.items()}
assert len(CALLS) == sum(map(len, _TABLES)), "two calls have one name"

__all__ = ["CALLS", "WEIGHTS"]
