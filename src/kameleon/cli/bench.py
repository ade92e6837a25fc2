"""The command `kameleon bench`: the benchmarks, on the machine at hand."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import kameleon
from kameleon.cli.parsing import CommandError

# Where they are: in the installed package, or beside the package in a checkout.
FOLDERS = ("benchmarks", "../../benchmarks")


def main(arguments: Sequence[str]) -> None:
    """Run the benchmarks.

    Raises:
        CommandError: they aren't there.
    """
    package = Path(kameleon.__file__).parent
    folder = next((x for name in FOLDERS if (x := (package / name).resolve()).is_dir()), None)
    if folder is None:
        raise CommandError(f"there are no benchmarks beside {package}")
    sys.argv[:] = [str(folder / "run.py"), *arguments]
    sys.path.insert(0, str(folder))
    runpy.run_path(sys.argv[0], run_name="__main__")
