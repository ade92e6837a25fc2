"""The test files of the original, in groups as they are reported."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from .tables import NEVER_RUN


class Group(NamedTuple):
    """Some test files, and how many of their tests pass on the original with TensorFlow 1.15.5."""

    name: str
    files: tuple[str, ...]  # patterns of paths below the source package's `tests`
    on_tensorflow: int


GROUPS = (
    Group("backend", ("keras/backend/*",), 148),
    Group("layers", ("keras/layers/*",), 310),
    Group("activations", ("keras/activations_test.py",), 15),
    Group("losses", ("keras/losses_test.py", "test_loss_*.py"), 118),
    Group("metrics", ("keras/metrics_*",), 215),
    Group("optimizers", ("keras/optimizers_test.py",), 12),
    Group("initializers", ("keras/initializers_test.py",), 36),
    Group("regularizers", ("keras/regularizers_test.py",), 5),
    Group("constraints", ("keras/constraints_test.py",), 5),
    Group("engine", ("keras/engine/*", "test_dynamic_trainability.py"), 71),
    Group("sequential", ("keras/test_sequential_model.py",), 13),
    Group("callbacks", ("keras/callbacks/*",), 32),
    Group("saving", ("test_model_*.py",), 33),
    Group("wrappers", ("keras/wrappers/*",), 8),
    Group("legacy", ("keras/legacy/*",), 40),
    Group(
        "preprocessing",
        ("integration_tests/preprocessing/*", "integration_tests/imagenet_utils_test.py"),
        34,
    ),
    Group("utils", ("keras/utils/*",), 60),
    Group("integration", ("integration_tests/test_*",), 11),
)
NAMES = tuple(group.name for group in GROUPS)


def files_of(tests: Path, names: Iterable[str] = NAMES) -> dict[str, list[str]]:
    """The test files of these groups, as paths below `tests`.

    Raises:
        LookupError: a file belongs to no group, and isn't listed as one that never runs.
    """
    wanted = set(names)
    found: dict[str, list[str]] = {group.name: [] for group in GROUPS if group.name in wanted}
    for path in sorted(tests.rglob("*.py")):
        file = path.relative_to(tests).as_posix()
        if not is_test(file) or never_run(file):
            continue
        group = group_of(file)
        if group in found:
            found[group].append(file)
    return found


def is_test(file: str) -> bool:
    """Whether a file is one of tests.

    >>> is_test("keras/losses_test.py"), is_test("keras/legacy/conftest.py")
    (True, False)
    """
    return "test" in Path(file).name and Path(file).name != "conftest.py"


def never_run(file: str) -> str | None:
    """Why a file is left out as a whole; None where it runs.

    >>> never_run("keras/losses_test.py")
    """
    return next((why for pattern, why in NEVER_RUN if fnmatch(file, pattern)), None)


def group_of(file: str) -> str:
    """The name of the group that a file belongs to.

    >>> group_of("keras/layers/core_test.py")
    'layers'
    """
    for group in GROUPS:
        if any(fnmatch(file, pattern) for pattern in group.files):
            return group.name
    raise LookupError(f"the test file {file} belongs to no group: add it to GROUPS or NEVER_RUN")
