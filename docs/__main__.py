"""`python -m docs`: writes the tables of the documentation, builds its site, shows it.

    python -m docs tables      the committed pages that are made from the tables: docs/make.py
    python -m docs pictures    what the programs of examples/ draw and print: docs/pictures
    python -m docs build       the site, in all languages, with search: build/site/html
    python -m docs messages    what translators translate: docs/locale/*/LC_MESSAGES/*.po
    python -m docs serve       the built site, at http://localhost:8000
    python -m docs cover       the README's picture, on all engines that are here: docs/cover.png
    python -m docs screens     what a browser shows of large graphs: docs/explorer.png, profile.png

Run in the checkout. All but `tables` need the extra `docs`, `pictures` and `screens` need Keras
2.3.1, too, `screens` Chromium and the extra `dev`, and `cover` the extra `demo`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from docs.building.languages import LANGUAGES
from docs.building.places import COVER, WORK


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    made = argparse.ArgumentParser(
        prog="python -m docs", description=(__doc__ or "").split("\n")[0]
    )
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("tables", help="write the pages that are made from the tables")
    pictures = commands.add_parser("pictures", help="run the programs of examples/, minutes long")
    pictures.add_argument("names", nargs="*", help="of programs (default: all)")
    build = commands.add_parser("build", help="build the site; a warning is an error")
    build.add_argument(
        "--languages",
        default=",".join(LANGUAGES),
        help="codes, separated by commas (default: all)",
    )
    build.add_argument(
        "--ort", type=Path, help="ONNX Runtime Web, as `kameleon demo --web` takes it"
    )
    commands.add_parser("messages", help="bring the catalogues of messages up to date")
    serve = commands.add_parser("serve", help="show the built site")
    serve.add_argument("--port", type=int, default=8000)
    commands.add_parser("cover", help="draw the README's picture")
    commands.add_parser("screens", help="draw what a browser shows of large graphs")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status."""
    asked = parser().parse_args(arguments)
    # Whatever the user's settings are, pages are made with the defaults, on the embedded engine.
    os.environ.update(KERAS_BACKEND="numpy", KERAS_HOME=str(WORK))
    os.environ.pop("KAMELEON_ENGINE", None)
    if asked.command == "tables":
        from docs import make

        make.main()
        return 0
    if asked.command == "pictures":
        from docs.building import recorded

        return recorded.record(asked.names)
    if asked.command == "cover":
        from docs.building.figures import cover

        cover.write(COVER)
        return 0
    if asked.command == "screens":
        from docs.building import screens

        screens.write()
        return 0
    from docs.building import commands

    if asked.command == "build":
        return commands.build(asked.languages.split(","), asked.ort)
    if asked.command == "messages":
        return commands.messages()
    return commands.serve(asked.port)


if __name__ == "__main__":
    sys.exit(main())
