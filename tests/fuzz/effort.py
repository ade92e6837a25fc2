"""How hard compilers try: most of the time of a program goes into making code that runs once.

`quick` lets XLA and TensorFlow leave their optimisations out; what those do to a program is found
by processes of `full` effort alone. A process sets its effort once, before it loads an engine.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

EFFORTS = ("quick", "full")
# Read by XLA when JAX first computes something.
XLA_FLAGS = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    " --xla_cpu_parallel_codegen_split_count=1 --xla_cpu_prefer_vector_width=128"
)


def of_processes(choice: str, jobs: int) -> list[str]:
    """The effort of each process; `both`: the first one is of full effort, the others quick."""
    return [choice] * jobs if choice in EFFORTS else ["full", *["quick"] * (jobs - 1)]


def make(effort: str, engines: Sequence[str]) -> None:
    """Let this process make that effort."""
    gc.set_threshold(20_000, 20, 100)  # a graph is many small objects, soon gone at once
    if effort == "full":
        return
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {XLA_FLAGS}".strip()
    if "tensorflow" in engines:
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
