"""What lies at a path: a frozen graph, a SavedModel's folder, a meta graph beside a checkpoint."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from kameleon._utils.files import path_of
from kameleon.errors import ArgumentError, FileFormatError

from ..protocol.messages import message

SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
SERVING = "serve"  # what graphs that are served are tagged with


@dataclass(frozen=True)
class Found:
    """What was found.

    Attributes:
        path: the file.
        graph: the message GraphDef.
        meta: the message MetaGraphDef around it; None of a graph alone.
        checkpoint: what the names of its checkpoint's files begin with; None, if it has none.
        assets: the folder of the files that it reads.
    """

    path: str
    graph: Any
    meta: Any = None
    checkpoint: str | None = None
    assets: str = ""


def find(path: str | os.PathLike[str], tags: str | Collection[str] | None = None) -> Found:
    """What lies at a path.

    Raises:
        ArgumentError: it's no path.
        FileFormatError: it isn't a graph of TensorFlow's, or damaged.
        FileNotFoundError: there's nothing.
    """
    path = path_of("load_graph", path)
    if os.path.isdir(path) or os.path.basename(path) in SAVED_MODEL:
        found = _saved_model(path, tags)
    elif path.endswith(".meta"):
        meta = _read(path, "MetaGraphDef")
        found = Found(path, meta.graph_def, meta, path.removesuffix(".meta"))
    else:
        found = Found(path, _read(path, "GraphDef"))
    _check(found)
    return found


def _saved_model(path: str, tags: str | Collection[str] | None) -> Found:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    paths = [os.path.join(folder, name) for name in SAVED_MODEL]
    there = next(filter(os.path.isfile, paths), None)
    if there is None:
        raise FileFormatError(f"{folder}: this folder has no {' and no '.join(SAVED_MODEL)}")
    meta = _tagged(there, _read(there, "SavedModel").meta_graphs, tags)
    checkpoint = os.path.join(folder, "variables", "variables")
    has_one = os.path.exists(f"{checkpoint}.index")
    assets = os.path.join(folder, "assets")
    return Found(there, meta.graph_def, meta, checkpoint if has_one else None, assets)


def _tagged(path: str, graphs: Any, tags: str | Collection[str] | None) -> Any:
    """The graph with these tags; if none are told, the one that is served, or the first."""
    sets = [set(each.meta_info_def.tags) for each in graphs]
    if not sets:
        raise FileFormatError(f"{path}: no graph is in it")
    if tags is None:
        return next((g for g, own in zip(graphs, sets, strict=True) if SERVING in own), graphs[0])
    tags = {tags} if isinstance(tags, str) else set(tags)
    for graph, own in zip(graphs, sets, strict=True):
        if own == tags:
            return graph
    known = " or ".join(str(sorted(own)) for own in sets)
    raise ArgumentError(f"load_graph: tags {sorted(tags)} has no graph of {path}; {known} have one")


def _read(path: str, kind: str) -> Any:
    """A message from a file, binary or as a text."""
    made = message(kind)()
    decoding, text = _protobuf("message"), _protobuf("text_format")
    with open(path, "rb") as file:
        data = file.read()
    try:
        if path.endswith("txt"):
            text.Parse(data, made, allow_unknown_field=True)
        else:
            made.ParseFromString(data)
    except (decoding.DecodeError, text.ParseError, ValueError) as error:
        raise _not_a(path, kind, str(error)) from error
    return made


def _protobuf(name: str) -> Any:
    return importlib.import_module(f"google.protobuf.{name}")


def _not_a(path: str, kind: str, why: str) -> FileFormatError:
    return FileFormatError(f"{path}: that's no {kind} of TensorFlow's, or it's damaged: {why}")


def _check(found: Found) -> None:
    """Refuse what can be read, but is no graph.

    Raises:
        FileFormatError: nodes have no names or types, or take what isn't there.
    """
    kind = "GraphDef" if found.meta is None else "MetaGraphDef"
    nodes = found.graph.node
    names = {node.name for node in nodes}
    if not nodes or not all(node.name and node.op for node in nodes) or len(names) < len(nodes):
        raise _not_a(found.path, kind, "it has no nodes, or nodes without names and types")
    for node in nodes:
        for text in node.input:
            name = text.lstrip("^").partition(":")[0]
            if name not in names:
                raise _not_a(found.path, kind, f"{node.name} takes {name}, which isn't there")
