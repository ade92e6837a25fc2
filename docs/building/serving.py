"""The built site over HTTP, on this machine alone."""

from __future__ import annotations

import functools
import http.server
from pathlib import Path
from typing import Any


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Hands files out, and says nothing of it."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A lost address gets the site's page for it, as from any server of sites."""
        page = Path(self.directory) / "404.html"
        if code == http.HTTPStatus.NOT_FOUND and page.exists():
            self.error_message_format = page.read_text(encoding="utf-8").replace("%", "%%")
        super().send_error(code, message, explain)


def server(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """A server of a folder's files; the port 0 is any that is free."""
    handler = functools.partial(Quiet, directory=str(folder))
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
