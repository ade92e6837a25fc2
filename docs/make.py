"""Writes the pages that are made from the tables: `python docs/make.py`. A test holds them current.

The page of support needs all engines installed.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import linecache
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from kameleon import backend as K
from kameleon import errors
from kameleon.compat import undocumented
from kameleon.compat.tensorflow.operations import table
from kameleon.compat.theano.modules import Namespace
from kameleon.engines import Engine
from kameleon.engines.cntk.rules import Kind, kind_of
from kameleon.errors import KameleonError
from kameleon.graph.gradients import GRADIENTS, ZERO
from kameleon.graph.ir.leaves import LEAVES, input_node
from kameleon.graph.ir.node import ITEM, REGISTRY, Node, Primitive
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.runtime import engines
from kameleon.testing.cases import CASES
from kameleon.testing.cases.case import Case

PRIMITIVES = """# The primitives

Everything that a K function does is composed of these. A *core* primitive is one that every engine
must do; a *composite* has an expansion into simpler ones, for engines that have no kernel for it; a
*host callback* calls Python: the embedded engine does it between compiled parts.
Gradient: `rule` (in terms of primitives, to any order), `flat` (zero wherever it is
differentiable), or the reason why there is none. How each engine does them: [support](support.md).

At their edges numbers mean the same on every engine, unless a line below says *engine-defined*:
integers wrap, and divided by 0 they are 0; floats follow IEEE 754, so 0 times infinity is NaN, also
inside of products; floats cast to integers that don't hold them wrap. Each result in float16 is
rounded to it before anything else is computed from it, as in other dtypes; within contractions
that is engine-defined, and so is which neighbour a quotient below 6.1e-5 becomes that lies midway
between two (where the divisor is a constant, on TensorFlow and JAX). Two sizes that were unknown
when the graph was built, and meet in a primitive, must be equal when it runs, forward and backward,
or there is an error: `stretch` alone stretches a size that isn't known to be 1.

This page is generated from the tables by `python docs/make.py`.

| primitive | tier | gradient | meaning |
|---|---|---|---|
"""
SUPPORT = """# Which engine does what, and how

Every K function runs on every engine. This table says how an engine does each primitive:

- `native`: by its own rule, with the library's own operations. Where the rule of a core primitive
  doesn't hold (a divisor that may be 0, say), the graph has an equal one before the engine sees it;
- `native: …`: for these dtypes; `in part`: for some attributes; else by the expansion;
- `kernel`: by its own rule, which calls the embedded engine's NumPy kernel; CNTK has them beside it
  in its process, and does by them what isn't `native`, too;
- `expanded`: by simpler primitives;
- `own Op`: PyTensor has no operation for it, so its graph has one of Kameleon's, whose reason is
  below the table;
- `declined`: the embedded engine does it between compiled parts; inside of loops and conditions
  it's an error that names your line. The reasons are below the table;
- `host`: Python is called between compiled parts; inside of loops and conditions it's an error that
  names your line, or, where it says `called back`, compiled code calls back.

On Theano a kernel stands for a graph of PyTensor's, which all modes but Kameleon's own compile:
what that graph is made of tells the last column. The same graphs come of
[`kameleon.to_pytensor`](pytensor.md).

This page is generated from the tables by `python docs/make.py`.

"""
NAMES = """# From `K.*` of Keras 2 to Kameleon

What a program of the Keras 2 days may say after `from keras import backend as K`, and what that is
here. How to run such a program: [keras2.md](keras2.md).

This page is generated from the tables by `python docs/make.py`.

## Documented functions

All of them are there. Where the documents of different versions disagree, the newer call counts;
an older one, named here, works as well. *Also* are arguments that are Kameleon's own.

| documented | here |
|---|---|
"""
BEYOND = """
## Beyond the documentation

| name | meaning |
|---|---|
"""
LEAKED = """
## Names that were never documented

