"""The page of `kameleon demo --web` in a browser: it trains as Python does, reads what is drawn,
and learns it; with mouse, finger and keys, on a desk and on a phone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test
from _support.web_library import library

from docs.building import serving

pytest.importorskip("selenium", reason="Selenium isn't installed: pip install '.[dev]'")
if "onnxruntime" not in engines_under_test():
    pytest.skip("needs the package onnxruntime", allow_module_level=True)

from browser import keys
from browser.reader import Reader, axe, chromium
from kameleon import backend as K
from kameleon.cli.demo.web import folder, training

if chromium() is None:
    pytest.skip("Chromium isn't here with its driver", allow_module_level=True)

PASSES, SEED = 2, 7
# Strokes, of points in parts of the paper's width.
TWO = [[(0.3, 0.3), (0.4, 0.18), (0.55, 0.16), (0.66, 0.3), (0.5, 0.55), (0.3, 0.8), (0.72, 0.8)]]
DASH = [[(0.3, 0.5), (0.7, 0.5)]]
DRAW = """((strokes, canvas) => {
    const box = canvas.getBoundingClientRect();
    const send = (kind, [x, y]) => canvas.dispatchEvent(new PointerEvent(kind, {
        pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
    for (const stroke of strokes) {
        send("pointerdown", stroke[0]);
        for (const point of stroke) send("pointermove", point);
        send("pointerup", stroke[0]);
    }
})(arguments[0], document.getElementById("canvas"))"""
# The canvas has as many inked dots, in per mille.
INKED = """(canvas => 1000 * canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    .data.filter((x, i) => i % 4 === 3 && x).length / canvas.width ** 2
)(document.getElementById("canvas"))"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page."""
    made = tmp_path_factory.mktemp("page")
    with K.using_engine("numpy"):
        folder.write(made, library(), SEED, PASSES)
    return made


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with serving.server(page, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        made = Reader(address, tmp_path_factory.mktemp("chromium"))
        yield made
        made.close()
        server.shutdown()


@pytest.fixture
def reader(browser: Reader) -> Reader:
    """The page, loaded anew."""
    browser.window()
    browser.complaints()
    opened(browser)
    return browser


def opened(reader: Reader) -> None:
    reader.open("index.html")
    ready = "document.documentElement.classList.contains('ready')"
    patiently(reader, lambda: reader.ask(ready))


def patiently(reader: Reader, holds: Callable[[], Any]) -> None:
    """Wait for what takes a busy machine long: to compile 14 MB, or to train."""
    for last in [False] * 8 + [True]:
        try:
            reader.until(holds)
        except AssertionError:
            if last:
                pytest.fail(f"it says: {reader.texts('#state, #reads')}, {reader.complaints()}")
        else:
            return


def train(reader: Reader, button: str = "#train") -> list[float]:
    """Press a button that trains; the losses of all steps when it's done."""
    before = len(losses(reader))
    reader.click(button)
    patiently(
        reader,
        lambda: reader.texts("#train") == ["Train on"] and len(losses(reader)) > before,
    )
    return losses(reader)


def losses(reader: Reader) -> list[float]:
    found: list[float] = reader.wait_for("import('./app.js').then(page => page.losses)")
    return found


def read(reader: Reader) -> str:
    """What the page says that it reads."""
    return reader.texts("#reads")[0]


def test_losses_are_pythons(reader: Reader) -> None:
    network = training.reader_of(SEED)
    with K.using_engine("numpy"):
        expected = training.course(training.step_of(network), network, PASSES)
    assert float(reader.texts("#accuracy")[0][:-1]) < 30
    found = train(reader)
    assert len(found) == len(expected.losses) == PASSES * training.steps_of_a_pass(network)
    np.testing.assert_allclose(found, expected.losses, rtol=1e-4)
    assert reader.texts("#accuracy") == [f"{100 * expected.accuracy:.1f}%"]
    assert reader.texts("#steps") == [str(len(found))]
    told = reader.texts("#apart")[0]
    assert told.startswith(f"{len(found)} losses, all within ") and told.endswith(" of Python's.")
    again = train(reader)
    assert len(again) == 2 * len(found) and again[: len(found)] == found
    reader.click("#reset")
    reader.until(lambda: reader.texts("#steps") == ["0"])
    assert train(reader) == found, "from the beginning, the same again"
    assert reader.complaints() == []


def test_what_is_drawn_is_read_and_learnt(reader: Reader) -> None:
    train(reader)
    assert read(reader) == "Draw a digit."
    assert reader.ask("document.querySelector('#teachers button').disabled")
    reader.ask(DRAW, TWO)
    reader.until(lambda: read(reader).startswith("It reads a 2,"))
    assert reader.texts("#bars .best b") == ["2"]
    reader.click("#clear")
    reader.until(lambda: read(reader) == "Draw a digit." and reader.ask(INKED) == 0)
    reader.ask(DRAW, DASH)
    reader.until(lambda: read(reader) != "Draw a digit.")
    for _ in range(3):  # no digit looks so: it takes some steps
        train(reader, "#teachers button:nth-child(10)")
    reader.until(lambda: read(reader).startswith("It reads a 9,"), read(reader))
    assert read(reader).endswith("It shows a 9.")
    assert "yours alone" in reader.texts("#apart")[0]
    assert reader.complaints() == []


def test_training_pauses(reader: Reader) -> None:
    reader.click("#train")
    reader.until(lambda: losses(reader) and reader.texts("#train") == ["Pause"])
    reader.click("#train")
    reader.until(lambda: reader.texts("#train") == ["Train on"])
    assert 0 < len(losses(reader)) < PASSES * 23


def test_digits_are_drawn_with_keys(reader: Reader) -> None:
    reader.click("#canvas")
    reader.click("#clear")
    reader.ask("document.getElementById('canvas').focus()")
    reader.press(keys.SPACE, *[keys.DOWN] * 8, keys.SPACE)
    assert reader.ask("document.activeElement.id") == "canvas"
    reader.until(lambda: read(reader).startswith("It reads a "))
    drawn = reader.ask(INKED)
    reader.press(keys.LEFT, keys.LEFT)
    reader.ask("document.getElementById('canvas').blur()")
    assert 20 < reader.ask(INKED) <= drawn, "a pen that is up leaves nothing"


def test_held_out_digits_are_shown(reader: Reader) -> None:
    reader.click("#example")
    reader.until(lambda: "It shows a " in read(reader) and reader.ask(INKED) > 100)


def test_what_the_network_sees_is_as_the_digits_are(reader: Reader, page: Path) -> None:
    cells = np.array(
        reader.wait_for(
            f"import('./drawing.js').then(drawing => [...drawing.cellsOf({json.dumps(TWO)})])"
        )
    ).reshape(8, 8)
    assert set(np.unique(16 * cells)) <= set(range(17))
    assert cells[0].max() > 0.5 < cells[-1].max(), "from the top to the bottom"
    small = np.array(TWO) * 0.3 + 0.6
    moved = reader.wait_for(
        f"import('./drawing.js').then(drawing => [...drawing.cellsOf({small.tolist()})])"
    )
    assert np.abs(np.reshape(moved, (8, 8)) - cells).max() <= 1 / 16, "wherever, however large"
    raw = np.frombuffer((page / "digits.bin").read_bytes(), "uint8")
    images, labels = raw[: len(raw) // 65 * 64].reshape(-1, 8, 8) / 16, raw[-(len(raw) // 65) :]
    ink = images[labels == 2].mean(axis=(1, 2))
    assert np.quantile(ink, 0.01) < cells.mean() < np.quantile(ink, 0.99), "as thick"


def test_what_cannot_be_loaded_is_told(browser: Reader, page: Path) -> None:
    hidden = page / "train.onnx"
    hidden.rename(page / "hidden")
    try:
        browser.open("index.html")
        browser.until(lambda: "can't be loaded: train.onnx: 404" in browser.texts("#state")[0])
        assert browser.ask("document.getElementById('train').disabled")
    finally:
        (page / "hidden").rename(hidden)


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (1280, True), (375, False), (375, True)]
)
def test_looks(browser: Reader, width: int, dark: bool) -> None:
    browser.window(width, dark=dark)
    browser.complaints()
    opened(browser)
    browser.ask(DRAW, TWO)
    browser.until(lambda: read(browser).startswith("It reads a "))
    assert browser.ask("document.scrollingElement.scrollWidth <= innerWidth")
    small = """[...document.querySelectorAll("button")].map(x => x.getBoundingClientRect()).filter(
        box => box.height < 24 || box.width < 24).length"""
    assert browser.ask(small) == 0
    assert browser.complaints() == []
    if axe() is not None:
        assert browser.barriers() == []
