"""Datasets: how to give elements, one after the other, as often as they're iterated.

base      what datasets have in common, and how they're declared
sources   elements of arrays, of files, of functions
reading   elements of columns of text, of examples, of data bases
elements  other elements, or fewer: mapped, filtered, taken
batches   several elements as one, and one as several
orders    other orders: shuffled, repeated, kept
mixing    several datasets in one: by turns, one behind the other
groups    elements that go together: windows, groups by keys
values    what is computed of a dataset
"""

# Each puts its types into the table.
from . import batches, elements, groups, mixing, orders, reading, sources, values  # noqa: F401
