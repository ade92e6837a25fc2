"""What Python's own library had and has no longer."""

from __future__ import annotations

import html
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Set
from types import ModuleType
from typing import Any, NamedTuple

from ..members import Lost
from ..stand_in import Old, Table, constant, from_module, function, same

ABSTRACT = (
    "Awaitable AsyncIterable AsyncIterator ByteString Callable Collection Container Coroutine"
    " Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping"
    " MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
).split()


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """The parameters of a function; ValueError for those that must be named."""
    found = inspect.getfullargspec(func)
    if found.kwonlyargs or found.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which"
            " can support them"
        )
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def formatargspec(
    args: Any, varargs: Any = None, varkw: Any = None, defaults: Any = None, *more: Any, **ways: Any
) -> str:
    """Parameters in brackets, as they're written."""
    first = len(args) - len(defaults or ())
    words = [a if i < first else f"{a}={defaults[i - first]!r}" for i, a in enumerate(args)]
    words += [f"*{varargs}"] * (varargs is not None) + [f"**{varkw}"] * (varkw is not None)
    return f"({', '.join(words)})"


# random, json ---------------------------------------------------------------------------------


def _sample(random: Any) -> Any:
    def sample(population: Any, k: int) -> Any:
        """`random.sample`, of sets, too."""
        return random.sample(tuple(population) if isinstance(population, Set) else population, k)

    return sample


def _shuffle(library: Any) -> Any:
    def shuffle(x: Any, random: Callable[[], float] | None = None) -> None:
        """`random.shuffle`, by numbers from 0 to 1 that a function draws, if it's given."""
        if random is None:
            library.shuffle(x)
            return
        for i in reversed(range(1, len(x))):
            j = int(random() * (i + 1))
            x[i], x[j] = x[j], x[i]

    return shuffle


def _of_whole_floats(name: str) -> Callable[[Any], Any]:
    """`randint` and its like, which take 5.0 for 5."""

    def give(random: Any) -> Any:
        def draw(*bounds: Any) -> int:
            found: int = getattr(random, name)(*map(_whole, bounds))
            return found

        return draw

    return give


def _whole(x: Any) -> Any:
    if isinstance(x, float) and not x.is_integer():
        raise ValueError(f"a bound of a random integer is {x}, which isn't whole")
    return int(x) if isinstance(x, float) else x


def _without_encoding(name: str) -> Callable[[Any], Any]:
    """`json.loads` and its like, whose argument `encoding` said nothing."""

    def give(json: Any) -> Any:
        def read(text: Any, *, encoding: Any = None, **options: Any) -> Any:
            return getattr(json, name)(text, **options)

        return read

    return give


# imp ----------------------------------------------------------------------------------------


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """The module of that name, from a file."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"{pathname} is no file of Python source", name=name)
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# distutils ----------------------------------------------------------------------------------


class LooseVersion:
    """A version as a list of numbers and words, which is compared from left to right.

    >>> LooseVersion("1.10.2") > "1.9", LooseVersion("2.3.1").version
    (True, [2, 3, 1])
    """

    version: list[Any]

    def __init__(self, vstring: str | None = None):
        if vstring is not None:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Take the version from a string."""
        self.vstring = vstring
        parts = (part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part not in ("", "."))
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self}')"

    def _other(self, other: Any) -> list[Any]:
        found: list[Any] = (
            other if isinstance(other, LooseVersion) else LooseVersion(str(other))
        ).version
        return found

    def __eq__(self, other: object) -> bool:
        return self.version == self._other(other)

    def __hash__(self) -> int:
        return hash(tuple(self.version))

    def __lt__(self, other: Any) -> bool:
        return self.version < self._other(other)

    def __le__(self, other: Any) -> bool:
        return self.version <= self._other(other)

    def __gt__(self, other: Any) -> bool:
        return self.version > self._other(other)

    def __ge__(self, other: Any) -> bool:
        return self.version >= self._other(other)


def strtobool(val: str) -> int:
    """1 for yes, true, on …; 0 for no, false, off …; ValueError for anything else."""
    words = {**dict.fromkeys(("y", "yes", "t", "true", "on", "1"), 1),
             **dict.fromkeys(("n", "no", "f", "false", "off", "0"), 0)}  # fmt: skip
    if val.lower() not in words:
        raise ValueError(f"invalid truth value {val!r}")
    return words[val.lower()]


