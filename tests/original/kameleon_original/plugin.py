"""A plugin of pytest for the process that runs one test file of the original.

The plugin gives the tests from outside what they need: their hosted Keras, a fresh session for
each test, seeds, and old names of NumPy and pytest that only tests see; it writes what came out.
"""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from . import tables

SEED = 1337
GROUND = tables.Ground(
    os.environ.get("KAMELEON_ENGINE", "numpy"), os.environ.get("KAMELEON_KERAS_ON", "kameleon")
)
if GROUND.keras_on == "tensorflow":  # now, for the tests' conftest.py imports Keras very early
    import_module("kameleon.as_keras").export()  # for processes that tests start, too


def pytest_addoption(parser: pytest.Parser) -> None:
    """The file that is told what came out."""
    parser.addoption("--outcomes", type=Path, help="write the tests' outcomes to this file")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Host Keras, before any test module is imported."""
    import keras  # the original: the runner puts it first on the path

    if GROUND.keras_on == "kameleon":
        from kameleon import backend

        keras.backend.theano_backend = OnNumPy(backend)
    config.pluginmanager.register(Outcomes(config), "outcomes")


# --- what the tests see -------------------------------------------------------------------------


class OnNumPy(ModuleType):
    """Kameleon's functions, evaluated on NumPy: what the engine under test is compared with.

    Some tests compare two backends, Theano and TensorFlow. Here they compare two engines.
    """

    def __init__(self, backend: ModuleType) -> None:
        super().__init__("on_numpy")
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def function(self, *args: Any, **kwargs: Any) -> Any:
        """`K.function` on NumPy."""
        return self._backend.function(*args, engine="numpy", **kwargs)

    def eval(self, x: Any) -> Any:
        """`K.eval` on NumPy."""
        with self._backend.using_engine("numpy"):
            return self._backend.eval(x)


def _warns(expected: Any = Warning, **kwargs: Any) -> AbstractContextManager[Any]:
    """`pytest.warns` as it was: None records what comes, and nothing need come."""
    if expected is not None:
        return pytest.warns(expected, **kwargs)
    return _recorded()


@contextmanager
def _recorded() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield seen


def _stable_argsort(array: Any, *args: Any, **kwargs: Any) -> Any:
    return np.argsort(array, *args, **{"kind": "stable", **kwargs})


def _numpy(numpy: ModuleType) -> Mapping[str, Any]:
    """Names that have left NumPy, and functions that took lists of unequal lengths."""

    def of_lists(function: Any) -> Any:
        def call(values: Any, *args: Any, **kwargs: Any) -> Any:
            ragged = isinstance(values, list) and len({np.size(each) for each in values}) > 1
            values = [*values] if not ragged else np.array(values, dtype=object)
            return function(values, *args, **kwargs)

        return call

    return {"alltrue": numpy.all, "max": of_lists(numpy.max), "min": of_lists(numpy.min)}


def _argmax(a: Any, axis: Any = None, out: Any = None) -> Any:
    return np.argmax(a, axis, out)


# Functions that were written in Python and no longer are, where tests take them as parameters.
WRITTEN_IN_PYTHON: Mapping[Any, Any] = {np.argmax: _argmax}


def _h5py(h5py: ModuleType) -> Mapping[str, Any]:
    from kameleon.compat.keras2.hdf5 import classes

    return {"File": classes(h5py)[1]}


# Names that tests use and that today's libraries lack, by the name of the library.
OLD_NAMES: Mapping[str, Callable[[ModuleType], Mapping[str, Any]]] = {
    "numpy": _numpy,
    "pytest": lambda pytest: {"warns": _warns},
    "h5py": _h5py,
}
# What `numpy_backend`, the tests' oracle, takes for granted: short arrays are sorted stably.
ORACLE = {"argsort": _stable_argsort}


@contextmanager
def _told(name: str, module: ModuleType) -> Iterator[None]:
    """Give a test module `name` as the backend's name; Keras itself gets the true name."""
    K = sys.modules["keras.backend"]
    truth = K.backend

    def backend() -> str:
        asked_by = sys._getframe(1).f_globals
        return name if asked_by is vars(module) else truth()

    K.backend = backend  # type: ignore[attr-defined]
    try:
        yield
    finally:
        K.backend = truth  # type: ignore[attr-defined]


