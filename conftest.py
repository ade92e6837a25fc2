"""Every test starts from a reset session, and no test touches the user's own keras.json."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _support import selection
from _support.common import absence, reset_session
from hypothesis import HealthCheck, settings

from kameleon.config import ENGINES, installed

if TYPE_CHECKING:
    from kameleon.engines import Engine

# Set before any test module imports the backend, which reads (and may write) keras.json.
_HOME = tempfile.mkdtemp(prefix="kameleon-tests-")
os.environ["KERAS_HOME"] = _HOME
os.environ["KERAS_BACKEND"] = "numpy"  # tests choose other engines themselves
os.environ.pop("KAMELEON_ENGINE", None)  # it would override KERAS_BACKEND
os.environ.pop("KAMELEON_AS", None)
# Whether or not TensorFlow's files are installed; tests that are about these say so themselves.
os.environ["KAMELEON_KERAS_ON"] = "kameleon"

_TESTS = Path(__file__).parent / "tests"

# A busy machine is no fault.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


# What can't run here: engines whose libraries aren't installed, their own tests, and other files
# that use such a library.
ABOUT = {
    "jax": (
        "src/kameleon/distributed/distribution.py",
        "src/kameleon/backend/interop/jax*.py",
        "src/kameleon/backend/export/stablehlo.py",
        "src/kameleon/backend/export/symbolic.py",
        "docs/to_jax.md",
    ),
    "onnxruntime": (
        "src/kameleon/backend/export/onnx*.py",
        "docs/browser.md",
        "docs/deployment.md",
        "docs/exporting.md",
    ),
    "tensorflow": (
        "src/kameleon/backend/interop/tensorflow*.py",
        "src/kameleon/backend/interop/keras3*.py",
        "src/kameleon/backend/export/litert*.py",
        "src/kameleon/backend/export/savedmodel.py",
        "docs/to_keras3.md",
        "docs/to_tensorflow.md",
    ),
    "theano": ("src/kameleon/backend/interop/pytensor.py", "docs/pytensor.md", "docs/pymc.md"),
    "torch": (
        "src/kameleon/backend/interop/torch*.py",
        "src/kameleon/backend/export/torch_export.py",
        "docs/to_torch.md",
    ),
}
collect_ignore_glob = [
    pattern
    for name in ENGINES
    if not installed(name)
    for pattern in (
        f"src/kameleon/engines/{name}/*",
        f"src/kameleon/runtime/calls/of_{name}.py",
        f"tests/engines/test_{name}.py",
        *ABOUT.get(name, ()),
    )
]
if not (installed("torch") or installed("jax")):
    collect_ignore_glob.append("docs/choosing.md")  # there must be something to choose
if find_spec("orbax") is None:
    collect_ignore_glob.append("src/kameleon/distributed/checkpoint.py")
if find_spec("tensorboard") is None:
    collect_ignore_glob.append("src/kameleon/_utils/events.py")
if find_spec("pandas") is None:
    collect_ignore_glob.append("docs/data.md")
if find_spec("pymc") is None:
    collect_ignore_glob.append("docs/pymc.md")
# Pages that the build of the site makes of docstrings, which are tested where they stand.
collect_ignore_glob += ["docs/backend/functions/*", "docs/examples/*"]
collect_ignore_glob.append("docs/building/resnet.py")  # a program in old Keras
if find_spec("matplotlib") is None:
    collect_ignore_glob.append("docs/building/figures/*")
if find_spec("nbformat") is None:
    collect_ignore_glob.append("docs/building/notebooks.py")
if find_spec("sphinx") is None:
    collect_ignore_glob += [
        "docs/building/commands.py",
        "docs/building/extension.py",
        "docs/building/catalogues.py",
    ]
# Files that change what `import keras` gives, or that import the original: tests run these in
# processes of their own.
collect_ignore_glob += [
    "src/kameleon/as_keras.py",
    "src/kameleon/compat/imports/children/*",
    "src/kameleon/compat/keras2/hosted/*",
]
collect_ignore_glob.append(
    "src/kameleon/backend/__init__.py"
)  # its functions are tested in their files
collect_ignore_glob.append("tests/*/run.py")  # commands, which find their modules beside them
# These modules run in CNTK's process, and import CNTK there.
collect_ignore_glob += [
    f"src/kameleon/engines/cntk/{name}.py" for name in ("functions", "segment", "windows")
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that say which tests run."""
    selection.add_options(parser)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Beside tests, collect what has examples alone: among the rest are programs, which import what
    may not be installed, and which tests run in processes of their own.
    """
    path = collection_path
    if path.suffix != ".py" or path.name.startswith("test_") or _TESTS not in path.parents:
        return None
    return True if ">>>" not in path.read_text("utf-8") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that aren't asked for."""
    selection.select(config, items)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep tests marked `together` together. (When all are collected it's too late for that:
    pytest-xdist has looked at the marks by then.)
    """
    group = selection.group_of(item)
    if group and item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(group))


def pytest_unconfigure() -> None:
    """Remove the folder that stood in for the user's settings."""
    shutil.rmtree(_HOME, ignore_errors=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `engine_name` run on each engine that is installed; where only others were
    asked for, they are skipped, and that says what to type."""
    if "engine_name" in metafunc.fixturenames:
        names: list[Any] = list(selection.engine_names())
        if not names:
            reason = absence(os.environ["TEST_ENGINES"].split(","))
            names = [pytest.param("", marks=pytest.mark.skip(reason=reason))]
        metafunc.parametrize("engine_name", names, scope="session")


@pytest.fixture
def engine(engine_name: str) -> Iterator[Engine]:
    """Each engine that is installed, in force."""
    from kameleon.runtime import engines

    with engines.using(engine_name) as found:
        yield found


@pytest.fixture(autouse=True)
def _fresh_session() -> None:
    """Reset the session before each test, where the backend is in use at all."""
    backend = sys.modules.get("kameleon.backend")
    if backend is not None:
        reset_session(backend)
