"""`kameleon run script.py`: runs a program that imports Keras on Kameleon, as `python script.py`.

The command needs no other library, and ends as the program ends: tracebacks begin in the
program, and exit codes and signals are the program's.
"""

from __future__ import annotations

import argparse
import atexit
import builtins
import gc
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
from dataclasses import dataclass, field, fields
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from kameleon._utils.tracebacks import hide, leave_out
from kameleon.cli.parsing import REST, WRONG, Parser, devices, one_of, sizes, stop
from kameleon.compat import legacy
from kameleon.config import (
    AS,
    ENGINES,
    KERAS_ON,
    KNOWN_AS,
    TENSORFLOW,
    TF_KERAS,
    WHICH_KERAS_ON,
    WHICH_TENSORFLOW,
    WHICH_TF_KERAS,
    ask,
    choose_backend,
)
from kameleon.config.processes import ASIDE, LAUNCHER, SEED, is_first, this_process
from kameleon.errors import KameleonError

USAGE = """\
kameleon run [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon run [OPTIONS] -m MODULE [ARGUMENT ...]"""
ABOUT = """\
Run a program that imports Keras, unchanged, on Kameleon: as `python SCRIPT` or `python -m MODULE`
would. `keras` is the original Keras 2.3.1 where it's installed (kameleon keras2 install), else
keras.backend and keras.layers are Kameleon's own. Options stand before the program."""
COLLECTED_AFTER = 20_000  # new objects, until Python looks for cycles of them


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
    keras_on: str = ""
    devices: str = ""
    command: str = "kameleon run"  # what errors call it


# The command line -------------------------------------------------------------------------------


class _Which(argparse.Action):
    """`--tf-keras` and `--tf-keras=2`, which take nothing from the words behind them."""

    def __call__(self, parser: Any, found: Any, values: Any, option: str | None = None) -> None:
        found.tf_keras, found.which_keras = True, str(option).partition("=")[2]


# What `--help` says of options.
NAMED = "what K.backend() gives: tensorflow (the default), theano or kameleon"
WHAT_TENSORFLOW = """what old code imports by this name: original (the default) for TensorFlow
1.15's own Python files above K's graph (kameleon tensorflow install), or installed for the
library"""
WHAT_KERAS_ON = """what the original Keras runs on: tensorflow for its own TensorFlow backend, where
tensors of Keras and TensorFlow are one kind (the default where the files of TensorFlow 1.15 are
installed), or kameleon for K (the default without them, and with --devices)"""
WHAT_TF_KERAS = """give the files of TensorFlow 1.15 the names and the behaviour of TensorFlow 1
(the default) or 2; where old code gets an installed TensorFlow, let its tensorflow.keras be the
Keras on Kameleon"""
NAMELESS = "give the program no names that Python, NumPy, SciPy … have lost since 2019"
DEVICES = """spread batches over so many devices, by JAX; N may also name a mesh's axes:
data=4,model=2. On a processor these are virtual devices"""


def add_options(parser: Parser, of_devices: str = DEVICES) -> None:
    """The options of a program's run, and the program.

    Args:
        parser: gets them.
        of_devices: what `--help` says of `--devices`.
    """
    parser.option("--engine", "NAME", "engine to run on (see `kameleon engines`)")
    parser.option("--devices", "N", of_devices, devices)
    parser.option("--as", "NAME", NAMED, one_of(KNOWN_AS), dest="known_as")
    parser.option("--tensorflow", "WHICH", WHAT_TENSORFLOW, one_of(WHICH_TENSORFLOW))
    parser.option("--keras-on", "WHICH", WHAT_KERAS_ON, one_of(WHICH_KERAS_ON))
    both = ("--tf-keras", *(f"--tf-keras={which}" for which in WHICH_TF_KERAS))
    parser.add_argument(*both, action=_Which, nargs=0, help=WHAT_TF_KERAS)
    parser.switch("--no-old-names", NAMELESS)
    parser.switch("-m", "the program is a module, by its name", dest="is_module")
    parser.add_argument("program", nargs=REST, help=argparse.SUPPRESS)


def plan_of(found: argparse.Namespace, parser: Parser) -> Plan:
    """What was asked for; options end where the program is named, or at `--`."""
    given = {part.name: getattr(found, part.name, None) for part in fields(Plan)}
    options = {name: value for name, value in given.items() if value is not None}
    rest = found.program[found.program[:1] == ["--"] :]
    program, *arguments = rest or [""]
    if not program:
        what = "a module behind -m" if found.is_module else "a program"
        parser.error(f"there's no program to run: name {what}")
    options |= {"program": program, "arguments": arguments, "command": parser.prog}
    return Plan(**options)


def understand(arguments: Sequence[str]) -> Plan:
    """What a command line asks for."""
    parser = Parser("run", ABOUT, USAGE)
    add_options(parser)
    return plan_of(parser.understood(arguments), parser)


def words(plan: Plan) -> list[str]:
    """A command line that asks for this plan."""
    options = {"engine": plan.engine, "devices": plan.devices, "as": plan.known_as}
    options |= {"tensorflow": plan.tensorflow, "keras-on": plan.keras_on}
    line = [f"--{name}={value}" for name, value in options.items() if value]
    if plan.tf_keras:
        line.append("--tf-keras" + f"={plan.which_keras}" * bool(plan.which_keras))
    line += ["--no-old-names"] * plan.no_old_names + ["-m"] * plan.is_module
    return [*line, "--", plan.program, *plan.arguments]


# Running ----------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> None:
    """Run the program that the command line names, until it ends."""
    run(understand(arguments))


def run(plan: Plan) -> None:
    """Run a program until it ends."""
    prepared(plan)()


