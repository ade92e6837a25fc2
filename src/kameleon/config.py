"""Settings of the process: float type, fuzz factor, image layout, and the choice of engine.

Each setting has three layers, the first that holds a value wins: what the program set by a
call, what `keras.json` says, the documented default. Importing this module reads and writes
nothing; `load` reads the file, `write_if_missing` makes it.
"""

from __future__ import annotations

import os
import sys
import warnings

from kameleon import keras_json
from kameleon.errors import ArgumentError, ConfigWarning, EngineNotFoundError

# Spelled out rather than imported: `typing` alone would double the time this module takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any

CALL, ENVIRONMENT, DEFAULT = "call", "KERAS_BACKEND", "default"  # sources of a choice
OWN = "KAMELEON_ENGINE"  # a source, too: what's asked of Kameleon alone, not of Keras

WRITTEN_BY_KERAS = "tensorflow"  # the documented default of "backend" in keras.json

DIM_ORDERINGS = {"tf": "channels_last", "th": "channels_first"}

# The original Keras, when hosted on Kameleon, is told `KERAS_BACKEND=kameleon.backend`. That
# names us to Keras; taken as our own engine, the module would be asked to import itself. Which
# engine runs then is said by `KAMELEON_ENGINE`.
HOSTED = "kameleon.backend"

STAND_IN = "kameleon"  # the origin of modules that we give to programs in the place of others


# --- the table of settings -------------------------------------------------------------------


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
        _one_of("float16", "float32", "float64"),
        "'float16', 'float32' or 'float64'",
    ),
    "backend": Rule(None, _engine_name, "the name of an engine, or the path of a module"),
}


class Settings:
    """The settings of the process, one attribute each; assigning one checks the value.

    A read is one or two look-ups in dicts whose entries are replaced and never removed, so
    threads may read and set without a lock.

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
        if key in self._calls:
            return self._calls[key]
        return self._file.get(key, RULES[key].default)

    def __setattr__(self, key: str, value: object) -> None:
        if key not in RULES:
            raise AttributeError(f"no setting {key!r}; there are {', '.join(RULES)}")
        self._calls[key] = RULES[key].check(f"settings: {key}", value)

    def source(self, key: str) -> str:
        """Return where the value of `key` is from: 'call', the file's path, or 'default'."""
        if key in self._calls:
            return CALL
        return self._path if self._path and key in self._file else DEFAULT

    def told(self, key: str) -> Any:
        """Return what the file says of `key`; None, if nothing."""
        return self._file.get(key)

    def keep_calls_in(self, place: MutableMapping[str, Any]) -> None:
        """From now on, what's set by calls is kept in `place`, beside what it holds already."""
        place.update(self._calls)
        object.__setattr__(self, "_calls", place)

    def take_file(self, path: str, values: dict[str, Any]) -> None:
        """Put the checked `values` of the file `path` under those set by calls."""
        object.__setattr__(self, "_file", values)
        object.__setattr__(self, "_path", path)

    @property
    def loaded(self) -> bool:
        """Whether `load` has looked for the file."""
        return self._path is not None


settings = Settings()


# --- the functions of the documentation ------------------------------------------------------


def epsilon() -> float:
    """Return the fuzz factor: the small number that keeps logarithms and quotients finite.

    >>> epsilon()
    1e-07
    """
    return settings.epsilon


def set_epsilon(e: float) -> None:
    """Set the fuzz factor.

    Arguments:
        e: a positive, finite number.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_epsilon(1e-05)
    >>> epsilon()
    1e-05
    >>> set_epsilon(1e-07)
    """
    settings.epsilon = RULES["epsilon"].check("set_epsilon: e", e)


def floatx() -> str:
    """Return the default float type: 'float16', 'float32' or 'float64'.

    >>> floatx()
    'float32'
    """
    return settings.floatx


def set_floatx(floatx: str) -> None:
    """Set the float type of tensors that are made without naming one.

    Tensors that exist already keep theirs.

    Arguments:
        floatx: 'float16', 'float32' or 'float64'.

    Raises:
        ArgumentError: (a ValueError) for any other name.

    >>> set_floatx('float64')
    >>> settings.floatx
    'float64'
    >>> set_floatx('float32')
    """
    settings.floatx = RULES["floatx"].check("set_floatx: floatx", floatx)


