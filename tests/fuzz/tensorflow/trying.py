"""Programs in processes of their own: what they give, how it differs, the least that shows it."""

from __future__ import annotations

import base64
import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from .draft import NAME

SERVER = str(Path(__file__).parent / "server.py")
LONGEST = 60.0  # seconds; a program that takes more counts as hanging
RENEWED = 150  # programs, after which a process begins anew
TOLERANCE = {"float32": 3e-5, "complex64": 3e-5, "float64": 1e-6}  # much of it comes from float32
# What the original refuses, of what can be done.
REFUSED = re.compile(
    "TensorArray has size zero|inputs from different frames|an empty list with non-fully"
    "|concating an empty tensor list|gather 0-elements from a list|because it has already been read"
    "|but array is not resizeable|the element shape is not fully defined"
    "|but params is empty|No gradient defined for op"
    r"|Retval\[\d+\] does not have value"  # after its optimizer; its gradients of branches
    r"|are 0 and \d for '\S+ResourceApply"  # steps in branches, once these have gradients
)
Answer = dict[str, Any]


class Server:
    """A process that runs programs: of another Python; on an engine; or `executor`."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self._start()

    def _start(self) -> None:
        environment = dict(os.environ)
        if "/" in self.name:
            command = [self.name, SERVER]
            environment.pop("PYTHONPATH", None)
        else:
            is_executor = self.name == "executor"
            engine = "numpy" if is_executor else self.name
            command = [sys.executable, "-m", "kameleon", "run", "--engine", engine, SERVER]
            command += ["executor"] * is_executor
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            stderr=None if "FUZZ_SHOWS" in os.environ else subprocess.DEVNULL,
        )  # fmt: skip

    def answer(self, text: str) -> Answer:
        """What a program gives."""
        self.count += 1
        if self.count % RENEWED == 0:
            self.stop()
            self._start()
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(text).encode() + b"\n")
        self.process.stdin.flush()
        ready = select.select([self.process.stdout], [], [], LONGEST)[0]
        line = self.process.stdout.readline() if ready else b""
        if line:
            found: Answer = json.loads(line)
            return found
        self.stop()
        self._start()
        return {"ended": "hangs" if not ready else "crashes"}

    def stop(self) -> None:
        """End the process."""
        with self.process as process:  # which closes what leads there
            process.kill()


# Differences --------------------------------------------------------------------------------------


def differences(ours: Answer, theirs: Answer) -> Iterator[tuple[str, str]]:
    """How two answers differ: the kind, and a text."""
    if "ended" in ours or "ended" in theirs:  # the original may crash
        if "ended" not in theirs:
            yield ours["ended"], ""
        return
    for number in sorted({*ours["failed"], *theirs["failed"]}, key=int):
        pair = [x["failed"].get(number, "nothing") for x in (ours, theirs)]
        if REFUSED.search(pair[1]):
            return
        one, other = map(first_line, pair)
        if one != other:
            yield f"builds {one}", f"statement {number}: {pair[0]}\n-- not {pair[1]}"
            return
    for a, b in zip_longest(ours["graph"], theirs["graph"], fillvalue=["nothing"] * 2):
        if a != b:
            yield f"graph {a[1]}", f"{a}\n-- not {b}"
            break
    for name, b in theirs["names"].items():
        if ours["names"].get(name) != b:
            yield "tensor", f"{name}: {ours['names'].get(name)}, not {b}"
    for number, (a, b) in enumerate(zip(ours["runs"], theirs["runs"], strict=True)):
        pair = [x.get("error", "nothing") for x in (a, b)]
        if REFUSED.search(pair[1]):
            return
        one, other = map(first_line, pair)
        if one != other:
            yield f"raises {one} not {other}", f"run {number}: {pair[0]}\n-- not {pair[1]}"
            return
        if "error" in b:  # what was changed before is nobody's business
            return
        for name in b:
            if text := apart(a[name], b[name]):
                yield "values", f"run {number}, {name}: {text}"
                return


def first_line(text: str) -> str:
    """What stands before the end of the line."""
    return text.partition("\n")[0]


def apart(a: Any, b: Any) -> str:
    """How two values differ."""
    if a == b:
        return ""
    if None in (a, b) or a[:2] != b[:2] or a[0] == "string":
        return f"{a} not {b}"
    x, y = (np.frombuffer(base64.b64decode(e[2]), e[0]).reshape(e[1]) for e in (a, b))
    if a[0] not in TOLERANCE:
        return f"{x.tolist()} not {y.tolist()}"[:600]
    finite = y[np.isfinite(y)]
    margin = TOLERANCE[a[0]] * (1 + (np.abs(finite).max() if finite.size else 0))
    with np.errstate(all="ignore"):
        same = np.isclose(x, y, rtol=0, atol=margin, equal_nan=True)
    return "" if same.all() else f"{str(x)[:600]} not {str(y)[:600]}"


class Trial:
    """Holds programs on one server against those on another one."""

    def __init__(self, name: str, reference: Server) -> None:
        self.server, self.reference, self.delicate = Server(name), reference, 0

    def found(self, text: str, known: Answer | None = None) -> dict[str, str]:
        """What differs, by kind; not where last bits decide, which more bits show."""
        theirs = known or self.reference.answer(text)
        found = dict(differences(self.server.answer(text), theirs))
        if "values" in found and "float32" in text:
            longer = text.replace("float32", "float64")
            pair = self.server.answer(longer), self.reference.answer(longer)
            if "values" not in dict(differences(*pair)):
                self.delicate += 1
                del found["values"]
        return found


# The least ----------------------------------------------------------------------------------------


def shrunk(text: str, shows: Callable[[str], bool], seconds: float) -> str:
    """A program with fewer lines and names that shows the same."""
    end, before = time.monotonic() + seconds, ""
    while text != before:
        before = text
        for parts in (statements, str.splitlines):
            text = _fewer(text, parts, lambda x: time.monotonic() < end and shows(x))
        at = 0
        while at < len(candidates := list(_renamed(text))) and time.monotonic() < end:
            if shows(candidates[at]):
                text = candidates[at]
            else:
                at += 1
    return text


def _fewer(text: str, parts: Callable[[str], list[str]], shows: Callable[[str], bool]) -> str:
    """The program without some of its parts: many at once, then single ones."""
    kept = parts(text)
    size = len(kept)
    while size := size // 2:
        for at in range(len(kept) - size, -size, -size):
            fewer = kept[: max(at, 0)] + kept[at + size :]
            if shows("\n".join(fewer) + "\n"):
                kept = fewer
    return "\n".join(kept) + "\n"


def _renamed(text: str) -> Iterator[str]:
    """The program with something else in the place of a tensor; with less that is fetched."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        made, _, rest = line.strip().partition(" = ")
        for name in dict.fromkeys(NAME.findall(rest)) if NAME.fullmatch(made) else ():
            others = "\n".join(lines[:at] + lines[at + 1 :]) + "\n"
            yield re.sub(rf"\b{made}\b", name, others)
        runs = line if line.startswith("run(") else ""
        for found in re.finditer(r"\w+ |'\w+': v\([^v]*\)(, )?", runs):
            fewer = line[: found.start()] + line[found.end() :]
            yield "\n".join([*lines[:at], fewer, *lines[at + 1 :]]) + "\n"


def statements(text: str) -> list[str]:
    """The statements of a program, each with the lines that are a part of it."""
    return re.findall(r"^\S.*(?:\n .*)*", text, re.M)
