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
from functools import partial, wraps
from typing import Any, NamedTuple

from ..arguments import renamed
from ..members import Changed, Lost
from ..stand_in import Old, Table, constant, from_module, function, same, warn_old

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


def _seed(random: Any) -> Any:
    def seed(a: Any = None, version: int = 2) -> None:
        """`random.seed`, by the hash of what is no number, text or bytes, too, as until 3.10."""
        known = (type(None), int, float, str, bytes, bytearray)
        random.seed(a if isinstance(a, known) else hash(a), version)

    return seed


def _without_encoding(name: str) -> Callable[[Any], Any]:
    """`json.loads` and its like, whose argument `encoding` said nothing."""

    def give(json: Any) -> Any:
        def read(text: Any, *, encoding: Any = None, **options: Any) -> Any:
            return getattr(json, name)(text, **options)

        return read

    return give


# re -------------------------------------------------------------------------------------------

_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")


def _with_flags_in_front(name: str) -> Callable[[Any], Any]:
    """`re.compile` and its like, of a pattern whose global flags stand anywhere, as until 3.10."""

    def give(library: Any) -> Any:
        function = getattr(library, name)

        @wraps(function)
        def call(pattern: Any, *args: Any, **options: Any) -> Any:
            try:
                return function(pattern, *args, **options)
            except re.error as error:
                if "global flags not at the start" not in str(error) or isinstance(pattern, bytes):
                    raise
            warn_old("flags within a regular expression", "flags in front of it")
            flags = "".join(f"(?{found})" for found in _FLAGS.findall(pattern))
            return function(flags + _FLAGS.sub("", pattern), *args, **options)

        return call

    return give


# platform -------------------------------------------------------------------------------------


def _distribution(platform: Any) -> Any:
    def linux_distribution(*args: Any, **options: Any) -> tuple[str, str, str]:
        """The name, version and code name of the Linux distribution."""
        try:
            told = platform.freedesktop_os_release()
        except OSError:
            return ("", "", "")
        return (told.get("NAME", ""), told.get("VERSION_ID", ""), told.get("VERSION_CODENAME", ""))

    return linux_distribution


# plistlib, gettext, hmac, math, unittest ------------------------------------------------------


def _opened(path: Any, mode: str) -> Any:
    return open(path, mode) if isinstance(path, str | os.PathLike) else nullcontext(path)


def _read_plist(plistlib: Any) -> Any:
    def read_plist(path: Any) -> Any:
        with _opened(path, "rb") as file:
            return plistlib.load(file)

    return read_plist


def _write_plist(plistlib: Any) -> Any:
    def write_plist(value: Any, path: Any) -> None:
        with _opened(path, "wb") as file:
            plistlib.dump(value, file)

    return write_plist


def _in_bytes(today: str) -> Old:
    """A function that gave the translation in the bytes of the locale."""

    def value(gettext: Any) -> Any:
        locale: Any = importlib.import_module("locale")
        translate = getattr(gettext, today)
        return lambda *args: translate(*args).encode(locale.getpreferredencoding())

    return Old(f"gettext.{today}", value)


def _without_codeset(name: str, gettext: Any) -> Any:
    return renamed(codeset=None)(getattr(gettext, name))


def find_loader(name: str, path: Any = None) -> Any:
    """What loads the module of that name; None if there is none."""
    spec = importlib.util.find_spec(name)
    return spec and spec.loader


def _hmac_new(hmac: Any) -> Any:
    return lambda key, msg=None, digestmod="md5": hmac.new(key, msg, digestmod)


def _factorial(math: Any) -> Any:
    return lambda x: math.factorial(_whole(x))


def _formatted(before: Any) -> Any:
    def written(member: Any, spec: str) -> str:
        """`format(member, spec)`: of the value, where members are numbers or texts, too."""
        is_plain = member._member_type_ is object
        found: str = before(member, spec) if is_plain else format(member._value_, spec)
        return found

    return written


def _formatted_number(_: Any) -> Any:
    return lambda member, spec: format(member._value_, spec)


def _named(_: Any) -> Any:
    return lambda member: f"{type(member).__name__}.{member.name}"


def _holds(case: Any) -> Callable[..., None]:
    def assert_holds(subset: Any, dictionary: Any, msg: Any = None) -> None:
        """Fail unless a dictionary has all items of another."""
        case.assertEqual(dictionary, {**dictionary, **subset}, msg)

    return assert_holds


