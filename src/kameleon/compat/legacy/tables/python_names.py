"""What Python's own library had and has no longer."""

from __future__ import annotations

import html
import importlib
import importlib.util
import inspect
import os
import re
from collections.abc import Callable, Mapping, Set
from contextlib import nullcontext
from operator import attrgetter
from typing import Any, NamedTuple

from ..functions import Function, around, bound, renamed
from ..members import Changed
from ..stand_in import (
    Old,
    Table,
    constant,
    from_module,
    module,
    moved,
    same,
    taken_from,
    warn_old,
)

ABSTRACT = (
    "Awaitable AsyncIterable AsyncIterator ByteString Callable Collection Container Coroutine"
    " Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping"
    " MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
)


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


@around
def _sample(sample: Function, population: Any, k: int) -> Any:
    """`random.sample`, of sets, too."""
    return sample(tuple(population) if isinstance(population, Set) else population, k)


@around
def _shuffle(shuffle: Function, x: Any, random: Callable[[], float] | None = None) -> None:
    """`random.shuffle`, by numbers from 0 to 1 that a function draws, if it's given."""
    if random is None:
        shuffle(x)
        return
    for i in reversed(range(1, len(x))):
        j = int(random() * (i + 1))
        x[i], x[j] = x[j], x[i]


@around
def _of_whole_floats(draw: Function, *bounds: Any) -> Any:
    """`randint` and its like, which take 5.0 for 5."""
    return draw(*map(_whole, bounds))


def _whole(x: Any) -> Any:
    if isinstance(x, float) and not x.is_integer():
        raise ValueError(f"a bound of a random integer is {x}, which isn't whole")
    return int(x) if isinstance(x, float) else x


@around
def _seed(seed: Function, a: Any = None, version: int = 2) -> None:
    """`random.seed`, by the hash of what is no number, text or bytes, too, as until 3.10."""
    known = (type(None), int, float, str, bytes, bytearray)
    seed(a if isinstance(a, known) else hash(a), version)


# re -------------------------------------------------------------------------------------------

_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")


@around
def _with_flags_in_front(function: Function, pattern: Any, *args: Any, **options: Any) -> Any:
    """`re.compile` and its like, of a pattern whose global flags stand anywhere, as until 3.10."""
    try:
        return function(pattern, *args, **options)
    except re.error as error:
        if "global flags not at the start" not in str(error) or isinstance(pattern, bytes):
            raise
    warn_old("flags within a regular expression", "flags in front of it")
    flags = "".join(f"(?{found})" for found in _FLAGS.findall(pattern))
    return function(flags + _FLAGS.sub("", pattern), *args, **options)


# platform -------------------------------------------------------------------------------------


@bound
def linux_distribution(platform: Any, *args: Any, **options: Any) -> tuple[str, str, str]:
    """The name, version and code name of the Linux distribution."""
    try:
        info = platform.freedesktop_os_release()
    except OSError:
        return ("", "", "")
    return (info.get("NAME", ""), info.get("VERSION_ID", ""), info.get("VERSION_CODENAME", ""))


# plistlib, gettext, hmac, math, unittest ------------------------------------------------------


def _opened(path: Any, mode: str) -> Any:
    return open(path, mode) if isinstance(path, str | os.PathLike) else nullcontext(path)


@bound
def read_plist(plistlib: Any, path: Any) -> Any:
    """What a file, or one at a path, holds."""
    with _opened(path, "rb") as file:
        return plistlib.load(file)


@bound
def write_plist(plistlib: Any, value: Any, path: Any) -> None:
    """Write a value to a file, or to one at a path."""
    with _opened(path, "wb") as file:
        plistlib.dump(value, file)


def _in_bytes(today: str) -> Old:
    """A function that gave the translation in the bytes of the locale."""

    def value(gettext: Any) -> Any:
        locale: Any = importlib.import_module("locale")
        translate = getattr(gettext, today)
        return lambda *args: translate(*args).encode(locale.getpreferredencoding())

    return Old(f"gettext.{today}", value)


def find_loader(name: str, path: Any = None) -> Any:
    """What loads the module of that name; None if there is none."""
    spec = importlib.util.find_spec(name)
    return spec and spec.loader


@around
def _hmac_new(new: Function, key: Any, msg: Any = None, digestmod: Any = "md5") -> Any:
    return new(key, msg, digestmod)


@around
def _formatted(before: Function, member: Any, spec: str) -> Any:
    """`format(member, spec)`: of the value, where members are numbers or texts, too."""
    is_plain = member._member_type_ is object
    return before(member, spec) if is_plain else format(member._value_, spec)


@around
def _formatted_number(_: Function, member: Any, spec: str) -> str:
    return format(member._value_, spec)


@around
def _named(_: Function, member: Any) -> str:
    return f"{type(member).__name__}.{member.name}"


@bound
def assert_holds(case: Any, subset: Any, dictionary: Any, msg: Any = None) -> None:
    """Fail unless a dictionary has all items of another."""
    case.assertEqual(dictionary, {**dictionary, **subset}, msg)


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


def _attribute(name: str) -> Old:
    return Old(f".{name}", attrgetter(name))


def _of_urls(name: str) -> Old | None:
    """Names that lie in `urllib.parse`."""
    return from_module("urllib.parse", name) if name.startswith(("split", "unwrap")) else None


def _of_tests(method: str) -> Old:
    """A function of `unittest` that has become a method of a loader with settings."""

    @bound
    def call(
        unittest: Any, case: Any, prefix: str = "test", key: Any = None, suite: Any = None
    ) -> Any:
        loader = unittest.TestLoader()
        loader.testMethodPrefix = prefix
        loader.sortTestMethodsUsing = key or loader.sortTestMethodsUsing
        loader.suiteClass = suite or loader.suiteClass
        return getattr(loader, method)(case)

    return Old(f"unittest.defaultTestLoader.{method}", call)


