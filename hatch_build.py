"""What the build makes of README.md: the page of the package.

In the checkout, links of the README lead to files beside it. A package page has no such files, so
links get the address that `[project.urls]` gives as `Source`, and the version's tag. As long as
there is no address, the page has the text of these links, and no pictures: nothing leads nowhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# A link or, behind an exclamation mark, a picture: its text, which may have brackets in code, and
# its address. Or code in a line, which is left alone.
LINK = re.compile(r"(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)|`[^`]*`")
CODE = re.compile(r"(^```.*?^```$|^    .*?$)", re.M | re.S)


def page(text: str, source: str, version: str) -> str:
    """A Markdown text whose links lead somewhere on any page.

    Args:
        text: the text, whose links may be relative to the repository's root.
        source: the address of the repository; empty where it has none yet.
        version: of the package; the repository has a tag `v<version>`.

    >>> page("[a](b.md) ![c](d.png)", "https://host/us/it/", "1.0")
    '[a](https://host/us/it/blob/v1.0/b.md) ![c](https://host/us/it/raw/v1.0/d.png)'
    >>> page("[a](b.md) ![c](d.png)[e](https://f)", "", "1.0")
    'a [e](https://f)'
    """

    def absolute(found: re.Match[str]) -> str:
        mark, words, address = found.groups()
        if address is None or re.match(r"[a-z]+:|#", address):
            return found[0]
        if not source:
            return "" if mark else words
        kind = "raw" if mark else "blob"
        return f"{mark}[{words}]({source.rstrip('/')}/{kind}/v{version}/{address})"

    parts = CODE.split(text)  # every other one is code
    parts[::2] = [LINK.sub(absolute, part) for part in parts[::2]]
    return "".join(parts)


class Readme(MetadataHookInterface):
    """Gives the package its page."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": page(text, source, metadata["version"]),
        }
