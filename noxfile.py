"""What contributors run: `nox` takes two minutes, `nox -s all` is what is run with every change.

nox                     # format, lint, types, and the tests of the core on NumPy
nox -s tests -- -k conv # tests on the engines that are installed, as pytest takes them
nox -s coverage         # which lines no test reaches; the pages are in build/coverage
nox -s docs             # the site, in English
nox -s all              # everything, in fresh environments: some 20 minutes
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.4"
nox.options.sessions = ["quick"]
nox.options.reuse_existing_virtualenvs = True

# Tests that find most of what goes wrong, in half a minute.
CORE = (
    "tests/backend",
    "tests/golden",
    "tests/testing/test_conformance.py",
    "tests/runtime/test_function.py",
    "tests/runtime/test_updates.py",
    "tests/graph/test_rewrites.py",
    "tests/test_imports.py",
)
# Files whose types are those of JAX and PyTorch, which this environment hasn't. `mypy` alone checks
# all, where these are installed.
OF_LIBRARIES = "kameleon/(engines/(jax|torch)|backend/(interop|export))/"


@nox.session
def quick(session: nox.Session) -> None:
    """Format, lint, types, and the tests of the core on NumPy."""
    session.install("-e", ".[dev]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy", "--follow-imports=silent", "--exclude", OF_LIBRARIES)
    session.run("pytest", "-q", "-n", "2", "-m", "not slow", *CORE, env={"TEST_ENGINES": "numpy"})


@nox.session
def tests(session: nox.Session) -> None:
    """Tests on the engines that are installed in the session's environment."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-q", "-n", "2", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Which lines no test reaches: of the core on NumPy, or of the tests that are named."""
    session.install("-e", ".[dev]", "pytest-cov")
    shown = ("--cov=kameleon", "--cov-report=term:skip-covered", "--cov-report=html:build/coverage")
    session.run("pytest", "-q", "-n", "2", *shown, *(session.posargs or CORE))


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in English alone."""
    session.install("-e", ".[docs]")
    session.run("python", "-m", "docs", "build", "--languages", "en")


@nox.session(venv_backend="none")
def all(session: nox.Session) -> None:
    """What is run with every change, in fresh environments."""
    session.run(".ci/run", external=True)
