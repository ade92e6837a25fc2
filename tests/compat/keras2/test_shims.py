"""The table of shims, and what is done with it, on small modules that stand for Keras's."""

from __future__ import annotations

import builtins
import collections
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kameleon.compat.keras2 import INSTEAD, hdf5, loading, location, shims
from kameleon.compat.keras2.settings import GLOBALS, SharedGlobals
from kameleon.config import settings

# --- the table --------------------------------------------------------------------------------


def names_of(library: ModuleType) -> dict[str, Any]:
    """What it holds, but for modules: parts of it may load when they're asked for."""
    return {k: v for k, v in vars(library).items() if not isinstance(v, ModuleType)}


def test_each_shim_is_there_once_and_says_why() -> None:
    places = [(shim.module, shim.library) for shim in shims.SHIMS]
    assert len(places) == len(set(places))
    assert all(shim.reason for shim in shims.SHIMS)


@pytest.mark.parametrize("shim", shims.SHIMS, ids=lambda s: f"{s.module}-{s.library}")
def test_shims_add_to_modules_of_keras_alone(shim: shims.Shim) -> None:
    assert shim.module.partition(".")[0] in ("keras", "keras_preprocessing")
    library = pytest.importorskip(shim.library, reason=f"{shim.library} isn't installed")
    before = names_of(library)
    added = shim.gives(library)
    assert added
    assert names_of(library) == before


# What a library still has, but not as it was, or not before it's used.
REPLACED = {"array", "File", "FullLoader", "loads", "ndimage", "randint"}
REPLACED |= {"StrictVersion", "exceptions", "issparse", "linalg", "Image", "ImageEnhance"}


@pytest.mark.parametrize("shim", shims.SHIMS, ids=lambda s: f"{s.module}-{s.library}")
def test_what_is_added_is_gone_from_the_library(shim: shims.Shim) -> None:
    library = pytest.importorskip(shim.library, reason=f"{shim.library} isn't installed")
    assert {name for name in shim.gives(library) if hasattr(library, name)} <= REPLACED


