"""What is built of the checkout: the wheel and the source package hold what they should and no
more, and the same sources give the same bytes. `tests/release/run.py` tries what the extras bring.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from _support.common import TESTS

import kameleon
from release.programs import IN_THE_SOURCES, PROGRAMS

ROOT = TESTS.parent
# For those who have the repository.
OUTSIDE = (".ci/", ".github/", ".pre-commit-config.yaml")
LARGEST = 3_000_000  # bytes of a wheel
WHEEL, SDIST = (
    f"kameleon-{kameleon.__version__}-py3-none-any.whl",
    f"kameleon-{kameleon.__version__}",
)


def tracked() -> list[str]:
    """The files that are committed, or about to be; where there's no repository, no test."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
    if done.returncode or not (ROOT / ".git").exists():
        pytest.skip("it needs the repository")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def built(folder: Path, sources: Path, *kinds: str, zone: str = "UTC", mask: str = "022") -> Path:
    """Build into a folder; return it."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": zone}
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *kinds]
    command = ["sh", "-c", f'umask {mask}; exec "$@"', "sh", *words]
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def copied(folder: Path, mask: int = 0o022) -> Path:
    """The committed files in another folder, as somebody with that umask gets them."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
        executable = os.access(ROOT / name, os.X_OK)
        (folder / name).chmod((0o777 if executable else 0o666) & ~mask)
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source package."""
    pytest.importorskip("hatchling", reason="it builds the package: pip install hatchling")
    folder = tmp_path_factory.mktemp("packages")
    return built(folder / "dist", copied(folder / "sources"))


def test_the_wheel_holds_the_package_and_its_benchmarks(packages: Path) -> None:
    sources = {name.removeprefix("src/") for name in tracked() if name.startswith("src/")}
    sources |= {f"kameleon/{name}" for name in tracked() if name.startswith("benchmarks/")}
    about = "METADATA WHEEL RECORD entry_points.txt licenses/LICENSE".split()
    about.append("licenses/src/kameleon/cli/demo/digits.txt")  # whose the demo's digits are
    wheel = packages / WHEEL
    with zipfile.ZipFile(wheel) as file:
        assert set(file.namelist()) == sources | {f"{SDIST}.dist-info/{name}" for name in about}
    assert wheel.stat().st_size < LARGEST


def test_the_source_package_is_the_checkout(packages: Path) -> None:
    with tarfile.open(packages / f"{SDIST}.tar.gz") as file:
        names = {name.removeprefix(f"{SDIST}/") for name in file.getnames()}
    inside = {name for name in tracked() if not name.startswith(OUTSIDE)}
    assert names == inside | {"PKG-INFO"}


def hashes(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


@pytest.mark.nightly
def test_the_same_sources_give_the_same_bytes(packages: Path, tmp_path: Path) -> None:
    sources = copied(tmp_path / "elsewhere" / "deeper", mask=0o077)
    again = built(tmp_path / "again", sources, zone="Asia/Kathmandu", mask="077")
    assert hashes(again) == hashes(packages) and len(hashes(again)) == 2
    with tarfile.open(packages / f"{SDIST}.tar.gz") as file:
        file.extractall(tmp_path, filter="data")
    wheel = built(tmp_path / "of the source package", tmp_path / SDIST, "-t", "wheel")
    assert hashes(wheel) == {WHEEL: hashes(packages)[WHEEL]}


def test_every_extra_is_tried() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert {"core", *extras} == PROGRAMS.keys() | IN_THE_SOURCES.keys()


def test_the_changelog_and_the_citation_have_the_version_and_its_day() -> None:
    """Between releases the changelog's first entry has no number; the last release has both."""
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## \[(.+?)\](?: – (\d{4}-\d\d-\d\d))?$", log, re.M)
    released = entries[1:] if entries[0] == ("Unreleased", "") else entries
    assert all(day for _, day in released)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    said = dict(re.findall(r"^(version|date-released): (.+)$", citation, re.M))
    assert (said["version"], said["date-released"]) == released[0]
    assert kameleon.__version__ == released[0][0]