def _take_old_functions(item: Any) -> None:
    """Put functions as they were into a test's parameters."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    for name, value in params.items():
        if isinstance(value, Hashable) and value in WRITTEN_IN_PYTHON:
            params[name] = WRITTEN_IN_PYTHON[value]


# --- the run ------------------------------------------------------------------------------------


class Outcomes:
    """Prepares the tests, and notes what comes out."""

    def __init__(self, config: pytest.Config) -> None:
        self.path: Path | None = config.getoption("--outcomes")
        self.tests = config.rootpath
        self.found: dict[str, dict[str, Any]] = {}

    def name(self, item: pytest.Item) -> str:
        """The path below `tests`, `::`, the test."""
        file = item.path.relative_to(self.tests).as_posix()
        return "::".join([file, *item.nodeid.split("::")[1:]])

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """Lift skips that don't hold; leave out what can't be tried; show old names."""
        from kameleon.compat.keras2.shims import show

        for module in {item.module for item in items}:
            for library in OLD_NAMES.keys() & sys.modules.keys():
                show(module, sys.modules[library], OLD_NAMES[library])
        oracle = sys.modules.get("keras.backend.numpy_backend")
        if oracle is not None:
            show(oracle, oracle.np, lambda numpy: ORACLE)
        left_out = [item for item in items if self._is_left_out(item)]
        for item in items:
            self._lift(item)
            _take_old_functions(item)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)

    def _is_left_out(self, item: Any) -> bool:
        exclusion = tables.exclusion(self.name(item), GROUND)
        if exclusion is None or exclusion.runs:
            return False
        self._note(item, "excluded", 0.0, exclusion.reason)
        return True

    def _lift(self, item: Any) -> None:
        name = self.name(item)
        for node in item.listchain():
            node.own_markers[:] = [
                mark
                for mark in node.own_markers
                if mark.name not in ("skip", "skipif")
                or not tables.is_lifted(name, mark.kwargs.get("reason", ""), GROUND)
            ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """The same random numbers for each test, alone or among others."""
        random.seed(SEED)
        np.random.seed(SEED)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Tell tests that choose by the backend's name that it's TensorFlow."""
        if GROUND.keras_on == "kameleon" and self.name(item) in tables.TOLD_TENSORFLOW:
            with _told("tensorflow", item.module):
                return (yield)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        """Forget the session, as the tests' conftest.py does for backends whose name it knows."""
        result = yield
        if GROUND.keras_on == "kameleon":
            sys.modules["kameleon.backend"].clear_session()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[Any]:
        """Note the outcome of each phase of a test; the worst outcome counts."""
        report = yield
        if report.skipped:
            *_, reason = report.longrepr
            self._note(item, "skipped", report.duration, reason.removeprefix("Skipped: "))
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else str(report.longrepr)
            self._note(item, "failed", report.duration, message)
        else:
            self._note(item, "passed", report.duration, "")
        return report

    def _note(self, item: Any, outcome: str, seconds: float, message: str) -> None:
        found = self.found.setdefault(
            self.name(item), {"outcome": "passed", "seconds": 0.0, "message": ""}
        )
        found["seconds"] += seconds
        if outcome != "passed" and found["outcome"] != "failed":
            found["outcome"], found["message"] = outcome, message

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that can't be imported is a failure."""
        if report.failed:
            message = str(report.longrepr).strip().splitlines()[-1]
            name = report.nodeid or "collection"
            self.found[name] = {"outcome": "failed", "seconds": 0.0, "message": message}

    def pytest_sessionfinish(self) -> None:
        """Write all outcomes."""
        if self.path is not None:
            self.path.write_text(json.dumps(self.found), encoding="utf-8")
