"""Reading TensorFlow's Python files out of a wheel: a server that gives parts, and damage."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from kameleon.compat.tensorflow import wheel

FILES = {
    "tensorflow_core/__init__.py": b"import this\n",
    "tensorflow_core/python/ops.py": b"x = 1\n" * 5000,
    "tensorflow_core/big.so": bytes(range(256)) * 3000,
    "tensorflow_core/last.py": b"y = 2\n",
    wheel.LICENCE: b"Apache\n",
    "tensorflow-1.15.5.dist-info/METADATA": b"Name: tensorflow\n",
}
WANTED = {name for name in FILES if not name.endswith(".so")}


def packed(files: dict[str, bytes], listed: dict[str, bytes] = FILES) -> bytes:
    """A wheel with these files, whose list of checksums is of others."""
    lines = "".join(f"{name},{wheel._sum(data)},{len(data)}\n" for name, data in listed.items())
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in {**files, "tensorflow-1.15.5.dist-info/RECORD": lines.encode()}.items():
            archive.writestr(name, data)
    return made.getvalue()


@contextmanager
def served(data: bytes, in_parts: bool = True) -> Iterator[tuple[str, list[str]]]:
    """A server of one file: its address, and the ranges that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = self.headers["Range"]
            asked.append(told)
            first, _, last = told.removeprefix("bytes=").partition("-")
            start = int(first) if first else len(data) - int(last)
            stop = int(last) + 1 if first else len(data)
            part = data[start:stop] if in_parts else data
            self.send_response(206 if in_parts else 200)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *arguments: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/wheel", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_parts_are_fetched_and_the_rest_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(FILES)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = archive.read("tensorflow-1.15.5.dist-info/RECORD")
    monkeypatch.setattr(wheel, "RECORD", wheel.hashlib.sha256(listed).hexdigest())
    done: list[tuple[int, int]] = []
    with served(data) as (address, asked):
        found = dict(wheel.python_files(wheel.Remote(address), lambda *told: done.append(told)))
    assert found == {name: FILES[name] for name in WANTED}
    assert done[-1][0] == done[-1][1]
    fetched = sum(int(b) - int(a) + 1 for a, b in (r[6:].split("-") for r in asked) if a)
    assert fetched < len(data) / 2


def test_another_wheel_than_the_published_one_is_refused() -> None:
    with (
        served(packed(FILES)) as (address, _),
        pytest.raises(wheel.WheelError, match="published"),
    ):
        list(wheel.python_files(wheel.Remote(address), lambda *_: None))


def test_a_server_without_parts_says_so() -> None:
    with (
        served(packed(FILES), in_parts=False) as (address, _),
        pytest.raises(OSError, match="parts of a file"),
    ):
        wheel.Remote(address)


DAMAGED = {
    "a file with other bytes": packed({**FILES, "tensorflow_core/last.py": b"y = 3\n"}),
    "half of it": packed(FILES)[:200_000],
    "no archive": b"not a wheel",
    "another package": packed({}).replace(b"tensorflow-1.15.5", b"tensorflow-2.15.5"),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_wheel_is_one_error(data: bytes) -> None:
    with pytest.raises(wheel.WheelError):
        list(wheel.python_files(io.BytesIO(data), lambda *_: None))


def test_a_local_wheel_is_read() -> None:
    found = dict(wheel.python_files(io.BytesIO(packed(FILES)), lambda *_: None))
    assert found.keys() == WANTED
