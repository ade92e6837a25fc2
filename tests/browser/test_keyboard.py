"""The site by keyboard alone: all is reached by Tab, seen when it has the focus, and works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import keys
from browser.pages import FUNCTION, SEARCH, in_languages
from docs.building.languages import LANGUAGES

if TYPE_CHECKING:
    from browser.reader import Reader

# Whether what has the focus is in the window, and has a line around it (or around its box).
SEEN = """(() => {
    const x = document.activeElement, box = x.getBoundingClientRect();
    const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 &&
        box.left < innerWidth;
    const drawn = y => getComputedStyle(y).outlineStyle !== "none";
    return x.checkVisibility({visibilityProperty: true, opacityProperty: true}) && inside &&
        (drawn(x) || drawn(x.parentElement));
})()"""


def walk(reader: Reader, steps: int) -> list[str]:
    """What has the focus, from one Tab to the next."""
    found = []
    for _ in range(steps):
        reader.press(keys.TAB)
        if reader.focus().startswith("body"):
            break
        found.append(reader.focus())
        # Links that slide in, as the first one, take a moment.
        reader.until(lambda: reader.ask(SEEN), f"{found[-1]} has the focus and isn't seen")
    return found


@in_languages("width", rows=[(1280,), (375,)], few=2)
def test_all_that_has_the_focus_is_seen(reader: Reader, language: str, width: int) -> None:
    reader.window(width)
    reader.open(f"{language}/{FUNCTION}.html")
    found = walk(reader, 120)
    assert "skip-to-content" in found[0]
    assert any("copybtn" in place for place in found)
    shown = any("sidebar-search" in place for place in found)
    assert shown == (width > 1000), "what is shut isn't reached"
    if width > 1000:
        titles = [LANGUAGES[other].title for other in LANGUAGES if other != language]
        assert [place[2:] for place in found if place[2:] in titles] == titles
        assert len(found) > 60


@in_languages()
def test_the_first_link_skips_to_the_content(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{FUNCTION}.html")
    reader.press(keys.TAB, keys.ENTER)
    reader.until(lambda: reader.place.endswith("#furo-main-content"))
    reader.press(keys.TAB)
    assert reader.ask("document.activeElement.closest('article') !== null"), reader.focus()


@in_languages()
def test_the_language_is_switched(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{FUNCTION}.html")
    reader.ask("document.querySelector('.languages a').focus()")
    target = reader.links(".languages a")[0]
    reader.press(keys.ENTER)
    reader.until(lambda: reader.place == target or reader.complaints())


@in_languages()
def test_the_tree_is_opened_and_shut(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{FUNCTION}.html")
    assert reader.ask(f"{CURRENT}.checkVisibility()")
    reader.ask("document.querySelector('.sidebar-tree label').focus()")
    for key, opened in ((keys.ENTER, "false"), (keys.SPACE, "true")):
        reader.press(key)
        assert reader.ask("document.activeElement.getAttribute('aria-expanded')") == opened
        assert reader.ask(f"{CURRENT}.checkVisibility()") == (opened == "true")


CURRENT = "document.querySelector('.sidebar-tree .current-page > a')"


@in_languages()
def test_the_tree_shows_the_page(reader: Reader, language: str) -> None:
    reader.open(f"{language}/backend/functions/ctc_batch_cost.html")
    inside = f"""(box => box.top > 0 && box.bottom < innerHeight)({CURRENT}
        .getBoundingClientRect())"""
    assert reader.ask(inside)


MENUS = ((375, "nav-overlay-icon", "sidebar-drawer"), (375, "toc-header-icon", "toc-drawer"))


@in_languages("width", "menu", "drawer", rows=MENUS, few=2)
def test_menus_of_a_phone(
    reader: Reader, language: str, width: int, menu: str, drawer: str
) -> None:
    reader.window(width, 750)
    reader.open(f"{language}/{FUNCTION}.html")
    inside = f"document.activeElement.closest('.{drawer}') !== null"
    shown = f"""[...document.querySelectorAll('.{drawer} a')].some(
        x => x.checkVisibility({{visibilityProperty: true}}))"""
    assert not reader.ask(shown)
    reader.ask(f"document.querySelector('.{menu}').focus()")
    reader.press(keys.ENTER)
    reader.until(lambda: reader.ask(inside), "the focus isn't in the menu")
    assert reader.ask(shown)
    reader.press(keys.TAB)
    assert reader.ask(inside)
    reader.press(keys.ESCAPE)
    reader.until(lambda: not reader.ask(shown))
    assert menu in reader.focus()
    reader.click(f".{menu}")  # by finger
    reader.until(lambda: reader.ask(shown))
    reader.press(keys.ESCAPE)
    reader.until(lambda: not reader.ask(shown))


# The result that Enter opens, as a screen reader is told of it, too; it is in the window.
CHOSEN = """(() => {
    const input = document.activeElement, chosen = document.querySelector("[aria-selected=true]");
    const box = chosen.getBoundingClientRect();
    return input.getAttribute("role") === "combobox" && input.getAttribute("aria-expanded") ===
        "true" && input.getAttribute("aria-activedescendant") === chosen.id && box.top >= 0 &&
        box.bottom <= innerHeight && chosen.querySelector("b").textContent;
})()"""


@in_languages("opening", rows=[(keys.CONTROL,), ("/",), ("",)], few=3)
def test_results_by_arrows(reader: Reader, language: str, opening: str) -> None:
    reader.open(f"{language}/{SEARCH}.html" if not opening else f"{language}/choosing.html")
    if opening == keys.CONTROL:
        reader.hold(keys.CONTROL, "k")
    else:
        reader.press(*opening)
    reader.until(lambda: reader.focus().startswith("input"))
    reader.press("conv2d")
    reader.until(lambda: reader.texts("[role=option]"))
    names = reader.texts("[role=option] b")
    assert reader.ask(CHOSEN) == names[0] == "conv2d"
    reader.press(keys.DOWN, keys.DOWN, keys.UP)
    assert reader.ask(CHOSEN) == names[1]
    reader.press(keys.UP, keys.UP)
    assert reader.ask(CHOSEN) == names[-1], "the last one comes before the first"
    reader.press(keys.DOWN, keys.ENTER)
    reader.until(lambda: reader.place == f"{language}/{FUNCTION}.html")
    if not opening:
        reader.driver.back()
        reader.until(lambda: reader.texts("[role=option]"), "the results are gone on the way back")


@in_languages("width", rows=[(1280,), (375,)], few=2)
def test_search_is_shut_by_escape(reader: Reader, language: str, width: int) -> None:
    reader.window(width, 750)
    reader.open(f"{language}/{FUNCTION}.html")
    opener = ".sidebar-search" if width > 1000 else ".search-icon"
    for leave in (lambda: reader.press(keys.ESCAPE), lambda: reader.click("[data-close]")):
        reader.click(opener)
        reader.until(lambda: reader.focus().startswith("input"))
        leave()
        reader.until(lambda: not reader.ask("document.querySelector('dialog').open"))
    assert reader.ask("document.activeElement.matches(arguments[0])", opener)


@in_languages()
def test_colours_are_switched(reader: Reader, language: str) -> None:
    reader.open(f"{language}/index.html")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = reader.ask(colour)
    reader.ask("document.querySelector('.content-icon-container .theme-toggle').focus()")
    reader.press(keys.ENTER)
    reader.until(lambda: reader.ask(colour) != light)
    reader.open(f"{language}/{FUNCTION}.html")
    assert reader.ask(colour) != light, "the choice is kept"


@in_languages()
def test_what_scrolls_is_reached(reader: Reader, language: str) -> None:
    reader.window(375)
    reader.open(f"{language}/{FUNCTION}.html")
    table = "document.querySelector('.table-wrapper[tabindex]')"
    reader.until(lambda: reader.ask(f"{table} !== null"))
    reader.ask(f"{table}.focus()")
    reader.press(keys.RIGHT)
    reader.until(lambda: reader.ask(f"{table}.scrollLeft") > 0)
