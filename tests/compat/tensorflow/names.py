"""Asks for each name of TensorFlow 1.15's API, and of 2.0's in it; prints, as JSON, how many there
are, and those that can't be had.
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import tensorflow as tf


class Names:
    """The public names of modules, in all modules of the API."""

    def __init__(self) -> None:
        self.count = 0
        self.missing: dict[str, str] = {}
        self._seen: set[str] = set()

    def ask(self, module: Any, path: str) -> None:
        """Ask for the names in a module that programs know by a path."""
        self._seen.add(module.__name__)
        for name in [name for name in dir(module) if not name.startswith("_")]:
            self.count += 1
            try:
                found = getattr(module, name)
            except Exception as error:
                self.missing[f"{path}.{name}"] = repr(error)
                continue
            is_of_api = isinstance(found, ModuleType) and ".api." in found.__name__.replace("_", "")
            if is_of_api and found.__name__ not in self._seen:
                self.ask(found, f"{path}.{name}")


names = Names()
for each in ("tf", "tf.compat.v1", "tf.compat.v2"):
    names.ask(eval(each, {"tf": tf}), each)
print(json.dumps({"count": names.count, "missing": names.missing}))
