"""Saved functions come back as they were; damaged and hostile files are refused, run nothing."""

from __future__ import annotations

import json
import os
import random
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test
from _support.saved_functions import (
    KINDS,
    Edit,
    applied,
    damages,
    edited,
    header_edits,
    hostile_edits,
    joined,
    plausible_edits,
    split,
    unchecked,
    untyped,
    with_numbers,
)

import kameleon
from kameleon import backend as K
from kameleon.errors import (
    ArgumentError,
    FileFormatError,
    KameleonError,
    TargetError,
    UncheckedFileWarning,
)
from kameleon.graph.ir.attributes import BODY, attributes_of
from kameleon.graph.ir.attributes import KINDS as ATTRIBUTE_KINDS
from kameleon.graph.ir.leaves import INPUT, VARIABLE
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.serial import graph_from_data, graph_to_data
from kameleon.runtime.container import TEXTS, packed, unpacked
from kameleon.runtime.saving import from_bytes, to_bytes
from kameleon.testing.cases import CASES

NAMES = engines_under_test()
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def saved() -> dict[str, bytes]:
    """Files of all kinds."""
    return {name: to_bytes(make()[0].compiled) for name, make in KINDS.items()}


def same(found: Any, expected: Any) -> bool:
    """Whether results have the same bits."""
    return all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=b.dtype.kind == "f")
        for a, b in zip(found, expected, strict=True)
    )


# Round trips -----------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("engine", NAMES)
def test_what_is_loaded_computes_the_same(kind: str, engine: str, tmp_path: Path) -> None:
    f, feeds = KINDS[kind]()
    path = tmp_path / "function"
    f.save(path)
    g = kameleon.load(path)
    with K.using_engine(engine):
        for _ in range(2):
            assert same(g(feeds), f(feeds))
        g.save(path)
        assert same(kameleon.load(path)(feeds), g(feeds))
    g_bytes = to_bytes(g)
    assert to_bytes(from_bytes(g_bytes)).count(b"primitive") == g_bytes.count(b"primitive")


def test_arrays_have_the_names_of_their_variables(tmp_path: Path) -> None:
    names = ["dense/kernel", "größe", "constant.0", "__metadata__", "variable.0", "\ud800"]
    variables = [K.variable([float(i)], name=name) for i, name in enumerate(names)]
    K.clear_session()  # names begin anew, so that two have one name
    variables.append(K.variable([6.0], name=names[0]))
    f = K.function([], [K.concatenate(variables) + K.constant([7.0])])
    f.save(tmp_path / "f")
    arrays, _ = unpacked((tmp_path / "f").read_bytes())
    made = {name: value.item() for name, value in arrays.items() if name != "constant.0"}
    assert made == {
        "dense/kernel": 0.0, "größe": 1.0, "constant.0_1": 2.0, "__metadata___1": 3.0,
        "variable.0": 4.0, "?": 5.0, "dense/kernel_1": 6.0,
    }  # fmt: skip
    assert same(kameleon.load(tmp_path / "f")([]), f([]))


def test_files_with_numbers_for_names_load(saved: dict[str, bytes]) -> None:
    """What earlier versions wrote."""
    f, feeds = KINDS["training"]()
    numbered = with_numbers(saved["training"])
    assert {"variable.0", "variable.1"} <= split(numbered)[0].keys()
    with pytest.warns(UncheckedFileWarning):
        assert same(from_bytes(numbered)(feeds), f(feeds))


BAD_PATHS = {
    "": (ArgumentError, "{what}: the path is empty; name a file"),
    "a\0b": (ArgumentError, "{what}: the path .* has a zero character"),
    None: (ArgumentError, "{what}: a path is text or a Path, not None"),
    3: (ArgumentError, "{what}: a path is text or a Path, not 3"),
}


