"""`kameleon keras2`: what is here, install it, remove it; what is said when that fails."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rich", reason="the command line needs Rich")


from _support.commands import Ended, kameleon
from _support.programs import SMALL_KERAS

from kameleon.cli import original
from kameleon.compat.keras2 import location
from kameleon.errors import MissingLibraryError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the original goes; the environment's own Keras isn't one, and lacks nothing."""
    where = tmp_path / "share" / "keras-2.3.1"
    monkeypatch.setenv(location.VARIABLE, str(where))

    def find() -> str:
        if not location.is_original(str(where)):
            raise MissingLibraryError("nowhere")
        return str(where)

    monkeypatch.setattr(location, "find", find)
    monkeypatch.setattr(original, "LIBRARIES", ())
    return where


def command(*arguments: str) -> Ended:
    return kameleon("keras2", *arguments, settings={"COLUMNS": "200"})


# A pip that does as it's told -----------------------------------------------------------------

FAKE = """
import sys
from pathlib import Path
print("Collecting keras==2.3.1", flush=True)
told = sys.argv[1:]
Path({record!r}).open("a").write(repr(told) + "\\n")
if "--target" in told:
    target = Path(told[told.index("--target") + 1])
    for name, text in {content!r}.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
print({said!r}, file=sys.stderr)
sys.exit({status})
"""
CONTENT = {
    **{f"keras/{name}": text for name, text in SMALL_KERAS.items()},
    "docs/autogen.py": "",
    "Keras-2.3.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: Keras\nVersion: 2.3.1\n",
}


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put one in the place of pip; returns the file that records what it's told."""

    def fake(said: str = "", status: int = 0, content: dict[str, str] = CONTENT) -> Path:
        script, record = tmp_path / "pip.py", tmp_path / "told.txt"
        script.write_text(
            FAKE.format(record=str(record), content=content, said=said, status=status), "utf-8"
        )
        monkeypatch.setattr(original, "installer", lambda: [sys.executable, str(script)])
        monkeypatch.setattr(original, "trial", lambda: "")
        return record

    return fake


def test_it_is_installed_complete_and_alone(folder: Path, fake_pip: Callable[..., Path]) -> None:
    record = fake_pip()
    result = command("install")
    assert result.status == 0, result.said
    assert f"Keras 2.3.1 goes to {folder}" in result.said
    assert "gives Keras 2.3.1, on Kameleon" in result.said
    assert "kameleon run script.py" in result.said
    assert location.is_original(str(folder))
    assert not (folder / "docs").exists(), "it would hide a user's own package of that name"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    (told,) = record.read_text("utf-8").splitlines()
    for word in ("--no-deps", "--target", *original.PACKAGES):
        assert repr(word) in told
    if os.name == "posix":
        assert folder.stat().st_mode & 0o777 == 0o755


def test_twice_is_once(folder: Path, fake_pip: Callable[..., Path]) -> None:
    record = fake_pip()
    assert command("install").status == 0
    result = command("install")
    assert result.status == 0 and result.said.startswith("Nothing to do")
    assert len(record.read_text("utf-8").splitlines()) == 1


def test_missing_libraries_go_into_the_environment(
    folder: Path, fake_pip: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = original.Needed("json", "json", "what is here")
    missing = original.Needed("nothing_of_this_name", "that-library", "what is missing")
    monkeypatch.setattr(original, "LIBRARIES", (here, missing))
    record = fake_pip()
    result = command("install")
    assert result.status == 0
    assert "Into this environment: that-library (what is missing)" in result.said
    assert record.read_text("utf-8").splitlines()[-1] == "['that-library']"
    result = command()
    lines = {line.split()[1]: line for line in result.said.splitlines() if "│" in line}
    assert "not installed" in lines["that-library"] and "not installed" not in lines["json"]
    assert "Libraries are missing: kameleon keras2 install" in result.said


def test_a_folder_of_files_instead_of_the_network(
    folder: Path, fake_pip: Callable[..., Path], tmp_path: Path
) -> None:
    record = fake_pip()
    assert command("install", "--from", str(tmp_path)).status == 0
    assert f"'--no-index', '--find-links', '{tmp_path.resolve()}'" in record.read_text("utf-8")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "ERROR: No matching distribution found for keras==2.3.1",
            "kameleon keras2 install --from",
        ),
        ("error: Failed to fetch: `https://index.org/keras/`", "kameleon keras2 install --from"),
        ("error: externally-managed-environment", "python3 -m venv FOLDER"),
        ("ERROR: Could not install: [Errno 13] Permission denied: '/usr'", "virtual environment"),
        ("ERROR: [Errno 28] No space left on device", "The disk is full"),
        ("something that nobody foresaw", "something that nobody foresaw"),
    ],
)
def test_a_failure_is_told_and_leaves_nothing(
    folder: Path, fake_pip: Callable[..., Path], said: str, advice: str
) -> None:
    fake_pip(said, 1)
    result = command("install")
    assert result.status == 1
    assert said in result.said and advice in result.said
    assert "This failed: " in result.said
    assert list(folder.parent.iterdir()) == []


