"""Files go from the original Keras to the hosted one and back: weights, models, training.

The files in `files` come from the originals; files/README.md says how they're made, and what the
originals made of files by the hosted one.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE
from _support.originals import needs_original, run_hosted

from kameleon.compat.keras2 import location

# A worker does all that one process of an engine made. What files hold is no engine's business:
# with every change, one reads and writes them that makes its code soon.
QUICK = ("numpy", "torch", "onnxruntime")
pytestmark = [needs_original, pytest.mark.slow, pytest.mark.together, pytest.mark.dealt(1, QUICK)]
h5py = pytest.importorskip("h5py", reason="h5py reads the files")

FILES = Path(__file__).with_name("files")
CASES = [
    (original, path.name.removesuffix(".h5.gz"))
    for original in ("tensorflow", "theano")
    for path in sorted((FILES / original).glob("*.h5.gz"))
]
BY_TENSORFLOW = [name for original, name in CASES if original == "tensorflow"]
TEXTS = [
    path.name for kind in ("json", "yaml") for path in (FILES / "tensorflow").glob(f"*.{kind}")
]


def make(engine: str, command: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Run files/exchange.py with the hosted Keras; return what it printed, by network."""
    paths = [location.find(), str(SOURCE)]
    settings = {
        "KAMELEON_ENGINE": engine,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    with tempfile.TemporaryDirectory() as home:
        arguments = ["-W", "ignore", "-B", str(FILES / "exchange.py"), command, str(folder)]
        done = run_hosted(arguments, Path(home), settings)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    # `check` ends with 1 where something differs, and each test says what.
    assert done.returncode == 0 or (command == "check" and "Traceback" not in done.stderr), done
    return {row["name"]: row for row in rows}


@functools.cache
def read(engine: str, original: str) -> dict[str, dict[str, Any]]:
    """What the hosted Keras found in the original's files."""
    return make(engine, "check", FILES / original)


@pytest.fixture(scope="session")
def written(engine_name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files that the hosted Keras writes."""
    folder = tmp_path_factory.mktemp(f"by-{engine_name}")
    make(engine_name, "write", folder)
    return folder


@pytest.mark.parametrize(("original", "name"), CASES)
def test_reads_what_the_original_wrote(engine_name: str, original: str, name: str) -> None:
    found = read(engine_name, original)[name]
    assert found["bad"] == [], found
    assert found["outputs"] <= 1e-5


@pytest.mark.parametrize("name", BY_TENSORFLOW)
def test_writes_what_the_original_writes(written: Path, name: str) -> None:
    mine = contents(written / f"{name}.h5.gz")
    theirs = contents(FILES / "tensorflow" / f"{name}.h5.gz")
    assert mine.keys() == theirs.keys()
    for path, entry in theirs.items():
        assert mine[path] == entry, path


@pytest.mark.parametrize("name", TEXTS)
def test_writes_the_text_of_the_original(written: Path, name: str) -> None:
    mine, theirs = (
        (folder / name).read_text("utf-8") for folder in (written, FILES / "tensorflow")
    )
    assert mine == theirs


def contents(path: Path) -> dict[str, Any]:
    """All that a file holds but the numbers in datasets; attributes by `path@name`."""
    found: dict[str, Any] = {}

    def note(name: str, thing: Any) -> None:
        name = as_asked_for(name)
        found[name] = layout(thing.id) if isinstance(thing, h5py.Dataset) else "a group"
        for key, value in thing.attrs.items():
            of_names = name == "optimizer_weights"
            stored = kind(h5py.h5a.open(thing.id, key.encode()), with_length=not of_names)
            value = parsed(value)
            found[f"{name}@{key}"] = stored, list(map(as_asked_for, value)) if of_names else value

    with h5py.File(io.BytesIO(gzip.decompress(path.read_bytes())), "r") as file:
        note("/", file)
        file.visititems(note)
    return found


def as_asked_for(name: Any) -> Any:
    """A name in an optimizer's state, without the number that TensorFlow adds to it.

    Keras asks for a variable `m_0` of zeros; the zeros have taken the name there, and it gets
    `m_0_1`. States are read in their order, whatever the names are.

    >>> as_asked_for("training/Adam/m_0_1:0"), as_asked_for(b"training/Adam/m_1:0")
    ('training/Adam/m_0:0', 'training/Adam/m_1:0')
    """
    name = name.decode() if isinstance(name, bytes) else name
    return re.sub(r"(training/.*_\d+)_1:0$", r"\1:0", name)


def layout(stored: Any) -> tuple[Any, ...]:
    """How a dataset lies in its file: type, shape, and that it's in one piece."""
    return stored.get_type().encode(), stored.shape, stored.get_create_plist().get_layout()


def kind(stored: Any, with_length: bool) -> tuple[Any, ...]:
    """An attribute's type and shape; for texts whether they have a length, and which letters."""
    type_ = stored.get_type()
    if isinstance(type_, h5py.h5t.TypeStringID):
        fixed = not type_.is_variable_str()
        length = type_.get_size() if fixed and with_length else None
        return "text", fixed, length, type_.get_cset(), type_.get_strpad(), stored.shape
    return type_.encode(), stored.shape


def parsed(value: Any) -> Any:
    """An attribute's value; of a configuration what it says, as the order of keys says nothing."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return json.loads(value) if value[:1] in ("{", b"{") else value
