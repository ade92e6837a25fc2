"""Asks for each name of TensorFlow 1.15's API, and of 2.0's in it; prints, as JSON, how many there
are, and those that can't be had.

    kameleon run names.py
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any


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


if __name__ == "__main__":
    import tensorflow as tf

    names = Names()
    names.ask(tf, "tf")
    names.ask(tf.compat.v1, "tf.compat.v1")
    names.ask(tf.compat.v2, "tf.compat.v2")
    print(json.dumps({"count": names.count, "missing": names.missing}))