def test_something_else_than_keras_2_is_not_taken(
    folder: Path, fake_pip: Callable[..., Path]
) -> None:
    fake_pip(content={"keras/__init__.py": ""})
    result = command("install")
    assert result.status == 1 and "is no Keras 2.3.1" in result.said
    assert list(folder.parent.iterdir()) == []


def test_a_folder_that_holds_something_else_stays(
    folder: Path, fake_pip: Callable[..., Path]
) -> None:
    record = fake_pip()
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine", "utf-8")
    result = command("install")
    assert result.status == 1 and "holds something else" in result.said
    assert not record.exists()
    result = command("uninstall")
    assert result.status == 1 and "wasn't made by" in result.said
    assert (folder / "thesis.txt").read_text("utf-8") == "mine"


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, folder: Path, fake_pip: Callable[..., Path]
) -> None:
    fake_pip()
    folder.parent.write_text("a file where a folder should be", "utf-8")
    result = command("install")
    assert result.status == 1
    assert f"{folder} can't be written" in result.said
    assert "KAMELEON_KERAS2=FOLDER" in result.said


def test_one_that_does_not_run_is_said(
    folder: Path, fake_pip: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip()
    monkeypatch.setattr(original, "trial", lambda: "ImportError: that")
    result = command("install")
    assert result.status == 1
    assert "it's installed, but doesn't run:\nImportError: that" in result.said


def test_the_trial_finds_what_does_not_run(folder: Path, tmp_path: Path) -> None:
    for name, text in CONTENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    assert "No module named 'keras.models'" in original.trial()


# What installs --------------------------------------------------------------------------------


def has(monkeypatch: pytest.MonkeyPatch, pip: bool, uv: str | None) -> None:
    monkeypatch.setattr(original, "version_of", lambda name: "26.0" if pip else "")
    monkeypatch.setattr(original.shutil, "which", lambda name: uv)


def test_pip_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, True, "/bin/uv")
    assert original.installer()[:4] == [sys.executable, "-m", "pip", "install"]


def test_uv_serves_where_there_is_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, False, "/bin/uv")
    assert original.installer() == ["/bin/uv", "pip", "install", "--python", sys.executable]


def test_neither_is_said_with_what_to_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, False, None)
    result = command("install")
    assert result.status == 1
    assert "-m ensurepip" in result.said and "get uv" in result.said
    assert not folder.exists()


# Looking and removing -------------------------------------------------------------------------


def test_what_is_here_and_what_to_do(folder: Path, fake_pip: Callable[..., Path]) -> None:
    result = command()
    assert result.status == 0
    assert "not installed" in result.said and "kameleon keras2 install" in result.said
    fake_pip()
    command("install")
    result = command()
    assert str(folder) in result.said and "2.3.1" in result.said
    assert "not installed" not in result.said


def test_the_environments_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "find", lambda: None)
    result = command()
    assert "the environment's own" in result.said
    assert command("install").said.startswith("Nothing to do")


def test_it_is_removed(folder: Path, fake_pip: Callable[..., Path]) -> None:
    fake_pip()
    command("install")
    result = command("uninstall")
    assert (result.status, result.said) == (0, f"Removed {folder}\n")
    assert not folder.exists()
    result = command("uninstall")
    assert result.status == 1 and "nothing to remove" in result.said


# The real pip ---------------------------------------------------------------------------------


def write_wheel(folder: Path, requirement: str, content: dict[str, str]) -> None:
    """A wheel of a package, of the files given."""
    name, _, version = requirement.partition("==")
    info = f"{name}-{version}.dist-info"
    files = {
        **content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)


@pytest.mark.skipif(not original.version_of("pip"), reason="needs pip")
def test_pip_installs_from_a_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for requirement in original.PACKAGES:
        name = requirement.partition("==")[0]
        keras = {f"keras/{n}": text for n, text in SMALL_KERAS.items()}
        write_wheel(files, requirement, keras if name == "keras" else {f"{name}/__init__.py": ""})
    monkeypatch.setattr(original, "trial", lambda: "")
    monkeypatch.delenv("PIP_QUIET", raising=False)  # what pip says is looked at
    said: list[str] = []
    run: Any = original.run
    monkeypatch.setattr(
        original, "run", lambda words, report: run(words, lambda line: said.append(line))
    )
    result = command("install", "--from", str(files))
    assert result.status == 0, result.said
    assert location.is_original(str(folder))
    assert original.status().version == "2.3.1"
    assert any("keras_preprocessing" in line.lower() for line in said), said


@pytest.mark.skipif(not original.version_of("pip"), reason="needs pip")
def test_pip_finds_nothing(folder: Path, tmp_path: Path) -> None:
    result = command("install", "--from", str(tmp_path))
    assert result.status == 1
    assert "No matching distribution found for keras==2.3.1" in result.said
    assert "pip download" in result.said and "--from FOLDER" in result.said
    assert list(folder.parent.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TEST_NETWORK"), reason="fetches packages: TEST_NETWORK=1 allows it"
)
def test_the_original_is_fetched_and_runs(folder: Path) -> None:
    result = command("install")
    assert result.status == 0, result.said
    assert sorted(p.name for p in folder.iterdir() if p.is_dir() and "." not in p.name) == [
        "keras",
        "keras_applications",
        "keras_preprocessing",
    ]
