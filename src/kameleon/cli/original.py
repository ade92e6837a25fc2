"""Installing the original Keras 2.3.1 beside whatever Keras the environment has.

The original goes into a folder of its own (`compat.keras2.location`), complete or not at all. The
libraries that it needs are installed into the environment, as for any other package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.util import find_spec
from pathlib import Path

from kameleon.cli.installing import InstallError, Report, filled_at_once, spoken
from kameleon.compat.keras2 import location
from kameleon.errors import MissingLibraryError

# The last releases that work together.
PACKAGES = (f"keras=={location.VERSION}", "keras_applications==1.0.8", "keras_preprocessing==1.1.2")
BY_MISTAKE = ("docs",)  # published beside the packages; on the path, it would hide a user's own


@dataclass(frozen=True)
class Needed:
    """A library that the original needs besides NumPy: its module, its name for pip, its use."""

    module: str
    requirement: str
    job: str


LIBRARIES = (
    Needed("h5py", "h5py", "files of weights and models"),
    Needed("yaml", "pyyaml", "models as YAML"),
    Needed("scipy", "scipy", "transformations of images"),
    Needed("six", "six", "Keras's own code, which serves Python 2 as well"),
)

# What there is ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Status:
    """What programs started by `kameleon run` find.

    Attributes:
        folder: where `kameleon keras2 install` puts the original.
        found: where the original is; empty if it's the environment's own Keras, None if nowhere.
        version: the original's version; empty if there's no original, or the version isn't known.
        own: the version of the environment's own Keras; empty if there's none.
        lacking: libraries that the original needs and that are missing.
    """

    folder: str
    found: str | None
    version: str
    own: str
    lacking: tuple[Needed, ...]


def status() -> Status:
    """Return what is installed; nothing is imported."""
    try:
        found: str | None = location.find() or ""
    except MissingLibraryError:
        found = None
    own = version_of("keras")
    known = own if found == "" else _version_in(found) if found else ""
    lacking = tuple(library for library in LIBRARIES if find_spec(library.module) is None)
    return Status(location.folder(), found, known, own, lacking)


def version_of(distribution: str) -> str:
    """The version of an installed package; empty, if it isn't known."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _version_in(folder: str) -> str:
    found = distributions(name="keras", path=[folder])
    return next((d.version for d in found), "")


# Installing ------------------------------------------------------------------------------------


def install(source: Path | None = None, report: Report = lambda line: None) -> None:
    """Install what's missing of the original and its libraries.

    Args:
        source: a folder with the files to install from; else they come from the package index.
        report: is called with each line that says what is going on.

    Raises:
        InstallError: something couldn't be installed; what was there before stays as it was.
    """
    before = status()
    where = () if source is None else ("--no-index", "--find-links", str(source))
    if before.found is None:
        with filled_at_once(location, f"Keras {location.VERSION}", _is_keras) as draft:
            run([*installer(), *where, "--no-deps", "--target", str(draft), *PACKAGES], report)
    if before.lacking:
        run([*installer(), *where, *(library.requirement for library in before.lacking)], report)


def installer() -> list[str]:
    """The beginning of a command line that installs packages into this environment.

    Raises:
        InstallError: there is neither pip nor uv.
    """
    if version_of("pip"):  # not `find_spec`: a hook of setuptools takes that for an import of pip
        return pip("install")
    uv = shutil.which("uv")
    if uv is not None:  # environments made by uv have no pip
        return [uv, "pip", "install", "--python", sys.executable]
    raise InstallError(
        f"This environment has no pip, and there's no command uv: run `{sys.executable} -m"
        " ensurepip`, or get uv (https://docs.astral.sh/uv), and then again"
        f" `{location.INSTALL}`"
    )


def pip(command: str) -> list[str]:
    """The beginning of a command line of pip, of this environment."""
    return [sys.executable, "-m", "pip", command, "--no-input"]


def _is_keras(draft: str) -> bool:
    for name in BY_MISTAKE:
        shutil.rmtree(os.path.join(draft, name), ignore_errors=True)
    return location.is_original(draft)


# Asking pip ------------------------------------------------------------------------------------

BY_HAND = (
    "Without network: get the files elsewhere by `pip download -d FOLDER --no-deps"
    f" {' '.join(PACKAGES)}` (and the libraries, if they are missing), then"
    f" `{location.INSTALL} --from FOLDER`"
)
# By words that pip or uv says when it fails, what to do then.
ADVICE = {
    "externally-managed-environment": "This Python belongs to the operating system: use a virtual"
    " environment (python3 -m venv FOLDER)",
    "Permission denied": "There's no right to write there: use a virtual environment of your own",
    "No space left": "The disk is full",
    "No matching distribution": BY_HAND,
    "Failed to establish a new connection": BY_HAND,
    "name resolution": BY_HAND,
    "Failed to fetch": BY_HAND,
    "No solution found": BY_HAND,
    "no versions of": BY_HAND,
    "not found in the package registry": BY_HAND,
    "Network connectivity is disabled": BY_HAND,
}


def run(command: Sequence[str], report: Report) -> None:
    """Run pip or uv; report its output, line by line.

    Raises:
        InstallError: it failed; the message holds what it said, and what to do.
    """
    settings = {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_USER": "0",  # pip refuses it together with a target folder
        "PIP_PROGRESS_BAR": "off",
        "PYTHONUNBUFFERED": "1",
    }
    status, said = spoken(command, report, os.environ | settings)
    if status:
        raise InstallError(_why(command, said))


def _why(command: Sequence[str], said: Sequence[str]) -> str:
    """The message for a failed installer: what it said, and what to do."""
    output = [line for line in said if line.strip()]
    errors = [line for line in output if line.lstrip().lower().startswith(("error", "×", "╰"))]
    advice = next((advice for words, advice in ADVICE.items() if words in "\n".join(output)), "")
    lines = [f"This failed: {' '.join(command)}", *(errors or output[-5:]), advice]
    return "\n".join(filter(None, lines))


# Trying it -------------------------------------------------------------------------------------

TRIAL = (
    "import kameleon.as_keras, keras, keras.models, keras.layers;"
    "from keras import backend as K;"
    "assert kameleon.as_keras.hosts_original();"
    "model = keras.models.Sequential([keras.layers.Dense(2, input_shape=(3,))]);"
    "assert model.predict([[[1., 2., 3.]]]).shape == (1, 2)"
)


def trial() -> str:
    """Run a model on the NumPy engine in another process; return what went wrong, if anything."""
    with tempfile.TemporaryDirectory() as empty:
        settings = {
            "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path),
            "KERAS_HOME": empty,
            "KAMELEON_ENGINE": "numpy",
        }
        done = subprocess.run(
            [sys.executable, "-c", TRIAL],
            cwd=empty,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stderr.strip() if done.returncode else ""
