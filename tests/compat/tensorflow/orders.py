"""Imports each module of TensorFlow 1.15's Python files as the first one, each in a process of its
own, as programs and libraries do; prints, as JSON, how many there are, and those that fail.

    kameleon run orders.py       # all of them: minutes
    kameleon run orders.py 40    # every fortieth
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from kameleon.compat.tensorflow import importing, late


def forked(work: Callable[[], Any]) -> Any:
    """What a function gives in a copy of this process, or the text of what it raises."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            found = work()
        except BaseException:
            found = traceback.format_exc()
        with os.fdopen(writing, "w") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def all_of_them() -> list[str]:
    """The modules that TensorFlow 1.15 loads when it's imported."""
    importing.begin()
    late.everything()
    # What the files import is loaded; what isn't found there is no module.
    return sorted(name for name in sys.modules if name.startswith(f"{late.PYTHON}."))


def first(name: str) -> str:
    """Import a module before all others; return what that raises."""
    importing.begin()
    importlib.import_module(name)
    return ""


step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
modules = forked(all_of_them)[::step]
told = {name: forked(lambda name=name: first(name)) for name in modules}
print(json.dumps({"count": len(told), "failed": {k: v[-1000:] for k, v in told.items() if v}}))