def image_data_format() -> str:
    """Return where images keep their channels: 'channels_last' or 'channels_first'.

    >>> image_data_format()
    'channels_last'
    """
    return settings.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set where images keep their channels, for functions that aren't told.

    Arguments:
        data_format: 'channels_last' (rows, columns, channels) or 'channels_first'
            (channels, rows, columns).

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_image_data_format('channels_first')
    >>> image_data_format()
    'channels_first'
    >>> set_image_data_format('channels_last')
    """
    checked = RULES["image_data_format"].check("set_image_data_format: data_format", data_format)
    settings.image_data_format = checked


def normalize_data_format(value: str | None, function: str = "normalize_data_format") -> str:
    """Return `value` as 'channels_last' or 'channels_first'; None is the default layout.

    Arguments:
        value: a layout in any case of letters, or None.
        function: the function to name in the error, where another one passes its argument on.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> normalize_data_format('Channels_First'), normalize_data_format(None)
    ('channels_first', 'channels_last')
    """
    if value is None:
        return settings.image_data_format
    lowered = value.lower() if isinstance(value, str) else value
    try:
        checked: str = RULES["image_data_format"].check("", lowered)
    except ArgumentError:
        expected = RULES["image_data_format"].expected
        message = f"{function}: data_format is {value!r}; expected {expected}, or None"
        raise ArgumentError(message) from None
    return checked


def image_dim_ordering() -> str:
    """Return the default image layout by its name of old: 'tf' or 'th'.

    'tf' is 'channels_last', 'th' is 'channels_first'.

    >>> image_dim_ordering()
    'tf'
    """
    return next(name for name, layout in DIM_ORDERINGS.items() if layout == image_data_format())


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the default image layout by its name of old.

    Arguments:
        dim_ordering: 'tf' for 'channels_last', 'th' for 'channels_first'.

    Raises:
        ArgumentError: (a ValueError) for anything else.

    >>> set_image_dim_ordering('th')
    >>> image_data_format()
    'channels_first'
    >>> set_image_dim_ordering('tf')
    """
    if str(dim_ordering) not in DIM_ORDERINGS:
        raise ArgumentError(
            f"set_image_dim_ordering: dim_ordering is {dim_ordering!r}; expected 'tf' "
            "(channels_last) or 'th' (channels_first)"
        )
    set_image_data_format(DIM_ORDERINGS[str(dim_ordering)])


# --- keras.json ------------------------------------------------------------------------------


def load() -> None:
    """Read keras.json into `settings`, once in a process; what was set by calls stays.

    Keys that it doesn't know are left alone. A file that can't be read and a value that can't
    be used give a ConfigWarning with the file, the key and the value; the default is taken.

    >>> load()
    >>> settings.loaded
    True
    """
    if settings.loaded:
        return
    path, shared = keras_json.find()
    content: dict[str, object] = {}
    try:
        content = keras_json.read(path, shared)
    except ArgumentError as error:
        warnings.warn(f"{error}; the defaults are used", ConfigWarning, stacklevel=2)
    values = {}
    for key in [key for key in RULES if key in content]:
        try:
            values[key] = RULES[key].check(f"{path}: {key}", content[key])
        except ArgumentError as error:
            warnings.warn(f"{error}; the default is used", ConfigWarning, stacklevel=2)
    settings.take_file(path, values)


def write_if_missing(backend: str | None = None) -> bool:
    """Write keras.json with the documented defaults if there is none; say whether it did.

    `backend` is written only where it is 'tensorflow', the documented default: other
    installations of Keras read the same file, and mustn't be switched by us. A folder that
    can't be written is no error.

    Arguments:
        backend: the engine chosen; None for the one in `settings`.

    >>> write_if_missing() and write_if_missing()  # once written, it's left alone
    False
    """
    defaults = {key: rule.default for key, rule in RULES.items() if rule.default is not None}
    if (backend or settings.backend) == "tensorflow":
        defaults["backend"] = "tensorflow"
    return keras_json.write_new(keras_json.find()[0], defaults)


# --- the choice of the engine ----------------------------------------------------------------


class Engine:
    """Where an engine's library comes from: the line for pip, the module it installs; its title."""

    __slots__ = ("module", "requirement", "title")

    def __init__(self, requirement: str, module: str, title: str) -> None:
        self.requirement, self.module, self.title = requirement, module, title


# The names that choose an engine; any other name is that of an engine which another package
# brings, or the path of an external backend module.
ENGINES = {
    "tensorflow": Engine("tensorflow", "tensorflow", "TensorFlow"),
    "theano": Engine("pytensor", "pytensor", "Theano"),  # goes on as PyTensor
    "cntk": Engine("cntk", "cntk", "CNTK"),
    "numpy": Engine("numpy", "numpy", "NumPy"),
    "jax": Engine("jax", "jax", "JAX"),
    "torch": Engine("torch", "torch", "PyTorch"),
    "onnxruntime": Engine("onnxruntime onnx", "onnxruntime", "ONNX Runtime"),
}


