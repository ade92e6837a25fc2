"""Whether a file gives what the function gives: reloaded where Kameleon isn't, held against NumPy.

The file is read by a process of its own, by its format's library alone. It's called with two sets
of inputs, of other sizes where sizes are unknown. The embedded engine has computed before what has
to come out; it also tells which of the inputs that are made up make sense.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import EngineError
from ..interop.pure import Stateless
from .examples import WHAT, Array, Call, Examples, calls_of

# By dtype, how far a file's numbers may be from NumPy's, relative to the largest magnitude of a
# tensor: libraries add up in other orders, so a sum of many terms has some digits less.
TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
ABSOLUTE = 1e-3  # the absolute tolerance, as a part of the relative one: for numbers near zero

# What the other process runs, with one argument: the path of a task.
SCRIPT = """
import json, sys, traceback

with open(sys.argv[1], encoding="utf-8") as file:
    task = json.load(file)
if task["alone"]:
    sys.modules["kameleon"] = None  # importing it fails
sys.path += [p for p in task["path"] if p not in sys.path]
import numpy as np

def named(name):
    if name == "bfloat16":
        import ml_dtypes  # NumPy knows the name then
    return np.dtype(name)

def run(load, call):
    with np.load(call["given"]) as kept:
        arrays = [kept[str(i)].view(named(d)) for i, d in enumerate(call["dtypes"])]
    found = [np.asarray(x) for x in load(task["file"])(arrays)]
    with open(call["found"] + ".json", "w") as file:
        json.dump([x.dtype.name for x in found], file)
    raw = {str(i): x.view("u2") if x.dtype.name == "bfloat16" else x for i, x in enumerate(found)}
    np.savez(call["found"], **raw)

try:
    space = {"__name__": "reload"}
    exec(task["reload"], space)
    for call in task["calls"]:  # each with what the file holds: a call may change that
        run(space["load"], call)
    assert not (task["alone"] and sys.modules.get("kameleon")), "Kameleon was imported"
except BaseException as error:
    with open(task["error"], "w", encoding="utf-8") as file:
        file.write("".join(traceback.format_exception_only(error)))
    raise
