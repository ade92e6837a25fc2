"""The page of `kameleon demo --web`: what is in its folder, where its library comes from, and what
can't be. The page itself is tried in `browser/test_training.py`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from _support.commands import kameleon as command
from _support.common import engines_under_test

pytest.importorskip("rich", reason="the command line needs Rich")

from docs.building import serving
from kameleon.cli.demo import digits
from kameleon.cli.demo.web import onnxruntime_web
from kameleon.cli.parsing import CommandError
from kameleon.runtime.container import unpacked

needs_onnx = pytest.mark.skipif(
    "onnxruntime" not in engines_under_test(), reason="needs the package onnxruntime"
)
LIBRARY = {name: name.encode() for name in onnxruntime_web.FILES} | {
    onnxruntime_web.ABOUT: json.dumps({"version": onnxruntime_web.VERSION}).encode()
}
PLAIN = {name.rpartition("/")[2]: content for name, content in LIBRARY.items()}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file as npm has it, of which the right checksum is known."""
    path = tmp_path / "registry" / onnxruntime_web.NAME / "-" / "package.tgz"
    path = path.with_name(f"{onnxruntime_web.NAME}-{onnxruntime_web.VERSION}.tgz")
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as file:
        for name, content in {**LIBRARY, "lib/more.js": b"more"}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    digest = hashlib.sha512(path.read_bytes()).digest()
    monkeypatch.setattr(onnxruntime_web, "SHA512", base64.b64encode(digest).decode())
    return path


@pytest.fixture
def registry(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A registry that has that file."""
    with serving.server(package.parents[2], 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("npm_config_registry", f"{address}/")
        yield address
        server.shutdown()


# The library -------------------------------------------------------------------------------------


def test_the_library_is_fetched(registry: str) -> None:
    told: list[tuple[int, int]] = []
    assert onnxruntime_web.files(None, lambda *pair: told.append(pair)) == PLAIN
    assert told[-1][0] == told[-1][1] > 0


def test_what_is_damaged_on_the_way_is_not_taken(registry: str, package: Path) -> None:
    data = package.read_bytes()
    package.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(CommandError, match="another checksum"):
        onnxruntime_web.files(None)


@needs_onnx
@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://127.0.0.1:9/é"])
def test_without_network_it_says_what_to_do(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
    result = command("demo", "--web", str(tmp_path / "page"))
    assert result.status == 1
    assert "can't be fetched" in result.err and "Traceback" not in result.said
    assert f"`npm pack onnxruntime-web@{onnxruntime_web.VERSION}`" in result.err
    assert "--ort FILE" in result.err


def test_a_file_that_the_registry_lacks(registry: str, package: Path) -> None:
    package.unlink()
    with pytest.raises(CommandError, match="fetched: File not found"):
        onnxruntime_web.files(None)


def test_copies_are_taken(package: Path, tmp_path: Path) -> None:
    assert onnxruntime_web.files(package) == PLAIN
    for folder, files in (("unpacked", LIBRARY), ("page", PLAIN)):
        for name, content in files.items():
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_bytes(content)
        assert onnxruntime_web.files(tmp_path / folder) == PLAIN


OTHERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "can't be read: No such file"),
    "another file": (lambda path: path.write_bytes(b"?"), "another checksum"),
    "an empty folder": (Path.mkdir, "can't be read: No such file"),
    "another version": (lambda path: _folder(path, '{"version": "1.2.3"}'), "holds .* 1.2.3, not"),
    "an odd description": (lambda path: _folder(path, "[]"), "unknown, not"),
}


def _folder(path: Path, about: str) -> None:
    path.mkdir()
    for name, content in {**PLAIN, onnxruntime_web.ABOUT: about.encode()}.items():
        (path / name).write_bytes(content)


@pytest.mark.parametrize("case", OTHERS)
def test_copies_of_something_else(case: str, tmp_path: Path) -> None:
    make, said = OTHERS[case]
    make(tmp_path / "ort")
    with pytest.raises(CommandError, match=said):
        onnxruntime_web.files(tmp_path / "ort")


NPM = "#!/bin/sh\n[ \"$*\" = 'config get registry' ] && echo https://npm.example/mirror/\n"


@pytest.mark.skipif(os.name == "nt", reason="a script of a shell")
def test_the_registry_is_npms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)
    monkeypatch.delenv("npm_config_registry", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert onnxruntime_web.registry() == "https://registry.npmjs.org"
    (tmp_path / "npm").write_text(NPM)
    (tmp_path / "npm").chmod(0o755)
    assert onnxruntime_web.registry() == "https://npm.example/mirror"
    monkeypatch.setenv("Npm_Config_Registry", "https://other.example/")
    assert onnxruntime_web.registry() == "https://other.example"


# What is asked for -------------------------------------------------------------------------------


@pytest.fixture
def unreached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gets as far as the library fails."""
    monkeypatch.setattr(onnxruntime_web, "files", lambda *_: pytest.fail("it went on"))


@needs_onnx
def test_folders_that_will_not_do(tmp_path: Path, unreached: None) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for path, said in (
        ("full", "isn't empty: name a new one"),
        ("full/file", "can't be made: File exists"),
        ("full/file/page", "can't be made: Not a directory"),
    ):
        result = command("demo", "--web", str(tmp_path / path))
        assert result.status == 1
        assert said in result.err and path in result.err
        assert "Traceback" not in result.said
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "file"]


