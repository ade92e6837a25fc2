"""`kameleon cntk`: the environment is complete or not there, and errors say what to do."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from _support.commands import kameleon
from _support.common import absence

from kameleon.cli import cntk_environment as environment
from kameleon.cli import installing
from kameleon.config import cntk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the environment would be."""
    monkeypatch.setenv(cntk.VARIABLE, str(tmp_path / "cntk"))
    return tmp_path / "cntk"


@pytest.fixture
def pretended(tmp_path: Path) -> str:
    """An interpreter that says that it's Python 3.6, and makes an environment like itself."""
    script = tmp_path / "python3.6"
    script.write_text(
        '#!/bin/sh\nif [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n'
        'if [ "$2" = pip ] && [ "$PIP_QUIET" ]; then exit 1; fi\n'
        'case "$2" in *cntk*) echo version 2.7;; esac\n',
        "utf-8",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def fake_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: f"/there/{name}" for name in environment.LINKS.values()}
    monkeypatch.setattr(environment, "_of_the_system", lambda report: known)


def test_without_python_36_it_says_how_to_get_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_candidates", lambda: iter(()))
    result = kameleon("cntk", "install")
    assert result.status == 1
    assert "pyenv install 3.6.15" in result.said and "--python" in result.said
    assert not folder.exists()


def test_skipped_tests_say_that_there_is_no_python_36(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_candidates", lambda: iter(()))
    assert absence(["cntk"]).startswith("CNTK 2.7 needs Python 3.6, and there's none")
    monkeypatch.setattr(environment, "_candidates", lambda: iter([sys.executable]))
    monkeypatch.setattr(environment, "_is_right", lambda python: True)
    assert absence(["cntk"]).endswith("kameleon cntk install")


def test_another_python_is_refused(folder: Path) -> None:
    with pytest.raises(environment.InstallError, match=r"is no Python 3\.6"):
        environment.install(sys.executable)
    with pytest.raises(environment.InstallError, match=r"is no Python 3\.6"):
        environment.install("/no/such/python")


def test_it_is_made_at_once_and_removed(
    folder: Path, pretended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_libraries(monkeypatch)
    monkeypatch.setenv("PIP_QUIET", "2")  # old versions of pip can't read it
    said: list[str] = []
    assert environment.install(pretended, said.append) == "2.7"
    assert (folder / "mpi" / "libmpi.so.12").readlink() == Path("/there/libmpi.so.40")
    assert (folder / "bin" / "python").exists()
    assert installing.uninstall(cntk) == str(folder)
    assert not folder.exists()
    with pytest.raises(environment.InstallError, match="nothing to remove"):
        installing.uninstall(cntk)


def test_what_fails_leaves_nothing(
    folder: Path, pretended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_libraries(monkeypatch)

    def fail(where: str) -> str:
        assert Path(where).exists()
        raise environment.InstallError("it doesn't multiply")

    monkeypatch.setattr(environment, "check", fail)
    with pytest.raises(environment.InstallError, match="multiply"):
        environment.install(pretended)
    assert [path.name for path in folder.parent.iterdir()] == ["python3.6"]


def test_a_folder_of_others_stays(folder: Path, pretended: str) -> None:
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(environment.InstallError, match="holds something else"):
        environment.install(pretended)
    with pytest.raises(environment.InstallError, match="wasn't made by"):
        installing.uninstall(cntk)
    assert (folder / "mine").exists()


def test_a_folder_of_ours_is_filled_anew(folder: Path) -> None:
    folder.mkdir()
    for name in (installing.MARK, "old"):
        (folder / name).touch()
    with installing.filled_at_once(cntk) as draft:
        (draft / "new").touch()
    assert {path.name for path in folder.iterdir()} == {installing.MARK, "new"}


def test_without_the_libraries_it_says_which(
    folder: Path, pretended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_of_the_system", lambda report: {})
    monkeypatch.setattr(environment.shutil, "which", lambda *name, **more: None)
    with pytest.raises(environment.InstallError, match=r"libmpi\.so\.40"):
        environment.install(pretended)
    assert not folder.exists()


def test_the_status(folder: Path) -> None:
    result = kameleon("cntk")
    assert (result.status, result.said.strip()) == (
        0,
        "CNTK isn't installed: kameleon cntk install",
    )


@pytest.mark.parametrize(
    ("maker", "flags", "told"),
    [
        ("AuthenticAMD", "fma avx avx2", True),
        ("HygonGenuine", "avx2 fma", True),
        ("AuthenticAMD", "avx", False),  # it would meet instructions that it doesn't have
        ("GenuineIntel", "fma avx2 avx512f", False),
    ],
)
def test_mkl_is_told_of_other_makers_processors(maker: str, flags: str, told: bool) -> None:
    block = f"processor\t: 0\nvendor_id\t: {maker}\nflags\t\t: {flags}\nbogomips\t: 1.0\n\n"
    assert bool(cntk.for_processor(2 * block)) == told
    assert not cntk.for_processor("")


def test_what_the_user_tells_mkl_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cntk, "_of_this_processor", lambda: {"MKL_DEBUG_CPU_TYPE": "5"})
    monkeypatch.delenv("MKL_DEBUG_CPU_TYPE", raising=False)
    assert cntk.variables("there")["MKL_DEBUG_CPU_TYPE"] == "5"
    monkeypatch.setenv("MKL_DEBUG_CPU_TYPE", "4")
    assert cntk.variables("there")["MKL_DEBUG_CPU_TYPE"] == "4"
