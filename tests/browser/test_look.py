"""What pages show: pictures, formulas, examples; on a desk and on a phone, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import keys
from browser.pages import FEW, KINDS, START, TABLES, all_pages, in_languages, param
from docs.building.drawings import DRAWINGS
from docs.building.formulas import FORMULAS
from docs.building.languages import LANGUAGES

if TYPE_CHECKING:
    from browser.reader import Reader

FUNCTIONS = "backend/functions"

# Each text of a picture: its size in the window, and how its colour stands out from the page's.
TEXTS = """(() => {
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(
            x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll(arguments[0] + " text")].map(x => {
        const ink = light(getComputedStyle(x).fill);
        return [parseFloat(getComputedStyle(x).fontSize) * x.getScreenCTM().a,
            (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
    });
})()"""


def assert_picture(reader: Reader, selector: str) -> None:
    """A picture is there, in the window's width, and its texts can be read."""
    left, right, height, width = reader.ask(
        """(box => [box.left, box.right, box.height, innerWidth])(
            document.querySelector(arguments[0] + " svg").getBoundingClientRect())""",
        selector,
    )
    assert left >= 0 and right <= width and height > 60
    texts = reader.ask(TEXTS, selector)
    assert texts, "a picture without words"
    assert min(size for size, _ in texts) >= 9, "letters too small to read"
    assert min(contrast for _, contrast in texts) >= 7


WINDOWS = [(1280, False), (1280, True), (375, False), (375, True)]


@in_languages("width", "dark", rows=WINDOWS, few=4)
def test_the_start_page_has_a_picture(
    reader: Reader, language: str, width: int, dark: bool
) -> None:
    reader.window(width, dark=dark)
    reader.open(f"{language}/{START}.html")
    assert_picture(reader, ".hero")
    assert reader.ask("document.querySelector('.sidebar-brand img').naturalWidth") > 0


@in_languages("name", rows=[(name,) for name in sorted(DRAWINGS)], few=3)
def test_figures_are_seen(reader: Reader, language: str, name: str) -> None:
    for width, dark in WINDOWS:
        reader.window(width, dark=dark)
        reader.open(f"{language}/{FUNCTIONS}/{name}.html")
        assert_picture(reader, "figure.drawing")
        assert reader.texts("figure.drawing figcaption")[0]


@in_languages("name", rows=[(name,) for name in sorted(FORMULAS)], few=3)
def test_formulas_are_seen(reader: Reader, language: str, name: str) -> None:
    reader.open(f"{language}/{FUNCTIONS}/{name}.html")
    sizes = reader.ask(
        """[...document.querySelectorAll(".formula math")].map(
            x => [x.getBoundingClientRect().width, x.getBoundingClientRect().height])"""
    )
    assert sizes and all(width > 8 and height > 8 for width, height in sizes)
    assert not reader.ask("document.querySelector('.formula').innerText.includes('\\\\')")


COPIED = {
    "console": 'pip install ".[demo]"\nkameleon demo',
    "python": "from kameleon import backend as K\nx = K.placeholder((None, 3))\n",
}


@in_languages()
def test_examples_are_copied_without_prompts(reader: Reader, language: str) -> None:
    reader.allow("clipboardReadWrite")
    reader.open(f"{language}/{START}.html")
    reader.until(lambda: reader.texts(".copybtn"))
    for kind, start in COPIED.items():
        reader.click(f".highlight-{kind} .copybtn")
        copied = reader.wait_for("navigator.clipboard.readText()")
        assert copied.startswith(start)
        assert ">>>" not in copied and "array(" not in copied
    name = reader.ask("document.querySelector('.copybtn').getAttribute('aria-label')")
    assert (name == "Copy") == (language == "en")


# Whatever goes beyond the window's width and doesn't lie in a box that scrolls or is shut.
BEYOND = """(() => {
    const boxes = ".table-wrapper, pre, .formula, .sidebar-drawer, .toc-drawer, .skip-to-content";
    return [...document.body.querySelectorAll("*")].filter(x => {
        const box = x.getBoundingClientRect();
        return box.width && box.right > innerWidth + 1 && !x.parentElement.closest(boxes) &&
            !x.matches(".toc-drawer");
    }).slice(0, 5).map(x => x.outerHTML.slice(0, 120));
})()"""
# Letters of the page's text that are too small, by size.
SMALL = """[...document.querySelectorAll("article *, .sidebar-tree *, footer *")].filter(
    x => !x.closest("math, svg, .headerlink") && x.checkVisibility() && [...x.childNodes].some(
        y => y.nodeType === 3 && y.data.trim()) && parseFloat(getComputedStyle(x).fontSize) < 11.5
).slice(0, 5).map(x => x.outerHTML.slice(0, 120))"""
# What one hits with a finger and is too small for it: WCAG 2.2 wants 24 pixels. Links within text
# are as high as its lines.
TARGETS = """[...document.querySelectorAll(
    "button, label[role=button], input, .sidebar-drawer a, .toc-drawer a, .related-pages a," +
    ".names a, [role=option], .search-icon, .filter"
)].filter(x => {
    const box = x.getBoundingClientRect();
    return x.checkVisibility({visibilityProperty: true}) && x.type !== "checkbox" &&
        (box.height < 23.5 || box.width < 23.5) && !(x.matches(".names a") && box.height >= 23.5);
}).slice(0, 5).map(x => `${x.outerHTML.slice(0, 120)} ${x.getBoundingClientRect().height}`)"""


@in_languages("page", rows=[(page,) for page in (*KINDS, *TABLES)], few=6)
def test_a_phone_shows_all_of_a_page(reader: Reader, language: str, page: str) -> None:
    reader.window(375, 750)
    reader.open(f"{language}/{page}.html")
    assert_fits(reader)
    assert (
        reader.ask("parseFloat(getComputedStyle(document.querySelector('article')).fontSize)") >= 16
    )
    assert reader.ask(SMALL) == []
    assert reader.ask(TARGETS) == []
    for menu in (".nav-overlay-icon", ".toc-header-icon"):
        if reader.ask("document.querySelector(arguments[0]).checkVisibility()", menu):
            reader.click(menu)
            assert reader.ask(TARGETS) == []
            reader.press(keys.ESCAPE)


def assert_fits(reader: Reader) -> None:
    """The page itself needn't be scrolled to the side."""
    assert reader.ask("document.scrollingElement.scrollWidth <= innerWidth"), reader.ask(BEYOND)
    assert reader.ask(BEYOND) == [], reader.place


def test_tables_and_code_of_a_phone_scroll_by_themselves(reader: Reader) -> None:
    reader.window(375, 750)
    reader.open("en/names.html")
    wide = reader.ask(
        """[...document.querySelectorAll(".table-wrapper")].filter(
            x => x.scrollWidth > x.clientWidth).map(x => getComputedStyle(x).overflowX)"""
    )
    assert wide and set(wide) == {"auto"}
    cut = "[...document.querySelectorAll('td code')].map(x => x.getClientRects().length)"
    reader.open("en/backend/functions/ctc_batch_cost.html")
    assert set(reader.ask(cut)) == {1}, "names are cut"


ALL = [param(language, nightly=True) for language in LANGUAGES]


@pytest.mark.parametrize("language", ALL)
def test_all_pages_fit_a_phone(reader: Reader, language: str) -> None:
    reader.window(375, 750)
    for page in all_pages(language):
        reader.open(f"{language}/{page}.html")
        assert_fits(reader)


@in_languages("page", rows=[(page,) for page in (*KINDS, *TABLES)], few=len(KINDS))
def test_the_console_is_silent(reader: Reader, language: str, page: str) -> None:
    reader.open(f"{language}/{page}.html")
    assert reader.complaints() == []


@pytest.mark.parametrize("language", ALL)
def test_the_console_is_silent_on_all_pages(reader: Reader, language: str) -> None:
    pages = all_pages(language)
    assert len(pages) > 200
    complaints = {}
    for page in pages:
        reader.open(f"{language}/{page}.html")
        if found := reader.complaints():
            complaints[page] = found
    assert complaints == {}


LOOKS = {"light": (1280, False), "dark": (1280, True), "phone": (375, False)}
AXE = [(page, look) for look in LOOKS for page in KINDS] + [(page, "light") for page in TABLES]
AXE.sort(key=lambda row: row[0] not in FEW)


@in_languages("page", "look", rows=AXE, few=len(FEW) * len(LOOKS))
def test_axe_finds_no_barrier(reader: Reader, language: str, page: str, look: str) -> None:
    from browser.reader import axe

    if axe() is None:
        pytest.skip("axe isn't installed: pip install --no-deps axe-playwright-python")
    width, dark = LOOKS[look]
    reader.window(width, dark=dark)
    reader.open(f"{language}/{page}.html" + ("?q=conv2d" if page == "search" else ""))
    assert reader.barriers() == []
