"""Pictures of what a browser shows: the page of a large graph, and a profile as notebooks have it.

`python -m docs screens` draws them anew; it needs Chromium, and the original Keras. Their times are
those of the machine that drew them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from docs.building.places import DOCS, TESTS
from docs.building.recorded import ONE_THREAD, compress

if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

if TYPE_CHECKING:
    from browser.reader import Reader

EXPLORER, PROFILE = DOCS / "explorer.png", DOCS / "profile.png"
PROGRAM = Path(__file__).with_name("resnet.py")
HOSTED = {"KERAS_BACKEND": "kameleon.backend", "KAMELEON_KERAS_ON": "kameleon"}
LAYER = "res4b_branch2b"  # the picture has it in its middle
# A layer's gradients, as a group.
REVEAL = """reveal([...items.values()].find(
    x => x.box.scope === arguments[0] && x.box.is_gradient).parent)"""
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body { display: inline-block; margin: 8px; font: 13px system-ui, sans-serif; background: white; }
pre { margin: 6px; } table { border-collapse: collapse; margin: 6px; }
th, td { text-align: left; padding: 4px 10px; } tr:nth-child(odd) { background: #f5f5f5; }
</style>"""


def write() -> None:
    """Draw both."""
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder)) as reader:
        page = Path(folder, "page.html")
        write_page(page)
        reader.window(1180, 760)
        reader.driver.get(page.as_uri())
        reader.ask(REVEAL, LAYER)
        reader.ask("zoom(arguments[0])", 0.8)
        _draw(reader, "body", EXPLORER)
        page.write_text(NOTEBOOK + _profile(), encoding="utf-8")
        reader.driver.get(page.as_uri())
        _draw(reader, "body", PROFILE)


def write_page(path: Path) -> None:
    """Write the page of ResNet-50's training step, with a profile."""
    command = ["kameleon", "run", "--engine", "numpy", str(PROGRAM), str(path)]
    settings = {**os.environ, **ONE_THREAD, **HOSTED, "KERAS_HOME": str(path.parent)}
    subprocess.run([sys.executable, "-m", *command], env=settings, cwd=path.parent, check=True)


def _profile() -> str:
    """What notebooks show of the profile in the examples of the page on debugging."""
    from docs import make

    told: str = make.debugged("(profile.png)")["profile"]._repr_html_()
    return told


@contextmanager
def browser(folder: Path) -> Iterator[Reader]:
    """A browser, which is closed behind the block."""
    from browser.reader import Reader

    reader = Reader("file://", folder / "chromium")
    try:
        yield reader
    finally:
        reader.close()


def _draw(reader: Reader, selector: str, path: Path) -> None:
    reader.wait_for("new Promise(done => setTimeout(done, 500))")  # all is drawn
    element = reader.ask("document.querySelector(arguments[0])", selector)
    with tempfile.NamedTemporaryFile(suffix=".png") as whole:
        whole.write(element.screenshot_as_png)
        whole.flush()
        compress(Path(whole.name), path)
