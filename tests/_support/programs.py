"""Programs in processes of their own, and a tiny Keras that loads its backend as 2.3 does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from _support.common import SOURCE

# As if the original were installed nowhere, whether it is or not.
NOWHERE = """
from kameleon.errors import MissingLibraryError
from kameleon.compat.keras2 import location
def find(): raise MissingLibraryError("nowhere")
location.find = find
"""
COMMAND = (
    "import sys; sys.argv = ['kameleon', *sys.argv[1:]]; from kameleon.cli import main; main()"
)

# As if TensorFlow weren't installed: everybody but old code, who gets Kameleon's, is refused.
NO_TENSORFLOW = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
"""
# Keras runs on TensorFlow's files, where they're installed.
ANYWHERE = {"KAMELEON_KERAS_ON": ""}

LOAD_BACKEND = """
import importlib, json, os
from .common import floatx
_BACKEND = "tensorflow"
path = os.path.join(os.environ["KERAS_HOME"], "keras.json")
if not os.path.exists(path):
    with open(path, "w") as file:
        json.dump({"backend": _BACKEND}, file)
_BACKEND = os.environ.get("KERAS_BACKEND") or _BACKEND
try:
    module = importlib.import_module(_BACKEND)
except ImportError:
    raise ValueError("Unable to import backend : " + _BACKEND)
globals().update({k: v for k, v in vars(module).items() if k not in globals()})
def backend():
    return _BACKEND
"""
SMALL_KERAS = {
    "__init__.py": "__version__ = '2.3.1'\nfrom . import backend, layers\n",
    "layers.py": "class Dense: ...\n",
    "backend/__init__.py": "from .load_backend import *\nfrom .load_backend import backend\n",
    "backend/load_backend.py": LOAD_BACKEND,
    "backend/common.py": "_FLOATX, _EPSILON = 'float32', 1e-7\n"
    "_IMAGE_DATA_FORMAT = 'channels_last'\n"
    "def floatx():\n    return _FLOATX\n",
}


def write_small_keras(folder: Path) -> dict[str, str]:
    """Write the tiny Keras into a folder; return the settings with which it's the original."""
    for name, text in SMALL_KERAS.items():
        path = folder / "keras" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {"KAMELEON_KERAS2": str(folder)}


def run(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str] | None = None,
    stdin: str = "",
    seconds: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, without any setting of Keras but `settings`.

    keras.json is that of the folder `home` below it. Kameleon's engine is NumPy. Keras runs on K,
    also where TensorFlow's files are installed; `ANYWHERE` leaves that open.
    """
    ours = ("KERAS_", "KAMELEON_ENGINE", "KAMELEON_AS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    paths = [str(SOURCE), environment.get("PYTHONPATH", "")]
    environment |= {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "KERAS_HOME": str(folder / "home"),
        "KAMELEON_ENGINE": "numpy",
        "KAMELEON_KERAS_ON": "kameleon",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment | dict(settings or {}),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def run_without_original(
    arguments: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command `kameleon` where the original isn't installed."""
    hidden = {"KAMELEON_KERAS2": "", **(settings or {})}
    return run(["-c", NOWHERE + COMMAND, *arguments], folder, hidden)


def run_code(
    code: str, folder: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the code of a program."""
    return run(["-c", code], folder, settings)