def installed(name: str) -> bool:
    """Whether the library of the engine `name` is installed; nothing is imported.

    A folder of that name, which Python would take for a package, is no library.

    >>> installed("numpy")
    True
    """
    from importlib.util import find_spec  # late, as above

    module = ENGINES[name].module
    if module in sys.modules:
        spec = getattr(sys.modules[module], "__spec__", None)
        return getattr(spec, "origin", None) != STAND_IN
    spec = find_spec(module)
    return spec is not None and spec.origin not in (None, STAND_IN)


def describe_source(source: str, name: str) -> str:
    """Return words for who asked for `name`, to begin an error with.

    >>> describe_source("KERAS_BACKEND", "torch")
    'KERAS_BACKEND=torch'
    """
    if source in (OWN, ENVIRONMENT):
        return f"{source}={name}"
    return f"the call for {name!r}" if source == CALL else f'"backend": "{name}" in {source}'


def describe_remedy(source: str) -> str:
    """Return words for how to get the embedded engine instead of the one that `source` named.

    >>> describe_remedy("KERAS_BACKEND")
    'to run on NumPy, which is always there, set KERAS_BACKEND=numpy'
    """
    variable = OWN if source == OWN or is_hosted() else ENVIRONMENT
    remedy = f"to run on NumPy, which is always there, set {variable}=numpy"
    if source == CALL:
        return "to run on NumPy, which is always there, ask for 'numpy'"
    named = source in (OWN, ENVIRONMENT)
    return remedy if named else f'{remedy} or write "backend": "numpy" in {source}'


def _require(name: str, source: str, available: Callable[[str], bool]) -> None:
    """Raise EngineNotFoundError unless the known engine `name` can run."""
    missing = ""
    if not available(name):  # then its library would be of no use
        have = ", ".join(filter(available, ENGINES))
        missing = f"this version of Kameleon has no engine {name!r} (it has: {have})"
    elif not installed(name):
        missing = f"its library isn't installed: pip install {ENGINES[name].requirement}"
    if missing:
        raise EngineNotFoundError(
            f"{describe_source(source, name)} can't be met: {missing}; {describe_remedy(source)}"
        )


def is_hosted() -> bool:
    """Whether the original Keras is told to run on Kameleon, by the environment or keras.json.

    >>> is_hosted()
    False
    """
    told = os.environ.get(ENVIRONMENT, "").strip()
    return (told or settings.told("backend")) == HOSTED


def _asked() -> tuple[tuple[str, str], ...]:
    """Return (source, name) of the places that may ask for an engine, the strongest first."""
    environment = [(name, os.environ.get(name, "").strip()) for name in (OWN, ENVIRONMENT)]
    setting = (settings.source("backend"), settings.backend or "")
    return (setting, *environment) if setting[0] == CALL else (*environment, setting)


def choose_backend(available: Callable[[str], bool]) -> tuple[str, str]:
    """Return the engine (or external module) to run on, and where that was said.

    The order: a call (`settings.backend`), `KAMELEON_ENGINE`, `KERAS_BACKEND`, keras.json,
    TensorFlow if Kameleon has its engine and it is installed, NumPy. Reads keras.json if that
    wasn't done.

    Arguments:
        available: tells of a name in `ENGINES` whether Kameleon has that engine.

    Returns:
        (name, source): source is 'call', 'KAMELEON_ENGINE', 'KERAS_BACKEND', the path of
        keras.json, or 'default'. A name not in `ENGINES` is the path of an external module.

    Raises:
        EngineNotFoundError: for an engine that was asked for and isn't there. No other one is
            taken in its place; but for the documented default in keras.json, which any Keras
            writes by itself, there's a ConfigWarning, and the choice goes on.

    >>> choose_backend(lambda name: name == "numpy")[0]
    'numpy'
    """
    load()
    for source, name in _asked():
        if name and name != HOSTED:
            if name not in ENGINES:
                return name, source
            try:
                _require(name, source, available)
                return name, source
            except EngineNotFoundError as error:
                if name != WRITTEN_BY_KERAS or source in (CALL, OWN, ENVIRONMENT):
                    raise
                # Any Keras writes this line by itself: it's nobody's choice. The one that we
                # host has been told another one, so there's nothing to tell.
                if not is_hosted():
                    warnings.warn(f"{error}; NumPy is used now", ConfigWarning, stacklevel=2)
    preferred = available("tensorflow") and installed("tensorflow")
    return "tensorflow" if preferred else "numpy", DEFAULT
