"""`kameleon run script.py`: runs a program that imports Keras on Kameleon, as `python script.py`.

The command needs neither Typer nor Rich, and ends as the program ends: tracebacks begin in the
program, and exit codes and signals are the program's.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.util
import io
import os
import runpy
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from kameleon import old_code
from kameleon.config import AS, OWN, TENSORFLOW, TF_KERAS, WHICH_TENSORFLOW, WHICH_TF_KERAS
from kameleon.config.processes import ASIDE, LAUNCHER, SEED, is_first, this_process
from kameleon.errors import KameleonError

USAGE = """\
Usage: kameleon run [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon run [OPTIONS] -m MODULE [ARGUMENT ...]

Run a program that imports Keras, unchanged, on Kameleon: as `python SCRIPT` or `python -m MODULE`
would. `keras` is the original Keras 2.3.1 where it's installed (kameleon keras2 install), else
keras.backend and keras.layers are Kameleon's own.

Options, before the program:
  --engine NAME  Engine to run on (see `kameleon engines`).
  --devices N    Spread batches over so many devices, by JAX; N may also name a mesh's axes:
                 data=4,model=2. On a processor these are virtual devices.
  --as NAME      What K.backend() gives: tensorflow (the default), theano or kameleon.
  --tensorflow WHICH  What old code imports by this name: kameleon (the default) for TensorFlow
                 1's names over K, or installed for the library itself.
  --tf-keras[=WHICH]  Let tensorflow.keras be the Keras on Kameleon, also in the installed
                 TensorFlow, with the names and defaults of TensorFlow 1 (the default) or 2, or
                 the same as keras.
  --no-old-names Give the program no names that Python, NumPy, SciPy … have lost since 2019.
  --help         Show this message.
"""
WRONG = 2  # the exit status for a command line that can't be understood, the same as Python's


@dataclass
class Plan:
    """What to run, and how."""

    program: str = ""
    is_module: bool = False
    arguments: list[str] = field(default_factory=list)
    engine: str = ""
    known_as: str = ""
    tf_keras: bool = False
    which_keras: str = ""
    no_old_names: bool = False
    tensorflow: str = ""
    devices: str = ""


# By option, the part of the plan that it sets; by option with a value, also what it needs.
FLAGS = {"--tf-keras": "tf_keras", "--no-old-names": "no_old_names"}
VALUES = {
    "--engine": ("engine", "the name of an engine"),
    "--devices": ("devices", "a number of devices, or the sizes of a mesh"),
    "--as": ("known_as", "the name of a backend"),
    "--tensorflow": ("tensorflow", f"one of {', '.join(WHICH_TENSORFLOW)}"),
    "-m": ("program", "the name of a module"),
}


# The command line -------------------------------------------------------------------------------


def _stop(message: str, status: int = WRONG) -> NoReturn:
    print(f"kameleon run: {message}", file=sys.stderr)
    sys.exit(status)


def understand(arguments: Sequence[str]) -> Plan:
    """Return what a command line asks for; options end where the program is named."""
    plan, rest = Plan(), list(arguments)
    while rest and not plan.program:
        word, equals, value = rest.pop(0).partition("=")
        if word in ("--help", "-h"):
            print(USAGE, end="")
            sys.exit()
        elif word in FLAGS and not equals:
            setattr(plan, FLAGS[word], True)
        elif word == "--tf-keras":
            if value not in WHICH_TF_KERAS:
                _stop(f"--tf-keras={value}: use one of {', '.join(WHICH_TF_KERAS)}")
            plan.tf_keras, plan.which_keras = True, value
        elif word in VALUES and not (equals and word == "-m"):
            part, needed = VALUES[word]
            setattr(plan, part, value or _next(rest, f"{word} needs {needed}"))
            plan.is_module = word == "-m"
        elif word.startswith("-"):
            _stop(f"there is no option {word}\n\n{USAGE}")
        else:
            plan.program = word + equals + value
    if not plan.program:
        _stop(f"there's no program to run\n\n{USAGE}")
    plan.arguments = rest
    return plan


def _next(rest: list[str], lacking: str) -> str:
    return rest.pop(0) if rest else _stop(lacking)


# Running ----------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Run the program that the command line names, until it ends."""
    plan = understand(arguments)
    work = _module(plan) if plan.is_module else _script(plan)
    try:
        _begin(plan)
    except KameleonError as error:
        _speak()
        _stop(str(error), 1)
    _as_if_started(work, plan.devices != "" and this_process() is not None)


def _begin(plan: Plan) -> None:
    told = {
        AS: plan.known_as,
        TENSORFLOW: plan.tensorflow,
        TF_KERAS: plan.which_keras,
        old_code.SWITCH: "0" if plan.no_old_names else "",
    }
    os.environ.update({name: value for name, value in told.items() if value})
    from kameleon import as_keras  # late: it reads these variables

    if plan.devices and plan.engine not in ("", "jax"):
        _stop(f"--devices runs on JAX, not on {plan.engine}")
    if plan.devices:
        plan.engine = "jax"
    if plan.engine:
        os.environ[OWN] = plan.engine
        _require(plan.engine)
    if plan.devices:
        _distribute(plan.devices)
    if plan.tf_keras:
        as_keras.alias_tensorflow()
    as_keras.export()


def _distribute(asked: str) -> None:
    """Run on many devices what names no engine."""
    from kameleon.distribution import Distribution, use_devices

    launcher = os.environ.get(LAUNCHER, "")
    if launcher.isdigit() and os.getppid() == int(launcher):
        threading.Thread(target=_end_with, args=[int(launcher)], daemon=True).start()
    if not is_first():
        _stand_aside()
    importlib.import_module("kameleon.backend")  # it chooses an engine, so it comes first
    use_devices(Distribution(**_sizes(asked)))
    seed = os.environ.get(SEED)
    if seed:  # processes that share a program draw the same numbers
        import random

        import numpy as np

        random.seed(int(seed))
        np.random.seed(int(seed))


def _end_with(launcher: int) -> None:
    """End this process soon after the one that started it: nobody else would."""
    while os.getppid() == launcher:
        time.sleep(1)
    os._exit(128 + signal.SIGHUP)


def _stand_aside() -> None:
    """Let the first process print and write files; errors are shown by each."""
    import shutil
    import tempfile

    from kameleon import aside

    folder = tempfile.mkdtemp(prefix="kameleon-aside-", dir=os.environ.get(ASIDE))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    aside.begin(folder)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    _unheard.append(sys.stderr)
    sys.stderr = os.fdopen(nothing, "w")


_unheard: list[Any] = []  # where errors go, while a process that isn't the first says nothing


def _speak() -> None:
    if _unheard:
        sys.stderr = _unheard.pop()


def _sizes(asked: str) -> dict[str, Any]:
    """The number of devices, or the mesh, that an option names."""
    try:
        if "=" not in asked:
            return {"devices": int(asked)}
        pairs = (part.split("=") for part in asked.split(","))
        return {"mesh": {name: int(size) for name, size in pairs}}
    except ValueError:
        _stop(f"--devices takes a number, or sizes such as data=4,model=2, not {asked!r}")


def _require(engine: str) -> None:
    """Raise at once what the import of Keras would raise somewhere in the program."""
    from kameleon import external
    from kameleon.config import ENGINES, choose_backend
    from kameleon.runtime.engines import available  # late: it loads NumPy

    choose_backend(available)
    if engine not in ENGINES and not available(engine):
        external.load(engine, OWN)


def _script(plan: Plan) -> Callable[[], None]:
    """Prepare a file, or a folder or archive with a `__main__.py`; return what runs it."""
    path = plan.program
    sys.argv = [path, *plan.arguments]
    full = os.path.abspath(path)
    if os.path.isdir(path) or path.endswith(".pyc") or zipfile.is_zipfile(path):
        if not sys.flags.safe_path:
            del sys.path[0]  # `run_path` puts an entry of its own there
        return partial(_run_path, full)
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        _stop(f"can't open file {full!r}: {error.strerror}")
    return partial(_execute, source, full)


def _run_path(path: str) -> None:
    runpy.run_path(path, run_name="__main__")


def _execute(source: bytes, path: str) -> None:
    """Run the source of a script in a fresh `__main__`, which stays when the script has ended."""
    module = ModuleType("__main__")
    vars(module).update(
        __file__=path,
        __cached__=None,
        __builtins__=builtins,
        __loader__=SourceFileLoader("__main__", path),
    )
    code = compile(source, path, "exec", dont_inherit=True)
    sys.modules["__main__"] = module
    exec(code, vars(module))


def _module(plan: Plan) -> Callable[[], None]:
    """Prepare a module, or a package with a `__main__`; return what runs it."""
    sys.argv = [plan.program, *plan.arguments]  # `run_module` puts the file there
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()
    return partial(_run_module, plan.program)


def _run_module(name: str) -> None:
    try:
        found = importlib.util.find_spec(name)  # imports the packages around it
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        found = None
    if found is None:
        _stop(f"No module named {name}", 1)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


# Ending -----------------------------------------------------------------------------------------


def _as_if_started(work: Callable[[], None], with_others: bool) -> None:
    """Run `work` until it ends; an error is shown without Kameleon's frames, then raised anew.

    Args:
        work: runs the program.
        with_others: whether other processes run it, too.
    """
    try:
        work()
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name in OF_TENSORFLOW:
            error.add_note(NO_TENSORFLOW)
        _speak()
        error.__traceback__ = _inside(error.__traceback__)
        old_code.leave_out(error)
        sys.excepthook(type(error), error, error.__traceback__)
        if with_others:  # at its end, JAX would wait for the others
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(1)
        sys.excepthook = _said_already
        raise


OF_TENSORFLOW = ("tensorflow", "tensorflow.keras")
NO_TENSORFLOW = (
    f"Without {TENSORFLOW}=installed, old programs get TensorFlow 1's names over K from Kameleon,"
    " and tensorflow.keras is then the same as keras"
)
OUTSIDE = (__file__, runpy.__file__, "<frozen runpy>")


def _inside(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the program."""
    while trace is not None and trace.tb_frame.f_code.co_filename in OUTSIDE:
        trace = trace.tb_next
    return trace


def _said_already(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """The `sys.excepthook` that keeps the interpreter from showing the error again."""