@pytest.mark.parametrize("path", BAD_PATHS)
def test_what_is_no_path_is_refused(path: Any) -> None:
    f = K.function([], [K.constant(1.0)])
    kind, message = BAD_PATHS[path]
    for what, call in {"save": f.save, "load": kameleon.load}.items():
        with pytest.raises(kind, match=message.format(what=what)):
            call(path)


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    f = K.function([], [K.constant(1.0)])
    (tmp_path / "file").write_text("")
    refused: dict[str, tuple[type[Exception], str]] = {
        "": (TargetError, "save: .* is a folder"),
        "new/": (TargetError, "save: .*new/ is the path of a folder; name a file"),
        "new/f": (FileNotFoundError, "save: there is no folder .*new; make it first"),
        "file/f": (OSError, "file"),
        "x" * 300: (OSError, "name too long"),
    }
    for path, (kind, message) in refused.items():
        with pytest.raises(kind, match=message) as caught:
            f.save(f"{tmp_path}/{path}")
        assert "-> None" not in str(caught.value) and ".part" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


def test_every_primitive_has_a_written_form() -> None:
    for case in CASES:
        if case.primitive == "with_gradient":
            continue
        inputs = case.inputs(known=False)
        graph = Graph(inputs, case.results(inputs))
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        data = json.loads(json.dumps(graph_to_data(graph, arrays)))
        assert graph_from_data(data, arrays).key[0] == graph.key[0], case.id


def test_other_programs_read_the_arrays(saved: dict[str, bytes]) -> None:
    safetensors = pytest.importorskip("safetensors.numpy", reason="reads the format by itself")
    for data in saved.values():
        arrays, _ = unpacked(data)
        found = safetensors.load(data)
        assert found.keys() == arrays.keys()
        assert all(np.array_equal(found[n], arrays[n], equal_nan=True) for n in arrays if n)


def test_every_attribute_is_declared() -> None:
    for primitive in REGISTRY.values():
        if primitive not in (INPUT, VARIABLE):
            kinds = attributes_of(primitive)
            assert kinds.keys() <= ATTRIBUTE_KINDS.keys()
            assert primitive.bodies == tuple(name for name in kinds if kinds[name] is BODY)


