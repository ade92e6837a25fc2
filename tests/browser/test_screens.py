"""What `python -m docs screens` draws: a page that shows ResNet-50, layer by layer."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from _support.originals import needs_original

pytest.importorskip("selenium", reason="Selenium isn't installed: pip install '.[dev]'")
pytest.importorskip("PIL", reason="Pillow isn't installed: pip install '.[docs]'")

from PIL import Image

from browser.reader import chromium
from docs.building import screens

if chromium() is None:
    pytest.skip("Chromium isn't here with its driver", allow_module_level=True)

LARGEST = 150_000  # bytes of a picture that is committed
LAYERS = {"conv1", "bn_conv1", "res2a_branch1", "bn3d_branch2c", "res4f_branch2b", "fc1000"}
SCOPES = "data.stages.at(arguments[0]).boxes.filter(box => !box.is_gradient).map(box => box.scope)"
# Where the boxes are that are in the window as a whole, as the page's data say.
BOXES = """(() => {
    const {left, top} = canvas.getBoundingClientRect(), found = [];
    const visit = x => {
        if (x.open) return x.kids.forEach(visit);
        const at = [view.x + x.left * view.zoom, view.y + x.top0 * view.zoom];
        const size = [x.w * view.zoom, x.h * view.zoom];
        if (at[0] < 9 || at[1] < 9 || at[0] + size[0] > canvas.clientWidth - 9 ||
            at[1] + size[1] > canvas.clientHeight - 9) return;
        found.push([left + at[0], top + at[1], ...size]);
    };
    visit(root);
    return found;
})()"""


@pytest.mark.parametrize("path", [screens.EXPLORER, screens.PROFILE], ids=lambda path: path.name)
def test_pictures_are_small_and_show_something(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    with Image.open(path) as picture:
        assert picture.width > 600 and len(picture.convert("RGB").getcolors()) > 20


@pytest.mark.nightly
@needs_original
def test_the_page_of_resnet_shows_its_layers(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    screens.write_page(page)
    with screens.browser(tmp_path) as reader:
        reader.window(1180, 760)
        reader.driver.get(page.as_uri())
        assert reader.ask("data.stages[0].boxes.length") > 8_000
        for stage in (0, -1):
            assert set(reader.ask(SCOPES, stage)) >= LAYERS, stage
        keys = reader.ask("Object.keys(data.profile).filter(key => items.has(key)).length")
        assert keys > 0.99 * reader.ask("Object.keys(data.profile).length")
        for layer in ("res2a_branch1", screens.LAYER):
            reader.ask(screens.REVEAL, layer)
            assert layer in reader.texts("#node dd")
            assert_shown(reader)
        assert reader.complaints() == []


def assert_shown(reader: Any) -> None:
    """A picture of the window has an edge wherever the page's data say that a box is."""
    reader.wait_for("new Promise(done => setTimeout(done, 500))")
    picture = Image.open(io.BytesIO(reader.driver.get_screenshot_as_png())).convert("RGB")
    boxes = reader.ask(BOXES)
    seen = [box for box in boxes if has_edge(picture, *box)]
    assert len(boxes) > 5 and seen == boxes


def has_edge(picture: Any, left: float, top: float, width: float, height: float) -> bool:
    """Whether colours change where a box's left edge is, a quarter of its height below its top."""
    y = round(top + height / 4)
    row = [picture.getpixel((round(left) + i, y)) for i in range(-4, 5)]
    return len(set(row)) > 1
