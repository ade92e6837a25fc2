"""What operations refuse, in TensorFlow's words: shapes that don't go together, places outside.

table   by type, what refuses; and what it's told with
ranks   how many axes inputs have; numbers that are axes or sizes
shapes  shapes that go together; numbers that say shapes and parts
places  indices, segments, orders
windows windows of convolutions and pools
"""

# Each puts its types into the table.
from . import places, ranks, shapes, windows  # noqa: F401
