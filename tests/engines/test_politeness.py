"""Kameleon changes no setting of a library, of NumPy, or of Python, and loads no other engine.

`politeness.py` does the work and reads the flags, in a process for each engine.
"""

from __future__ import annotations

import functools
import os
import tempfile
from typing import Any

import pytest
from _support.common import SOURCE, printed_by
from _support.politeness import GENERATORS, LIBRARIES, READERS, RUDE

# A worker reads what one process of an engine printed.
pytestmark = [pytest.mark.together, pytest.mark.dealt(3)]

Flags = dict[str, str]


@functools.cache
def observed(engine: str, order: str) -> dict[str, Any]:
    """What `politeness.py` prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("KERAS_", "PYTEST_"))}
    with tempfile.TemporaryDirectory() as home:
        environment |= {
            "KERAS_HOME": home,
            "KERAS_BACKEND": engine,
            "PYTHONPATH": os.pathsep.join([str(SOURCE), environment.get("PYTHONPATH", "")]),
        }
        return printed_by("_support/politeness.py", engine, order, environment=environment)


def differences(old: Flags, new: Flags, but: tuple[str, ...] = ()) -> dict[str, tuple[str, str]]:
    """What isn't the same in both, of what is in both."""
    return {k: (old[k], new[k]) for k in old if k in new and k not in but and old[k] != new[k]}


def test_what_the_user_has_set_stays(engine_name: str) -> None:
    found = observed(engine_name, "before")
    assert len(found["before"]) > 20
    assert found["before"].keys() <= found["after"].keys()
    changed = differences(found["before"], found["after"])
    assert not changed


# What is another one in each process: the folder of the settings, the seed that PyTorch picks.
OWN = ("python: environ KERAS_HOME", "torch: initial_seed", "torch: random")


def test_loading_a_library_draws_nothing_from_the_program_s_generators(engine_name: str) -> None:
    found = observed(engine_name, "first")
    assert not differences(found["seeded"], found["after"])


def test_a_library_loaded_by_kameleon_is_as_if_loaded_by_the_user(engine_name: str) -> None:
    alone, first = observed(engine_name, "before")["before"], observed(engine_name, "first")
    changed = differences(alone, first["after"], (*OWN, *GENERATORS))
    assert not changed


def test_no_other_engine_is_loaded(engine_name: str) -> None:
    found = observed(engine_name, "first")
    own = {LIBRARIES.get(engine_name), "numpy"}
    others = [m for m in LIBRARIES.values() if m not in own]
    # Importing some libraries loads others, if they're there; that isn't ours.
    theirs = set(observed(engine_name, "before")["modules before"])
    loaded = set(found["modules"]) - theirs
    assert not [m for m in loaded if m.split(".")[0] in others]
    assert not [m for m in loaded if m.startswith("kameleon.engines.") and _foreign(m, engine_name)]
    # Importing it switches JAX to 64 bits.
    assert not [m for m in loaded if m.startswith("pytensor.link.jax")]


def _foreign(module: str, engine: str) -> bool:
    """Whether a module belongs to another engine of ours."""
    room = module.split(".")[2]
    return room in LIBRARIES and room not in (engine, "numpy")


def test_a_change_would_be_noticed(engine_name: str) -> None:
    if engine_name not in RUDE:  # an engine of another package: only Python's flags are known
        return
    found = observed(engine_name, "before")
    changed = differences(found["after"], found["rude"])
    assert changed


def test_each_engine_has_its_flags() -> None:
    assert READERS.keys() == RUDE.keys() == LIBRARIES.keys()
