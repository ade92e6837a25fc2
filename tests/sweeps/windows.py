"""A sweep over convolutions, their gradients and pools, on engines that may crash.

    PYTHONPATH=src:tests python -m sweeps.windows --engine torch --count 5000 [--seed 1]
    PYTHONPATH=src:tests python -m sweeps.windows --engine torch --case '{"function": ...}'

Cases run in child processes; one that ends (or hangs) is a finding with the case that it ran.
"""

from __future__ import annotations

from .cases import RANKS, case_of, draw
from .processes import command

WORKER = "sweeps.worker"

if __name__ == "__main__":
    command(__doc__.partition("\n")[0], WORKER, case_of, draw, RANKS)