def test_images_of_integers_are_saved_in_16_bits(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL")
    images = shims.needs("keras_preprocessing.image.utils")["PIL"].gives(pillow)["Image"]
    pixels = np.array([[0, 300], [65535, 5]], "int32")
    images.fromarray(pixels, "I").save(tmp_path / "image.png")
    with images.open(tmp_path / "image.png") as read:
        np.testing.assert_array_equal(np.asarray(read), pixels)


# --- who sees it ------------------------------------------------------------------------------


@pytest.fixture
def _shims_for_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = (
        shims.Shim("keras.mine", "collections", shims._from_abc("Iterable"), "a test"),
        shims.Shim("keras.mine", "numpy", shims._same_as(Inf="inf"), "a test"),
    )
    monkeypatch.setattr(shims, "SHIMS", mine)
    monkeypatch.setattr(shims, "WITHOUT_TENSORFLOW", frozenset({"keras.mine"}))


SOURCE = """
from collections import Iterable, OrderedDict
import collections.abc
import numpy as np
import numpy.linalg
import os.path

def later():
    import numpy
    from collections import Iterable
    return numpy.Inf, Iterable, len([1, 2])

def of_later():
    return added_later

try:
    from tensorflow.python.lib.io import file_io
except ImportError:
    file_io = None

class Made:
    number = np.Inf
"""


def run(name: str) -> ModuleType:
    """A module with that name runs the source above."""
    module = ModuleType(name)
    shims.before(module)
    exec(compile(SOURCE, f"{name}.py", "exec"), vars(module))
    return module


@pytest.mark.usefixtures("_shims_for_a_module")
def test_a_module_that_loads_sees_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    module: Any = run("keras.mine")
    assert module.Iterable is collections.abc.Iterable
    assert module.OrderedDict is collections.OrderedDict
    assert module.np.Inf == module.Made.number == np.inf
    assert module.np.array is np.array
    assert module.np.__name__ == "numpy"
    assert module.later() == (np.inf, collections.abc.Iterable, 2)
    assert module.file_io is None
    assert "Inf" in dir(module.np)
    assert "linalg" in dir(module.np)


@pytest.mark.usefixtures("_shims_for_a_module")
def test_builtins_are_the_present_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = run("keras.mine")
    with pytest.raises(NameError, match="added_later"):
        module.of_later()
    monkeypatch.setattr(builtins, "added_later", 5, raising=False)
    assert module.of_later() == 5


@pytest.mark.usefixtures("_shims_for_a_module")
def test_others_see_none() -> None:
    before = names_of(np), names_of(collections)
    with pytest.raises(ImportError, match="Iterable"):
        run("keras.other")
    assert (names_of(np), names_of(collections)) == before
    assert not hasattr(np, "Inf")
    assert not hasattr(collections, "Iterable")


@pytest.mark.usefixtures("_shims_for_a_module")
def test_a_module_that_ran_before_gets_stand_ins() -> None:
    module: Any = ModuleType("keras.mine")
    module.np, module.numpy, module.other = np, np, collections.abc
    shims.after(module)
    assert module.np.Inf == module.numpy.Inf == np.inf
    assert module.other is collections.abc


def test_lists_of_unequal_lengths() -> None:
    (shim,) = shims.needs("keras.datasets.imdb").values()
    array = shim.gives(np)["array"]
    assert array([[1, 2], [3]]).dtype == object
    assert array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert array([1, 2]).dtype.kind == "i"
    assert array([[1], [2]], dtype="float32").dtype == "float32"


# --- the import hook --------------------------------------------------------------------------


@pytest.fixture
def original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `keras` with the files that matter here, importable; it leaves nothing behind."""
    package = tmp_path / "keras"
    for path, text in {
        "__init__.py": "from . import backend",
        "backend/__init__.py": "from .load_backend import value",
        "backend/load_backend.py": "value = 1",
        "callbacks/__init__.py": "",
        "callbacks/callbacks.py": "from collections import Iterable\nfrom numpy import Inf",
        "plain.py": "",
        "losses.py": "smooth = 1 is not 0",
    }.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
    before = dict(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [n for n in before if n.partition(".")[0] == "keras"]:
        monkeypatch.delitem(sys.modules, name)
    finder = loading.KerasFinder(
        {"keras.backend": lambda module: setattr(module, "done", True)}, INSTEAD
    )
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    yield package
    for name in [n for n in sys.modules if n.partition(".")[0] == "keras" and n not in before]:
        del sys.modules[name]


def test_modules_load_with_what_they_need(original: Path) -> None:
    import keras  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from keras.callbacks import callbacks

    assert keras.backend.done
    assert callbacks.Inf == np.inf
    assert callbacks.__file__ == str(original / "callbacks" / "callbacks.py")
    assert callbacks.__spec__.loader is callbacks.__loader__
    assert "exec_module" not in vars(callbacks.__loader__)


def test_warnings_of_old_code_arent_shown(original: Path) -> None:
    from keras import losses

    assert losses.smooth is True


def test_other_modules_are_found_by_python(original: Path) -> None:
    finder = sys.meta_path[0]
    assert isinstance(finder, loading.KerasFinder)
    for name in ("keras", "keras.plain", "numpy", "keras.no_such_module"):
        assert finder.find_spec(name, [str(original)]) is None


def test_another_keras_is_left_alone(original: Path) -> None:
    import keras

    (original / "backend" / "load_backend.py").unlink()
    finder = sys.meta_path[0]
    assert isinstance(finder, loading.KerasFinder)
    for name in ("keras.callbacks.callbacks", "keras.backend.tensorflow_backend"):
        assert finder.find_spec(name, keras.__path__) is None


# --- settings ---------------------------------------------------------------------------------


def test_settings_are_a_view_of_keras() -> None:
    common: Any = ModuleType("common")
    common._FLOATX, common._EPSILON, common._IMAGE_DATA_FORMAT = "float16", 1e-3, "channels_first"
    own = type(settings)()
    own.backend = "numpy"
    own.keep_calls_in(SharedGlobals(common))
    assert (own.floatx, own.epsilon, own.image_data_format) == ("float16", 1e-3, "channels_first")
    assert own.backend == "numpy"
    own.floatx = "float64"
    common._EPSILON = 1e-5
    assert (common._FLOATX, own.epsilon, own.source("epsilon")) == ("float64", 1e-5, "call")
    assert "_BACKEND" not in vars(common)


def test_what_was_set_before_stays() -> None:
    common: Any = ModuleType("common")
    common._FLOATX = "float32"
    own = type(settings)()
    own.floatx = "float64"
    own.keep_calls_in(SharedGlobals(common))
    assert (own.floatx, common._FLOATX) == ("float64", "float64")


def test_shared_settings_are_a_mapping() -> None:
    common = ModuleType("common")
    shared = SharedGlobals(common)
    assert (len(shared), list(shared), shared.get("floatx")) == (0, [], None)
    shared.update(floatx="float16", backend="numpy")
    assert dict(shared) == {"floatx": "float16", "backend": "numpy"}
    assert vars(common)[GLOBALS["floatx"]] == "float16"
    del shared["floatx"], shared["backend"]
    assert not shared
    with pytest.raises(KeyError):
        shared["floatx"]


def test_threads_read_and_set(monkeypatch: pytest.MonkeyPatch) -> None:
    common = ModuleType("common")
    own = type(settings)()
    own.keep_calls_in(SharedGlobals(common))
    seen: set[str] = set()

    def work(value: str) -> None:
        for _ in range(200):
            own.floatx = value
            seen.add(own.floatx)

    threads = [threading.Thread(target=work, args=(f"float{n}",)) for n in (16, 32, 64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= {"float16", "float32", "float64"}


# --- attributes of HDF5 files -----------------------------------------------------------------


def test_attributes_read_as_h5py_2_did() -> None:
    assert hdf5.as_h5py_2("a", True) == b"a"
    text = hdf5.as_h5py_2("ä", False)
    assert (text, text.decode("utf8"), type(text.decode())) == ("ä", "ä", str)
    names = hdf5.as_h5py_2(np.array([["a"], ["bc"]], dtype=object), True)
    assert names.dtype.type is np.bytes_
    assert names.shape == (2, 1)
    for other in (
        3,
        np.arange(2),
        b"x",
        np.array([], dtype=object),
        np.array([1, "a"], dtype=object),
    ):
        assert hdf5.as_h5py_2(other, True) is other


# --- where the original is --------------------------------------------------------------------


def test_the_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(location.VARIABLE, raising=False)
    assert location.folder().startswith(sys.prefix)
    monkeypatch.setenv(location.VARIABLE, str(tmp_path))
    assert location.folder() == str(tmp_path)
    monkeypatch.setenv(location.VARIABLE, "~/keras2")
    assert location.folder() == str(Path("~/keras2").expanduser())


def test_an_original_in_the_folder(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(location.VARIABLE, str(original.parent))
    assert location.find() == str(original.parent)
    assert location.installed()


def test_an_original_in_the_environment(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(location.VARIABLE, str(original / "none"))
    assert location.find() is None
    assert location.installed()


def test_no_original(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(location.VARIABLE, str(original / "none"))
    (original / "backend" / "load_backend.py").unlink()
    assert not location.installed()
    with pytest.raises(ImportError, match=r"isn't installed.*kameleon keras2 install"):
        location.find()