def copy_tree(src: str, dst: str, *args: Any, **options: Any) -> list[str]:
    """Copy what is in a folder into another one; the files that were made."""
    shutil.copytree(src, dst, dirs_exist_ok=True)
    return [os.path.join(root, name) for root, _, names in os.walk(dst) for name in names]


def mkpath(name: str, mode: int = 0o777, *args: Any, **options: Any) -> list[str]:
    """Make a folder, and those around it."""
    there = os.path.isdir(name)
    os.makedirs(name, mode, exist_ok=True)
    return [] if there else [name]


def remove_tree(directory: str, *args: Any, **options: Any) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(directory)


# By old name of a method of `unittest.TestCase`, today's.
ASSERTIONS = {
    "assert_": "assertTrue", "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual", "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex", "failUnless": "assertTrue", "failIf": "assertFalse",
    "failUnlessEqual": "assertEqual", "failIfEqual": "assertNotEqual",
    "failUnlessAlmostEqual": "assertAlmostEqual", "failIfAlmostEqual": "assertNotAlmostEqual",
    "failUnlessRaises": "assertRaises",
}  # fmt: skip


def _attribute(name: str) -> Lost:
    return Lost(f".{name}", lambda x: getattr(x, name))


VERSION = {
    "LooseVersion": constant("packaging.version.Version", LooseVersion),
    "StrictVersion": constant("packaging.version.Version", LooseVersion),
}

TABLES: Mapping[str, Table] = {
    "collections": Table({name: from_module("collections.abc", name) for name in ABSTRACT}),
    "inspect": Table(
        {
            "getargspec": function("inspect.getfullargspec", getargspec),
            "formatargspec": function("str(inspect.signature(…))", formatargspec),
        }
    ),
    "random": Table(
        changed={
            "sample": _sample,
            "shuffle": _shuffle,
            **{name: _of_whole_floats(name) for name in ("randint", "randrange")},
        }
    ),
    "json": Table(changed={name: _without_encoding(name) for name in ("load", "loads")}),
    "base64": Table(
        {
            "encodestring": from_module("base64", "encodebytes"),
            "decodestring": from_module("base64", "decodebytes"),
        }
    ),
    "cgi": Table(
        {"escape": Old("html.escape", lambda _: lambda s, quote=False: html.escape(s, quote))},
        made=True,
    ),
    "pipes": Table({"quote": from_module("shlex", "quote")}, made=True),
    "fractions": Table({"gcd": from_module("math", "gcd")}),
    "configparser": Table({"SafeConfigParser": same("configparser.ConfigParser")}),
    "xml.etree.cElementTree": Table(
        missing=lambda name: from_module("xml.etree.ElementTree", name), made=True
    ),
    "html.parser": Table(
        members={"HTMLParser": {"unescape": Lost("html.unescape", lambda _: html.unescape)}}
    ),
    "threading": Table(members={"Thread": {"isAlive": _attribute("is_alive")}}),
    "unittest": Table(
        {
            "makeSuite": Old(
                "unittest.defaultTestLoader.loadTestsFromTestCase",
                lambda unittest: unittest.defaultTestLoader.loadTestsFromTestCase,
            ),
            "_TextTestResult": same("unittest.TextTestResult"),
        },
        members={"TestCase": {old: _attribute(name) for old, name in ASSERTIONS.items()}},
    ),
    "time": Table({"clock": from_module("time", "process_time")}),
    "string": Table(
        {
            "letters": same("string.ascii_letters"),
            "lowercase": same("string.ascii_lowercase"),
            "uppercase": same("string.ascii_uppercase"),
            "maketrans": Old("str.maketrans", lambda _: str.maketrans),
            "join": Old("str.join", lambda _: lambda words, sep=" ": sep.join(words)),
            "atoi": Old("int", lambda _: int),
            "atof": Old("float", lambda _: float),
        }
    ),
    "imp": Table(
        {
            "reload": from_module("importlib", "reload"),
            "load_source": function("importlib.util.spec_from_file_location", load_source),
            "new_module": Old("types.ModuleType", lambda _: ModuleType),
        },
        made=True,
    ),
    "distutils": Table(made=True),
    "distutils.version": Table(VERSION, made=True),
    "distutils.spawn": Table({"find_executable": from_module("shutil", "which")}, made=True),
    "distutils.util": Table({"strtobool": function("a comparison", strtobool)}, made=True),
    "distutils.dir_util": Table(
        {
            "copy_tree": function("shutil.copytree", copy_tree),
            "mkpath": function("os.makedirs", mkpath),
            "remove_tree": function("shutil.rmtree", remove_tree),
        },
        made=True,
    ),
}