def _getchildren(x: Any) -> Callable[[], list[Any]]:
    return lambda: list(x)


def _getiterator(x: Any) -> Callable[..., list[Any]]:
    return lambda tag=None: list(x.iter(tag))


def _bytes_from(x: Any) -> Any:
    return x.frombytes if not isinstance(x, type) else lambda a, data: a.frombytes(data)


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


def _of_urls(name: str) -> Old | None:
    """Names that lie in `urllib.parse`."""
    return from_module("urllib.parse", name) if name.startswith(("split", "unwrap")) else None


def _of_tests(method: str) -> Callable[[Any], Any]:
    """A function of `unittest` that has become a method of a loader with settings."""

    def give(unittest: Any) -> Any:
        def call(case: Any, prefix: str = "test", key: Any = None, suite: Any = None) -> Any:
            loader = unittest.TestLoader()
            loader.testMethodPrefix = prefix
            loader.sortTestMethodsUsing = key or loader.sortTestMethodsUsing
            loader.suiteClass = suite or loader.suiteClass
            return getattr(loader, method)(case)

        return call

    return give


OF_PATTERNS = "compile fullmatch match search split sub subn findall finditer".split()
ELEMENT = {
    "getchildren": Lost("list(element)", _getchildren),
    "getiterator": Lost(".iter", _getiterator),
}

TABLES: Mapping[str, Table] = {
    "array": Table(
        members={
            "array": {
                "tostring": _attribute("tobytes"),
                "fromstring": Lost(".frombytes", _bytes_from),
            }
        }
    ),
    "re": Table(changed={name: _with_flags_in_front(name) for name in OF_PATTERNS}),
    "platform": Table(
        {
            "linux_distribution": Old("platform.freedesktop_os_release", _distribution),
            "dist": Old("platform.freedesktop_os_release", _distribution),
            "popen": from_module("os", "popen"),
        }
    ),
    "plistlib": Table(
        {
            "readPlist": Old("plistlib.load", _read_plist),
            "writePlist": Old("plistlib.dump", _write_plist),
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
            "bind_textdomain_codeset": function("without it", lambda domain, codeset=None: codeset),
        },
        {name: partial(_without_codeset, name) for name in ("install", "translation")},
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
    "math": Table(changed={"factorial": _factorial}),
    "importlib": Table({"find_loader": function("importlib.util.find_spec", find_loader)}),
    "locale": Table(
        {
            "format": Old(
                "locale.format_string",
                lambda locale: (
                    lambda percent, value, *a, **o: locale.format_string(percent, value, *a, **o)
                ),
            )
        }
    ),
    "os": Table({"errno": Old("errno", lambda _: importlib.import_module("errno"))}),
    "sys": Table(
        {
            "getcheckinterval": function("sys.getswitchinterval", lambda: 100),
            "setcheckinterval": function("sys.setswitchinterval", lambda interval: None),
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
    "xml.etree.cElementTree": Table(
        missing=lambda name: from_module("xml.etree.ElementTree", name), made=True
    ),
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
            "seed": _seed,
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
    "fractions": Table({"gcd": from_module("math", "gcd")}),
    "configparser": Table(
        {"SafeConfigParser": same("configparser.ConfigParser")},
        members={"RawConfigParser": {"readfp": _attribute("read_file")}},
    ),
    "html.parser": Table(
        members={"HTMLParser": {"unescape": Lost("html.unescape", lambda _: html.unescape)}}
    ),
    "threading": Table(members={"Thread": {"isAlive": _attribute("is_alive")}}),
    "unittest": Table(
        {
            "makeSuite": Old(
                "unittest.defaultTestLoader.loadTestsFromTestCase",
                _of_tests("loadTestsFromTestCase"),
            ),
            "findTestCases": same("unittest.defaultTestLoader.loadTestsFromModule"),
            "getTestCaseNames": Old(
                "unittest.defaultTestLoader.getTestCaseNames", _of_tests("getTestCaseNames")
            ),
            "_TextTestResult": same("unittest.TextTestResult"),
        },
        members={
            "TestCase": {
                **{old: _attribute(name) for old, name in ASSERTIONS.items()},
                "assertDictContainsSubset": Lost("assertEqual(d, d | subset)", _holds),
            }
        },
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
}
