"""A process that forks while another of its threads calls, and what its children can do.

    python forking.py torch 1     # the engine; how many threads its library may use, 0: as it likes

Prints JSON: for each child, what it found; None, if it hung.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

PATIENCE = 60  # seconds
CHILDREN = 8
SIZE = 256


def forked(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """What the work gives in a child; None, if it doesn't end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():  # Python and JAX warn of forks beside threads
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        try:
            found = work()
        except BaseException as error:
            found = {"failed": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    ended, _, _ = select.select([reading], [], [], PATIENCE)
    if not ended:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    answer = os.read(reading, 1 << 16) if ended else b""
    os.close(reading)
    return json.loads(answer) if answer else None


def main(engine: str, threads: int) -> None:
    """Fork beside a thread that calls, and once before the engine has run."""
    from kameleon import backend as K
    from kameleon.errors import EngineError

    x = K.placeholder((None, SIZE))
    first = K.function([x], [K.sum(K.exp(x))], engine=engine)
    ones = np.ones((SIZE, SIZE), "float32")
    if threads and engine == "torch":
        import torch

        torch.set_num_threads(threads)
    K.set_engine(engine)
    before = forked(lambda: {"sum": float(first([ones])[0])})

    w, count = K.variable(np.eye(SIZE)), K.variable(np.zeros(SIZE))
    y = K.tanh(K.dot(x, w))
    both = [K.update_add(w, 1e-3 * K.dot(K.transpose(y), y)), K.update_add(count, 1.0)]
    step = K.function([x], [K.sum(y)], updates=both)
    step([ones])
    done = threading.Event()

    def calls() -> None:
        while not done.is_set():
            step([ones])
            K.placeholder((1,), name="x")

    def child() -> dict[str, Any]:
        counted = K.get_value(count)
        found: dict[str, Any] = {"whole": bool((counted == counted[0]).all())}
        try:
            step([ones])
            found["counted"] = float(K.get_value(count)[0] - counted[0])
        except EngineError as error:
            found["lost"] = str(error)
        K.set_engine("numpy")
        new = K.function([x], [K.sum(x * 2.0)], updates=[K.update_add(count, 1.0)])
        found["numpy"] = float(new([ones])[0])
        found["set"] = float(K.get_value(count)[0] - counted[0])
        return found

    thread = threading.Thread(target=calls)
    thread.start()
    try:
        children = [forked(child) for _ in range(CHILDREN)]
    finally:
        done.set()
        thread.join()
    print("\n" + json.dumps({"before": before, "children": children}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