@needs_onnx
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path: Path, unreached: None) -> None:
    tmp_path.chmod(0o500)
    result = command("demo", "--web", str(tmp_path))
    tmp_path.chmod(0o700)
    assert result.status == 1 and "can't be written to" in result.err


def test_libraries_that_are_missing(
    tmp_path: Path, unreached: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kameleon.cli.demo.web.command.find_spec", lambda name: None)
    result = command("demo", "--web", str(tmp_path / "page"))
    assert result.status == 1 and "pip install onnx onnxruntime" in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ort", "x.tgz"], "--ort goes with --web"),
        (["--web", "page", "--engine", "numpy,jax"], "one engine"),
        (["--web", "page", "--out", "elsewhere"], "without --out"),
        (["--web"], "--web"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str, unreached: None) -> None:
    result = command("demo", *options)
    assert result.status == 2 and said in result.err


# The folder --------------------------------------------------------------------------------------


@needs_onnx
def test_the_page(package: Path, tmp_path: Path) -> None:
    page, seed = tmp_path / "new" / "page", 3
    arguments = ["--web", str(page), "--ort", str(package), "--epochs", "2", "--seed", str(seed)]
    result = command("demo", *arguments)
    assert result.status == 0, result.said
    assert f"python -m http.server --directory {page}" in result.out.replace("\n", "")
    assert {path.name: path.read_bytes() for path in (page / "ort").iterdir()} == PLAIN
    assert_names_what_is_there(page)
    assert_has_the_digits(page, seed)
    losses = assert_trains_as_python_does(page)
    assert losses[-1] < losses[0] / 3
    again = command("demo", *arguments)
    assert again.status == 1 and "isn't empty" in again.err


def assert_names_what_is_there(page: Path) -> None:
    """Whatever the page's files name in quotes or as addresses is beside them."""
    text = (
        "".join(path.read_text() for path in page.glob("*.js")) + (page / "index.html").read_text()
    )
    for path in page.iterdir():
        name = path.name.removesuffix(".safetensors")
        assert name in ("index.html", "ort") or name in text, path
    assert "https://" not in text, "nothing comes from elsewhere"


def assert_has_the_digits(page: Path, seed: int) -> None:
    course, raw = json.loads((page / "course.json").read_text()), (page / "digits.bin").read_bytes()
    count = len(raw) // 65
    images = np.frombuffer(raw[: 64 * count], "uint8").reshape(count, 8, 8, 1)
    parts = digits.load(np.random.default_rng(seed))
    assert len(parts[0].labels) == course["training"]
    np.testing.assert_array_equal(images / 16, np.concatenate([part.images for part in parts]))
    labels = np.concatenate([part.labels for part in parts])
    np.testing.assert_array_equal(np.frombuffer(raw[64 * count :], "uint8"), labels)
    assert (page / "digits.txt").read_text() == digits.DIGITS.with_suffix(".txt").read_text()


def assert_trains_as_python_does(page: Path) -> list[float]:
    """ONNX Runtime takes the page's steps, as its script does; the losses."""
    import onnxruntime

    course = json.loads((page / "course.json").read_text())
    state, texts = unpacked((page / "train.onnx.safetensors").read_bytes())
    updates = json.loads(texts["kameleon.updates"])
    session = onnxruntime.InferenceSession(page / "train.onnx")
    assert {x.name for x in session.get_inputs()} == {"images", "labels", *state}
    raw, size = (page / "digits.bin").read_bytes(), course["batch"]
    digits = np.frombuffer(raw, "uint8")[: len(raw) // 65 * 64].reshape(-1, 8, 8, 1)
    labels = np.frombuffer(raw, "uint8")[len(digits) * 64 :].astype("int32")
    losses = []
    for number in range(len(course["losses"])):
        batch = np.arange(number * size, (number + 1) * size) % course["training"]
        fed = {"images": digits[batch].astype("float32") / 16, "labels": labels[batch]}
        fed |= {"keras_learning_phase": np.array(1, "int32")}
        names = ["loss", *updates.values()]
        loss, *new = session.run(names, {**state, **fed})
        state |= dict(zip(updates, new, strict=True))
        losses.append(float(loss))
    np.testing.assert_allclose(losses, course["losses"], rtol=1e-4)
    return losses
