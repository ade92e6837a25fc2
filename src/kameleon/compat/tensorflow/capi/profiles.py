"""How many numbers a graph's variables hold, and how much it computes: `tf.profiler.profile`."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from kameleon._utils import files

from ..failures import failure
from ..graph import messages
from .exports import export

HOLDERS = frozenset("Variable VariableV2 VarHandleOp AutoReloadVariable".split())
COUNTS = {"params": "parameters", "float_ops": "float_ops"}  # by what is selected: the field
UNITS = {10**9: "b", 10**6: "m", 10**3: "k"}


def _counted(graph: Any, log: Any, options: Any) -> Iterator[tuple[Any, int, int]]:
    """The nodes that are accounted for, how many numbers they hold, how much they compute."""
    entries = {entry.name: entry for entry in log.log_entries}
    for node in graph.node:
        entry = entries.get(node.name)
        kinds = [node.op, node.device, *(entry.types if entry else ())]
        if any(re.fullmatch(each, kind) for each in options.account_type_regexes for kind in kinds):
            sizes = [axis.size for axis in node.attr["shape"].shape.dim]
            held = math.prod(sizes) if node.op in HOLDERS else 0
            yield node, held, entry.float_ops if entry else 0


def _above(name: str) -> list[str]:
    """The scopes that a name is in, the innermost first."""
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]


def _is_shown(name: str, counts: list[int], options: Any) -> bool:
    held, done = counts
    if held < options.min_params or done < options.min_float_ops:
        return False
    ways = (options.show_name_regexes, options.hide_name_regexes)
    shown, hidden = (any(re.fullmatch(each, name) for each in patterns) for patterns in ways)
    return shown and not hidden


def _fill(root: Any, counts: dict[str, list[int]], options: Any, is_nested: bool) -> None:
    """Give a message its children: each in the innermost scope that is shown, with totals."""
    made = dict[str, Any]()
    for name in sorted(counts):
        if _is_shown(name, counts[name], options):
            scopes = [made[scope] for scope in _above(name) if scope in made and is_nested]
            held, done = counts[name]
            outer = scopes[0] if scopes else root
            made[name] = outer.children.add(name=name, parameters=held, float_ops=done)
    _total(root, COUNTS.get(options.order_by))


def _total(node: Any, order: str | None) -> None:
    for child in node.children:
        _total(child, order)
    for field in COUNTS.values():
        inner = sum(getattr(child, f"total_{field}") for child in node.children)
        setattr(node, f"total_{field}", getattr(node, field) + inner)
    if order:
        node.children.sort(key=lambda child: -getattr(child, f"total_{order}"))


def _lines(node: Any, selected: list[str], depth: int) -> Iterator[str]:
    pairs = [(getattr(node, field), getattr(node, f"total_{field}")) for field in selected]
    columns = ", ".join(f"{_short(own)}/{_short(total)}" for own, total in pairs)
    yield f"{'  ' * depth}{node.name} ({columns})"
    for child in node.children:
        yield from _lines(child, selected, depth + 1)


def _short(count: int) -> str:
    for unit, name in UNITS.items():
        if count >= unit:
            return f"{count / unit:.2f}{name}"
    return str(count)


@export("PrintModelAnalysis")
def profiled(graph: bytes, run: bytes, log: bytes, command: bytes, options: bytes) -> bytes:
    """Counts by scopes or by types of operations, as a message; they're also written or printed.

    Raises:
        UnimplementedError: (TensorFlow's) counts by lines of the program.
    """
    if command == b"code":
        raise failure("UNIMPLEMENTED", "tf.profiler counts by scopes and types, not by lines, here")
    kinds = [messages(f"tfprof_{name}_pb2", "profiler") for name in ("options", "log", "output")]
    asked = kinds[0].OptionsProto.FromString(options)
    entries = kinds[1].OpLogProto.FromString(log)
    is_nested, counts = command == b"scope", defaultdict[str, list[int]](lambda: [0, 0])
    for node, held, done in _counted(
        messages("graph_pb2").GraphDef.FromString(graph), entries, asked
    ):
        name = node.op if command == b"op" else node.name
        counts[name] = [counts[name][0] + held, counts[name][1] + done]
        for scope in _above(name) if is_nested else ():
            counts[scope] = counts[scope]
    kind = kinds[2].MultiGraphNodeProto if command == b"op" else kinds[2].GraphNodeProto
    root = kind(name="_TFProfRoot")
    _fill(root, counts, asked, is_nested)
    _write(root, asked)
    return bytes(root.SerializeToString())


def _write(root: Any, options: Any) -> None:
    selected = [COUNTS[name] for name in options.select if name in COUNTS]
    text = "\n".join([f"node name | # {', '.join(selected)}", *_lines(root, selected, 0)])
    where, _, path = options.output.partition(":")
    if where == "stdout":
        print(text)
    elif where == "file":
        files.replace(path.removeprefix("outfile="), text.encode())
