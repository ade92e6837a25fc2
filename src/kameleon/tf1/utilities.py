"""What libraries take of TensorFlow 1 beside tensors: texts, late modules, settings of a model."""

from __future__ import annotations

import importlib
import json
import numbers
import os
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from ..backend import surface as K
from .several import get_static_value
from .variables import VariableClass

# Texts --------------------------------------------------------------------------------------------


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text as bytes.

    >>> as_bytes("one"), as_bytes(b"two")
    (b'one', b'two')
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text.

    >>> as_text(b"one"), as_text("two")
    ('one', 'two')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any) -> str:
    """Anything as a text."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as a text."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


TEXTS: dict[str, Any] = {
    "as_bytes": as_bytes, "as_text": as_text, "as_str": as_text, "as_str_any": as_str_any,
    "path_to_str": path_to_str, "path_to_bytes": lambda path: as_bytes(path_to_str(path)),
    "integral_types": (numbers.Integral, np.integer),
    "real_types": (numbers.Real, np.integer, np.floating),
    "complex_types": (numbers.Complex, np.number),
    "bytes_or_text_types": (bytes, str),
}  # fmt: skip


class LazyLoader(ModuleType):
    """A module that's imported when something of it is asked for."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str):
        super().__init__(name)
        vars(self).update(_place=local_name, _globals=parent_module_globals)

    def __getattr__(self, name: str) -> Any:
        found = importlib.import_module(self.__name__)
        vars(self)["_globals"][vars(self)["_place"]] = found
        return getattr(found, name)


# Tensors ------------------------------------------------------------------------------------------


class EagerTensor:
    """What no tensor here is: one that has a value before its graph runs."""


class ModeKeys:
    """What a model is built for, as functions of models are told."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor that never changes; else None."""
    return get_static_value(tensor, partial)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """A tensor that waits for operations."""
    with K.control_dependencies(dependencies):
        return K.identity(output_tensor)


# Settings of a model ------------------------------------------------------------------------------


class HParams:
    """Settings under names, which the program reads as attributes.

    >>> settings = HParams(rate=0.1, sizes=[3, 4])
    >>> settings.parse("rate=0.5,sizes=[1,2]").values()
    {'rate': 0.5, 'sizes': [1, 2]}
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        self.__dict__["_held"] = {}
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Another setting.

        Raises:
            ValueError: the name is taken.
        """
        if hasattr(self, name):
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        self._held[name] = value

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value of a setting that's there, in its type.

        Raises:
            KeyError, ValueError: there's no such setting; the value is of another kind.
        """
        if name not in self._held:
            raise KeyError(name)
        self._held[name] = _like(name, value, self._held[name])

    def del_hparam(self, name: str) -> None:
        """Forget a setting, if it's there."""
        self._held.pop(name, None)

    def get(self, key: str, default: Any = None) -> Any:
        """A setting, or what's to stand for it."""
        return self._held.get(key, default)

    def values(self) -> dict[str, Any]:
        """All settings."""
        return dict(self._held)

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Set several settings."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse(self, values: str) -> HParams:
        """Set settings by a text, `name=value,name=[value,value]`.

        Raises:
            ValueError: it isn't such a text, or names what isn't there.
        """
        rest = values.strip()
        while rest:
            found = re.match(r"\s*(\w+)\s*=\s*(\[[^\]]*\]|[^,\[]*)\s*(?:,|$)", rest)
            if found is None or found[1] not in self._held:
                raise ValueError(f"Malformed or unknown hyperparameter value: {rest}")
            name, text = found[1], found[2].strip()
            rest = rest[found.end() :]
            old = self._held[name]
            if text.startswith("["):
                like = next(iter(old or ()), None) if _is_list(name, old, True) else None
                parts = re.split("[, ]+", text[1:-1].strip())
                self._held[name] = [_read(name, part, like) for part in parts if part]
            elif not _is_list(name, old, False):
                self._held[name] = _read(name, text, old)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Set settings by a text in JSON."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self, indent: int | None = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """All settings as a text in JSON; functions are left out."""
        shown = {name: x for name, x in self._held.items() if not callable(x)}
        return json.dumps(shown, indent=indent, separators=separators, sort_keys=sort_keys)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__.get("_held", {})
        if name not in held:
            raise AttributeError(f"'HParams' object has no attribute {name!r}")
        return held[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._held[name] = value

    def __contains__(self, key: str) -> bool:
        return key in self._held

    def __repr__(self) -> str:
        return f"HParams({sorted(self._held.items())})"


TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def _is_list(name: str, old: Any, given: bool) -> bool:
    """Whether a setting is a list, as the given value must be one then, too."""
    if old is not None and isinstance(old, (list, tuple)) is not given:
        must = "" if given is False else " not"
        raise ValueError(f"Must{must} pass a list for the hyperparameter {name}, which is {old!r}")
    return given


def _read(name: str, text: str, like: Any) -> Any:
    """A value from a text, in the type of the one before."""
    try:
        if isinstance(like, bool):
            return TRUTHS[text.lower()]
        if isinstance(like, int) and not re.fullmatch(r"[-+]?\d+", text):
            raise ValueError(text)
        return text if like is None or callable(like) else type(like)(text)
    except (KeyError, ValueError, TypeError):
        raise ValueError(f"Could not parse hparam '{name}' with value '{text}'") from None


def _like(name: str, value: Any, old: Any) -> Any:
    """A value in the type of the one before: of numbers, a whole one may become a float."""
    if old is None or callable(old):
        return value
    if _is_list(name, old, isinstance(value, (list, tuple))):
        first = next(iter(old), None)
        return [_like(name, x, first) for x in value]
    wider = isinstance(old, float) and isinstance(value, (int, np.number))
    if isinstance(value, bool) != isinstance(old, bool) or not (
        wider or isinstance(value, type(old))
    ):
        raise ValueError(
            f"Could not cast hparam '{name}' of type '{type(old)}' from value {value!r}"
        )
    return type(old)(value)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"{at}.{name}": x for at in ("compat", "python.util.compat") for name, x in TEXTS.items()},
    "python.util.all_util.remove_undocumented": lambda *args, **options: None,
    "python.util.lazy_loader.LazyLoader": LazyLoader,
    "python.tf2.enabled": lambda: False,
    "python.framework.ops.EagerTensor": EagerTensor,
    "python.ops.variables.VariableV1": VariableClass,
    "estimator.ModeKeys": ModeKeys,
    "contrib.learn.ModeKeys": ModeKeys,
    **dict.fromkeys(
        ("python.framework.tensor_util.constant_value", "contrib.util.constant_value"),
        constant_value,
    ),
    "python.ops.control_flow_ops.with_dependencies": with_dependencies,
    "contrib.framework.with_dependencies": with_dependencies,
    "contrib.training.HParams": HParams,
    "contrib.training.python.training.hparam.HParams": HParams,
}