Programs took them from the module all the same. What isn't there is an error that says what to use.
Where Keras runs on [its own TensorFlow backend](keras2.md#import-tensorflow-as-tf), they are where
they were: in `keras.backend.tensorflow_backend`.

| name | here |
|---|---|
"""
FLOATS = ("float16", "float32", "float64")
TESTS = Path(__file__).parent.parent / "tests"
SIGNATURES = TESTS / "signatures.json"


def listed() -> list[Primitive]:
    """All primitives that compute something, by name."""
    found = [p for p in REGISTRY.values() if p not in LEAVES and p is not ITEM]
    return sorted(found, key=lambda p: p.name)


def table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def gradient_of(primitive: Primitive) -> str:
    """What the table says about the gradient."""
    rule = GRADIENTS[primitive.name]
    if rule is ZERO:
        return "flat"
    return rule if isinstance(rule, str) else "rule"


def primitives_page() -> str:
    """The page of primitives."""
    rows = []
    for p in listed():
        meaning = p.doc.replace("|", "\\|")
        rows.append(table_row([f"`{p.name}`", p.tier, gradient_of(p), meaning]))
    return PRIMITIVES + "".join(rows)


# Support ---------------------------------------------------------------------------------------


def nodes_of(case: Case) -> Iterable[tuple[str, Node]]:
    """The primitive's nodes in a case, over each float dtype; with the dtype's name."""
    kinds = {str(x.dtype) for x in case.operands}
    for dtype in FLOATS if kinds & set(FLOATS) else sorted(kinds)[:1] or ["float32"]:
        inputs = [
            input_node(TensorType(x.shape, as_dtype(dtype if x.dtype.kind == "f" else x.dtype)))
            for x in case.operands
        ]
        try:
            graph = Graph(inputs, case.results(inputs))
        except KameleonError:  # the case has a constant of one dtype
            continue
        for node in graph.nodes:
            if node.primitive.name == case.primitive:
                yield dtype, node


def is_native(engine: Engine, node: Node) -> bool:
    """Whether an engine's library does a node. Where the rule of a core primitive doesn't hold, the
    graph has an equal one before.
    """
    if engine.name == "cntk":
        return kind_of(node) is not Kind.NUMPY  # else it's NumPy, beside CNTK
    return engine.native(node) or (
        node.primitive.tier == "core" and node.primitive.name in engine.rules
    )


def support(engine: Engine, primitive: Primitive) -> str:
    """What the tables say of one engine and one primitive."""
    name = primitive.name
    if primitive.host_callback:
        return "host; called back" if name in engine.rules else "host"
    if name in engine.borrowed:
        return "kernel"
    if name in getattr(engine, "ops", ()) and name != "cast":
        return "own Op"
    found: dict[str, list[bool]] = {}
    for case in CASES:
        if case.primitive == name:
            for dtype, node in nodes_of(case):
                found.setdefault(dtype, []).append(is_native(engine, node))
    kinds = {"all": all, "some": any}
    holds: Callable[[str], list[str]] = lambda kind: [d for d in found if kinds[kind](found[d])]  # noqa: E731
    if not holds("some"):
        if engine.name == "cntk":
            return "kernel"
        return "declined" if name in engine.declined else "expanded"
    if len(holds("all")) == len(found):
        return "native"
    if holds("some") == list(found) and not holds("all"):
        return "native in part"
    parts = [d if d in holds("all") else f"{d} in part" for d in holds("some")]
    return f"native: {', '.join(parts)}"


def support_page() -> str:
    """The page of support; needs all engines."""
    from kameleon.engines.theano.native.engine import GraphEngine

    graphs = GraphEngine()
    loaded = [importlib.import_module(path).engine for path in engines.MODULES.values()]
    loaded.append(graphs)
    head = table_row(["primitive", *(e.title for e in loaded)])
    rows = [table_row([f"`{p.name}`", *(support(e, p) for e in loaded)]) for p in listed()]
    text = SUPPORT + head + "|---" * (len(loaded) + 1) + "|\n" + "".join(rows)
    reasons = [
        f"- {e.title}, `{name}`: {reason}.\n" for e in loaded for name, reason in e.declined.items()
    ]
    reasons += [
        f"- {e.title} doesn't compute with {dtype}: {reason}.\n"
        for e in loaded
        for dtype, reason in e.lacks.items()
    ]
    own = [f"- `{name}`: {reason}.\n" for name, reason in graphs.ops.items()]
    return (
        f"{text}\n## What is declined\n\n{''.join(reasons)}"
        f"\n## What PyTensor has no operation for\n\n{''.join(own)}"
    )


# Names of Keras 2 -------------------------------------------------------------------------------


def code(text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`"


def meaning(thing: Any) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def own_arguments(name: str, *calls: str) -> list[str]:
    """The parameters of a function that the original's signatures don't have."""
    known = {part.split("=")[0].strip(" *()") for call in calls for part in call.split(",")}
    found = inspect.signature(getattr(K, name)).parameters.values()
    return [str(p.name) for p in found if p.name not in known and p.kind is not p.VAR_KEYWORD]


def documented_row(name: str, documented: str, older: Iterable[str], behind: str) -> str:
    """What can be said of one documented function."""
    own = own_arguments(name, documented, behind)
    notes = [f"also {', '.join(map(code, own))}"] if own else []
    if behind:
        notes.append(f"in the original's source also {code(behind.strip('()'))}")
    notes += [f"older: {code(name + call)}" for call in older]
    return table_row([code(name + documented), "; ".join(notes) or "the same"])


def leaked_rows() -> Iterable[str]:
    """Aliases, parts of libraries, and names with nothing behind them."""
    aliases = {n: x for n, x in undocumented.ALIASES.items() if not isinstance(x, Namespace)}
    for names, words in (
        (aliases, "aliases"),
        (undocumented.VALUES, "their values, when asked for"),
    ):
        yield table_row([", ".join(code(f"K.{n}") for n in sorted(names)), words])
    for name, part in sorted(parts().items()):
        has = ", ".join(code(n) for n in dir(part) if not isinstance(getattr(part, n), Namespace))
        yield table_row([code(f"K.{name}"), f"has {has}" if has else "says what to use"])
    for name, use in sorted(undocumented.INSTEAD.items()):
        yield table_row([code(f"K.{name}"), f"use {use}"])


def parts() -> dict[str, Any]:
    """The stand-ins for libraries, each once: what is in `K.theano` under its name there."""
    found: dict[str, Any] = {}
    queue = sorted(undocumented.ALIASES.items(), key=lambda item: item[0] != "theano")
    while queue:
        name, part = queue.pop(0)
        if isinstance(part, Namespace) and part not in found.values():
            found[name] = part
            queue[:0] = [(f"{name}.{n}", getattr(part, n)) for n in dir(part)]
    return found


def names_page() -> str:
    """The page of names."""
    written = json.loads(SIGNATURES.read_text(encoding="utf-8"))
    documented, older, behind = (written[k] for k in ("documented", "older", "undocumented"))
    rows = [
        documented_row(n, documented[n], older.get(n, ()), behind.get(n, ""))
        for n in sorted(documented)
    ]
    beyond = sorted(set(K.__all__) - set(documented))
    more = [table_row([code(f"K.{n}"), meaning(getattr(K, n))]) for n in beyond]
    return NAMES + "".join(rows) + BEYOND + "".join(more) + LEAKED + "".join(leaked_rows())


TENSORFLOW = """# What runs of TensorFlow 1.15

`import tensorflow as tf` in a program of those days (under `kameleon run`, and after `import
kameleon.as_keras`) gives TensorFlow 1.15's own Python files, unmodified; `kameleon tensorflow
install` gets them. So every name is there that is written in Python: layers, optimizers, losses,
estimators, `tf.keras`, `tf.data`, `tf.contrib`, and what is inside of `tensorflow.python`. What
they make is a graph of operations, as ever; Kameleon runs that graph, on any engine. How such a
program runs: [the guide](keras2.md#import-tensorflow-as-tf).

So what works is a question of types of operations, not of names. This page has all that run. An
operation of any other type is made like these, and is an error when it's run, which names the type
and the line of the program that made it. *Compiled* operations become parts of compiled functions
of the engine; others run between these, on the host: they read and write files, keep queues and
tables, or work on strings, complex and quantized numbers.

This page is generated from the tables by `python docs/make.py`.

"""


def tensorflow_page() -> str:
    """The page of TensorFlow's types of operations: which run, and where."""
    compiled = {*table.PURE, *table.EFFECTS}
    names = sorted({*compiled, *table.HOST, *table.FOLDS})
    rows = [table_row([code(name), "compiled" if name in compiled else "host"]) for name in names]
    count = f"Of {len(names)} types {len(compiled)} are compiled, the others run on the host.\n"
    head = "\n## Types of operations\n\n| type | where |\n|---|---|\n"
    return "".join([TENSORFLOW, count, head, *rows])


# Numerics ----------------------------------------------------------------------------------------

ORIGINALS = {"tensorflow": "TensorFlow", "theano": "Theano", "cntk": "CNTK"}


def module_of_tests(name: str) -> ModuleType:
    """A module in a folder of the tests, by its path there without the ending."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    return importlib.import_module(name.replace("/", "."))


def decisions() -> dict[str, list[tuple[str, dict[str, str]]]]:
    """By topic its calls, with what each gave on the originals and gives here, by name."""
    script = module_of_tests("recorded/decisions")
    recorded = json.loads((TESTS / "recorded" / "decisions.json").read_text(encoding="utf-8"))
    found = {}
    for topic, questions in script.TOPICS.items():
        texts = [script.text_of(question) for question in questions]
        here = [script.answer(K, question) for question in questions]
        found[topic] = [
            (text, {**recorded[text], "here": gives})
            for text, gives in zip(texts, here, strict=True)
        ]
    return found


def differ(answers: dict[str, str]) -> bool:
    return len(set(answers.values())) > 1


def lines_of(text: str) -> str:
    """A call and what it's given, a line each, in a cell."""
    return "<br>".join(map(code, text.split("; ")))


def decision_table(calls: Iterable[tuple[str, dict[str, str]]]) -> str:
    """The calls whose results differ, with each result."""
    head = ["call", *ORIGINALS.values(), "Kameleon"]
    rows = [
        [lines_of(text), *(answers[name] for name in (*ORIGINALS, "here"))]
        for text, answers in calls
        if differ(answers)
    ]
    return "".join(map(table_row, [head, ["---"] * len(head), *rows]))


def agreement_table(topics: Iterable[Iterable[tuple[str, dict[str, str]]]]) -> str:
    """The calls whose results are equal."""
    rows = [
        [lines_of(text), answers["here"]]
        for calls in topics
        for text, answers in calls
        if not differ(answers)
    ]
    return "".join(map(table_row, [["call", "result"], ["---"] * 2, *rows]))


def golden_table() -> str:
    """The recorded calls of TensorFlow's that come out differently on purpose."""
    rows = [
        [code(f"K.{case.rpartition('-')[0]}"), row.reason]
        for case, row in module_of_tests("golden/differences").DIFFERENCES.items()
    ]
    return "".join(map(table_row, [["function", "difference"], ["---"] * 2, *rows]))


def numerics_page() -> str:
    """The page of numerics, with its tables made anew."""
    topics = decisions()
    tables = {name: decision_table(calls) for name, calls in topics.items()}
    tables |= {"agreed": agreement_table(topics.values()), "golden": golden_table()}
    return with_tables("numerics.md", tables)


def with_tables(page: str, tables: dict[str, str]) -> str:
    """A page as it is, with these tables in the place of those below their marks."""
    text = Path(__file__).with_name(page).read_text(encoding="utf-8")
    return re.sub(
        r"(<!-- table: (\w+) -->\n\n)(?:\|.*\n)*\n*", lambda m: f"{m[1]}{tables[m[2]]}\n", text
    )


# Errors ------------------------------------------------------------------------------------------


def classes_of_errors() -> list[type[Exception]]:
    """The classes of errors and warnings, in the order of their file."""
    return [
        x for x in vars(errors).values() if isinstance(x, type) and x.__module__ == errors.__name__
    ]


def errors_page() -> str:
    """The page of errors, with its table made anew."""
    rows = [["class", "meaning", "is also a"], ["---"] * 3]
    plain = (*errors.KameleonError.__mro__, Warning)
    for kind in classes_of_errors():
        bases = ", ".join(code(base.__name__) for base in kind.__mro__[1:] if base not in plain)
        meaning = str(kind.__doc__).partition("\n")[0]
        rows.append([f"[{code(kind.__name__)}](#{kind.__name__.lower()})", meaning, bases])
    return with_tables("errors.md", {"errors": "".join(map(table_row, rows))})


def debugged(end: str) -> dict[str, Any]:
    """What the examples of the page on debugging have made, up to these words: as if they were a
    file of the user's, without those that fail.
    """
    text = Path(__file__).with_name("debugging.md").read_text(encoding="utf-8")
    name, written, scope = "network.py", "", dict[str, Any]()
    for example in doctest.DocTestParser().get_examples(text.partition(end)[0]):
        if "Error" not in (example.exc_msg or ""):
            code = compile("\n" * written.count("\n") + example.source, name, "exec")
            written += example.source
            linecache.cache[name] = (len(written), None, written.splitlines(True), name)
            exec(code, scope)
    return scope


def picture_of_a_graph() -> str:
    """What `K.show` draws in the examples of the page on debugging."""
    svg: str = debugged("(graph.svg)")["picture"].svg
    return svg


def exporting_page() -> str:
    """What each format and each object of another library holds."""
    sweep = module_of_tests("backend/export/sweep")
    return with_tables("exporting.md", {"held": sweep.table(), "reasons": sweep.reasons()})


PAGES = {
    "errors.md": errors_page,
    "exporting.md": exporting_page,
    "numerics.md": numerics_page,
    "tensorflow.md": tensorflow_page,
    "primitives.md": primitives_page,
    "support.md": support_page,
    "names.md": names_page,
    "graph.svg": picture_of_a_graph,
}


CONTRIBUTING = TESTS.parent / "CONTRIBUTING.md"


def contributing_page() -> str:
    """The page for contributors, with the picture of the packages."""
    if str(TESTS.parent) not in sys.path:
        sys.path.append(str(TESTS.parent))
    from docs.building import packages

    return packages.placed(CONTRIBUTING.read_text(encoding="utf-8"))


def main() -> None:
    """Write the pages."""
    CONTRIBUTING.write_text(contributing_page(), encoding="utf-8")
    for name, page in PAGES.items():
        Path(__file__).with_name(name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
