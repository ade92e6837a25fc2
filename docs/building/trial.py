"""The network that learns in the start page, as `kameleon demo --web` writes it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from docs.building.places import HTML

PLACE = HTML / "try"


def is_there() -> bool:
    return (PLACE / "index.html").exists()


def write(local: Path | None) -> str:
    """Write it. Without network, or where ONNX isn't installed, the site does without.

    Args:
        local: ONNX Runtime Web, as `kameleon demo --web` takes it; None: that of the last build, or
            else it's fetched.

    Returns:
        Why it isn't there, or nothing.
    """
    from kameleon.cli.demo.command import PASSES
    from kameleon.cli.demo.web import folder, onnxruntime_web
    from kameleon.cli.parsing import CommandError
    from kameleon.errors import MissingLibraryError

    last = PLACE / "ort"
    try:
        library = onnxruntime_web.files(local or (last if is_there() else None))
        with tempfile.TemporaryDirectory() as draft:
            folder.write(Path(draft), library, seed=0, passes=PASSES)
            shutil.rmtree(PLACE, ignore_errors=True)
            shutil.copytree(draft, PLACE)
    except (CommandError, MissingLibraryError) as error:
        shutil.rmtree(PLACE, ignore_errors=True)
        return str(error)
    return ""
