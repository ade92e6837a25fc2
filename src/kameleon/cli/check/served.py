"""Whether a name is there: asked of the tables and files that `kameleon run` goes by."""

from __future__ import annotations

import importlib
import io
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from kameleon import config
from kameleon.compat import legacy
from kameleon.compat.imports import original, own, tensorflow
from kameleon.compat.keras2 import location, older_names, steps
from kameleon.compat.legacy.tables import TABLES
from kameleon.compat.tensorflow import location as tensorflows
from kameleon.errors import MissingLibraryError

from .files import AbsentError, Files
from .findings import ABOUT, CANT, CHANGE, STOPPING, Said, lacks, said
from .libraries import Libraries
from .operations import Operations
from .reading import prefixes

KERAS_BACKENDS = frozenset({own.BACKEND, *steps.BACKENDS})
OURS = "kameleon.backend"
UNDOCUMENTED, THEANO = "kameleon.compat.undocumented", "kameleon.compat.theano.modules"
SECOND = "tensorflow._api.v1.compat.v2"


class Served:
    """What programs get under `kameleon run`, as the environment says; nothing of it is imported
    but Kameleon, NumPy and Python's own library.
    """

    def __init__(self) -> None:
        original.name_backend()
        try:
            self.keras_folder, self.has_keras = location.find(), True
        except MissingLibraryError:
            self.keras_folder, self.has_keras = None, False
        original.choose_base(self.has_keras)
        self.base = config.keras_on()
        self.tensorflow = original.which_tensorflow()
        self.libraries = Libraries(TABLES if legacy.are_names_given() else {})
        self._about: dict[str, Said | None] = {}

    def about(self, name: str) -> Said | None:
        """What there is to say of a full name; None if it's there, or if that can't be seen."""
        if name not in self._about:
            top = name.partition(".")[0]
            judge = JUDGES.get(top)
            self._about[name] = judge(self, name) if judge else self.libraries.about(name)
        return self._about[name]

    def is_absent(self, name: str) -> bool:
        """Whether an import of a full name fails."""
        found = self.about(name)
        return found is not None and found.severity in STOPPING and found.is_absent

    # Theano and Kameleon -----------------------------------------------------------------------

    def _theano(self, name: str) -> Said | None:
        if config.known_as() != "theano":
            return self.libraries.about(name)
        return self._ask(self._part(THEANO).module("theano"), "theano", name.split(".")[1:])

    @cached_property
    def k(self) -> ModuleType:
        """The backend. It's imported on NumPy, and neither says so nor writes keras.json."""
        with tempfile.TemporaryDirectory() as home:
            quiet = {"KERAS_HOME": home, config.OWN: "numpy"}
            with mock.patch.dict(os.environ, quiet), redirect_stderr(io.StringIO()):
                return importlib.import_module(OURS)

    def _part(self, name: str) -> Any:
        """A module of Kameleon's that needs the backend."""
        return self.k and importlib.import_module(name)

    def _kameleon(self, name: str) -> Said | None:
        if f"{name}.".startswith(f"{OURS}."):
            return self._of_k(OURS, name.split(".")[2:])
        kameleon = importlib.import_module("kameleon")
        child = f"{name}.".split(".")[1].removesuffix("()")
        if not child or child in dir(kameleon) or hasattr(kameleon, child):
            return None
        if find_spec(f"kameleon.{child}") is not None:
            return None
        return lacks("kameleon has", child, f"kameleon.{child}", dir(kameleon))

    def _of_k(self, path: str, parts: list[str]) -> Said | None:
        if not (parts and parts[0].endswith("()")):
            return self._ask(self.k, path, parts)
        function = getattr(self.k, parts[0].removesuffix("()"), None)
        gives = getattr(function, "__annotations__", {}).get("return")
        if gives not in ("Tensor", "Variable") or len(parts) < 2 or parts[1].startswith("_"):
            return None
        hosted = self._part("kameleon.compat.keras2.hosted.tensors")
        # What Keras is hosted on has these, too.
        more = {**hosted.OF_TENSORS, **hosted.OF_VARIABLES} if path != OURS else {}
        known = {*dir(self.k.Variable), *more}
        attribute = parts[1].partition("(")[0]
        if attribute in known:
            return None
        return lacks("tensors of K have", attribute, f"{path}.{parts[0]}.{attribute}", known)

    def _ask(self, found: Any, path: str, parts: list[str]) -> Said | None:
        kind = self._part(THEANO).Namespace
        for part in parts:
            if found is not self.k and not isinstance(found, kind):
                return None
            path = f"{path}.{part}"
            try:
                found = self._attribute(found, path, part.removesuffix("()"))
            except AttributeError as error:
                found_out = said(CANT, path, str(error))
                is_simple = found_out.remedy.startswith("use ")
                return found_out._replace(severity=CHANGE) if is_simple else found_out
        return None

    def _attribute(self, found: Any, path: str, name: str) -> Any:
        is_missing = path.startswith(f"{OURS}.") and not hasattr(found, name)
        if is_missing and find_spec(f"{OURS}.{name}") is not None:
            return None  # a module that isn't loaded yet
        if not self.has_keras or path.rpartition(".")[0] not in KERAS_BACKENDS:
            return getattr(found, name)
        return getattr(found, name) if name in found.__all__ else found.__getattr__(name)

    # Keras --------------------------------------------------------------------------------------

    @cached_property
    def files(self) -> Files:
        """The files of Keras and of TensorFlow, as far as they're installed."""
        folders: dict[str, Path] = {}
        if tensorflows.installed():
            root = Path(tensorflows.folder())
            folders["tensorflow"] = folders["tensorflow_core"] = root / tensorflows.PACKAGE
            folders["tensorflow_estimator"] = root / "tensorflow_estimator"
        for name in tensorflow.OF_KERAS:
            beside = Path(self.keras_folder or "") / name
            if self.keras_folder and beside.is_dir():
                folders[name] = beside
            elif (spec := find_spec(name)) and spec.submodule_search_locations:
                folders[name] = Path(next(iter(spec.submodule_search_locations)))
        return Files(folders)

    def _keras(self, name: str) -> Said | None:
        head, called, _ = name.partition("()")
        module = head.rpartition(".")[0]
        if not self.has_keras:
            return self._own_keras(name)
        try:
            defined = self.files.definition(head)
        except AbsentError as error:
            return self._not_keras(error, name)
        if called and module in KERAS_BACKENDS and self.base == "kameleon":
            return self._of_k(module, name.removeprefix(f"{module}.").split("."))
        return said_of(defined, head)

    def _own_keras(self, name: str) -> Said | None:
        parts = name.split(".")
        path = ".".join(parts[:2])
        if path == own.BACKEND:
            rest = parts[3:] if ".".join(parts[:3]) in own.PARTS else parts[2:]
            return self._of_k(own.BACKEND, rest)
        if len(parts) == 1 or path == "keras.__version__":
            return None
        ours = self._part(own.OURS[own.LAYERS]).__all__
        if path == own.LAYERS and (len(parts) == 2 or parts[2].removesuffix("()") in ours):
            return None
        missing = ".".join(parts[: 3 if path == own.LAYERS else 2])
        return said(CANT, missing, own.not_here(missing))

    def _not_keras(self, error: AbsentError, name: str) -> Said | None:
        full = str(error)
        if self._is_older(error.module, error.name) or full in steps.INSTEAD[self.base]:
            return None
        if error.module in KERAS_BACKENDS:
            rest = name.removeprefix(f"{error.module}.").split(".")
            found = self._of_k(error.module, rest)
            if self.base == "kameleon":
                return found
            if found is None:
                why = "it's a name of Kameleon's backend, and Keras runs on TensorFlow's here"
                return Said(CANT, full, why, "kameleon run --keras-on kameleon")
            if error.name in self._part(UNDOCUMENTED).OF_TENSORFLOW:
                why = "Keras keeps it to itself"
                return Said(CHANGE, full, why, "use import tensorflow as tf: tensors are one kind")
            return found._replace(name=full)
        return lacks(
            f"{error.module} of Keras {location.VERSION} has", error.name, full, error.known
        )

    def _is_older(self, module: str, name: str) -> bool:
        """Whether a module of Keras has an older name."""
        names = (older_names.MOVED, older_names.WRITTEN)
        if any(name in table.get(module, {}) for table in names):
            return True
        return not name.startswith("_") and any(
            self._has(f"{place}.{name}") for place in older_names.IMPORTED.get(module, ())
        )

    def _has(self, name: str) -> bool:
        try:
            self.files.definition(name)
        except AbsentError:
            return False
        return True

    # TensorFlow ---------------------------------------------------------------------------------

    def _tensorflow(self, name: str) -> Said | None:
        if self.tensorflow == config.WHICH_TENSORFLOW[1]:
            is_keras = f"{name}.".startswith(f"{tensorflow.TF_KERAS}.")
            keras = said(CHANGE, tensorflow.TF_KERAS, tensorflow.INSTEAD)
            return keras if is_keras else self.libraries.about(name)
        try:
            tensorflows.find()
        except MissingLibraryError as error:
            return said(CANT, "tensorflow", str(error))
        head = name.partition("()")[0]
        names, others = head, _second(head)
        # What lies in the files by that path is there in either version.
        in_files = self.files.path(".".join(head.split(".")[:2])) is not None
        if tensorflow.which_keras() == "2" and not in_files:
            names, others = others, names
        try:
            defined = self.files.definition(names)
        except AbsentError as error:
            return self._not_tensorflows(error, others)
        return said_of(defined, head) or self._unserved(defined, head)

    def _not_tensorflows(self, error: AbsentError, others: str) -> Said | None:
        full = f"tensorflow{error.said.removeprefix(SECOND).removeprefix('tensorflow')}"
        is_second = not others.startswith(SECOND)
        if not self._has(others):
            holder = f"{full.rpartition('.')[0]} {tensorflows.VERSION} has"
            return lacks(holder, error.name, full, error.known)
        if is_second and self.files.module(self.files.definition(others) or ""):
            return None  # an import finds the module by its path
        why = f"{full} is a name of TensorFlow {1 if is_second else 2}"
        option = "without" if is_second else "with"
        return Said(CANT, full, why, f"kameleon run {option} --tf-keras=2")

    @cached_property
    def operations(self) -> Operations:
        """What TensorFlow's functions make."""
        return Operations(self.files, self._part)

    def _unserved(self, defined: str | None, name: str) -> Said | None:
        kind = self.operations.unserved(defined) if defined else None
        if kind is None:
            return None
        why = f"operations of type {kind} aren't implemented"
        return Said(CANT, name, why, "write it in others: docs/tensorflow.md lists them", False)


def _second(name: str) -> str:
    """Where the files have a name of TensorFlow 2."""
    return f"{SECOND}{name.removeprefix('tensorflow')}"


def said_of(defined: str | None, name: str) -> Said | None:
    """What there is to say of a definition, under the name by which it's asked for."""
    found = next((ABOUT[each] for each in prefixes(defined or "") if each in ABOUT), None)
    if found is None:
        return None
    severity, why, remedy = found
    return Said(severity, name, why, remedy, is_absent=False)


JUDGES: Mapping[str, Callable[[Served, str], Said | None]] = {
    "kameleon": Served._kameleon,
    "keras": Served._keras,
    "tensorflow": Served._tensorflow,
    "theano": Served._theano,
}
