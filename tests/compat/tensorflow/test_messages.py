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


def test_other_modules_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_pb2.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    finder = importing.Finder("")
    assert finder.find_spec("plain_pb2") is None
    assert finder.find_spec("google.protobuf.descriptor_pb2") is None
    assert "plain_pb2" not in sys.modules
