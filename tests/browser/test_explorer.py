"""The page of a function in a browser: found, unfolded, moved; quick for 10,000 nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graph.pictures.graphs import residual, trained

from kameleon.graph.pictures.boxes import every_box, sheet_of
from kameleon.runtime.explorer import page
from kameleon.runtime.function import Function

pytest.importorskip("selenium", reason="Selenium isn't installed: pip install '.[dev]'")

from browser.reader import Reader, chromium

if chromium() is None:
    pytest.skip("Chromium isn't here with its driver", allow_module_level=True)

# How often in a second the window is drawn, while the graph is dragged for two.
FRAMES = """new Promise(done => {
    const canvas = document.getElementById("graph"), start = performance.now();
    const send = (kind, x, y) => canvas.dispatchEvent(
        new PointerEvent(kind, {clientX: x, clientY: y, pointerId: 1}));
    canvas.setPointerCapture = () => {};
    send("pointerdown", 400, 400);
    let frames = 0;
    const step = now => {
        frames += 1;
        send("pointermove", 400 + 150 * Math.sin(frames / 9), 400 + 150 * Math.cos(frames / 9));
        if (now - start < 2000) return requestAnimationFrame(step);
        send("pointerup", 0, 0);
        done(1000 * frames / (now - start));
    };
    requestAnimationFrame(step);
})"""
SET = """((x, value) => { x.value = value; x.dispatchEvent(new Event("input"));
    x.dispatchEvent(new Event("change")); })(document.getElementById(arguments[0]), arguments[1])"""
INK = """[...document.getElementById("graph").getContext("2d").getImageData(0, 0,
    document.getElementById("graph").width, document.getElementById("graph").height).data]
    .filter((x, i) => i % 4 === 3 && x).length"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    made = Reader("file://", tmp_path_factory.mktemp("chromium"))
    yield made
    made.close()


def opened(browser: Reader, program: Any, folder: Path, profile: Any = None) -> Reader:
    """The page of a program's function."""
    function = Function(program.inputs, program.outputs, program.updates)
    page.write(function, folder / "page.html", profile)
    browser.window(1280, 900)
    browser.complaints()
    browser.driver.get((folder / "page.html").as_uri())
    return browser


def test_what_is_searched_is_found_and_told(browser: Reader, tmp_path: Path) -> None:
    program = trained()
    reader = opened(browser, program, tmp_path)
    count = len(list(every_box(sheet_of(program))))
    assert reader.texts("#count")[0].startswith(f"{count} nodes")
    reader.ask(SET, "search", "dense/MatMul")
    [found] = reader.texts("#found button")
    assert found.endswith("MatMul dense/MatMul:0")
    reader.click("#found button")
    told = reader.texts("#node dd")
    assert "float32[?, 4]" in told and any("K.bias_add(K.dot(x, w), b)" in text for text in told)
    reader.click("#node button")  # its first operand
    assert "Placeholder" in reader.texts("#node dd")
    assert reader.until(lambda: reader.ask(INK) > 1000), "something is drawn"
    assert reader.complaints() == []


def test_each_stage_and_each_way_to_fold_shows_all_nodes(browser: Reader, tmp_path: Path) -> None:
    reader = opened(browser, trained(), tmp_path)
    stages = reader.texts("#stage option")
    for stage in range(len(stages)):
        reader.ask(SET, "stage", str(stage))
        for by in ("scope", "function", ""):
            reader.ask(SET, "by", by)
            count = f"{reader.ask('items.size')} nodes"
            assert reader.texts("#count")[0].startswith(count)
            assert reader.ask("[...items.values()].every(x => above(x).at(-1) === root)")
    reader.ask(SET, "by", "scope")
    assert reader.ask("root.kids.some(x => x.title === 'gradients')")
    reader.click("#apart")
    assert not reader.ask("root.kids.some(x => x.title === 'gradients')")
    assert reader.complaints() == []


def test_boxes_dont_overlap(browser: Reader, tmp_path: Path) -> None:
    reader = opened(browser, residual(30), tmp_path)
    reader.click("#open")
    overlapping = """(() => {
        const bad = [], visit = x => {
            if (!x.open) return;
            x.kids.forEach((a, i) => x.kids.slice(i + 1).forEach(b => {
                if (a.left < b.left + b.w && b.left < a.left + a.w && a.top0 < b.top0 + b.h &&
                    b.top0 < a.top0 + a.h) bad.push([a.title, b.title]);
            }));
            x.kids.forEach(kid => {
                if (kid.left < x.left || kid.left + kid.w > x.left + x.w || kid.top0 < x.top0 ||
                    kid.top0 + kid.h > x.top0 + x.h) bad.push([x.title, kid.title]);
                visit(kid);
            });
        };
        visit(root);
        return bad;
    })()"""
    assert reader.ask(overlapping) == []
    assert reader.ask("[...items.values()].every(x => shownFor(x) === x)"), "all is unfolded"


def test_a_profile_s_lines_are_summed(browser: Reader, tmp_path: Path) -> None:
    program = trained()
    profile = {f"%{i}": {"seconds": 0.25, "bytes": 1000} for i in range(4)}
    reader = opened(browser, program, tmp_path, profile)
    cells = reader.texts("#profile td")
    assert sum(float(cell) for cell in cells[::3]) == 1000.0
    assert any("graphs.py" in cell for cell in cells)
    for what, total in (("seconds", 1.0), ("bytes", 4000.0)):
        reader.driver.execute_script(SET, "heat", what)
        assert reader.ask(f"root.{what}") == total
        assert reader.ask("hottest") > 0


@pytest.mark.nightly
def test_ten_thousand_nodes_are_fluid(browser: Reader, tmp_path: Path) -> None:
    reader = opened(browser, residual(800), tmp_path)
    assert reader.ask("root.count") > 10_000
    for zoom in (None, 0.02, 8, 6):  # as it's opened, from afar, and nearer
        if zoom is None:
            assert reader.wait_for(FRAMES) >= 30
            reader.click("#open")
            continue
        reader.ask("zoom(arguments[0])", zoom)
        assert reader.wait_for(FRAMES) >= 30, zoom
    reader.ask(SET, "search", "block300/")
    assert len(reader.texts("#found button")) > 3
    reader.click("#found button")
    assert reader.wait_for(FRAMES) >= 30
    assert reader.complaints() == []
