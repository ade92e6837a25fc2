"""The browser, and the built site behind an address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from docs.building import serving
from docs.building.places import HTML

if TYPE_CHECKING:
    from browser.reader import Reader


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the built site."""
    if not (HTML / "index.html").exists():
        pytest.skip("the site isn't built: python -m docs build")
    with serving.server(HTML, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser(site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """One browser for all tests."""
    pytest.importorskip("selenium", reason="Selenium isn't installed: pip install '.[dev]'")
    from browser.reader import Reader, chromium

    if chromium() is None:
        pytest.skip("Chromium isn't here with its driver: apt-get install chromium chromium-driver")
    made = Reader(site, tmp_path_factory.mktemp("chromium"))
    yield made
    made.close()


@pytest.fixture
def reader(browser: Reader) -> Reader:
    """The browser, with the window of a desk and light colours, and nothing said in the console."""
    browser.window()
    browser.speak("en")
    browser.forget()
    browser.complaints()
    return browser
