"""Addresses of the original's documentation, and where they lead here.

The original had one page for the backend in each language, `/backend/` in English, `/ko/backend/`
and so on in others, with an anchor for each function and each chapter.
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from docs.building import functions
from docs.building.languages import LANGUAGES, SOURCE

# The anchors of the original's chapters, and the pages that follow them. The anchors of headings in
# other alphabets were made of what is left of them in Latin letters, so only one of them is told.
CHAPTERS = {
    "keras-backends": "backend/index",
    "what-is-a-backend": "backend/what",
    "switching-from-one-backend-to-another": "backend/switching",
    "kerasjson-details": "backend/keras_json",
    "kerasjson": "backend/keras_json",
    "using-the-abstract-keras-backend-to-write-new-code": "backend/writing",
    "backend-functions": "backend/functions/index",
}


def anchors() -> dict[str, str]:
    """By anchor of the original's page the page of this site."""
    found = {name.lower(): f"backend/functions/{name}" for name in functions.names()}
    return CHAPTERS | found


def as_json() -> str:
    return json.dumps(anchors(), separators=(",", ":"))


def pages() -> dict[str, str]:
    """By old address (a folder) the folder of the language that takes its place."""
    return {
        "/".join(filter(None, (language.older, "backend"))): folder
        for folder, language in LANGUAGES.items()
    }


PAGE = """<!doctype html>
<html lang="{tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Kameleon</title>
{more}
</head>
<body><p>{links}</p></body>
</html>
"""
BY_ANCHOR = """<script>
const pages = {pages};
const page = pages[decodeURIComponent(location.hash.slice(1)).toLowerCase()] || "backend/index";
location.replace("{base}" + page + ".html");
</script>
<noscript><meta http-equiv="refresh" content="0; url={base}backend/index.html"></noscript>"""
BY_ANCHOR_HERE = """const pages = {pages};
const page = pages[decodeURIComponent(location.hash.slice(1)).toLowerCase()];
if (page) location.replace("../" + page + ".html");"""
BY_LANGUAGE = """<script>
const folders = {folders};
const found = navigator.languages.map(x => folders[x.slice(0, 2).toLowerCase()]).find(x => x);
location.replace((found || "{source}") + "/index.html");
</script>
<noscript><meta http-equiv="refresh" content="0; url={source}/index.html"></noscript>"""
# The site's own page, in the language of the lost address or the reader's, with its last word.
# Where that page is lost, its language isn't there.
LOST = """<script>
const folders = {folders};
const parts = location.pathname.split("/");
const at = parts.findIndex(part => Object.values(folders).includes(part));
const spoken = navigator.languages.map(x => folders[x.slice(0, 2).toLowerCase()]).find(x => x);
const base = at < 0 ? "/" : parts.slice(0, at).join("/") + "/";
const last = parts.filter(part => part && part !== "index.html").pop() || "";
const gone = last === "404.html";
const word = gone ? new URLSearchParams(location.search).get("q") : last.replace(/\\.html$/, "");
const folder = (!gone && (parts[at] || spoken)) || "{source}";
if (!gone || parts[at] !== folder) location.replace(base + folder + "/404.html?q=" + word);
</script>
<noscript><meta http-equiv="refresh" content="0; url=/{source}/404.html"></noscript>"""


def write(site: Path) -> None:
    """Write the pages of old and lost addresses, and the start page, which chooses a language."""
    for old, folder in pages().items():
        if not (site / folder).is_dir():
            continue  # not built this time
        if old != f"{folder}/backend":  # else the page itself takes the anchors
            path = site / old / "index.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(old_page(old, folder), encoding="utf-8")
    (site / "index.html").write_text(start(), encoding="utf-8")
    (site / "404.html").write_text(start(LOST), encoding="utf-8")


def old_page(old: str, folder: str) -> str:
    """What stands at an old address."""
    base = "../" * (old.count("/") + 1) + folder + "/"
    more = BY_ANCHOR.format(pages=as_json(), base=base)
    return PAGE.format(
        tag=LANGUAGES[folder].tag, more=more, links=anchor(f"{base}backend/index.html", "Kameleon")
    )


def start(script: str = BY_LANGUAGE) -> str:
    """What stands at the root: it leads to the reader's language."""
    folders = {folder[:2]: folder for folder in LANGUAGES}
    more = script.format(folders=json.dumps(folders), source=SOURCE)
    links = " ".join(anchor(f"{f}/index.html", x.title) for f, x in LANGUAGES.items())
    return PAGE.format(tag=SOURCE, more=more, links=links)


def anchor(address: str, text: str) -> str:
    return f'<a href="{html.escape(address)}">{html.escape(text)}</a>'
