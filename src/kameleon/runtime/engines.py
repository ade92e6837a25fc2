"""Finding engines by name, and which one is in force."""

from __future__ import annotations

import importlib
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.scopes import Scope
from .._utils.suggestions import suggestion
from ..config import ALIASES, ENGINES, installed
from ..config.external import others_can_read
from ..config.layouts import Distribution
from ..engines._base import Chooser, Engine
from ..errors import ArgumentError, EngineError, EngineNotFoundError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Engines that come with Kameleon: where each is, loaded when it's first needed.
MODULES = {name: f"kameleon.engines.{name}.engine" for name in ENGINES}
# Engines in another setting: chosen by name like engines, and not listed among them.
VARIANTS = {
    "torch.compile": ("torch", "kameleon.engines.torch.compiled"),
    "auto": ("numpy", "kameleon.runtime.auto"),
}
# Other packages announce engines by this entry point: a name, and where its `Engine` is.
GROUP = "kameleon.engines"

_loaded: dict[str, Engine] = {}
_chosen: list[Engine] = []  # at most one; the embedded engine, if none
_here: ContextVar[Engine | None] = ContextVar("kameleon_engine", default=None)


def canonical(name: str) -> str:
    """The one name of an engine that has several."""
    return ALIASES.get(name, name)


def third_parties() -> dict[str, EntryPoint]:
    """Engines that other packages announce."""
    from importlib.metadata import entry_points  # late: it takes long to import

    found = entry_points(group=GROUP)
    return {e.name: e for e in found if e.name not in MODULES and e.name not in ALIASES}


def names() -> list[str]:
    """All engines: those of Kameleon, then those of other packages."""
    return [*MODULES, *third_parties()]


def meant(name: str) -> str:
    """What to add to a message about an engine that there isn't: which one was meant, perhaps."""
    return suggestion(name.lower(), [*names(), *VARIANTS, *ALIASES])


def available(name: str) -> bool:
    """Whether there is an engine of this name; its library may not be installed."""
    return canonical(name) in MODULES or name in VARIANTS or name in third_parties()


def runs_here(name: str) -> bool:
    """Whether there is such an engine and its library is installed."""
    name = canonical(name)
    return available(name) and (name not in ENGINES or installed(name))


def load(name: str) -> Engine:
    """The engine of this name; imports it at the first call.

    Raises:
        EngineNotFoundError: there's no engine of this name, or its library isn't installed.
        EngineError: another package announces it, and it can't be loaded, or is no engine.
    """
    name = canonical(name)
    engine = _loaded.get(name)
    if engine is None:
        with _generators_kept():
            engine = _loaded.setdefault(name, _imported(name))
    return engine


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Keep the states of Python's and NumPy's generators: JAX draws from them while it loads."""
    of_python, of_numpy = random.getstate(), np.random.get_state(legacy=False)
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


def _imported(name: str) -> Engine:
    library, path = VARIANTS.get(name) or (name, MODULES.get(name, ""))
    if path:
        if not installed(library):
            raise EngineNotFoundError(
                f"the engine {name!r} needs a library that isn't installed:"
                f" {ENGINES[library].install}"
            )
        with others_can_read():  # TensorFlow loads its Keras
            module: Any = importlib.import_module(path)
        found: Engine = module.engine
        return found
    others = third_parties()
    if name not in others:
        raise EngineNotFoundError(
            f"there is no engine {name!r}{meant(name)}; Kameleon has: {', '.join(names())}"
        )
    return _announced(others[name])


def _announced(entry: EntryPoint) -> Engine:
    """The engine of another package; errors name that package."""
    package = f" of {entry.dist.name}" if entry.dist else ""
    what = f"the entry point '{entry.name} = {entry.value}' ({GROUP}){package}"
    try:
        engine = entry.load()
        engine = engine() if isinstance(engine, type) else engine
    except Exception as error:
        raise EngineError(
            f"{what} can't be loaded: {type(error).__name__}: {error}; repair or uninstall it, or"
            " choose another engine"
        ) from error
    if not isinstance(engine, Engine):
        raise EngineError(f"{what} gives {engine!r}, which is no kameleon.engines.Engine")
    if engine.name != entry.name:
        raise EngineError(f"{what} gives an engine that calls itself {engine.name!r}")
    return engine


def register(engine: Engine) -> None:
    """Make an engine known by its name, in this process."""
    _loaded[engine.name] = engine


def current() -> Engine:
    """The engine that runs functions which name no engine."""
    return _here.get() or (_chosen[0] if _chosen else embedded())


def distributed(distribution: Distribution) -> Engine:
    """JAX over the devices of a distribution: one engine for equal distributions.

    Raises:
        EngineNotFoundError: JAX isn't installed.
        EngineError: JAX has fewer devices.
    """
    load("jax")  # raises where it can't be
    module: Any = importlib.import_module("kameleon.engines.jax.distributed")
    made = module.DistributedEngine(distribution)
    return _loaded.setdefault(f"jax, {made.distribution!r}", made)


def choosing(candidates: str | Sequence[str], name: str | None) -> Engine:
    """The engine `auto`, which chooses among these.

    Raises:
        ArgumentError: another engine was named beside them, or there's none of such a name.
    """
    if name != "auto":
        raise ArgumentError(
            f"K.function: candidates are what engine='auto' chooses among, not engine={name!r}"
        )
    auto = load(name)
    assert isinstance(auto, Chooser)
    return auto.among(candidates)


def use(engine: str | Engine) -> None:
    """Make an engine the one in force."""
    _chosen[:] = [_meant(engine)]


def using(engine: str | Engine, gives: bool = True) -> Scope[Engine | None]:
    """Make an engine the one in force within a block, in this thread (or task) alone.

    `with using(name) as engine` gives the engine, unless `gives` is false.
    """
    return Scope(_here, lambda outer: _meant(engine), gives)


def _meant(engine: str | Engine) -> Engine:
    if isinstance(engine, str):
        return load(engine)
    if not isinstance(engine, Engine):
        raise ArgumentError(f"an engine is chosen by its name, not by {engine!r}")
    return engine


def embedded() -> Engine:
    """The engine that is always there: it folds constants and runs one-off evaluations."""
    return load("numpy")


def loaded() -> list[Engine]:
    """The engines that have been needed so far."""
    return list(_loaded.values())


def _after_fork() -> None:
    """In a forked child: engines leave alone what is their parent's, and those whose threads are
    gone say so at the first call.
    """
    for engine in loaded():
        engine.after_fork()
        if engine.started and not engine.survives_fork():
            engine.lost = (
                f"{engine.title} had started when this process was forked, and its threads don't"
                " exist here: it would wait for them for ever. Start processes by"
                " multiprocessing.get_context('spawn'), or fork before it's loaded; here, what it"
                " held may be read, and NumPy computes: K.set_engine('numpy')"
            )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def release() -> None:
    """Let all loaded engines free what they keep for reuse."""
    for engine in loaded():
        engine.release()