def prepared(plan: Plan) -> Callable[[], None]:
    """Find the program and its engine, or end the process; return what runs it until it ends."""
    work = _module(plan) if plan.is_module else _script(plan)
    try:
        _begin(plan)
    except (KameleonError, OSError) as error:
        _restore_stderr()
        stop(plan.command, str(error))
    if plan.is_module and _found(plan.program.partition(".")[0]) is None:
        _stop_without(plan)
    with_others = plan.devices != "" and this_process() is not None
    return partial(_as_if_started, work, with_others)


def _begin(plan: Plan) -> None:
    # Programs build graphs of objects that stay: looking for cycles among them after each 700 new
    # ones, which is Python's own choice, takes a tenth of their start.
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    variables = {
        AS: plan.known_as,
        TENSORFLOW: plan.tensorflow,
        KERAS_ON: plan.keras_on or (WHICH_KERAS_ON[0] if plan.devices else ""),
        TF_KERAS: plan.which_keras,
        legacy.SWITCH: "0" if plan.no_old_names else "",
    }
    os.environ.update({name: value for name, value in variables.items() if value})
    from kameleon import as_keras  # late: it reads these variables

    if plan.devices and plan.engine not in ("", "jax"):
        stop(plan.command, f"--devices runs on JAX, not on {plan.engine}", WRONG)
    asked = plan.engine or ("jax" if plan.devices else "")
    if asked:
        option = f"--engine {asked}" if plan.engine else f"--devices, which runs on {asked}"
        ask(asked, option)
        _require()
    if plan.devices:
        _distribute(plan.devices)
    if plan.tf_keras:
        as_keras.alias_tensorflow()
    as_keras.export()


def _distribute(asked: str) -> None:
    """Run on many devices what names no engine."""
    from kameleon.distributed.distribution import Distribution, use_devices

    launcher = os.environ.get(LAUNCHER, "")
    if launcher.isdigit() and os.getppid() == int(launcher):
        threading.Thread(target=_end_with, args=[int(launcher)], daemon=True).start()
    if not is_first():
        _stand_aside()
    importlib.import_module("kameleon.backend")  # it chooses an engine, so it comes first
    use_devices(Distribution(**sizes(asked)))
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

    from kameleon.distributed import overlay

    folder = tempfile.mkdtemp(prefix="kameleon-aside-", dir=os.environ.get(ASIDE))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    overlay.begin(folder)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    _hidden_stderr.append(sys.stderr)
    sys.stderr = os.fdopen(nothing, "w")


_hidden_stderr: list[Any] = []  # where errors go, while a process that isn't the first says nothing


def _restore_stderr() -> None:
    if _hidden_stderr:
        sys.stderr = _hidden_stderr.pop()


def _require() -> None:
    """Raise at once what the import of Keras would raise somewhere in the program."""
    from kameleon.config import external
    from kameleon.runtime.engines import available  # late: it loads NumPy

    engine, source = choose_backend(available)
    if engine not in ENGINES and not available(engine):
        external.load(engine, source)


def _script(plan: Plan) -> Callable[[], None]:
    """Prepare a file, or a folder or archive with a `__main__.py`; return what runs it."""
    path = plan.program
    sys.argv = [path, *plan.arguments]
    full = os.path.abspath(path)
    if _is_package(plan) or path.endswith(".pyc"):
        if not sys.flags.safe_path:
            del sys.path[0]  # `run_path` puts an entry of its own there
        return partial(_run_path, full)
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        stop(plan.command, f"can't open file {full!r}: {error.strerror}", WRONG)
    return partial(_execute, source, full)


def _is_package(plan: Plan) -> bool:
    """Whether it's a folder or an archive; ends the process where that holds no program."""
    path = plan.program
    try:
        if os.path.isdir(path):
            names = os.listdir(path)
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        else:
            return False
    except (OSError, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or error
        stop(plan.command, f"can't open {path!r}: {why}", WRONG)
    if not {"__main__.py", "__main__.pyc"}.intersection(names):
        stop(plan.command, f"can't find a __main__.py in {path!r}")
    return True


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
    return partial(_run_module, plan)


def _run_module(plan: Plan) -> None:
    name = plan.program
    found = _found(name)
    if found is not None and found.submodule_search_locations is not None:
        if _found(f"{name}.__main__") is None:
            stop(plan.command, f"{name} is a package without a __main__, which can't be run")
    elif found is None or found.loader is None:
        _stop_without(plan)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _stop_without(plan: Plan) -> NoReturn:
    module = plan.program.removesuffix(".py")
    meant = f"; did you mean {module!r}?" if module != plan.program else ""
    stop(plan.command, f"No module named {plan.program}{meant}")


def _found(name: str) -> ModuleSpec | None:
    if not name or name.startswith("."):  # it's relative to nothing
        return None
    try:
        return importlib.util.find_spec(name)  # imports the packages around it
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


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
        _restore_stderr()
        error.__traceback__ = _inside(error.__traceback__)
        leave_out(error, legacy.stands_between)
        hide(error)
        sys.excepthook(type(error), error, error.__traceback__)
        if with_others:  # at its end, JAX would wait for the others
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(1)
        sys.excepthook = _skip_second_traceback
        raise


OF_TENSORFLOW = ("tensorflow", "tensorflow.keras")
NO_TENSORFLOW = (
    f"Without {TENSORFLOW}=installed, old programs get TensorFlow 1.15's own files, which"
    " `kameleon tensorflow install` fetches"
)
OUTSIDE = (__file__, runpy.__file__, "<frozen runpy>")


def _inside(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in the program."""
    while trace is not None and trace.tb_frame.f_code.co_filename in OUTSIDE:
        trace = trace.tb_next
    return trace


def _skip_second_traceback(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """The `sys.excepthook` that keeps the interpreter from showing the error again."""
