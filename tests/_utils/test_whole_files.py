"""Files that Kameleon writes appear whole, whoever else writes or is killed meanwhile."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _support.common import SOURCE, side_by_side

from kameleon._utils import files
from kameleon.errors import TargetError

posix = pytest.mark.skipif(os.name != "posix", reason="locks, links and pipes of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["model.safetensors", "x" * 250, "ä" * 120, ".hidden", "-"])
def test_a_file_is_made_and_replaced(tmp_path: Path, name: str) -> None:
    for data in (b"first", b"", b"second" * 1000):
        files.replace(tmp_path / name, data)
        assert (tmp_path / name).read_bytes() == data
    assert names(tmp_path) == [name]


def test_paths_may_be_relative_strings_or_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files.replace("a", b"1")
    files.replace(os.fsencode(tmp_path / "b"), b"2")
    assert names(tmp_path) == ["a", "b"]


def test_threads_that_write_one_path_all_succeed(tmp_path: Path) -> None:
    target = tmp_path / "f"
    contents = [bytes([number]) * 200_000 for number in range(4)]

    def writes(data: bytes) -> Callable[[], None]:
        return lambda: [files.replace(target, data) for _ in range(10)] and None

    side_by_side([writes(data) for data in contents])
    assert target.read_bytes() in contents
    assert names(tmp_path) == ["f"]


WRITER = """
import os, sys, time
from kameleon._utils import files
def wait(*args):
    print("draft written", flush=True)
    time.sleep(60)
os.replace = wait
files.replace(sys.argv[1], b"never published")
"""


@pytest.fixture
def killed_writer(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Starts a process that writes a draft for the file `f`, and kills it when called."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "f")],
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"draft written\n"

        def kill() -> None:
            process.send_signal(signal.SIGKILL)
            process.wait()

        yield kill
        kill()


@posix
def test_the_draft_of_a_killed_writer_goes_with_the_next_save(
    tmp_path: Path, killed_writer: Callable[[], None]
) -> None:
    killed_writer()
    assert len(names(tmp_path)) == 1
    (tmp_path / "f.mine.part").write_text("no draft")
    files.replace(tmp_path / "f", b"whole")
    assert names(tmp_path) == ["f", "f.mine.part"]


@posix
def test_the_draft_of_a_living_writer_stays(
    tmp_path: Path, killed_writer: Callable[[], None]
) -> None:
    files.replace(tmp_path / "f", b"whole")
    assert len(names(tmp_path)) == 2


@posix
def test_a_draft_that_was_taken_for_abandoned_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = []

    def overtaken(descriptor: int) -> None:
        drafts.extend(tmp_path.iterdir())
        if len(drafts) == 1:
            drafts[0].unlink()

    monkeypatch.setattr(files, "_claim", overtaken)
    files.replace(tmp_path / "f", b"whole")
    assert len(set(drafts)) == 2
    assert names(tmp_path) == ["f"]


@posix
def test_what_fails_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.replace(tmp_path / "f", b"old")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, full)
            with pytest.raises(OSError, match="No space") as caught:
                files.replace(tmp_path / "f", b"new")
        assert str(caught.value) == f"[Errno 28] No space left on device: '{tmp_path / 'f'}'"
        assert (tmp_path / "f").read_bytes() == b"old"
        assert names(tmp_path) == ["f"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        files.replace(tmp_path / "no" / "f", b"")
    assert caught.value.filename == str(tmp_path / "no" / "f")


@posix
def test_only_files_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    found = names(tmp_path)
    kinds = {"folder": "a folder", "pipe": "a pipe", "link": "a pipe"}
    targets = {str(tmp_path / name): kind for name, kind in kinds.items()}
    for path, kind in {**targets, os.devnull: "a device"}.items():
        with pytest.raises(TargetError, match=f"{path} is {kind}"):
            files.replace(path, b"data")
    assert names(tmp_path) == found
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_to_a_file_stays_a_link(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "f"
    if exists:
        target.write_text("old")
    (tmp_path / "link").symlink_to(target)
    files.replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["link", "there"]
    assert names(tmp_path / "there") == ["f"]


@posix
def test_permissions_stay(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        files.replace(tmp_path / "f", b"new")
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o644
        (tmp_path / "f").chmod(0o600)
        files.replace(tmp_path / "f", b"newer")
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_no_other_module_opens_files_for_writing() -> None:
    """Whatever is written for users goes through `files`."""
    writes = r"\bopen\([^)]*\"[wax]b?\"|savefig\(path|save_file\(|write_bytes\(|mkdtemp"
    found = {
        path.relative_to(SOURCE).as_posix(): re.findall(writes, path.read_text("utf-8"))
        for path in (SOURCE / "kameleon").rglob("*.py")
    }
    assert {name: calls for name, calls in found.items() if calls} == {
        "kameleon/_utils/files.py": ['open(draft, "xb"'],
        "kameleon/_utils/events.py": ['open(self.path, "wb"'],  # a log, which grows while it's read
        "kameleon/compat/tensorflow/formats/records.py": ['open(path, "wb"'],  # such a log, too
        # What is sent to a process that tries engines, and what comes back.
        "kameleon/runtime/auto/trial.py": ["mkdtemp"],
        "kameleon/testing/comparison/trials.py": ['open(folder / RESULTS, "a"'],
        "kameleon/distributed/checkpoint.py": [
            "mkdtemp"
        ],  # the example's; Orbax writes what is kept
        "kameleon/cli/tensorflow_files.py": ["write_bytes("],  # into a draft of a folder
        # Drafts, which `export.formats` moves into their places; and notes between processes.
        **{
            f"kameleon/backend/export/{name}.py": calls
            for name, calls in {
                "onnx": ['open(path, "wb"'],
                "onnx_arrays": ['open(draft, "wb"'],
                "stablehlo": ["write_bytes("],
                "verification": ['open(call["found"] + ".json", "w"', 'open(task["error"], "w"'],
            }.items()
        },
        # The original TensorFlow's own functions of files, for what its programs write.
        "kameleon/compat/tensorflow/capi/files.py": [
            'open(path, "ab" if "a" in mode else "wb"',
        ],
        "kameleon/compat/tensorflow/operations/files.py": ['open(place, "wb"'],
        "kameleon/cli/run.py": ["mkdtemp"],  # where files of other processes are kept aside
    }
