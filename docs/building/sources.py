"""Where the code of a function is shown: at the repository's address, which `[project.urls]` in
`pyproject.toml` gives as `Source`; as long as there is none, on pages of the site itself.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path

from docs.building import functions
from docs.building.places import ROOT
from kameleon import backend as K


def repository() -> str:
    """The address of the repository; empty where it has none yet."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project.get("urls", {}).get("Source", ""))


def addresses(source: str, version: str) -> Callable[[str, dict[str, str]], str | None]:
    """What `sphinx.ext.linkcode` asks for the address of an object's lines."""

    def resolve(domain: str, info: dict[str, str]) -> str | None:
        name = info["fullname"]
        if name not in functions.names():
            return None
        lines, first = inspect.getsourcelines(inspect.unwrap(functions.function(name)))
        file = inspect.getsourcefile(inspect.unwrap(functions.function(name))) or ""
        path = Path(file).resolve().relative_to(ROOT).as_posix()
        return f"{source.rstrip('/')}/blob/v{version}/{path}#L{first}-L{first + len(lines) - 1}"

    return resolve


def module_of(app: object, module: str | None, name: str) -> str | None:
    """What `sphinx.ext.viewcode` asks for the module that an object is written in."""
    if module == K.__name__ and name in functions.names():
        return inspect.unwrap(functions.function(name)).__module__
    # A page of code leads back to the names of one module: those of K, where it has such.
    others = (module or "").startswith(f"{K.__name__}.") or name in functions.names()
    return K.__name__ if others else None