OF_PATTERNS = "compile fullmatch match search split sub subn findall finditer".split()
ELEMENT = {
    "getchildren": Old("list(element)", bound(list)),
    "getiterator": Old(".iter", bound(lambda x, tag=None: list(x.iter(tag)))),
}

TABLES: Mapping[str, Table] = {
    "array": Table(
        members={
            "array": {
                "tostring": _attribute("tobytes"),
                "fromstring": _attribute("frombytes"),
            }
        }
    ),
    "re": Table(changed=dict.fromkeys(OF_PATTERNS, _with_flags_in_front)),
    "platform": Table(
        {
            "linux_distribution": Old("platform.freedesktop_os_release", linux_distribution),
            "dist": Old("platform.freedesktop_os_release", linux_distribution),
            "popen": from_module("os", "popen"),
        }
    ),
    "plistlib": Table(
        {
            "readPlist": Old("plistlib.load", read_plist),
            "writePlist": Old("plistlib.dump", write_plist),
            "readPlistFromBytes": from_module("plistlib", "loads"),
            "writePlistToBytes": from_module("plistlib", "dumps"),
            "Data": constant("bytes", bytes),
        }
    ),
    "gettext": Table(
        {
            **{
                f"l{name}": _in_bytes(name)
                for name in "gettext ngettext dgettext dngettext".split()
            },
            "bind_textdomain_codeset": constant("without it", lambda domain, codeset=None: codeset),
        },
        dict.fromkeys(("install", "translation"), renamed(codeset=None)),
    ),
    "hmac": Table(changed={"new": _hmac_new}),
    "enum": Table(
        members={
            "Enum": {"__format__": Changed(_formatted, is_implied=True)},
            "IntEnum": {
                "__str__": Changed(_named, is_implied=True),
                "__format__": Changed(_formatted_number, is_implied=True),
            },
        }
    ),
    "math": Table(changed={"factorial": _of_whole_floats}),
    "importlib": Table({"find_loader": constant("importlib.util.find_spec", find_loader)}),
    "locale": Table(
        {
            "format": Old(
                "locale.format_string",
                bound(
                    lambda locale, percent, value, *a, **o: locale.format_string(
                        percent, value, *a, **o
                    )
                ),
            )
        }
    ),
    "os": Table({"errno": module("errno")}),
    "sys": Table(
        {
            "getcheckinterval": constant("sys.getswitchinterval", lambda: 100),
            "setcheckinterval": constant("sys.setswitchinterval", lambda interval: None),
        }
    ),
    "sqlite3": Table(
        {
            "OptimizedUnicode": constant("str", str),
            "version": constant("sqlite3.sqlite_version", "2.6.0"),
            "version_info": constant("sqlite3.sqlite_version_info", (2, 6, 0)),
        }
    ),
    "tarfile": Table({"filemode": from_module("stat", "filemode")}),
    "urllib.request": Table(missing=_of_urls),
    "wave": Table({"openfp": same("wave.open")}),
    "xml.etree.ElementTree": Table(
        members={"Element": ELEMENT, "ElementTree": {"getiterator": ELEMENT["getiterator"]}}
    ),
    "xml.etree.cElementTree": moved("xml.etree.ElementTree"),
    "collections": Table(taken_from("collections.abc", ABSTRACT)),
    "inspect": Table(
        {
            "getargspec": constant("inspect.getfullargspec", getargspec),
            "formatargspec": constant("str(inspect.signature(…))", formatargspec),
        }
    ),
    "random": Table(
        changed={
            "sample": _sample,
            "seed": _seed,
            "shuffle": _shuffle,
            **dict.fromkeys(("randint", "randrange"), _of_whole_floats),
        }
    ),
    "json": Table(changed=dict.fromkeys(("load", "loads"), renamed(encoding=None))),
    "base64": Table(
        {
            "encodestring": from_module("base64", "encodebytes"),
            "decodestring": from_module("base64", "decodebytes"),
        }
    ),
    "fractions": Table({"gcd": from_module("math", "gcd")}),
    "configparser": Table(
        {"SafeConfigParser": same("configparser.ConfigParser")},
        members={"RawConfigParser": {"readfp": _attribute("read_file")}},
    ),
    "html.parser": Table(
        members={"HTMLParser": {"unescape": Old("html.unescape", lambda _: html.unescape)}}
    ),
    "threading": Table(members={"Thread": {"isAlive": _attribute("is_alive")}}),
    "unittest": Table(
        {
            "makeSuite": _of_tests("loadTestsFromTestCase"),
            "findTestCases": same("unittest.defaultTestLoader.loadTestsFromModule"),
            "getTestCaseNames": _of_tests("getTestCaseNames"),
            "_TextTestResult": same("unittest.TextTestResult"),
        },
        members={
            "TestCase": {
                **{old: _attribute(name) for old, name in ASSERTIONS.items()},
                "assertDictContainsSubset": Old("assertEqual(d, d | subset)", assert_holds),
            }
        },
    ),
    "time": Table({"clock": from_module("time", "process_time")}),
    "string": Table(
        {
            "letters": same("string.ascii_letters"),
            "lowercase": same("string.ascii_lowercase"),
            "uppercase": same("string.ascii_uppercase"),
            "maketrans": constant("str.maketrans", str.maketrans),
            "join": constant("str.join", lambda words, sep=" ": sep.join(words)),
            "atoi": constant("int", int),
            "atof": constant("float", float),
        }
    ),
}
