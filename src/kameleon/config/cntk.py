"""Where CNTK is: its last release runs on Python 3.6 alone, so it has an environment of its own."""

from __future__ import annotations

import os
from functools import cache

from . import folders

VERSION = "2.7"
VARIABLE = "KAMELEON_CNTK"  # names the folder
INSTALL = "kameleon cntk install"  # the line that fills it
LIBRARIES = "mpi"  # the folder, in that folder, with the shared libraries that it was built with


def folder() -> str:
    """The environment's folder: `KAMELEON_CNTK`, or one of Python's own.

    >>> os.path.isabs(folder())
    True
    """
    return folders.folder(VARIABLE, f"cntk-{VERSION}")


def python(where: str) -> str:
    """The interpreter of an environment.

    >>> python("there").endswith("python")
    True
    """
    return os.path.join(where, "bin", "python")


def installed() -> bool:
    """Whether the environment is there; nothing is started.

    >>> installed() in (True, False)
    True
    """
    where = folder()
    package = os.path.join(where, "lib", "python3.6", "site-packages", "cntk", "__init__.py")
    return os.path.isfile(package) and os.path.exists(python(where))


def for_processor(description: str) -> dict[str, str]:
    """What CNTK's MKL is told of a processor: of 2018, it takes its slow way on those that aren't
    Intel's, unless it's told that they have the instructions of AVX2.

    Args:
        description: the text of `/proc/cpuinfo`.

    >>> for_processor("vendor_id : AuthenticAMD\\nflags : fma avx avx2")
    {'MKL_DEBUG_CPU_TYPE': '5'}
    """
    rows = (line.partition(":")[::2] for line in description.splitlines())
    facts = {name.strip(): value.split() for name, value in rows}
    known = {"avx2", "fma"} <= set(facts.get("flags", ()))
    other = facts.get("vendor_id", ["GenuineIntel"]) != ["GenuineIntel"]
    return {"MKL_DEBUG_CPU_TYPE": "5"} if known and other else {}


@cache
def _of_this_processor() -> dict[str, str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return for_processor(file.read())
    except OSError:
        return {}


def variables(where: str) -> dict[str, str]:
    """The variables of a process in an environment: its libraries are found, one thread computes.

    >>> variables("there")["OMP_NUM_THREADS"]
    '1'
    """
    known = os.path.join(where, LIBRARIES)
    found = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    own = {**threads, "LD_LIBRARY_PATH": known, "PYTHONWARNINGS": "ignore"}
    return {**_of_this_processor(), **found, **own}
