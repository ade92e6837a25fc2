"""Messages that libraries brought, written by an early compiler of protobuf's."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from kameleon.compat.tensorflow import importing

MODULE = """
import sys
_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
DESCRIPTOR = _descriptor.FileDescriptor(
  name='{name}.proto',
  package='tests',
  syntax='proto3',
  serialized_pb={held}
)
"""


def written(folder: Path, name: str, early: bool) -> Path:
    """A module with one message, `Pair`, as a compiler wrote it."""
    protobuf = pytest.importorskip("google.protobuf.descriptor_pb2")
    file = protobuf.FileDescriptorProto(name=f"{name}.proto", package=name, syntax="proto3")
    pair = file.message_type.add(name="Pair")
    for number, field in enumerate(("first", "second"), 1):
        pair.field.add(name=field, number=number, type=5, label=1)
    data = file.SerializeToString()
    held = f"_b({data.decode('latin1')!r})" if early else repr(data)
    path = folder / f"{name}_pb2.py"
    path.write_text(MODULE.format(name=name, held=held), encoding="utf-8")
    return path


@pytest.mark.parametrize("early", [True, False])
def test_messages_of_early_compilers_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    name = f"pairs_{early}".lower()
    written(tmp_path, name, early)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = importing.Finder("").find_spec(f"{name}_pb2")
    assert isinstance(found, ModuleSpec) and isinstance(found.loader, importing.Messages)
    module = ModuleType(found.name)
    found.loader.exec_module(module)
    pair = vars(module)["Pair"](first=1, second=-2)
    assert type(pair).FromString(pair.SerializeToString()) == pair


def test_they_may_hold_messages_of_todays_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protobuf = pytest.importorskip("google.protobuf.descriptor_pb2")
    inner = protobuf.FileDescriptorProto(name="of_today.proto", package="of_today")
    inner.message_type.add(name="One").field.add(name="it", number=1, type=5, label=1)
    data = inner.SerializeToString()
    (tmp_path / "of_today_pb2.py").write_text(
        "from google.protobuf import descriptor_pool\n"
        f"DESCRIPTOR = descriptor_pool.Default().AddSerializedFile({data!r})\n",
        encoding="utf-8",
    )
    outer = protobuf.FileDescriptorProto(name="outer.proto", dependency=["of_today.proto"])
    field = outer.message_type.add(name="Outer").field.add(name="one", number=1, label=1)
    field.type_name, field.type = ".of_today.One", 11
    held = f"_b({outer.SerializeToString().decode('latin1')!r})"
    path = tmp_path / "outer_pb2.py"
    path.write_text(MODULE.format(name="outer", held=held), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = ModuleType("outer_pb2")
    importing.Messages(str(path)).exec_module(module)
    made = vars(module)["Outer"]()
    made.one.it = 3
    assert type(made).FromString(made.SerializeToString()).one.it == 3


def test_other_modules_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_pb2.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    finder = importing.Finder("")
    assert finder.find_spec("plain_pb2") is None
    assert finder.find_spec("google.protobuf.descriptor_pb2") is None
    assert "plain_pb2" not in sys.modules
