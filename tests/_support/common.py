"""What several test modules share: a clean session and a clean process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Container, Iterable, Mapping
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from kameleon import config
from kameleon.cli import cntk_environment
from kameleon.config import ENGINES, cntk
from kameleon.graph.ir.node import Node

if TYPE_CHECKING:
    from kameleon.config import Settings
    from kameleon.engines import Engine
    from kameleon.engines._base import Executable
    from kameleon.graph.ir.program import Graph
    from kameleon.testing import Check

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src"
PACKAGE = SOURCE / "kameleon"


def forget_settings(set_in: Callable[[ModuleType, str, Any], None] = setattr) -> Settings:
    """Fresh settings in the place of the process's own, as if nothing had been read or set.

    Args:
        set_in: what sets an attribute of a module: `monkeypatch.setattr`, in a test.
    """
    from kameleon.config import Settings, choice, file, functions, table

    fresh = Settings()
    for module in (config, choice, file, functions, table):
        set_in(module, "settings", fresh)
    return fresh


def write_keras_json(folder: Path, content: object) -> Path:
    """Put a keras.json in the folder: a text as it is, anything else as JSON."""
    path = folder / "keras.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def engines_under_test() -> list[str]:
    """The engines whose libraries are installed; TEST_ENGINES=numpy,jax chooses among them. CNTK
    runs in a process of its own: it takes its time, and part where it's asked for.
    """
    from kameleon.runtime import engines

    wanted = os.environ.get("TEST_ENGINES")
    names = wanted.split(",") if wanted else [n for n in engines.names() if n != "cntk"]
    return [name for name in names if engines.runs_here(name)]


def absence(names: Iterable[str]) -> str:
    """Why engines can't run here, and what to type."""
    return "; ".join(
        why_no_cntk() if name == "cntk" else f"{name} isn't installed: {ENGINES[name].install}"
        for name in names
        if name in ENGINES
    )


def why_no_cntk() -> str:
    """Why CNTK can't run here, and what to type; it may be that there's no Python 3.6."""
    try:
        cntk_environment.find_python()
    except cntk_environment.InstallError as error:
        return str(error)
    return f"CNTK isn't installed: {cntk.INSTALL}"


needs_orbax = pytest.mark.skipif(find_spec("orbax") is None, reason="Orbax writes checkpoints")
needs_cntk = pytest.mark.skipif(
    not cntk.installed(), reason="" if cntk.installed() else why_no_cntk()
)


def shortened(checks: Iterable[Check]) -> list[Any]:
    """Checks of the conformance kit as parameters; those of unknown sizes and of gradients are
    left to nightly runs."""
    return [
        check
        if re.match("contract-|values-.*-static$", check.name)
        else pytest.param(check, marks=pytest.mark.nightly)
        for check in checks
    ]


def reset_session(backend: ModuleType) -> None:
    """Give the backend the state of a fresh process with the documented settings."""
    backend.clear_session()
    backend.manual_variable_initialization(False)
    backend.set_floatx("float32")
    backend.set_epsilon(1e-7)
    backend.set_image_data_format("channels_last")


def native_in(names: Container[str]) -> Callable[[Node], bool]:
    """An engine that has rules for just these primitives, as `simplify` asks for it."""
    return lambda node: node.primitive.name in names


def side_by_side(works: list[Callable[[], None]]) -> None:
    """Run each of these in a thread of its own, switching often; raise what any of them raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(len(works))

    def guarded(work: Callable[[], None]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads), "a deadlock"
    if failures:
        raise failures[0]


def module_at(path: str) -> ModuleType:
    """The module in a file of the checkout that is no part of a package, by its path there."""
    spec = spec_from_file_location(Path(path).stem, TESTS.parent / path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed_by(script: str, *arguments: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """The last line that a program of the tests prints, as JSON; it runs in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, str(TESTS / script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return printed


def run_python(
    code: str, home: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter whose keras.json is that of the folder `home`.

    The environment is the present one without KERAS_* and KAMELEON_ENGINE, plus `settings`.
    """
    others = ("KERAS_", "KAMELEON_ENGINE")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    paths = [str(SOURCE), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment["KERAS_HOME"] = str(home)
    environment.update(settings or {})
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# An array of so many elements of float32 takes a buffer that engines may use again.
LARGE = 50_000


def value(variable: Any) -> Any:
    """The value of a variable as Python's numbers, in lists."""
    from kameleon import backend as K

    return K.get_value(variable).tolist()


def build(graph: Graph, engine: Engine) -> Executable:
    """Code for a simplified graph, behind the passes that the engine asks for."""
    from kameleon.graph.passes.pipeline import adapted
    from kameleon.runtime import stages

    return stages.build(adapted(graph, engine), engine)


def read_events(path: str | Path) -> list[Any]:
    """The events of a file for TensorBoard, whose records have the right checksums."""
    from kameleon._utils import events

    crc32c = events._library("compat.tensorflow_stub.pywrap_tensorflow").masked_crc32c
    data, found = Path(path).read_bytes(), []
    while data:
        length = int.from_bytes(data[:8], "little")
        content = data[12 : 12 + length]
        assert int.from_bytes(data[8:12], "little") == crc32c(data[:8])
        assert int.from_bytes(data[12 + length : 16 + length], "little") == crc32c(content)
        found.append(events.messages("event").Event.FromString(content))
        data = data[16 + length :]
    return found
