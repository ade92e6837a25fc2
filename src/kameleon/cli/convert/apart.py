"""Modules of this package as programs: in processes of their own, with a task each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from kameleon.cli.parsing import FAILED, CommandError
from kameleon.errors import KameleonError

UNTRIED, SELECT = "--no-check", "--select-tf-ops"
ERROR = "error.txt"  # in the task's folder: why it failed


def run(module: str, folder: str, task: Mapping[str, Any], settings: Mapping[str, str]) -> None:
    """Run a module's `main(folder, task)` in another process.

    Args:
        module: its name in this package.
        folder: where it finds and leaves files.
        task: data for it.
        settings: variables of its environment.

    Raises:
        CommandError: it failed; says why.
    """
    path = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": path, "KAMELEON_ENGINE": "numpy"} | dict(settings)
    command = [sys.executable, "-m", f"{__package__}.{module}", folder, json.dumps(task)]
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", errors="replace",
        check=False,
    )  # fmt: skip
    if done.returncode:
        report = os.path.join(folder, ERROR)
        if not os.path.exists(report):
            raise CommandError(f"a process ended with status {done.returncode}: {done.stderr}")
        with open(report, encoding="utf-8") as file:
            raise CommandError(file.read())


def begin(main: Callable[..., None]) -> None:
    """Do the task of the command line; what it can't do is told in the folder."""
    folder, task = sys.argv[1:]
    try:
        main(folder, **json.loads(task))
    except BaseException as error:
        own = isinstance(error, KameleonError | CommandError)
        text = said(error) if own else "".join(traceback.format_exception_only(error)).strip()
        with open(os.path.join(folder, ERROR), "w", encoding="utf-8") as file:
            file.write(text)
        if not own:
            traceback.print_exc()
        sys.exit(FAILED)


def said(error: BaseException) -> str:
    """An error of `export`, whose arguments are options here."""
    from kameleon.backend.export.examples import REMEDY  # late: it loads an engine

    untried = f"write it untried: {UNTRIED}"
    text = str(error).removeprefix("export: ").removeprefix("convert: ").replace(REMEDY, untried)
    return text.replace("verify=False", UNTRIED).replace("select_tf_ops=True", SELECT)
