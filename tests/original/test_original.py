"""The original's own tests on Kameleon: all of them on NumPy, some on the other engines.

`run.py` runs them all on any engine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.common import engines_under_test
from kameleon_original import groups, report, running, source, tables

from kameleon.compat.keras2 import location
from kameleon.compat.tensorflow import location as of_tensorflow

# What runs on engines other than NumPy, as far as time allows.
ELSEWHERE = ("backend",)

NUMPY = tables.Ground("numpy")
ON_TENSORFLOW = tables.Ground("numpy", "tensorflow")  # on its TensorFlow backend, above its files

# The groups that run with every change; the others take long. (Of the group `utils`, the backend is
# the least part: processes, downloads, files.)
OFTEN = {NUMPY: {*groups.NAMES} - {"utils"}, ON_TENSORFLOW: {"losses", "sequential"}}

ENGINES = engines_under_test()
GROUNDS = dict.fromkeys(map(tables.Ground, ENGINES), ELSEWHERE)
GROUNDS |= {ground: groups.NAMES for ground in OFTEN if ground.engine in ENGINES}
PARTS = [
    pytest.param(
        ground,
        group,
        id=f"{ground.name}-{group}",
        marks=[] if group in OFTEN.get(ground, ELSEWHERE) else [pytest.mark.nightly],
    )
    for ground, names in GROUNDS.items()
    for group in names
    if group in report.expected(ground)
]


@pytest.fixture(scope="session")
def tests() -> Path:
    """The folder of the original's tests."""
    if not location.installed():
        pytest.skip(f"needs the original Keras: {location.INSTALL}")
    try:
        return source.tests()
    except source.SourceError as error:
        pytest.skip(f"needs the original's source package: {error}")


@pytest.mark.slow
@pytest.mark.parametrize(("ground", "group"), PARTS)
def test_group(tests: Path, ground: tables.Ground, group: str) -> None:
    if ground.keras_on == "tensorflow" and not of_tensorflow.installed():
        pytest.skip(f"needs TensorFlow's own files: {of_tensorflow.INSTALL}")
    found = running.run(tests, location.find(), ground, [group])
    assert not report.faults(ground, found)


def test_every_file_of_the_original_is_accounted_for(tests: Path) -> None:
    files = groups.files_of(tests)
    assert set(files) == set(groups.NAMES)
    assert all(files.values()), "a group without files"
    known = {file for each in files.values() for file in each}
    assert set(tables.NEEDS) <= known
    assert all(counts.keys() <= set(files) for counts in report.recorded().values())


def test_a_loss_is_noticed() -> None:
    passed = [running.Test(f"file::test_{i}", "passed") for i in range(3)]
    found = {"backend": running.Result(passed)}
    assert "backend: 3 passed on numpy" in report.faults(NUMPY, found)[0]


def test_exclusions_are_strict() -> None:
    name = "keras/optimizers_test.py::test_tfoptimizer"
    passed = running.judge(name, {"outcome": "passed", "message": ""}, NUMPY)
    failed = running.judge(name, {"outcome": "failed", "message": "no"}, NUMPY)
    assert (passed.outcome, passed.stale) == ("excluded", True)
    assert (failed.outcome, failed.stale) == ("excluded", False)
    found = {"optimizers": running.Result([passed])}
    assert any("passed, though excluded" in said for said in report.faults(NUMPY, found))
    other = running.judge(
        "keras/losses_test.py::test_x", {"outcome": "failed", "message": ""}, NUMPY
    )
    assert other.outcome == "failed"


def test_an_archive_that_was_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / source.ARCHIVE).write_bytes(b"something else")
    with pytest.raises(source.SourceError, match="isn't the published package"):
        source.tests(tmp_path)
    with pytest.raises(source.SourceError, match="holds neither"):
        source.tests(tmp_path / "nothing")
