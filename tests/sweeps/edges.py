"""A sweep over single primitives at the edges of what they take, on engines that may crash.

    PYTHONPATH=src:tests python -m sweeps.edges --engine torch --count 5000 [--seed 1]
    PYTHONPATH=src:tests python -m sweeps.edges --engine torch --case '{"op": ...}'

See `sweeps.edge_cases` for what is drawn, `sweeps.edge_worker` for what is held against what.
"""

from __future__ import annotations

from .edge_cases import OPS, case_of, draw
from .processes import command

WORKER = "sweeps.edge_worker"

if __name__ == "__main__":
    command(__doc__.partition("\n")[0], WORKER, case_of, draw, OPS)
