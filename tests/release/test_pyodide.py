"""The wheel in Pyodide, a Python for browsers: it trains where no thread and no process starts.

With every change, what Pyodide lacks is taken from this Python. Pyodide itself runs in Node, by
`--nightly`: npm's `pyodide`, and NumPy from the address that this fetches it from, or from a folder
that `PYODIDE_PACKAGES` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from release.test_package import WHEEL, built, copied

PYODIDE = "pyodide@314.0.7"
NO_NUMPY = 77
# What Pyodide doesn't have, as `LACKS` finds out there; with it, files aren't locked.
MODULES = (
    "_multiprocessing", "_posixshmem", "resource", "pwd", "grp", "readline", "syslog", "curses",
    "_hashlib", "_uuid", "venv", "ensurepip",
)  # fmt: skip
FUNCTIONS = ("link", "posix_spawn", "sched_getaffinity", "pidfd_open")
LACKS = f"""
import importlib.util, os, subprocess, threading

for name in {MODULES}:
    assert importlib.util.find_spec(name) is None, name
for name in {FUNCTIONS}:
    assert not hasattr(os, name), name
for start in (threading.Thread(target=print).start, os.fork, lambda: subprocess.run(["ls"])):
    try:
        start()
    except (RuntimeError, OSError):
        continue
    raise AssertionError(start)
"""
# Before anything is imported that might hold what is taken away.
BLOCKED = f"""
import _thread, errno, os, sys

def refused(*arguments, **options):
    raise OSError(errno.ENOSYS, "there are no threads and no processes")

for name in dir(_thread):
    if name.startswith("start_"):
        setattr(_thread, name, refused)
for name in {(*MODULES, "fcntl", "multiprocessing")}:
    sys.modules[name] = None
for name in {FUNCTIONS}:
    if hasattr(os, name):
        delattr(os, name)
for name in ("fork", "forkpty", "system", "popen"):
    if hasattr(os, name):
        setattr(os, name, refused)
sys.path[:] = [*sys.argv[1:], *(path for path in sys.path if "site-packages" not in path)]

import subprocess
subprocess.Popen.__init__ = refused
"""
TRAINS = """
import os, sys
import numpy as np
import kameleon
from kameleon import backend as K
from kameleon.cli.demo import digits

assert K.backend() == "numpy" and os.path.exists(os.path.expanduser("~/.keras/keras.json"))
reader = digits.Reader(0)
[epoch] = reader.learn(1)
assert epoch.held_out_accuracy > 0.9, epoch
x, w = K.placeholder((None, 2)), K.variable([[1.0], [2.0]])
predict = K.function([x], [K.dot(x, w)])
for _ in range(2):
    predict.save("predict.safetensors")
[found] = kameleon.load("predict.safetensors")([[[1.0, 1.0]]])
np.testing.assert_allclose(found, [[3.0]])
assert "kameleon" in sys.modules and not {"tensorflow", "torch", "jax"} & set(sys.modules)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="it builds the package: pip install hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    return built(folder / "dist", copied(folder / "sources"), "-t", "wheel") / WHEEL


@pytest.mark.skipif(os.name == "nt", reason="it links to folders")
def test_the_wheel_trains_without_threads_and_processes(wheel: Path, tmp_path: Path) -> None:
    (places := tmp_path / "packages").mkdir()
    with zipfile.ZipFile(wheel) as file:
        file.extractall(places)
    found = Path(np.__file__).parent
    for folder in (found, found.with_name("numpy.libs")):  # and nothing else of the environment
        if folder.exists():
            (places / folder.name).symlink_to(folder, target_is_directory=True)
    (tmp_path / "trains.py").write_text(BLOCKED + TRAINS)
    settings = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-I", "trains.py", str(places)],
        cwd=tmp_path,
        env={**settings, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.nightly
def test_the_wheel_trains_in_pyodide(wheel: Path, tmp_path: Path) -> None:
    if not (shutil.which("node") and (npm := shutil.which("npm"))):
        pytest.skip("Node isn't here, with npm")
    fetched = [npm, "install", "--silent", "--prefix", str(tmp_path), PYODIDE]
    if subprocess.run(fetched, capture_output=True, check=False).returncode:
        pytest.skip(f"npm can't fetch {PYODIDE}")
    for name, program in (("lacks", LACKS), ("trains", TRAINS)):
        (tmp_path / f"{name}.py").write_text(program)
    script, pyodide = Path(__file__).with_name("pyodide.mjs"), tmp_path / "node_modules" / "pyodide"
    packages = [os.environ["PYODIDE_PACKAGES"]] if "PYODIDE_PACKAGES" in os.environ else []
    done = subprocess.run(
        ["node", script, pyodide, wheel, tmp_path, *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NO_NUMPY:
        pytest.skip("NumPy for Pyodide can't be fetched")
    assert done.returncode == 0, done.stderr[-3000:]
