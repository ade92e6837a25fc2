"""The worker: runs programs by NumPy 1.19 and CNTK 2.7, in Python 3.6.

It's started by path, with the numbers of three descriptors: a socket, over which it's asked; a
file in memory, in which arrays lie that are given and that it gives; and a pipe. Messages are lines
of JSON. Beside Python it needs NumPy and CNTK alone; what it uses of Kameleon it gets as text. When
the pipe's other end is closed, it ends, whatever it's doing.
"""

import contextlib
import fcntl
import functools
import importlib.abc
import importlib.machinery
import json
import math
import operator
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any, Dict

import numpy as np

# What later versions of Python have, and the modules that are given use.
NEWER = (
    (math, "prod", lambda sizes: functools.reduce(operator.mul, sizes, 1)),
    (functools, "cache", functools.lru_cache(maxsize=None)),
)


def floor_divide(x: Any, y: Any, out: Any = None) -> Any:
    """As from NumPy 1.20 on: what is divided by 0 is infinite."""
    found = np.floor_divide(x, y)
    if found.dtype.kind == "f":
        found = np.where(np.equal(y, 0), np.true_divide(x, y), found)[()]
    return found


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from text."""

    def __init__(self, sources: Any):
        self.sources = sources

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """See `importlib.abc.MetaPathFinder`; what has modules below it is a package."""
        package = any(other.startswith(name + ".") for other in self.sources)
        if name not in self.sources and not package:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def create_module(self, spec: Any) -> Any:
        """See `importlib.abc.Loader`."""
        return None

    def exec_module(self, module: Any) -> None:
        """See `importlib.abc.Loader`."""
        name = module.__name__
        exec(compile(self.sources.get(name, ""), name, "exec"), module.__dict__)


class Worker:
    """Answers requests: one method for each kind of them."""

    def __init__(self, descriptor: int, memory: int):
        self.socket = socket.socket(fileno=descriptor)
        self.file = memory
        self.memory: Any = None
        self.held: Dict[int, Any] = {}
        # Segments that CNTK didn't compute: why, and for which of their nodes.
        self.by_numpy: Dict[int, Any] = {}
        self.namespace: Dict[str, Any] = {}
        self.segment: Any = None

    def serve(self) -> None:
        """Answer until there's nobody to ask."""
        for line in self.socket.makefile("rb"):
            request = json.loads(line.decode())
            try:
                answer = getattr(self, "do_" + request.pop("do"))(**request)
            except Exception as error:
                answer = {"error": [type(error).__name__, str(error), traceback.format_exc()]}
            self.socket.sendall(json.dumps(answer).encode() + b"\n")
        os._exit(0)

    # Requests -----------------------------------------------------------------------------------

    def do_start(self, sources: Any) -> Any:
        """Load CNTK, and the modules that are given as text."""
        for module, name, function in NEWER:
            setattr(module, name, function)
        sys.meta_path.insert(0, Modules(sources))
        import cntk
        from kameleon.engines.cntk.memory import Memory
        from kameleon.engines.cntk.segment import Segment
        from kameleon.engines.numpy.namespace import NAMESPACE
        from kameleon.engines._kernels import sparse

        setattr(sparse, "compiled", lambda: None)  # SciPy's arrays are younger
        cntk.cntk_py.set_max_num_cputhreads(1)
        np.seterr(all="ignore")
        self.memory = Memory(self.file)
        self.namespace, self.segment = dict(NAMESPACE, floor_divide=floor_divide), Segment
        return {"version": cntk.__version__, "numpy": np.__version__}

    def do_program(self, token: int, program: Any, arrays: Any) -> Any:
        """Keep a program."""
        given = {name: np.array(self.memory.array(place)) for name, place in arrays.items()}
        self.held[token] = self._function(program, given)
        return {}

    def do_run(self, token: int, given: Any, keep: Any, drop: Any, used: int) -> Any:
        """Run a program.

        Each value that is given is `[None, token]`, if it's held here; or `[place, token]`, which
        is held from now on, unless the token is None. Results are held by the tokens in `keep`.
        """
        for each in drop:
            self.held.pop(each, None)
        self.memory.used, self.by_numpy = used, {}
        self.memory.set_number()
        try:
            values = [self._given(*row) for row in given]
            results = [np.asarray(x) for x in self.held[token](*values)]
        except Exception:
            for _, new in (row for row in given if row[0] is not None):
                self.held.pop(new, None)  # the driver notes what is held when a call succeeds
            raise
        finally:
            self.memory.set_number(0)
        self.held.update(zip(keep, results))
        return {
            "results": [self.memory.put(x) for x in results],
            "by_numpy": list(self.by_numpy.items()),
        }

    def _given(self, place: Any, token: Any) -> Any:
        if place is None:
            return self.held[token]
        array = self.memory.array(place)
        if token is not None:
            array = self.held[token] = np.array(array)
        return array if array.ndim else array[()]

    # Programs -----------------------------------------------------------------------------------

    def _function(self, program: Any, arrays: Any) -> Any:
        space = dict(self.namespace)
        for name, value in program["constants"].items():
            space[name] = self._constant(value, arrays)
        exec(compile(program["source"], "<program>", "exec"), space)
        return space["program"]

    def _constant(self, data: Any, arrays: Any) -> Any:
        ((kind, value),) = data.items()
        if kind == "array":
            return arrays[value]
        if kind == "number":
            return arrays[value][()]
        if kind == "slices":
            return tuple(slice(*s) for s in value)
        if kind == "program":
            return self._function(value, arrays)
        if kind == "segment":
            return self._segment(value, arrays)
        return value

    def _segment(self, data: Any, arrays: Any) -> Any:
        """A function that says which segment is being computed, then computes it."""
        number, set_number = data["number"], self.memory.set_number

        def tell(why: str, rows: Any) -> None:
            """What a loop's steps tell is put together."""
            _, known = self.by_numpy.get(number, (why, ()))
            self.by_numpy[number] = why, sorted({*known, *rows})

        run = self.segment(data["graph"], arrays, self._function(data["plain"], arrays), tell)

        def segment(values: Any) -> Any:
            set_number(number)
            found = run(values)
            set_number()
            return found

        return segment


def end_with(pipe: int) -> None:
    """End this process as soon as nobody holds the other end of a pipe: by a signal, for a thread
    would wait until CNTK, which keeps Python's lock, has finished what it computes.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(pipe, select.POLLHUP)
    if poll.poll(0):  # it was closed before
        os._exit(0)


def main() -> None:
    """Serve. Interrupts are the driver's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, memory, pipe = map(int, sys.argv[1:])
    end_with(pipe)
    with contextlib.suppress(Exception):  # if it fails, it does so again where that's told
        import cntk  # noqa: F401  it takes as long as what is given takes to be made
    Worker(descriptor, memory).serve()


if __name__ == "__main__":
    main()