# Files that are no files of functions ------------------------------------------------------------


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    contents = [b"", b"\x00" * 7, b"\xff" * 100, b"PK\x03\x04" * 30, b"{}", joined({}, b"")]
    contents += [packed({}, {}), packed({"a": np.zeros(3)}, {"format": "np"})]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=str(path)):
            kameleon.load(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/null", "/dev/zero"):
        with pytest.raises(FileFormatError, match=r"is a (folder|pipe|device)"):
            kameleon.load(path)
    with pytest.raises(FileNotFoundError):
        kameleon.load(tmp_path / "none")


def test_a_version_to_come_is_named(saved: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(edited(saved["training"], lambda d: d.update(format=77)))
    with (
        pytest.warns(UncheckedFileWarning),
        pytest.raises(FileFormatError, match=r"f: description: format 77 is none of"),
    ):
        kameleon.load(tmp_path / "f")


def test_the_place_of_a_fault_is_named(saved: dict[str, bytes]) -> None:
    def change(told: dict[str, Any]) -> None:
        rows = told["graph"]["nodes"]
        number = next(i for i, row in enumerate(rows) if row["primitive"] == "scan")
        body = rows[number]["attrs"]["body"]["graph"]
        inner = next(i for i, row in enumerate(body["nodes"]) if row["primitive"] == "contract")
        body["nodes"][inner]["attrs"]["over"] = {"tuple": []}
        expected.append(
            rf"graph\.nodes\[{number}\]\.attrs\.body\.nodes\[{inner}\]: contract: attri"
        )

    expected: list[str] = []
    data = edited(saved["loops"], change)
    with pytest.warns(UncheckedFileWarning), pytest.raises(FileFormatError, match=expected[0]):
        from_bytes(data)


def test_files_without_a_checksum_load_with_a_warning(saved: dict[str, bytes]) -> None:
    f, feeds = KINDS["training"]()
    with pytest.warns(UncheckedFileWarning, match="without a checksum"):
        assert same(from_bytes(unchecked(saved["training"]))(feeds), f(feeds))


def test_files_of_the_first_format_load(saved: dict[str, bytes]) -> None:
    f, feeds = KINDS["loops"]()
    with pytest.warns(UncheckedFileWarning):
        assert same(from_bytes(untyped(saved["loops"]))(feeds), f(feeds))


def test_sizes_beyond_all_memory_are_refused(saved: dict[str, bytes]) -> None:
    def with_shape(shape: list[int]) -> bytes:
        header, body = split(saved["training"])
        told = json.loads(header[TEXTS]["kameleon"])
        name = next(n for n in header if n.startswith("constant"))
        header[name]["shape"] = shape
        header[TEXTS] = {"kameleon": json.dumps(told)}
        return joined(header, body)

    for shape in ([10**15], [10**9, 10**9], [2**63], [-1], [2**31, 2**31, 2**2]):
        with pytest.raises(FileFormatError):
            from_bytes(with_shape(shape))


# Damage ------------------------------------------------------------------------------------------


def outcome(data: bytes) -> Any:
    """The function of a file; None, if it's refused as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedFileWarning)
        try:
            return from_bytes(data)
        except FileFormatError:
            return None


def check_damage(saved: dict[str, bytes], count: int) -> None:
    """Damaged files are refused, or (where only the layout was hit) compute the same."""
    for number, (kind, data) in enumerate(saved.items()):
        loaded = 0
        for label, damaged in damages(data, np.random.default_rng(number), count):
            g = outcome(damaged)
            if g is not None and damaged != data:
                f, feeds = KINDS[kind]()
                assert same(g(feeds), f(feeds)), (kind, label)
                loaded += 1
        assert loaded <= count // 20, kind


def test_damaged_files_are_refused(saved: dict[str, bytes]) -> None:
    check_damage(saved, 60)


@pytest.mark.nightly
def test_many_damaged_files_are_refused(saved: dict[str, bytes]) -> None:
    check_damage(saved, 2000)


@each_kind
def test_changed_numbers_are_found(kind: str, saved: dict[str, bytes]) -> None:
    data = saved[kind]
    _, body = split(data)
    for at in range(0, len(body), max(1, len(body) // 20)):
        place = len(data) - len(body) + at
        with pytest.raises(FileFormatError, match="checksum"):
            from_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


# Attacks -----------------------------------------------------------------------------------------


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[str]:
    """The name of a folder that appears if code from a file runs."""
    path = tmp_path / "canary"
    yield str(path)
    assert not path.exists(), "code from a file was run"


def attack(files: Iterable[tuple[str, bytes]], kind: str) -> int:
    """Load files; call what loads on NumPy and on another engine, in turn; how many did load."""
    loaded, feeds = 0, KINDS[kind]()[1]
    for label, data in files:
        g = outcome(data)
        if g is None:
            continue
        loaded += 1
        for engine in {NAMES[0], NAMES[loaded % len(NAMES)]}:
            with K.using_engine(engine):
                try:
                    g.source()
                    if kind != "unbounded":
                        g(feeds)
                except (KameleonError, MemoryError):
                    pass
                except Exception as error:
                    raise AssertionError(f"{label} on {engine}: {error!r}") from error
    return loaded


def some(edits: list[Edit], count: int) -> list[Edit]:
    """As many of them, always the same."""
    return random.Random(0).sample(edits, min(count, len(edits)))


@each_kind
def test_hostile_fields_run_nothing(kind: str, saved: dict[str, bytes], canary: str) -> None:
    edits = some(hostile_edits(saved[kind], canary), 100)
    attack(applied(saved[kind], edits), kind)


@each_kind
def test_edited_programs_run_or_are_refused(kind: str, saved: dict[str, bytes]) -> None:
    data = untyped(saved[kind])
    edits = some(plausible_edits(data), 100)
    assert attack(applied(data, edits), kind)


@pytest.mark.nightly
@each_kind
def test_every_hostile_field_runs_nothing(kind: str, saved: dict[str, bytes], canary: str) -> None:
    attack(applied(saved[kind], some(hostile_edits(saved[kind], canary), 10_000)), kind)
    attack(header_edits(saved[kind], canary), kind)
    data = untyped(saved[kind])
    attack(applied(data, some(plausible_edits(data), 3000)), kind)