"""


class Difference(NamedTuple):
    """How far a result of a file is from what it has to be.

    Attributes:
        name: of the result.
        largest: the largest difference of two numbers.
        excess: the same, in units of what is allowed.
        said: words for it.
    """

    name: str
    largest: float
    excess: float
    said: str


class Checked(NamedTuple):
    """A call of a file, and how far its results are from what they have to be."""

    call: Call
    differences: list[Difference]


def check(
    program: Stateless,
    title: str,
    reload: str,
    path: str,
    examples: Examples,
    alone: bool = True,
) -> list[Checked]:
    """Reload a file in another process, and hold what it gives against NumPy.

    Args:
        program: what was written.
        title: of the format.
        reload: Python code that defines `load`: see `formats.export`.
        path: of the file.
        examples: see `calls_of`.
        alone: whether Kameleon can't be imported there.

    Returns:
        The calls, and what came out.

    Raises:
        ArgumentError: no inputs could be made up.
        EngineError: the file can't be reloaded, or gives something else.
    """
    calls = calls_of(program, examples)
    names = list(_result_names(program))
    results = _reloaded(title, reload, path, calls, alone)
    return [
        Checked(call, _compare(title, names, call, found))
        for call, found in zip(calls, results, strict=True)
    ]


def _result_names(program: Stateless) -> Iterator[str]:
    pairs = zip(program.paths, program.function.outputs, strict=True)
    for number, (path, x) in enumerate(pairs):
        yield f"output {number} ('{path or x.name[:-2]}')"
    for number in program.updated:
        yield f"the new value of '{program.names[number]}'"


# The other process -------------------------------------------------------------------------------


def _reloaded(
    title: str, reload: str, path: str, calls: Sequence[Call], alone: bool
) -> list[list[Array]]:
    """What the file gives for each call.

    Raises:
        EngineError: it can't be reloaded, or a call fails.
    """
    if not sys.executable:
        raise EngineError(
            f"{WHAT}: this program can't start another Python to verify the file in; write it"
            " without: verify=False"
        )
    with tempfile.TemporaryDirectory() as folder:
        paths = [(f"{folder}/{i}.npz", f"{folder}/{i}.found.npz") for i in range(len(calls))]
        lines = [
            {"given": given, "found": found, "dtypes": _save(given, call.given)}
            for (given, found), call in zip(paths, calls, strict=True)
        ]
        task = {
            "alone": alone,
            "path": [os.path.abspath(p) for p in sys.path],
            "file": path,
            "reload": reload,
            "calls": lines,
            "error": f"{folder}/error.txt",
        }
        (Path(folder) / "task.json").write_text(json.dumps(task), "utf-8")
        (Path(folder) / "verify.py").write_text(SCRIPT, "utf-8")
        command = [sys.executable, "-I", f"{folder}/verify.py", f"{folder}/task.json"]
        done = subprocess.run(
            command, env=_environment(folder), capture_output=True, check=False, cwd=folder
        )
        if done.returncode:
            raise EngineError(_why(title, done, Path(folder) / "error.txt"))
        return [_loaded(found) for _, found in paths]


def _environment(home: str) -> dict[str, str]:
    """The environment without what is said to Python, Keras or Kameleon."""
    ours = ("PYTHON", "KERAS_", "KAMELEON_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return {"TF_CPP_MIN_LOG_LEVEL": "3", **kept, "KERAS_HOME": home, "KAMELEON_ENGINE": "numpy"}


def _save(path: str, arrays: Iterable[Array]) -> list[str]:
    """Write arrays, and give the names of their dtypes. NumPy's files don't know bfloat16."""
    kept = list(arrays)
    raw = [x.view("u2") if x.dtype.name == "bfloat16" else x for x in kept]
    np.savez(path, **{str(i): x for i, x in enumerate(raw)})  # type: ignore[arg-type]
    return [x.dtype.name for x in kept]


def _loaded(path: str) -> list[Array]:
    names = json.loads(Path(f"{path}.json").read_text("utf-8"))
    with np.load(path) as kept:
        return [kept[str(i)].view(np.dtype(name)) for i, name in enumerate(names)]


def _why(title: str, done: subprocess.CompletedProcess[bytes], error: Path) -> str:
    if done.returncode < 0:
        said = f"its process was ended by {_signal(-done.returncode)}"
    elif error.exists():
        said = error.read_text("utf-8")
    else:
        said = done.stderr.decode("utf-8", "replace")
    return (
        f"{WHAT}: the {title} file can't be reloaded and called: {said.strip()}\n  nothing was"
        " written; verify=False writes it all the same"
    )


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


# The comparison ----------------------------------------------------------------------------------


def _compare(
    title: str, names: Sequence[str], call: Call, found: Sequence[Array]
) -> list[Difference]:
    """
    Raises:
        EngineError: a result differs; names the worst one.
    """
    lead = f"{WHAT}: the {title} file, reloaded, doesn't give what NumPy gives"
    tail = "\n  nothing was written; verify=False writes it all the same"
    shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in call.given) or "none"
    if len(found) < len(call.expected):
        raise EngineError(f"{lead}: {len(found)} results, not {len(call.expected)}{tail}")
    triples = zip(names, found, call.expected, strict=False)
    differences = [_difference(name, got, want) for name, got, want in triples]
    worst = max(differences, key=lambda each: each.excess, default=None)
    if worst is not None and worst.excess > 1:
        raise EngineError(f"{lead}: {worst.said}\n  with inputs {shapes}{tail}")
    return differences


def _difference(name: str, got: Array, want: Array) -> Difference:
    if got.shape != want.shape or got.dtype != want.dtype:
        kinds = [f"{x.dtype.name}{list(x.shape)}" for x in (got, want)]
        return Difference(name, np.inf, np.inf, f"{name} is {kinds[0]}, not {kinds[1]}")
    if not want.size:
        return Difference(name, 0.0, 0.0, "")
    if want.dtype.name not in TOLERANCES:
        apart = (got != want).astype("float64")
        allowed = 0.5
    else:
        a, b = got.astype("float64"), want.astype("float64")
        with np.errstate(all="ignore"):
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        apart = np.where(np.isnan(apart), np.inf, apart)
        scale = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
        allowed = TOLERANCES[want.dtype.name] * (scale + ABSOLUTE)
    at = np.unravel_index(int(np.argmax(apart)), apart.shape)
    place = f"[{', '.join(map(str, at))}]" if at else ""
    said = (
        f"{name}{place} is {got[at]}, not {want[at]};"
        f" {np.count_nonzero(apart > allowed)} of {apart.size} numbers differ"
    )
    return Difference(name, float(apart[at]), float(apart[at] / allowed), said)
