"""The table of settings: what each may be, and its value in this process."""

from __future__ import annotations

from ..errors import ArgumentError, MissingLibraryError

# Spelled out rather than imported: `typing` alone would double the time this module takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any

CALL, DEFAULT = "call", "default"  # sources of a value, beside the path of a file


def _positive(value: Any) -> float:
    if isinstance(value, bool | str | bytes):  # float() would take True, "1" and b"1"
        raise TypeError
    number = float(value)
    if not 0.0 < number < float("inf"):
        raise ValueError
    return number


def _one_of(*names: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        text = str(value)  # so that np.dtype("float32") and np.str_ serve as well
        if text not in names:
            raise ValueError
        return text

    return parse


def _float_name(value: Any) -> str:
    from importlib.util import find_spec  # late, as `typing`

    name = _one_of("float16", "float32", "float64", "bfloat16")(value)
    if name == "bfloat16" and find_spec("ml_dtypes") is None:
        raise MissingLibraryError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes")
    return name


def _engine_name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


class Rule:
    """What a setting may be: its default, how a value is read, and the words for an error."""

    __slots__ = ("default", "expected", "parse")

    def __init__(self, default: object, parse: Callable[[Any], object], expected: str) -> None:
        self.default, self.parse, self.expected = default, parse, expected

    def check(self, what: str, value: object) -> Any:
        """Return `value` in canonical form; raise ArgumentError, calling the value `what`."""
        try:
            return self.parse(value)
        except (TypeError, ValueError, OverflowError):
            message = f"{what} is {value!r}; expected {self.expected}"
            raise ArgumentError(message) from None


# In the order of the documented file.
RULES = {
    "image_data_format": Rule(
        "channels_last",
        _one_of("channels_last", "channels_first"),
        "'channels_last' or 'channels_first'",
    ),
    "epsilon": Rule(1e-07, _positive, "a positive, finite number such as 1e-07"),
    "floatx": Rule(
        "float32",
        _float_name,
        "'float16', 'float32', 'float64' or 'bfloat16'",
    ),
    "backend": Rule(None, _engine_name, "the name of an engine, or the path of a module"),
}


class Settings:
    """The settings of the process, one attribute each; assigning one checks the value.

    A read is one or two look-ups in dicts, so threads may read and set without a lock.

    >>> own = Settings()
    >>> own.floatx, own.source("floatx")
    ('float32', 'default')
    >>> own.floatx = "float64"
    >>> own.floatx, own.source("floatx")
    ('float64', 'call')
    """

    __slots__ = ("_calls", "_file", "_path")

    if TYPE_CHECKING:
        epsilon: float
        floatx: str
        image_data_format: str
        backend: str | None
        _calls: MutableMapping[str, Any]
        _file: dict[str, Any]
        _path: str | None

    def __init__(self) -> None:
        object.__setattr__(self, "_calls", {})
        object.__setattr__(self, "_file", {})
        object.__setattr__(self, "_path", None)

    def __getattr__(self, key: str) -> Any:
        if key not in RULES:
            raise AttributeError(f"no setting {key!r}; there are {', '.join(RULES)}")
        called = self._calls.get(key)
        return called if called is not None else self._file.get(key, RULES[key].default)

    def __setattr__(self, key: str, value: object) -> None:
        if key not in RULES:
            raise AttributeError(f"no setting {key!r}; there are {', '.join(RULES)}")
        self._calls[key] = RULES[key].check(f"settings: {key}", value)

    def forget_call(self, key: str) -> None:
        """Let the value of `key` be what it was before any call set it."""
        self._calls.pop(key, None)

    def source(self, key: str) -> str:
        """Return where the value of `key` comes from: 'call', the file's path, or 'default'."""
        if key in self._calls:
            return CALL
        return self._path if self._path and key in self._file else DEFAULT

    def in_file(self, key: str) -> Any:
        """Return the file's value for `key`; None, if it has none."""
        return self._file.get(key)

    def keep_calls_in(self, place: MutableMapping[str, Any]) -> None:
        """From now on, keep in `place` what is set by calls, beside what `place` holds already."""
        place.update(self._calls)
        object.__setattr__(self, "_calls", place)

    def take_file(self, path: str, values: dict[str, Any]) -> None:
        """Take the checked `values` of the file `path`; values set by calls go before these."""
        object.__setattr__(self, "_file", values)
        object.__setattr__(self, "_path", path)

    @property
    def loaded(self) -> bool:
        """Whether `load` has looked for the file."""
        return self._path is not None


settings = Settings()
