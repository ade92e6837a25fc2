"""The commands of `python -m docs`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from docs.building import (
    catalogues,
    check,
    figures,
    gallery,
    pages,
    redirects,
    searching,
    serving,
    trial,
)
from docs.building.languages import LANGUAGES, SOURCE
from docs.building.places import DOCS, HTML, WORK


def say(text: str) -> None:
    print(f"== {text}", flush=True)


def sphinx(arguments: Sequence[str]) -> int:
    """Run Sphinx in a process of its own: it keeps the first language's catalogues for all that
    come after in the same one. Its exit status.
    """
    return subprocess.run([sys.executable, "-m", "sphinx", *arguments], check=False).returncode


def prepare() -> None:
    """Write what pages are made from, and isn't committed."""
    pages.write()
    gallery.write()
    figures.write(WORK / "figures")


def build(languages: Sequence[str] = tuple(LANGUAGES), ort: Path | None = None) -> int:
    """Build the site strictly; the exit status."""
    unknown = set(languages) - set(LANGUAGES)
    if unknown:
        say(f"no such language: {', '.join(sorted(unknown))}; there are {', '.join(LANGUAGES)}")
        return 2
    started = time.monotonic()
    prepare()
    if why := trial.write(ort):
        say(f"the network of the start page is left out: {why}")
    for language in languages:
        say(f"{LANGUAGES[language].title} [{time.monotonic() - started:.0f} s]")
        doctrees, html = WORK / "doctrees" / language, HTML / language
        options = ["-W", "--keep-going", "-q", "-b", "html", "-D", f"language={language}"]
        status = sphinx([*options, "-d", str(doctrees), str(DOCS), str(html)])
        if status:
            return status
        if language != SOURCE and not catalogues.is_shown(language, HTML / language):
            say(f"the pages aren't in {LANGUAGES[language].title}")
            return 1
    redirects.write(HTML)
    searching.write(HTML, languages)
    say(f"links [{time.monotonic() - started:.0f} s]")
    found = list(check.faults(HTML, languages))
    for fault in found:
        say(fault)
    say(f"{HTML} [{time.monotonic() - started:.0f} s]")
    return 1 if found else 0


def messages() -> int:
    """Bring the catalogues up to date with the pages; the exit status."""
    prepare()
    templates = WORK / "messages"
    shutil.rmtree(templates, ignore_errors=True)
    doctrees = str(WORK / "doctrees" / "messages")
    options = ["-W", "--keep-going", "-q", "-b", "gettext", "-d", doctrees]
    status = sphinx([*options, str(DOCS), str(templates)])
    if status == 0:
        catalogues.bring_up_to_date(templates)
    return status


def serve(port: int) -> int:
    """Show the built site until interrupted."""
    with serving.server(HTML, port) as server:
        say(f"http://localhost:{port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
