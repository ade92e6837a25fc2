"""What programs take from TensorFlow 1 around the graph: flags, files, tests, coordinators."""

from __future__ import annotations

import argparse
import glob
import os
import shutil
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import surface as K
from .calling import Leading, called
from .failures import ERRORS, NotFoundError, OutOfRangeError
from .graph import reset_default_graph

# Flags --------------------------------------------------------------------------------------------


class Flags:
    """The options of a command line, read where the program first asks for one."""

    def __init__(self) -> None:
        vars(self).update(_parser=argparse.ArgumentParser(allow_abbrev=False), _values=None)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read a command line; gives the program's name and what is no option."""
        parser: argparse.ArgumentParser = vars(self)["_parser"]
        known = parser._option_string_actions
        alone = {name for name, action in known.items() if action.nargs == "?"}
        # A flag of its own is true, whatever comes behind it.
        words = [f"{word}=true" if word in alone else word for word in list(argv)[1:]]
        values, rest = parser.parse_known_args(words)
        vars(self)["_values"] = vars(values)
        return [*argv[:1], *rest]

    def _read(self) -> dict[str, Any]:
        if vars(self)["_values"] is None:
            self(sys.argv or [""])
        values: dict[str, Any] = vars(self)["_values"]
        return values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        values = self._read()
        if name not in values:
            raise AttributeError(f"FLAGS has no option {name!r}; there are {sorted(values)}")
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._read()[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._read()

    def flag_values_dict(self) -> dict[str, Any]:
        """All options, by name."""
        return dict(self._read())

    def define(self, name: str, default: Any, help: str | None, **options: Any) -> None:
        """A new option; one that's there gets another default."""
        parser: argparse.ArgumentParser = vars(self)["_parser"]
        vars(self)["_values"] = None
        if f"--{name}" in parser._option_string_actions:
            parser.set_defaults(**{name: default})
            return
        parser.add_argument(f"--{name}", default=default, help=help, dest=name, **options)


FLAGS = Flags()


# By the names that arguments had in older versions, their names.
OLDER = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _defining(kind: Callable[[str], Any]) -> Callable[..., None]:
    def define(*args: Any, **options: Any) -> None:
        FLAGS.define(*_told(args, options), type=kind)

    return define


def _told(args: Sequence[Any], options: dict[str, Any]) -> tuple[str, Any, str | None]:
    """Name, default and help of an option; bounds and the like aren't checked."""
    named = {OLDER.get(key, key): value for key, value in options.items()}
    named |= dict(zip(("name", "default", "help"), args, strict=False))
    return named["name"], named["default"], named.get("help")


def _truth(text: str) -> bool:
    """Of 'true', 'no', '1' …"""
    words = {"true": True, "t": True, "yes": True, "1": True}
    return words.get(text.lower(), False)


def define_boolean(*args: Any, **options: Any) -> None:
    """An option `--name`, `--name=false`, or `--noname`."""
    flag_name, default_value, docstring = _told(args, options)
    FLAGS.define(flag_name, default_value, docstring, type=_truth, nargs="?", const=True)
    parser: argparse.ArgumentParser = vars(FLAGS)["_parser"]
    if f"--no{flag_name}" not in parser._option_string_actions:
        parser.add_argument(f"--no{flag_name}", dest=flag_name, action="store_const", const=False)
        parser.set_defaults(**{flag_name: default_value})


def define_enum(
    name: str, default: Any, enum_values: Sequence[str], help: str | None = None, **options: Any
) -> None:
    FLAGS.define(name, default, help, choices=list(enum_values))


def define_list(name: str, default: Any, help: str | None = None, **options: Any) -> None:
    start = default.split(",") if isinstance(default, str) else default
    FLAGS.define(name, start, help, type=lambda text: text.split(","))


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Read the command line, call `main` with what is no option, and leave the program."""
    rest = FLAGS(list(sys.argv if argv is None else argv))
    function = main or vars(sys.modules["__main__"])["main"]
    sys.exit(function(rest))


DEFINITIONS: dict[str, Any] = {
    "string": _defining(str), "integer": _defining(int), "float": _defining(float),
    "boolean": define_boolean, "bool": define_boolean, "enum": define_enum, "list": define_list,
}  # fmt: skip

# Files --------------------------------------------------------------------------------------------


class GFile:
    """A file of this machine.

    Args:
        name: its path.
        mode: as `open` has it.
    """

    def __init__(self, name: str, mode: str = "r"):
        self._name, self._mode, self._file = name, mode, None

    def _opened(self) -> Any:
        if self._file is None:
            encoding = None if "b" in self._mode else "utf-8"
            try:
                opened: Any = open(self._name, self._mode, encoding=encoding)  # noqa: SIM115
            except FileNotFoundError as error:
                raise NotFoundError(None, None, f"{self._name}; {error.strerror}") from error
            self._file = opened
        return self._file

    name = property(lambda self: self._name)
    mode = property(lambda self: self._mode)

    def size(self) -> int:
        """The number of bytes."""
        return os.path.getsize(self._name)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._opened(), name)

    def __iter__(self) -> Iterator[Any]:
        yield from self._opened()
        self.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def _copy(oldpath: str, newpath: str, overwrite: bool = False) -> None:
    if os.path.exists(newpath) and not overwrite:
        raise ERRORS["AlreadyExistsError"](None, None, f"file already exists: {newpath}")
    shutil.copyfile(oldpath, newpath)


def _rename(oldname: str, newname: str, overwrite: bool = False) -> None:
    if os.path.exists(newname) and not overwrite:
        raise ERRORS["AlreadyExistsError"](None, None, f"file already exists: {newname}")
    os.replace(oldname, newname)


def _stat(filename: Any) -> Any:
    """A file's `length` in bytes, when it was changed, and whether it's a folder."""
    found = os.stat(filename)
    return SimpleNamespace(
        length=found.st_size, mtime_nsec=found.st_mtime_ns, is_directory=os.path.isdir(filename)
    )


def _found(filename: Any) -> list[str]:
    patterns = [filename] if isinstance(filename, (str, os.PathLike)) else filename
    return [path for pattern in patterns for path in sorted(glob.glob(os.fspath(pattern)))]


def _listed(dirname: str) -> list[str]:
    if not os.path.isdir(dirname):
        raise NotFoundError(None, None, f"Could not find directory {dirname}")
    return os.listdir(dirname)


FILES: dict[str, Any] = {
    "GFile": GFile, "Open": GFile, "FastGFile": GFile, "Exists": os.path.exists,
    "IsDirectory": os.path.isdir, "ListDirectory": _listed, "Glob": _found,
    "MakeDirs": lambda dirname: os.makedirs(dirname, exist_ok=True),
    "MkDir": os.mkdir, "Remove": os.remove, "DeleteRecursively": shutil.rmtree, "Copy": _copy,
    "Rename": _rename, "Walk": os.walk, "Stat": _stat,
}  # fmt: skip
ARGUMENTS = {"Copy": 3, "Rename": 3, "Walk": 2}  # how many there are, where it isn't one


def _of_files() -> dict[str, Any]:
    """Functions of files, by their names in `tf.gfile` and in `tf.io.gfile`."""
    places = {f"gfile.{name}": name for name in FILES}
    places |= {f"io.gfile.{name}": older for name, older in NEWER_NAMES.items()}
    return {name: _filed(name, older) for name, older in places.items()}


def _filed(name: str, older: str) -> Any:
    function = FILES[older]
    if isinstance(function, type):
        return function
    run = Leading(ARGUMENTS.get(older, 1), lambda *given: function(*given[:-1]))
    return called({name: run})[name]


NEWER_NAMES = {
    "GFile": "GFile", "exists": "Exists", "isdir": "IsDirectory", "listdir": "ListDirectory",
    "glob": "Glob", "makedirs": "MakeDirs", "mkdir": "MkDir", "remove": "Remove",
    "rmtree": "DeleteRecursively", "copy": "Copy", "rename": "Rename", "walk": "Walk",
    "stat": "Stat",
}  # fmt: skip
INNER_NAMES = {
    "file_exists": "Exists", "is_directory": "IsDirectory", "list_directory": "ListDirectory",
    "get_matching_files": "Glob", "recursive_create_dir": "MakeDirs", "create_dir": "MkDir",
    "delete_file": "Remove", "delete_recursively": "DeleteRecursively", "copy": "Copy",
    "rename": "Rename", "walk": "Walk", "stat": "Stat", "FileIO": "GFile",
}  # fmt: skip

# Tests --------------------------------------------------------------------------------------------


class TestCase(unittest.TestCase):
    """`unittest.TestCase` with comparisons of arrays, a graph for each test, and a session."""

    __test__ = False  # the base itself holds no tests

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = True

    def setUp(self) -> None:
        """Begin with an empty graph."""
        super().setUp()
        reset_default_graph()

    @contextmanager
    def session(self, *args: Any, **options: Any) -> Iterator[Any]:
        """A session; it's the default one in the block."""
        from .sessions import Session

        with Session() as found:
            yield found

    cached_session = session

    def test_session(self, *args: Any, **options: Any) -> Any:
        """`session`; no test, though its name begins like one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.session(*args, **options)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors."""
        return K.get_session().run(tensors)

    def get_temp_dir(self) -> str:
        """A folder for the test, which is removed after it."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def assertAllClose(  # noqa: N802 - TensorFlow's name
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Both, in lists and dicts too, differ by no more than the tolerances."""
        if isinstance(a, dict):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
        else:
            np.testing.assert_allclose(_array(a), _array(b), rtol, atol, err_msg=str(msg or ""))

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:  # noqa: N802
        """Both are equal, element by element."""
        np.testing.assert_array_equal(_array(a), _array(b), err_msg=str(msg or ""))

    def assertNear(self, f1: float, f2: float, err: float, msg: Any = None) -> None:  # noqa: N802
        """Two numbers differ by no more than `err`."""
        self.assertLessEqual(abs(f1 - f2), err, msg)

    def assertShapeEqual(  # noqa: N802
        self, np_array: Any, tf_tensor: Any, msg: Any = None
    ) -> None:
        """An array and a tensor have the same shape."""
        self.assertEqual(np.shape(np_array), K.int_shape(tf_tensor), msg)


def _array(x: Any) -> Any:
    return np.asarray(K.eval(x) if K.is_tensor(x) else x)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program's own module."""
    unittest.main(argv=None if argv is None else list(argv))


# Threads ------------------------------------------------------------------------------------------


class Coordinator:
    """Tells threads when to stop, and waits for them.

    Args:
        clean_stop_exception_types: exceptions that end a thread without being errors.
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None):
        self._event, self._threads = threading.Event(), list[threading.Thread]()
        self._clean = tuple(clean_stop_exception_types or (OutOfRangeError,))
        self._error: BaseException | None = None

    def request_stop(self, ex: Any = None) -> None:
        """Ask the threads to stop; `ex` is raised by `join`, unless it's a clean end."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is not None and self._error is None and not isinstance(error, self._clean):
            self._error = error
        self._event.set()

    def should_stop(self) -> bool:
        """Whether someone has asked to stop."""
        return self._event.is_set()

    def clear_stop(self) -> None:
        """Forget that someone has asked to stop."""
        self._event.clear()
        self._error = None

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until someone asks to stop."""
        return self._event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Wait for this thread, too, in `join`."""
        self._threads.append(thread)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block whose exceptions ask all threads to stop."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def join(
        self,
        threads: Sequence[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for the threads; raise what one of them has reported."""
        for thread in {*self._threads, *(threads or ())}:
            thread.join(stop_grace_period_secs if self.should_stop() else None)
        if self._error is not None:
            raise self._error

    @property
    def joined(self) -> bool:
        """Whether no thread runs any more."""
        return not any(thread.is_alive() for thread in self._threads)

    def raise_requested_exception(self) -> None:
        """Raise what a thread has reported."""
        if self._error is not None:
            raise self._error


# Devices ------------------------------------------------------------------------------------------


class Device:
    """A device by TensorFlow's names: the processor, for whatever the engine uses."""

    name, device_type, memory_limit, physical_device_desc = "/device:CPU:0", "CPU", 0, ""


def list_local_devices(session_config: Any = None) -> list[Device]:
    return [Device()]


def no_devices(device_type: str | None = None) -> list[Any]:
    """No devices of TensorFlow's: the engine places its own work."""
    return []


def no_gpu(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: the engine, and no operation of the graph, uses accelerators."""
    return False


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"{at}.FLAGS": FLAGS for at in ("flags", "app.flags")},
    **{
        f"{at}.DEFINE_{name}": function
        for at in ("flags", "app.flags")
        for name, function in DEFINITIONS.items()
    },
    "app.run": run,
    **_of_files(),
    **{f"python.lib.io.file_io.{name}": FILES[older] for name, older in INNER_NAMES.items()},
    "test.TestCase": TestCase,
    "test.main": main,
    "test.is_gpu_available": no_gpu,
    "test.is_built_with_cuda": lambda: False,
    "test.gpu_device_name": lambda: "",
    "train.Coordinator": Coordinator,
    "python.client.device_lib.list_local_devices": list_local_devices,
    "config.experimental.list_physical_devices": no_devices,
    "config.experimental.list_logical_devices": no_devices,
    "config.list_physical_devices": no_devices,
    "config.list_logical_devices": no_devices,
}
