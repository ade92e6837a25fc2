"""A reader with a browser: opens pages of the site, looks, types, and asks axe what is wrong."""

from __future__ import annotations

import functools
import importlib.util
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains

from docs.building.places import HTML

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
    # Nothing but the site itself is there: it works offline.
    " --host-resolver-rules=MAP\t*\t~NOTFOUND,EXCLUDE\t127.0.0.1"
)
PATIENCE = 10.0  # seconds that a page may take to do something
# What the theme says in the console when one changes its colours.
CHATTER = "Changed to "


def chromium() -> str | None:
    """The browser's path, if it's installed with its driver."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    return found if shutil.which("chromedriver") else None


def axe() -> Path | None:
    """The file of axe-core, as a package of Python brings it."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "axe.min.js"


class Reader:
    """A browser with one window.

    Args:
        site: the address of the built site, with a slash behind it.
        folder: an empty folder for the browser's own files.
    """

    def __init__(self, site: str, folder: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium() or ""
        for flag in FLAGS.split(" "):
            options.add_argument(flag.replace("\t", " "))
        options.add_argument(f"--user-data-dir={folder}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver") or "")
        self.driver = webdriver.Chrome(options=options, service=service)
        self.site = site

    def window(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Have a window of this size (a phone, if it's narrow), and prefer these colours."""
        phone = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": phone})
        colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [colours]})

    def speak(self, language: str) -> None:
        """Prefer a language, until the next call."""
        agent = {"userAgent": self.ask("navigator.userAgent"), "acceptLanguage": language}
        self.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", agent)

    def forget(self) -> None:
        """What pages of the site have kept is gone."""
        stored = {"origin": self.site.rstrip("/"), "storageTypes": "local_storage"}
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", stored)

    def allow(self, permission: str) -> None:
        """Let pages of the site do something."""
        allowed = {"permissions": [permission], "origin": self.site.rstrip("/")}
        self.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)

    def open(self, address: str) -> None:
        """Open a page, `en/index.html`, anew."""
        self.driver.get("about:blank")
        self.driver.get(self.site + address)

    def open_file(self, address: str) -> None:
        """Open a page as a file, without a server."""
        self.driver.get(f"{HTML.as_uri()}/{address}")

    @property
    def place(self) -> str:
        """Where the reader is, as `open` takes it."""
        return self.driver.current_url.removeprefix(self.site)

    def ask(self, script: str, *arguments: Any) -> Any:
        """What an expression of JavaScript gives; its arguments are `arguments[0]` and so on."""
        return self.driver.execute_script(f"return {script}", *arguments)

    def wait_for(self, script: str) -> Any:
        """What a promise gives."""
        done = f"const done = arguments[0]; {script}.then(done, error => done(String(error)))"
        return self.driver.execute_async_script(done)

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that are there."""
        found = "[...document.querySelectorAll(arguments[0])].map(x => x.textContent.trim())"
        return self.ask(found, selector)  # type: ignore[no-any-return]

    def links(self, selector: str) -> list[str]:
        """Where links lead, as `open` takes it."""
        found = self.ask("[...document.querySelectorAll(arguments[0])].map(x => x.href)", selector)
        return [address.removeprefix(self.site) for address in found]

    def click(self, selector: str) -> None:
        """Click on the first element that is there, as a mouse or a finger does."""
        element = self.ask("document.querySelector(arguments[0])", selector)
        assert element is not None, f"{self.place} has no {selector}"
        self.ask("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def press(self, *keys: str) -> None:
        """Press keys, or type text, into what has the focus."""
        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()

    def hold(self, key: str, other: str) -> None:
        """Press a key while another one is held down."""
        pressed = ActionChains(self.driver, duration=0).key_down(key).send_keys(other).key_up(key)
        pressed.perform()

    def focus(self) -> str:
        """What has the focus: tag, classes, and text or name."""
        return self.ask(FOCUS)  # type: ignore[no-any-return]

    def until(self, holds: Callable[[], Any], what: str = "") -> Any:
        """Wait until something holds; what it gave."""
        end = time.monotonic() + PATIENCE
        while not (found := holds()):
            assert time.monotonic() < end, f"{what or 'nothing happened'}, at {self.place}"
            time.sleep(0.02)
        return found

    def complaints(self) -> list[str]:
        """What the console says since it was asked last."""
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        return [message for message in messages if CHATTER not in message]

    def barriers(self) -> list[str]:
        """What axe finds serious or critical on the open page."""
        self.driver.execute_script(_axe())
        found = json.loads(self.driver.execute_async_script(AXE))
        return [f"{self.place}: {line}" for line in found]

    def close(self) -> None:
        self.driver.quit()


@functools.cache
def _axe() -> str:
    path = axe()
    assert path is not None
    return path.read_text(encoding="utf-8")


FOCUS = """(x => [x.tagName.toLowerCase(), ...x.classList].join(".") + " " +
    (x.getAttribute("aria-label") || x.textContent.trim().replace(/\\s+/g, " ")))(
    document.activeElement)"""
AXE = """
const done = arguments[0];
const bad = ({impact}) => impact === "serious" || impact === "critical";
const line = v => `${v.id} (${v.impact}), ${v.help}: ` +
    v.nodes.slice(0, 4).map(n => n.target.join(" ")).join("; ");
axe.run(document, {resultTypes: ["violations"], iframes: false})
    .then(found => done(JSON.stringify(found.violations.filter(bad).map(line))))
    .catch(error => done(JSON.stringify([String(error)])));
"""
