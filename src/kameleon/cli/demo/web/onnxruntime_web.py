"""ONNX Runtime Web, a library of JavaScript: fetched from npm's registry, or taken from a copy."""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import json
import os
import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

from kameleon.cli.parsing import CommandError

NAME, VERSION = "onnxruntime-web", "1.30.0"
# Of the package's file, as npm's registry states it.
SHA512 = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
ABOUT = "package.json"  # whose the library is, and its licence (MIT)
# What a page needs of it: the library without GPU, its binary, and what it's called.
FILES = ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm", ABOUT)
REGISTRY = "https://registry.npmjs.org"
PATIENCE = 30  # seconds that a server may be silent
CHUNK = 1 << 18
BY_HAND = (
    f"Without network: `npm pack {NAME}@{VERSION}` elsewhere, then `kameleon demo --web FOLDER"
    " --ort FILE`"
)

Progress = Callable[[int, int], None]  # bytes that are there, of how many


def files(local: Path | None, progress: Progress = lambda done, total: None) -> dict[str, bytes]:
    """What a page needs of the library: the contents of its files, by name.

    Args:
        local: npm's file of the package, or a folder with what is in it; else it's fetched.
        progress: is called as it's fetched.

    Raises:
        CommandError: it can't be had, or is another version.
    """
    if local is None:
        found = _unpacked(_fetched(progress), "what was fetched")
    elif local.is_dir():
        found = _of_folder(local)
    else:
        found = _unpacked(_read(local), str(local))
    return {name.rpartition("/")[2]: content for name, content in found.items()}


def _unpacked(data: bytes, where: str) -> dict[str, bytes]:
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != SHA512:
        raise CommandError(f"{where} isn't npm's file of {NAME} {VERSION}: another checksum")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as package:
        members = {name: package.extractfile(f"package/{name}") for name in FILES}
        return {name: member.read() for name, member in members.items() if member is not None}


def _of_folder(folder: Path) -> dict[str, bytes]:
    """What is in a folder as npm unpacks it, or in that of a page, where all files lie together."""
    beside = {name: folder / name.rpartition("/")[2] for name in FILES}
    paths = {name: folder / name if (folder / name).exists() else beside[name] for name in FILES}
    found = {name: _read(path) for name, path in paths.items()}
    try:
        version = json.loads(found[ABOUT])["version"]
    except (ValueError, KeyError, TypeError):
        version = "unknown"
    if version != VERSION:
        raise CommandError(f"{folder} holds {NAME} {version}, not {VERSION}")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}") from None


# The registry ------------------------------------------------------------------------------------


def registry() -> str:
    """The address of the registry that npm is set to."""
    settings = {name.lower(): value for name, value in os.environ.items()}
    said = settings.get("npm_config_registry")
    if not said and (npm := shutil.which("npm")):
        ask = [npm, "config", "get", "registry"]
        said = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    return (said if said and said.startswith("http") else REGISTRY).rstrip("/")


def _fetched(progress: Progress) -> bytes:
    address = f"{registry()}/{NAME}/-/{NAME}-{VERSION}.tgz"
    found = bytearray()
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            while part := answer.read(CHUNK):
                found += part
                progress(len(found), total)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise CommandError(f"{address} can't be fetched: {why}. {BY_HAND}") from None
    return bytes(found)
