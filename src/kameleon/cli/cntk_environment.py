"""Making the environment that CNTK runs in: Python 3.6, packages, and libraries by their old names.

It's complete or not there at all. Nothing of it touches the environment that Kameleon is in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kameleon.cli.installing import (
    InstallError,
    Report,
    filled_at_once,
    spoken,
)
from kameleon.config import cntk

PYTHON = (3, 6)
INSTALLER = "pip==21.3.1"  # the last one for it
PACKAGES = ("numpy==1.19.5", "scipy==1.5.4", "cntk==2.7.post2")
# Names that CNTK was built with, of libraries that have others today.
LINKS = {"libmpi.so.12": "libmpi.so.40", "libmpi_cxx.so.1": "libmpi_cxx.so.40"}
PACKAGE_OF_LINKS = "libopenmpi3"  # Debian's and Ubuntu's
WANTED = (
    "CNTK 2.7 needs Python 3.6, and there's none: get it by `pyenv install 3.6.15`, or by `conda"
    f" create -n python36 python=3.6`, and then `{cntk.INSTALL} --python PATH`"
)


# Python 3.6 --------------------------------------------------------------------------------------


def find_python(path: str | None = None) -> str:
    """An interpreter of Python 3.6.

    Args:
        path: of one; else the usual places are looked at.

    Raises:
        InstallError: there's none.
    """
    if path is not None:
        if not _is_right(path):
            raise InstallError(f"{path} is no Python 3.6; CNTK 2.7 runs on no other")
        return path
    found = next(filter(_is_right, _candidates()), None)
    if found is None:
        raise InstallError(WANTED)
    return found


def _candidates() -> Iterator[str]:
    on_path = shutil.which("python3.6")
    if on_path:
        yield on_path
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    for folder in (pyenv, home / "miniconda3" / "envs", home / "anaconda3" / "envs"):
        yield from map(str, sorted(folder.glob("*/bin/python3.6")))


def _is_right(python: str) -> bool:
    code = "import sys; sys.exit(tuple(sys.version_info[:2]) != (3, 6))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


# Installing --------------------------------------------------------------------------------------


def install(python: str | None = None, report: Report = lambda line: None) -> str:
    """Make the environment; return what CNTK says its version is.

    Args:
        python: the path of a Python 3.6.
        report: is told what is going on, a line at a time.

    Raises:
        InstallError: it couldn't be done; what was there before is left as it was.
    """
    if not hasattr(os, "memfd_create"):
        raise InstallError("CNTK 2.7 runs on Linux alone")
    base = find_python(python)
    with filled_at_once(cntk) as draft:
        _run([base, "-m", "venv", str(draft)], report)
        pip = [cntk.python(str(draft)), "-m", "pip", "install", "--no-input"]
        _run([*pip, INSTALLER], report)
        _run([*pip, "--prefer-binary", *PACKAGES], report)
        report("libraries")
        _add_libraries(draft / cntk.LIBRARIES, report)
        return check(str(draft))


# The pip that comes with Python 3.6 ends with an error where these are numbers.
UNREADABLE = ("PIP_QUIET", "PIP_VERBOSE")


def _settings() -> dict[str, str]:
    """The environment of commands: nothing of it changes where they install, or what they say."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    own = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off", "PIP_USER": "0"}
    return {k: v for k, v in kept.items() if k not in UNREADABLE} | own


def _run(command: Sequence[str], report: Report, folder: str | None = None) -> str:
    """Run a command; tell what it says, line by line."""
    status, said = spoken(command, report, _settings(), folder)
    if status:
        raise InstallError("\n".join([f"This failed: {' '.join(command)}", *said[-5:]]))
    return "\n".join(said)


# Libraries ---------------------------------------------------------------------------------------


def _add_libraries(folder: Path, report: Report) -> None:
    """Link the libraries that CNTK asks for by their old names, from the system or beside it."""
    folder.mkdir()
    known = _of_the_system(report)
    if not known.keys() >= set(LINKS.values()):
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            raise InstallError(
                f"CNTK needs Open MPI's libraries ({', '.join(LINKS.values())}): install version 4"
                f" of it by your system's means, and then again `{cntk.INSTALL}`"
            )
        _unpack(folder, report)
        known = {name: name for name in LINKS.values()}
    for old, new in LINKS.items():
        (folder / old).symlink_to(known[new])


def _of_the_system(report: Report) -> dict[str, str]:
    """By name the paths of the libraries that the system's loader finds."""
    loader = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if loader is None:
        return {}
    lines = (line.split() for line in _run([loader, "-p"], lambda line: None).splitlines())
    return {words[0]: words[-1] for words in lines if "=>" in words}


def _unpack(folder: Path, report: Report) -> None:
    """Put the libraries of Debian's package into the folder, with those that it needs; nothing is
    installed, and no rights are needed.
    """
    plan = _run(["apt-get", "-s", "--no-install-recommends", "install", PACKAGE_OF_LINKS], report)
    names = [words[1] for words in map(str.split, plan.splitlines()) if words[:1] == ["Inst"]]
    with tempfile.TemporaryDirectory() as place:
        _run(["apt-get", "download", *names], report, place)
        for archive in Path(place).glob("*.deb"):
            _run(["dpkg-deb", "-x", str(archive), place], report)
        for library in Path(place).glob("usr/lib/*/*.so*"):
            shutil.copy(library, folder / library.name)


# Trying ------------------------------------------------------------------------------------------

TRIAL = (
    "import cntk, numpy;"
    "x = cntk.input_variable((2, 3), dynamic_axes=[]);"
    "found = cntk.times(x, numpy.ones((3, 2), 'f')).eval({x: numpy.ones((2, 3), 'f')});"
    "assert (found == 3).all(), found;"
    "print('version', cntk.__version__)"
)


def check(where: str) -> str:
    """Let CNTK multiply two matrices; return its version.

    Raises:
        InstallError: it can't.
    """
    done = subprocess.run(
        [cntk.python(where), "-c", TRIAL],
        env=cntk.variables(where),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InstallError(f"It's installed, but doesn't run:\n{done.stderr.strip()}")
    return done.stdout.split()[-1]
